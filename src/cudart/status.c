/* status.c - whether the code behind a call reads the status that it returned. Compilers put instructions of other
 * things between the call and the comparison (a string that is freed, registers of the loop), so it is walked on until
 * an instruction names %eax, another call comes, or the function returns. A conditional jump is followed to where it
 * does not go, any other to its target. Only lengths, and which general registers are read and written, are decoded.
 */
#include "cudart/status.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
enum { MOST = 48 }; /* instructions */
/* What an opcode does with the register of its ModRM byte, and with its operand there if that is a register. */
enum { READS_REG = 1, WRITES_REG = 2, READS_RM = 4, WRITES_RM = 8 };

struct instruction {
    const uint8_t *at;              /* reading goes on here */
    bool wide;                      /* REX.W */
    bool short_imm;                 /* 66: an immediate of four bytes has two */
    uint8_t high;                   /* REX.R, X and B: registers from r8 on */
    uint8_t repeat;                 /* F3 or F2 */
    bool reg_is, rm_is, address_is; /* %eax */
    uint8_t reg;                    /* the field: part of the opcode in groups */
};

static int32_t number(const uint8_t *at)
{
    int32_t n;
    memcpy(&n, at, sizeof(n));
    return n;
}

/* The byte, what lies behind it of an address, and where %eax is in them. */
static void modrm(struct instruction *i)
{
    const uint8_t byte = *i->at++, mode = byte >> 6, rm = byte & 7;
    i->reg = byte >> 3 & 7;
    i->reg_is = !i->reg && !(i->high & 4);
    if (mode == 3) {
        i->rm_is = !rm && !(i->high & 1);
        return;
    }
    bool displaced = mode == 2 || (!mode && rm == 5);
    if (rm == 4) {
        const uint8_t sib = *i->at++, base = sib & 7, index = sib >> 3 & 7;
        displaced |= !mode && base == 5;
        i->address_is = (!base && !(i->high & 1)) || (!index && !(i->high & 2));
    } else {
        i->address_is = !rm && !(i->high & 1);
    }
    i->at += displaced ? 4 : mode == 1;
}

/* MG_STATUS_RETURNED here: it goes on. */
static enum mg_status_use by(const struct instruction *i, unsigned does)
{
    if (i->address_is || (i->reg_is && does & READS_REG) || (i->rm_is && does & READS_RM))
        return MG_STATUS_READ;
    return (i->reg_is && does & WRITES_REG) || (i->rm_is && does & WRITES_RM) ? MG_STATUS_LOST : MG_STATUS_RETURNED;
}

/* Opcodes behind 0F, and those of VEX and EVEX, map 1, which are of vectors. */
static enum mg_status_use two_bytes(struct instruction *i, uint8_t op, bool vector)
{
    unsigned does = 0;
    if (op == 0x77) /* emms, vzeroupper */
        return MG_STATUS_RETURNED;
    if (op >= 0x80 && op <= 0x8f && !vector) { /* a jump on a condition */
        i->at += 4;
        return MG_STATUS_RETURNED;
    }
    if (op == 0x05 || op == 0x0b || op == 0x31 || op == 0xa2 || op == 0x01 || op == 0xae || (op & 0xf8) == 0xc8)
        return MG_STATUS_READ; /* system calls, cpuid, what is rare */
    modrm(i);
    if (op == 0x6e || op == 0x2a)
        does = READS_RM;
    else if (op == 0x7e && i->repeat != 0xf3)
        does = WRITES_RM;
    else if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xd7 || op == 0xc5)
        does = WRITES_REG;
    else if (!vector && ((op & 0xf0) == 0x40 || op == 0xaf || op == 0xb0 || op == 0xb1 || op == 0xc0 || op == 0xc1))
        does = READS_REG | READS_RM; /* cmov, imul, cmpxchg, xadd */
    else if (!vector && (op & 0xf0) == 0x90)
        does = WRITES_RM; /* set */
    else if (!vector && ((op >= 0xa3 && op <= 0xad) || op == 0xb3 || op == 0xba || op == 0xbb))
        does = READS_REG | READS_RM; /* bits, double shifts */
    else if (!vector && (op == 0xb6 || op == 0xb7 || (op >= 0xbc && op <= 0xbf) || op == 0xb8))
        does = READS_RM | WRITES_REG;                                /* movzx, movsx, bsf, bsr, popcnt */
    const bool memory_only = op == 0x18 || op == 0x1e || op == 0x1f; /* hints: they name registers and do nothing */
    if (op == 0xa4 || op == 0xac || op == 0xba || (op >= 0x70 && op <= 0x73) || op == 0xc2 ||
        (op >= 0xc4 && op <= 0xc6))
        i->at++;
    return memory_only ? MG_STATUS_RETURNED : by(i, does);
}

static enum mg_status_use one_byte(struct instruction *i, uint8_t op)
{
    const unsigned word = i->short_imm ? 2 : 4;
    const bool is_low = !(op & 7) && !(i->high & 1); /* the register in the opcode */
    unsigned does = READS_REG | READS_RM, behind = 0;
    if (op < 0x40 && (op & 7) < 4) { /* arithmetic; a register with itself is set to 0 */
        const uint8_t *at = i->at;
        modrm(i);
        const bool zero = (op >> 3 == 6 || op >> 3 == 5) && *at >= 0xc0 && i->reg_is && i->rm_is;
        return zero ? MG_STATUS_LOST : by(i, does);
    }
    if (op < 0x40 || op == 0xa8 || op == 0xa9 || op == 0x98 || op == 0x99) /* %eax with a constant, or widened */
        return (op & 7) < 6 || op > 0x40 ? MG_STATUS_READ : MG_STATUS_RETURNED;
    if (op >= 0x50 && op <= 0x57)
        return is_low ? MG_STATUS_READ : MG_STATUS_RETURNED;
    if (op >= 0x58 && op <= 0x5f)
        return is_low ? MG_STATUS_LOST : MG_STATUS_RETURNED;
    if (op >= 0xb0 && op <= 0xbf) {
        i->at += op < 0xb8 ? 1 : i->wide ? 8 : word;
        return is_low ? MG_STATUS_LOST : MG_STATUS_RETURNED;
    }
    switch (op) {
    case 0x68:
        i->at += 4;
        return MG_STATUS_RETURNED;
    case 0x6a:
        i->at++;
        return MG_STATUS_RETURNED;
    case 0x90: /* nop */
    case 0xc9: /* leave */
        return MG_STATUS_RETURNED;
    case 0xe8: /* call */
        return MG_STATUS_LOST;
    case 0xe9:
        i->at += 4 + number(i->at);
        return MG_STATUS_RETURNED;
    case 0xeb:
        i->at += 1 + (int8_t)*i->at;
        return MG_STATUS_RETURNED;
    default:
        break;
    }
    if (op >= 0x70 && op <= 0x7f) {
        i->at++;
        return MG_STATUS_RETURNED;
    }
    switch (op) {
    case 0x63: /* movsxd */
    case 0x8a:
    case 0x8b:
        does = READS_RM | WRITES_REG;
        break;
    case 0x69:
    case 0x81:
        behind = word;
        does = op == 0x81 ? READS_RM : READS_RM | WRITES_REG;
        break;
    case 0x6b:
        behind = 1;
        does = READS_RM | WRITES_REG;
        break;
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
        behind = 1;
        does = READS_RM;
        break;
    case 0x84:
    case 0x85:
    case 0x86:
    case 0x87:
        break;
    case 0x88:
    case 0x89:
        does = READS_REG | WRITES_RM;
        break;
    case 0x8d:
        does = WRITES_REG;
        break;
    case 0xc6:
    case 0xc7:
        behind = op == 0xc6 ? 1 : word;
        does = WRITES_RM;
        break;
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xfe:
        does = READS_RM;
        break;
    case 0xf6:
    case 0xf7:
    case 0xff:
        modrm(i);
        if (op == 0xff && i->reg == 2) /* a call through a pointer */
            return i->address_is || i->rm_is ? MG_STATUS_READ : MG_STATUS_LOST;
        if ((op == 0xff && i->reg > 2 && i->reg < 6) || (op != 0xff && i->reg > 3))
            return MG_STATUS_READ; /* a jump to who knows where; a product or quotient, of %eax */
        i->at += op != 0xff && i->reg < 2 ? op == 0xf6 ? 1 : word : 0;
        return by(i, READS_RM);
    default:
        return MG_STATUS_READ;
    }
    modrm(i);
    i->at += behind;
    return by(i, does);
}

/* VEX and EVEX: of vectors, but for a few of map 2 and 3 that nobody needs here. */
static enum mg_status_use vector(struct instruction *i, uint8_t op)
{
    unsigned map = 1;
    if (op == 0xc5) {
        i->high = *i->at & 0x80 ? 0 : 4;
        i->repeat = (*i->at++ & 3) == 2 ? 0xf3 : 0;
    } else {
        i->high = (uint8_t)(~*i->at >> 5 & 7); /* R, X, B */
        map = *i->at++ & 7;
        i->repeat = (*i->at++ & 3) == 2 ? 0xf3 : 0;
        i->at += op == 0x62;
    }
    op = *i->at++;
    if (map == 1)
        return two_bytes(i, op, true);
    if (map > 3 || (map == 2 && op >= 0xf0) || (map == 3 && (op == 0xf0 || (op >= 0x14 && op <= 0x17))))
        return MG_STATUS_READ;
    modrm(i);
    i->at += map == 3;
    return by(i, 0);
}

enum mg_status_use mg__cudart_status_use(const uint8_t *code)
{
    for (int n = 0; n < MOST; n++) {
        struct instruction i = {.at = code};
        uint8_t op = *i.at++;
        for (; op == 0x66 || op == 0xf2 || op == 0xf3 || op == 0x2e || op == 0x3e || op == 0x64 || op == 0x65;
             op = *i.at++) {
            i.short_imm |= op == 0x66;
            i.repeat = op == 0xf2 || op == 0xf3 ? op : i.repeat;
        }
        if (op == 0xc3)
            return MG_STATUS_RETURNED;
        if (op >= 0x40 && op <= 0x4f) {
            i.high = op & 7;
            i.wide = op & 8;
            op = *i.at++;
        }
        enum mg_status_use use;
        if (op == 0xc5 || op == 0xc4 || op == 0x62)
            use = vector(&i, op);
        else if (op != 0x0f)
            use = one_byte(&i, op);
        else if (*i.at == 0x38 || *i.at == 0x3a) {
            const bool constant = *i.at == 0x3a;
            i.at += 2;
            modrm(&i);
            i.at += constant;
            use = by(&i, READS_REG | READS_RM);
        } else {
            op = *i.at++;
            use = two_bytes(&i, op, false);
        }
        if (use != MG_STATUS_RETURNED)
            return use;
        code = i.at;
    }
    return MG_STATUS_READ;
}
#else
enum mg_status_use mg__cudart_status_use(const uint8_t *code)
{
    (void)code;
    return MG_STATUS_LOST;
}
#endif
