/* prog.c - the wrapper around a program's body, its inputs, and the atomic operations. */
#include "prog.h"
#include "sem/ref.h"
#include "sem/sem_base.h" /* SEM_FTZ */

static void prologue(FILE *out, const char *decl, const char *body)
{
    const bool own = strstr(body, "setmaxnreg") || strstr(body, "wgmma") || strstr(body, "tensormap.r");
    const char *target = own ? "sm_90a" : "sm_90";
    fprintf(out, ".version 8.3\n.target %s\n.address_size 64\n%s\n", target, decl);
    fprintf(out, ".visible .entry run(.param .u64 p_in, .param .u64 p_out, .param .u64 p_buf)\n{\n");
    fprintf(out, ".reg .pred %%p<8>;\n.reg .b16 %%h<16>;\n.reg .b32 %%r<32>;\n.reg .b64 %%d<32>;\n");
    fprintf(out, ".reg .f32 %%f<8>;\n.reg .f64 %%g<8>;\n.reg .b32 %%t, %%n, %%a, %%b, %%c;\n");
    fprintf(out, ".reg .b64 %%in, %%out, %%buf, %%da, %%db;\n");
    fprintf(out, "ld.param.u64 %%in, [p_in];\nld.param.u64 %%out, [p_out];\nld.param.u64 %%buf, [p_buf];\n");
    fprintf(out, "mov.u32 %%t, %%tid.x;\nmov.u32 %%n, %%ntid.x;\nmov.u32 %%a, %%ctaid.x;\n");
    fprintf(out, "mad.lo.u32 %%t, %%a, %%n, %%t;\nmov.u32 %%a, %%nctaid.x;\nmul.lo.u32 %%n, %%n, %%a;\n");
    fprintf(out, "mul.wide.u32 %%da, %%t, 32;\nadd.u64 %%in, %%in, %%da;\nadd.u64 %%out, %%out, %%da;\n");
    fprintf(out, "ld.global.u32 %%a, [%%in];\nld.global.u32 %%b, [%%in+8];\nld.global.u32 %%c, [%%in+16];\n");
    fprintf(out, "ld.global.u64 %%da, [%%in];\nld.global.u64 %%db, [%%in+8];\n");
}
void prog_ptx(FILE *out, const struct prog *p)
{
    prologue(out, p->decl, p->body);
    fprintf(out, "%s\nret;\n}\n", p->body);
}
static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
void prog_inputs(const struct prog *p, uint64_t *in, uint8_t *buf)
{
    for (uint32_t i = 0; i < p->grid * p->block * PROG_SLOTS; i++)
        in[i] = mix(i);
    for (uint32_t i = 0; i < PROG_BUF; i++)
        buf[i] = (uint8_t)(i * 7 + i / 256);
    memset(buf + 50000, 0, 8); /* a lock that is free, and what it guards */
}

/* ---- atomic operations ---- */
static const struct {
    const char *op, *types;
} atomic_table[] = {{"add", "u32 s32 u64 f32 f64 f16 f16x2 bf16 bf16x2"},
                    {"min", "u32 s32 u64 s64"},
                    {"max", "u32 s32 u64 s64"},
                    {"and", "b32 b64"},
                    {"or", "b32 b64"},
                    {"xor", "b32 b64"},
                    {"inc", "u32"},
                    {"dec", "u32"},
                    {"exch", "b32 b64"},
                    {"cas", "b16 b32 b64"}};

size_t atomic_cases(struct atomic_case *cases, size_t room)
{
    static const char *const spaces[] = {"global", "shared", ""};
    size_t count = 0;
    for (size_t k = 0; k < sizeof(atomic_table) / sizeof(atomic_table[0]); k++) {
        for (const char *p = atomic_table[k].types; *p;) {
            char type[8];
            size_t len = strcspn(p, " ");
            snprintf(type, sizeof(type), "%.*s", (int)len, p);
            p += len + (p[len] == ' ');
            for (int s = 0; s < 6 && count < room; s++) {
                struct atomic_case *c = &cases[count];
                c->red = s >= 3;
                if (c->red && (strcmp(atomic_table[k].op, "exch") == 0 || strcmp(atomic_table[k].op, "cas") == 0))
                    continue;
                snprintf(c->op, sizeof(c->op), "%s", atomic_table[k].op);
                snprintf(c->type, sizeof(c->type), "%s", type);
                snprintf(c->space, sizeof(c->space), "%s", spaces[s % 3]);
                snprintf(c->text, sizeof(c->text), "%s%s%s.%s.%s%s", c->red ? "red" : "atom", c->space[0] ? "." : "",
                         c->space, c->op, strchr(type, 'f') && type[1] != '3' && type[1] != '6' ? "noftz." : "", type);
                count++;
            }
        }
    }
    return count;
}
static unsigned width_of(const char *type)
{
    return strstr(type, "64") ? 8 : strstr(type, "16") && !strstr(type, "x2") ? 2 : 4;
}
void atomic_ptx(FILE *out, const struct atomic_case *c)
{
    unsigned w = width_of(c->type), bits = 8 * w;
    prologue(out, "", "");
    bool shared = strcmp(c->space, "shared") == 0;
    char prefix = w == 8 ? 'd' : w == 2 ? 'h' : 'r';
    /* each thread has its own cell in shared or global memory; the generic form takes turns */
    fprintf(out, ".shared .align 8 .b8 cells[1024];\nmov.u32 %%r20, %%tid.x;\nmul.wide.u32 %%d20, %%r20, 16;\n");
    fprintf(out, "mov.u64 %%d21, cells;\nadd.u64 %%d21, %%d21, %%d20;\nmul.wide.u32 %%d22, %%t, 16;\n");
    fprintf(out, "add.u64 %%d22, %%d22, %%buf;\n");
    if (shared) {
        fprintf(out, "mov.u64 %%d23, %%d21;\n");
    } else if (c->space[0] == 0) {
        fprintf(out, "cvta.shared.u64 %%d21, %%d21;\ncvta.global.u64 %%d22, %%d22;\n");
        fprintf(out, "and.b32 %%r21, %%t, 1;\nsetp.eq.u32 %%p0, %%r21, 1;\nselp.b64 %%d23, %%d21, %%d22, %%p0;\n");
    } else {
        fprintf(out, "mov.u64 %%d23, %%d22;\n");
    }
    const char *dot = c->space[0] ? "." : "";
    fprintf(out, "ld.global.b%u %%%c0, [%%in];\nld.global.b%u %%%c1, [%%in+8];\n", bits, prefix, bits, prefix);
    fprintf(out, "ld.global.b%u %%%c2, [%%in+16];\n", bits, prefix);
    fprintf(out, "st%s%s.b%u [%%d23], %%%c0;\n", dot, c->space, bits, prefix);
    fprintf(out, "mov.b%u %%%c3, 0;\n", bits, prefix);
    fprintf(out, "%s ", c->text);
    if (!c->red)
        fprintf(out, "%%%c3, ", prefix);
    fprintf(out, "[%%d23], %%%c1", prefix);
    if (strcmp(c->op, "cas") == 0)
        fprintf(out, ", %%%c2", prefix);
    fprintf(out, ";\nld%s%s.b%u %%%c4, [%%d23];\n", dot, c->space, bits, prefix);
    fprintf(out, "mov.u64 %%d10, 0;\nst.global.u64 [%%out], %%d10;\nst.global.u64 [%%out+8], %%d10;\n");
    fprintf(out, "st.global.b%u [%%out], %%%c3;\nst.global.b%u [%%out+8], %%%c4;\nret;\n}\n", bits, prefix, bits,
            prefix);
}
/* Numbers of every size, some of them equal, NaN, or subnormal. */
void atomic_inputs(const struct atomic_case *c, uint64_t *in, uint32_t n)
{
    static const uint64_t special[] = {0, 1, 2, 0x3c00, 0x7c00, 0x8001, 0x3f800000, 0x00000001, 0x007fffff, 0x807fffff,
                                       0x7f800000, 0x7fc00001, 0xffffffff, 0x3ff0000000000000, 0x000fffffffffffff,
                                       0x7ff0000000000000, 0xffffffffffffffff, 0x8000000000000000, 0x0400, 0x00800000};
    uint64_t seed = (uint64_t)(uint8_t)c->op[0] << 8 | (uint8_t)c->type[0];
    for (uint32_t i = 0; i < n * PROG_SLOTS; i++) {
        uint64_t r = mix(seed << 32 | i), kind = mix(r) % 4;
        in[i] = kind == 0 ? special[(r >> 7) % 20] : kind == 1 ? r % 40 : r;
    }
    for (uint32_t i = 0; i < n; i += 3) /* cas: often what is expected is there */
        in[PROG_SLOTS * i + 1] = in[PROG_SLOTS * i];
}
bool atomic_expect(const struct atomic_case *c, uint32_t thread, const uint64_t in[4], uint64_t out[2])
{
    unsigned bits = 8 * width_of(c->type);
    uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    uint64_t v[4] = {in[0] & mask, in[1] & mask, in[2] & mask, 0};
    out[0] = c->red ? 0 : v[0];
    if (strcmp(c->op, "exch") == 0) {
        out[1] = v[1];
    } else if (strcmp(c->op, "cas") == 0) {
        out[1] = v[0] == v[1] ? v[2] : v[0];
    } else {
        char row[32];
        bool counts = strcmp(c->op, "inc") == 0 || strcmp(c->op, "dec") == 0;
        snprintf(row, sizeof(row), "%s%s_%s", counts ? "atom_" : "", c->op, c->type);
        /* f32 addition in global memory flushes subnormals, in shared memory it does not (PTX ISA, atom; measured on
         * an H100). Of the generic form, odd threads use shared memory. */
        bool shared = strcmp(c->space, "shared") == 0 || (c->space[0] == 0 && (thread & 1));
        return ref_eval(row, v, strcmp(row, "add_f32") == 0 && !shared ? SEM_FTZ : 0, &out[1]);
    }
    return true;
}
