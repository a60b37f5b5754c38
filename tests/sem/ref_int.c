/* ref_int.c - integers, bits, predicates, by definition rather than by trick. */
#include "ref_priv.h"
#include <stdlib.h>

bool ref_int_type(const char *text, struct ref_type *type)
{
    if (!strchr("usb", text[0]) || !text[0] || text[1] < '0' || text[1] > '9' || strchr(text, 'x'))
        return false;
    type->bits = atoi(text + 1);
    type->is_signed = text[0] == 's';
    return true;
}
sem_s128 ref_value(uint64_t v, struct ref_type type)
{
    sem_s128 value = 0;
    for (int i = 0; i < type.bits; i++) {
        sem_s128 weight = (sem_s128)1 << i;
        if (v >> i & 1)
            value += type.is_signed && i == type.bits - 1 ? -weight : weight;
    }
    return value;
}
uint64_t ref_wrap(sem_s128 value, int bits)
{
    uint64_t r = 0;
    for (int i = 0; i < bits; i++)
        r |= (uint64_t)(value >> i & 1) << i;
    return r;
}
static sem_s128 clamp(sem_s128 value, struct ref_type t)
{
    sem_s128 lo = t.is_signed ? -((sem_s128)1 << (t.bits - 1)) : 0;
    sem_s128 hi = ((sem_s128)1 << (t.is_signed ? t.bits - 1 : t.bits)) - 1;
    return value < lo ? lo : value > hi ? hi : value;
}
/* Two's complement product as 256 bits would have it: bits [64·half … 64·half+63] of x*y for 64-bit x and y. */
static uint64_t product64(uint64_t x, uint64_t y, bool is_signed, int half)
{
    uint64_t word[4] = {0};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            uint64_t p = (x >> 32 * i & 0xffffffff) * (y >> 32 * j & 0xffffffff);
            for (int k = i + j; p && k < 4; k++) {
                word[k] += p & 0xffffffff;
                p = (p >> 32) + (word[k] >> 32);
                word[k] &= 0xffffffff;
            }
        }
    }
    uint64_t hi = word[3] << 32 | word[2];
    if (is_signed && x >> 63)
        hi -= y;
    if (is_signed && y >> 63)
        hi -= x;
    return half ? hi : word[1] << 32 | word[0];
}
static uint64_t part_of_product(const char *part, uint64_t a, uint64_t b, struct ref_type t)
{
    bool hi = strcmp(part, "hi") == 0;
    if (t.bits == 64)
        return product64(a, b, t.is_signed, hi);
    sem_s128 p = ref_value(a, t) * ref_value(b, t);
    return ref_wrap(hi ? p >> t.bits : p, t.bits);
}

/* ---- the bit operations, as PTX ISA's pseudo-code ---- */
static int bit(uint64_t v, int64_t i)
{
    return (int)(v >> i & 1);
}
static uint64_t bfe(uint64_t a, uint64_t b, uint64_t c, struct ref_type t)
{
    int64_t msb = t.bits - 1, pos = (int64_t)b, len = (int64_t)c;
    if (t.bits == 32) /* measured: the 64-bit forms look at more than eight bits */
        pos &= 255, len &= 255;
    int64_t top = pos + len - 1 < msb ? pos + len - 1 : msb;
    int fill = !t.is_signed || len == 0 ? 0 : bit(a, top);
    uint64_t d = 0;
    for (int64_t i = 0; i <= msb; i++)
        d |= (uint64_t)(i < len && pos + i <= msb ? bit(a, pos + i) : fill) << i;
    return d;
}
static uint64_t bfi(uint64_t a, uint64_t b, uint64_t c, uint64_t d, int bits)
{
    int64_t pos = (int64_t)c, len = (int64_t)d;
    if (bits == 32)
        pos &= 255, len &= 255;
    uint64_t f = b;
    for (int64_t i = 0; i < len && pos + i < bits; i++)
        f = (f & ~((uint64_t)1 << (pos + i))) | (uint64_t)bit(a, i) << (pos + i);
    return f;
}
static uint32_t bfind(uint64_t a, struct ref_type t, bool shiftamt)
{
    int skip = t.is_signed ? bit(a, t.bits - 1) : 0;
    for (int i = t.bits - 1; i >= 0; i--) {
        if (bit(a, i) != skip)
            return (uint32_t)(shiftamt ? t.bits - 1 - i : i);
    }
    return 0xffffffff;
}
static uint32_t fns(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == 0)
        return bit(mask, base) ? base : 0xffffffff;
    int step = offset > 0 ? 1 : -1, count = abs(offset) - 1;
    for (int pos = (int)base; pos >= 0 && pos < 32; pos += step) {
        if (bit(mask, pos) && count-- == 0)
            return (uint32_t)pos;
    }
    return 0xffffffff;
}
static uint32_t bmsk(uint32_t a, uint32_t b, bool clamped)
{
    uint32_t r = 0, pos = clamped ? a : a % 32, len = clamped ? b : b % 32;
    for (uint32_t i = 0; i < 32; i++)
        r |= (uint32_t)(i >= pos && (uint64_t)i < (uint64_t)pos + len) << i;
    return r;
}
static uint32_t szext(uint32_t a, uint32_t b, bool clamped, bool is_signed)
{
    uint32_t len = clamped ? (b > 32 ? 32 : b) : b % 32, r = 0;
    for (uint32_t i = 0; i < 32; i++)
        r |= (uint32_t)(i < len ? bit(a, i) : is_signed && len ? bit(a, len - 1) : 0) << i;
    return r;
}
static uint32_t prmt(uint32_t a, uint32_t b, uint32_t c, const char *mode)
{
    static const struct {
        const char *name;
        uint16_t selector[4]; /* for c & 3 of 0 … 3; PTX ISA's table, d.b3 as the first digit */
    } modes[] = {{"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
                 {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
                 {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
    uint8_t bytes[8];
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(a >> 8 * i);
        bytes[4 + i] = (uint8_t)(b >> 8 * i);
    }
    uint32_t selector = c, r = 0;
    for (size_t i = 0; mode && i < 6; i++) {
        if (strcmp(mode, modes[i].name) == 0)
            selector = modes[i].selector[c & 3];
    }
    for (int i = 0; i < 4; i++) {
        uint32_t s = selector >> 4 * i & 15, byte = bytes[s & 7];
        if (s & 8)
            byte = byte & 0x80 ? 0xff : 0;
        r |= byte << 8 * i;
    }
    return r;
}
static sem_s128 lane(uint64_t v, int i, int bits, bool is_signed)
{
    return ref_value(v >> bits * i, (struct ref_type){bits, is_signed});
}
static bool compare(const char *cmp, sem_s128 a, sem_s128 b, uint64_t *r)
{
    int order = a < b ? -1 : a > b;
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
    const int truth[] = {order == 0, order != 0, order < 0,  order <= 0, order > 0,
                         order >= 0, order < 0,  order <= 0, order > 0,  order >= 0};
    for (size_t i = 0; i < 10; i++) {
        if (strcmp(cmp, names[i]) == 0) {
            *r = (uint64_t)truth[i];
            return true;
        }
    }
    return false;
}

bool ref_integer(const struct ref_name *n, const uint64_t v[4], uint32_t mode, uint64_t *r)
{
    const char *op = n->part[0], *last = n->part[n->count - 1], *sub = n->part[1];
#define IS(name) (strcmp(op, name) == 0)
    struct ref_type t = {0, false};
    bool is_int = ref_int_type(last, &t);
    sem_s128 a = 0, b = 0, c = 0;
    if (is_int)
        a = ref_value(v[0], t), b = ref_value(v[1], t), c = ref_value(v[2], t);
    bool sat = mode & SEM_SAT;

    /* two lanes of 16 bits */
    if (strcmp(last, "u16x2") == 0 || strcmp(last, "s16x2") == 0) {
        uint64_t d = 0;
        for (int i = 0; i < 2; i++) {
            sem_s128 x = lane(v[0], i, 16, last[0] == 's'), y = lane(v[1], i, 16, last[0] == 's'), z;
            z = IS("add") ? x + y : IS("min") ? (x < y ? x : y) : (x > y ? x : y);
            if ((mode & SEM_RELU) && z < 0)
                z = 0;
            d |= ref_wrap(z, 16) << 16 * i;
        }
        *r = d;
        return IS("add") || IS("min") || IS("max");
    }
    /* predicates and selection */
    if (strcmp(last, "pred") == 0) {
        *r = IS("and") ? (v[0] && v[1]) : IS("or") ? (v[0] || v[1]) : IS("xor") ? v[0] != v[1] : !v[0];
        return true;
    }
    if (IS("selp")) {
        *r = v[2] ? v[0] : v[1];
        return true;
    }
    if (IS("slct") && strcmp(last, "s32") == 0) {
        *r = (int32_t)v[2] >= 0 ? v[0] : v[1];
        return true;
    }
    if (IS("setp") && is_int)
        return compare(sub, a, b, r);
    if (IS("cvt") && strcmp(sub, "pack") == 0) {
        struct ref_type d, s = {32, true};
        ref_int_type(n->part[2], &d);
        uint64_t hi = ref_wrap(clamp(ref_value(v[0], s), d), d.bits),
                 lo = ref_wrap(clamp(ref_value(v[1], s), d), d.bits);
        *r = (uint32_t)(hi << d.bits | lo | (d.bits < 16 ? v[2] << 2 * d.bits : 0));
        return true;
    }
    if (IS("cvt")) {
        struct ref_type d, s;
        if (!ref_int_type(n->part[1], &d) || !ref_int_type(n->part[2], &s))
            return false;
        sem_s128 x = ref_value(v[0], s);
        uint64_t low = ref_wrap(sat ? clamp(x, d) : x, d.bits);
        *r = d.bits == 8 ? ref_wrap(ref_value(low, d), 16) : low;
        return true;
    }
    if (IS("vabsdiff4")) { /* each byte's, or with .add their sum and the third operand's */
        sem_s128 sum = 0;
        for (int i = 3; i >= 0; i--) {
            sem_s128 x = lane(v[0], i, 8, false), y = lane(v[1], i, 8, false), apart = x < y ? y - x : x - y;
            sum = (strcmp(last, "add") == 0 ? sum : 256 * sum) + apart;
        }
        *r = ref_wrap(sum + (strcmp(last, "add") == 0 ? (sem_s128)v[2] : 0), 32);
        return true;
    }
    if (!is_int)
        return false;

    if (IS("add") || IS("sub")) {
        sem_s128 x = IS("add") ? a + b : a - b;
        *r = ref_wrap(sat ? clamp(x, t) : x, t.bits);
    } else if (IS("mul") && strcmp(sub, "wide") == 0) {
        *r = ref_wrap(a * b, 2 * t.bits);
    } else if (IS("mad") && strcmp(sub, "wide") == 0) {
        *r = ref_wrap(a * b + ref_value(v[2], (struct ref_type){2 * t.bits, t.is_signed}), 2 * t.bits);
    } else if (IS("mul")) {
        *r = part_of_product(sub, v[0], v[1], t);
    } else if (IS("mad")) {
        sem_s128 x = ref_value(part_of_product(sub, v[0], v[1], t), t) + c;
        *r = ref_wrap(sat ? clamp(x, t) : x, t.bits);
    } else if (IS("mul24") || IS("mad24")) {
        struct ref_type t24 = {24, t.is_signed};
        sem_s128 p = ref_value(v[0], t24) * ref_value(v[1], t24);
        p = ref_value(ref_wrap(strcmp(sub, "hi") == 0 ? p >> 16 : p, 32), t);
        if (IS("mad24"))
            p += c;
        *r = ref_wrap(sat ? clamp(p, t) : p, 32);
    } else if (IS("addx") || IS("madx")) {
        /* unsigned of t.bits, whatever the type: only the product's upper half knows signs */
        struct ref_type u = {t.bits, false};
        bool carry = strcmp(n->part[n->count - 2], "carry") == 0;
        sem_s128 x = ref_value(v[0], u), y = ref_value(v[1], u), s;
        if (IS("madx"))
            s = (sem_s128)part_of_product(sub, v[0], v[1], t) + ref_value(v[2], u) + (sem_s128)v[3];
        else
            s = x + y + (sem_s128)v[2];
        *r = carry ? (uint64_t)(s >> t.bits != 0) : ref_wrap(s, t.bits);
    } else if (IS("sad")) {
        *r = ref_wrap(c + (a < b ? b - a : a - b), t.bits);
    } else if (IS("div") || IS("rem")) { /* by zero: all ones, as measured on an H100 */
        *r = ref_wrap(b == 0 ? -1 : IS("div") ? a / b : a % b, t.bits);
    } else if (IS("abs") || IS("neg")) {
        *r = ref_wrap(IS("neg") || a < 0 ? -a : a, t.bits);
    } else if (IS("min") || IS("max")) {
        sem_s128 x = IS("min") == (a < b) ? a : b;
        *r = ref_wrap((mode & SEM_RELU) && x < 0 ? 0 : x, t.bits);
    } else if (IS("atom")) {
        *r = strcmp(sub, "inc") == 0 ? (a >= b ? 0 : ref_wrap(a + 1, 32))
                                     : (a == 0 || a > b ? v[1] : ref_wrap(a - 1, 32));
    } else if (IS("dp4a")) {
        for (int i = 0; i < 4; i++)
            c += lane(v[0], i, 8, sub[0] == 's') * lane(v[1], i, 8, last[0] == 's');
        *r = ref_wrap(c, 32);
    } else if (IS("dp2a")) {
        for (int i = 0; i < 2; i++)
            c += lane(v[0], i, 16, n->part[2][0] == 's') *
                 lane(v[1], i + (strcmp(sub, "hi") == 0 ? 2 : 0), 8, last[0] == 's');
        *r = ref_wrap(c, 32);
    } else if (IS("and") || IS("or") || IS("xor") || IS("not")) {
        uint64_t d = 0;
        for (int i = 0; i < t.bits; i++) {
            int x = bit(v[0], i), y = bit(v[1], i);
            d |= (uint64_t)(IS("and") ? x && y : IS("or") ? x || y : IS("xor") ? x != y : !x) << i;
        }
        *r = d;
    } else if (IS("cnot")) {
        *r = a == 0;
    } else if (IS("shl")) {
        *r = v[1] >= (uint64_t)t.bits ? 0 : ref_wrap(a * ((sem_s128)1 << v[1]), t.bits);
    } else if (IS("shr")) {
        for (uint64_t i = 0; i < (v[1] > 64 ? 64 : v[1]); i++)
            a = (a - (a & 1)) / 2;
        *r = ref_wrap(a, t.bits);
    } else if (IS("shf")) {
        uint32_t count = strcmp(n->part[2], "wrap") == 0 ? (uint32_t)v[2] % 32 : v[2] > 32 ? 32 : (uint32_t)v[2];
        uint32_t d = 0;
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t from = sub[0] == 'l' ? i + 32 - count : i + count;
            d |= (uint32_t)(from < 32 ? bit(v[0], from) : from < 64 ? bit(v[1], from - 32) : 0) << i;
        }
        *r = d;
    } else if (IS("popc") || IS("clz")) {
        uint64_t ones = 0, zeros = 0;
        for (int i = t.bits - 1; i >= 0; i--) {
            ones += (uint64_t)bit(v[0], i);
            zeros += ones == 0;
        }
        *r = IS("popc") ? ones : zeros;
    } else if (IS("bfind")) {
        *r = bfind(v[0], t, strcmp(sub, "shiftamt") == 0);
    } else if (IS("brev")) {
        uint64_t d = 0;
        for (int i = 0; i < t.bits; i++)
            d |= (uint64_t)bit(v[0], i) << (t.bits - 1 - i);
        *r = d;
    } else if (IS("bfe")) {
        *r = bfe(v[0], v[1], v[2], t);
    } else if (IS("bfi")) {
        *r = bfi(v[0], v[1], v[2], v[3], t.bits);
    } else if (IS("fns")) {
        *r = fns((uint32_t)v[0], (uint32_t)v[1], (int32_t)v[2]);
    } else if (IS("bmsk")) {
        *r = bmsk((uint32_t)v[0], (uint32_t)v[1], strcmp(sub, "clamp") == 0);
    } else if (IS("szext")) {
        *r = szext((uint32_t)v[0], (uint32_t)v[1], strcmp(sub, "clamp") == 0, t.is_signed);
    } else if (IS("prmt")) {
        *r = prmt((uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2], n->count > 2 ? sub : NULL);
    } else if (IS("lop3")) {
        uint64_t d = 0;
        for (int i = 0; i < 32; i++)
            d |= (uint64_t)bit(v[3], bit(v[0], i) * 4 + bit(v[1], i) * 2 + bit(v[2], i)) << i;
        *r = d;
    } else {
        return false;
    }
    return true;
#undef IS
}
