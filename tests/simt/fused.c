/* fused.c - products and sums that become one operation: the rule of src/simt/fuse.c.
 *
 * A case is PTX over inputs v0 to v7, and for each result the tree of operations that it must be. fused.cases has
 * random programs with the trees that ptxas' machine code computes (tools/fuse_rule.py); the tables here have one rule
 * each, with guards, branches, calls and changing registers, as read off the same machine code. The trees are computed
 * in plain C, with fma() of the host, for 64 threads of random inputs: nearly every one tells one rounding from two.
 * Each case runs interpreted; a third of them, always the same, runs compiled in haste, and another compiled well.
 *
 * In a case, .T is the type and .B its bits as a type; registers are written without %: v, t of the type, n of 32 bits,
 * x f32, y f64, q of 64 bits, p predicates. p0 and p1 are bits 0 and 1 of the thread's number n0. Trees: see term().
 */
#include "kit.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 64, INPUTS = 8, OUTPUTS = 16, TEXT = 1 << 14 };

struct kind {
    char letter;
    const char *name, *bits;
    unsigned size, halves;    /* bytes; values in a register */
    int digits, lowest, most; /* of a value: digits, exponents of the smallest and largest normal ones */
};
static const struct kind kinds[] = {
    {'s', "f32", "b32", 4, 1, 24, -126, 127}, {'d', "f64", "b64", 8, 1, 53, -1022, 1023},
    {'h', "f16", "b16", 2, 1, 11, -14, 15},   {'H', "f16x2", "b32", 4, 2, 11, -14, 15},
    {'b', "bf16", "b16", 2, 1, 8, -126, 127}, {'B', "bf16x2", "b32", 4, 2, 8, -126, 127},
};

/* ---- values: bits of one number, and the number ---- */
static double decode(const struct kind *k, uint64_t bits)
{
    if (k->digits == 53) {
        double d;
        memcpy(&d, &bits, 8);
        return d;
    }
    int width = k->digits == 24 ? 32 : 16, fraction = k->digits - 1;
    int exponent = (int)(bits >> fraction & ((1u << (width - k->digits)) - 1));
    double m = (double)(bits & ((1ull << fraction) - 1)), sign = bits >> (width - 1) & 1 ? -1 : 1;
    if (exponent > k->most - k->lowest + 1)
        return m != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(m + ldexp(1, fraction), exponent - 1 + k->lowest - fraction)
                            : ldexp(m, k->lowest - fraction));
}

/* One rounding of a 16-bit type. `x` is exact: what half precision can make fits the 64 digits, but for accidents. */
static double narrow(const struct kind *k, long double x, bool ftz)
{
    if (x == 0 || !isfinite((double)x))
        return (double)x;
    int e = ilogbl(x);
    long double free = ldexpl(rintl(ldexpl(x, k->digits - 1 - e)), e - k->digits + 1);
    if (ftz && fabsl(free) < ldexpl(1, k->lowest))
        return copysign(0, (double)x);
    e = e < k->lowest ? k->lowest : e;
    long double r = ldexpl(rintl(ldexpl(x, k->digits - 1 - e)), e - k->digits + 1);
    return fabsl(r) >= ldexpl(1, k->most + 1) ? copysign((double)INFINITY, (double)x) : (double)r;
}

static double compute(const struct kind *k, char op, double a, double b, double c, bool ftz, bool sat)
{
    double tiny = ldexp(1, k->lowest), r;
    if (ftz) {
        a = fabs(a) < tiny ? copysign(0, a) : a;
        b = fabs(b) < tiny ? copysign(0, b) : b;
        c = fabs(c) < tiny ? copysign(0, c) : c;
    }
    volatile float fa = (float)a, fb = (float)b, fc = (float)c, fr;
    volatile double dr;
    if (k->digits == 53) {
        dr = op == 'm' ? a * b : op == 'a' ? a + b : fma(a, b, c);
        r = dr;
    } else if (k->digits == 24) {
        fr = op == 'm' ? fa * fb : op == 'a' ? fa + fb : fmaf(fa, fb, fc);
        r = (double)fr;
    } else {
        volatile long double product = (long double)a * (long double)b;
        r = narrow(k,
                   op == 'm'   ? product
                   : op == 'a' ? (long double)a + (long double)b
                               : product + (long double)c,
                   ftz);
    }
    if (sat)
        r = r > 1 ? 1 : r > 0 ? r : 0; /* NaN too */
    return r;
}

/* term: vN | #number | -term | mul(term,term) | add(term,term) | fma(term,term,term) | p0?term:term, and .ftz, .sat
 * after the name. */
struct reader {
    const struct kind *kind;
    const double *inputs;
    unsigned thread;
    const char *at;
};

static double term(struct reader *r)
{
    if (*r->at == '-') {
        r->at++;
        return -term(r);
    }
    if (*r->at == 'v') {
        double v = r->inputs[r->at[1] - '0'];
        r->at += 2;
        return v;
    }
    if (*r->at == '#')
        return strtod(r->at + 1, (char **)(uintptr_t)&r->at);
    if (*r->at == 'p') {
        bool set = r->thread >> (r->at[1] - '0') & 1;
        assert_int_equal(r->at[2], '?');
        r->at += 3;
        double yes = term(r);
        assert_int_equal(*r->at++, ':');
        double no = term(r);
        return set ? yes : no;
    }
    char op = *r->at;
    const char *open = strchr(r->at, '(');
    assert_true(open && (op == 'm' || op == 'a' || op == 'f'));
    const char *ftz = strstr(r->at, ".ftz"), *sat = strstr(r->at, ".sat");
    double arg[3] = {0};
    r->at = open;
    for (unsigned n = 0; n < (op == 'f' ? 3u : 2u); n++) {
        r->at++;
        arg[n] = term(r);
    }
    assert_int_equal(*r->at++, ')');
    return compute(r->kind, op, arg[0], arg[1], arg[2], ftz && ftz < open, sat && sat < open);
}

/* ---- a case's PTX ---- */
static void put(char *text, const char *more)
{
    assert_true(strlen(text) + strlen(more) < TEXT - 1);
    strcat(text, more);
}

/* The body with % before registers and the type for .T and .B. */
static void spell(char *text, const struct kind *k, const char *body)
{
    char last = ' ';
    for (const char *s = body; *s; last = *s++) {
        char one[2] = {*s, 0};
        bool begins = !isalnum((unsigned char)last) && !strchr("_.%$", last);
        if (last == '.' && *s == 'T' && !isalnum((unsigned char)s[1]))
            put(text, k->name);
        else if (last == '.' && *s == 'B' && !isalnum((unsigned char)s[1]))
            put(text, k->bits);
        else {
            if (begins && strchr("vtnxyqp", *s) && isdigit((unsigned char)s[1]))
                put(text, "%");
            put(text, one);
        }
    }
}

/* `results`: "register tree; register tree; …" */
static void ptx_of(char *text, const struct kind *k, const char *body, const char *results, const char *target)
{
    char line[256];
    const char *storage = k->digits == 24 ? "f32" : k->digits == 53 ? "f64" : k->bits;
    snprintf(text, TEXT,
             ".version 8.0\n.target %s\n.address_size 64\n.shared .align 8 .b8 sh[64];\n"
             ".func (.param .b32 r) other() { st.param.b32 [r], 5; ret; }\n",
             target);
    put(text, ENTRY);
    snprintf(line, sizeof line, ".reg .%s %%v<8>, %%t<32>;\n", storage);
    put(text, line);
    put(text, ".reg .b32 %n<9>; .reg .f32 %x<5>; .reg .f64 %y<5>; .reg .b64 %q<5>;\n"
              "mov.u32 %n0, %gid; mov.u32 %n1, 7; mad.wide.u32 %q0, %gid, 64, %a; mad.wide.u32 %q1, %gid, 128, %b;\n"
              "mad.wide.u32 %q2, %gid, 64, %c; and.b32 %n2, %n0, 1; setp.ne.u32 %p0, %n2, 0;\n"
              "and.b32 %n2, %n0, 2; setp.ne.u32 %p1, %n2, 0; mov.f32 %x0, 0f40400000; mov.f32 %x1, 0f40A00000;\n"
              "mov.f64 %y0, 0d4008000000000000; mov.f64 %y1, %y0;\n");
    for (unsigned n = 0; n < INPUTS; n++) {
        snprintf(line, sizeof line, "ld.global.%s %%v%u, [%%q0+%u];\n", k->bits, n, 8 * n);
        put(text, line);
    }
    spell(text, k, body);
    put(text, "\n");
    unsigned out = 0;
    for (const char *s = results; s && *s; out++) {
        char reg[8];
        assert_int_equal(sscanf(s, " %7s", reg), 1);
        snprintf(line, sizeof line, "st.global.%s [%%q1+%u], %%%s;\n", k->bits, 8 * out, reg);
        put(text, line);
        s = strchr(s, ';');
        s += s != NULL;
    }
    assert_in_range(out, 1, OUTPUTS);
    put(text, "ret;\n}\n");
}

/* ---- running it ---- */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
    return x ^ x >> 32;
}

/* One number's bits: all digits at random, magnitudes from a half to two, either sign. */
static uint64_t input_bits(const struct kind *k, uint64_t random)
{
    int width = k->digits == 53 ? 64 : k->digits == 24 ? 32 : 16, fraction = k->digits - 1;
    uint64_t exponent = (uint64_t)(k->most - (int)(random >> 60 & 1));
    return (random & ((1ull << fraction) - 1)) | exponent << fraction | (random >> 61 & 1) << (width - 1);
}

struct run {
    struct kit kit;
    uint64_t in, out, scratch;
    unsigned told, seen, step; /* every how manyth case runs: compiling takes its time */
};

static void open_run(struct run *r, const char *engine)
{
    setenv("MARGAY_ENGINE", engine, 1);
    kit_open(&r->kit, 1, 0, 0, NULL);
    r->in = kit_alloc(&r->kit, THREADS * 64);
    r->out = kit_alloc(&r->kit, THREADS * 128);
    r->scratch = kit_alloc(&r->kit, THREADS * 64);
}

static uint64_t part(const struct kind *k, const void *at, unsigned half)
{
    uint64_t bits = 0;
    unsigned size = k->size / k->halves;
    memcpy(&bits, (const char *)at + half * size, size);
    return bits;
}

static void hold(struct run *r, const struct kind *k, const char *text, const char *results, unsigned seed)
{
    if (r->seen++ % r->step)
        return;
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned n = 0; n < INPUTS; n++) {
            uint64_t bits = 0;
            uint64_t random = mixed(((uint64_t)seed * THREADS + t) * 64 + n + 1);
            for (unsigned h = 0; h < k->halves; h++)
                bits |= input_bits(k, mixed(random + h)) << 16 * h;
            memcpy((void *)(uintptr_t)(r->in + 64 * t + 8 * n), &bits, 8);
        }
    memset((void *)(uintptr_t)r->out, 0, THREADS * 128);
    kit_load(&r->kit, text);
    enum mg_status status = kit_launch(&r->kit, 1, THREADS, (struct kit_params){{r->in, r->out, r->scratch, 0}});
    if (status != MG_OK)
        print_error("%s\n", text);
    kit_expect(&r->kit, MG_OK);
    unsigned wrong = 0, first = OUTPUTS;
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned h = 0; h < k->halves; h++) {
            double v[INPUTS];
            for (unsigned n = 0; n < INPUTS; n++)
                v[n] = decode(k, part(k, (void *)(uintptr_t)(r->in + 64 * t + 8 * n), h));
            unsigned out = 0;
            for (const char *s = results; s && *s; out++) {
                while (*s == ' ')
                    s++;
                struct reader reader = {k, v, t, strchr(s, ' ') + 1};
                double want = term(&reader);
                double got = decode(k, part(k, (void *)(uintptr_t)(r->out + 128 * t + 8 * out), h));
                bool differs = isnan(want) ? !isnan(got) : want != got || !signbit(want) != !signbit(got);
                first = differs && out < first ? out : first;
                wrong += differs;
                s = strchr(s, ';');
                s += s != NULL;
            }
        }
    if (wrong && r->told++ < 5)
        print_error("%s, %s: %u results, of number %u first, differ from %s\n%s\n", getenv("MARGAY_ENGINE"), k->name,
                    wrong, first, results, strstr(text, "%v7, "));
}

static void under_engines(void (*test)(struct run *))
{
    static const char *const engines[] = {"interp", "quick", "jit"};
    char kept[64] = "";
    const char *was = getenv("MARGAY_ENGINE");
    snprintf(kept, sizeof kept, "%s", was ? was : "");
    for (unsigned e = 0; e < (kit_compiles() ? 3 : 1); e++) {
        struct run r = {.seen = e, .step = e ? 3 : 1};
        open_run(&r, engines[e]);
        test(&r);
        kit_close(&r.kit);
        assert_int_equal(r.told, 0);
    }
    if (was)
        setenv("MARGAY_ENGINE", kept, 1);
    else
        unsetenv("MARGAY_ENGINE");
}

/* ---- the rule, one case a line ---- */
struct rule {
    const char *letters; /* of the kinds that it is for; "": all */
    const char *body, *results;
};
#define P "mul.T t0,v0,v1;\n"
#define JOIN "@p0 bra $L;\nst.global.B [q2],v3;\n$L:\n"
static const struct rule rules[] = {
    /* a sum, a difference, either way round */
    {"", P "add.T t1,t0,v2;", "t1 fma(v0,v1,v2)"},
    {"", P "add.T t1,v2,t0;", "t1 fma(v0,v1,v2)"},
    {"", P "sub.T t1,t0,v2;", "t1 fma(v0,v1,-v2)"},
    {"", P "sub.T t1,v2,t0;", "t1 fma(-v0,v1,v2)"},
    {"", "mul.T t0,v0,v0; add.T t1,t0,v0;", "t1 fma(v0,v0,v0)"},
    /* a rounding on either side */
    {"", "mul.rn.T t0,v0,v1; sub.T t1,v2,t0;", "t1 add(v2,-mul(v0,v1))"},
    {"", P "sub.rn.T t1,v2,t0;", "t1 add(v2,-mul(v0,v1))"},
    {"", P "sub.rn.T t1,v2,t0; add.T t2,t0,v3;", "t1 add(v2,-mul(v0,v1));t2 add(mul(v0,v1),v3)"},
    {"", P "fma.rn.T t1,v3,v4,t0; add.T t2,t0,v2;", "t1 fma(v3,v4,mul(v0,v1));t2 add(mul(v0,v1),v2)"},
    /* several uses: all must be sums */
    {"", P "add.T t1,t0,v2; sub.T t2,v3,t0; sub.T t3,t0,v4;", "t1 fma(v0,v1,v2);t2 fma(-v0,v1,v3);t3 fma(v0,v1,-v4)"},
    {"", P "add.T t1,t0,v2;", "t1 add(mul(v0,v1),v2);t0 mul(v0,v1)"},
    {"", P "add.T t1,t0,v2; mul.T t2,t0,v3;", "t1 add(mul(v0,v1),v2);t2 mul(mul(v0,v1),v3)"},
    {"", P "add.T t1,t0,t0;", "t1 add(mul(v0,v1),mul(v0,v1))"},
    {"", P "add.T t1,t0,t0; add.T t2,t0,v2;", "t1 add(mul(v0,v1),mul(v0,v1));t2 add(mul(v0,v1),v2)"},
    {"", P "abs.T t1,t0; add.T t2,t0,v2; sub.T t1,t1,t1;", "t2 add(mul(v0,v1),v2);t1 #0"},
    {"sd", P "selp.T t1,t0,v2,p0; add.T t2,t1,v3;", "t2 p0?add(mul(v0,v1),v3):add(v2,v3)"},
    {"", P "min.T t1,t0,v2; add.T t2,t0,v3; sub.T t1,t1,t1;", "t2 add(mul(v0,v1),v3);t1 #0"},
    /* which of two products */
    {"", P "mul.T t1,v2,v3; add.T t2,t0,t1;", "t2 fma(v0,v1,mul(v2,v3))"},
    {"", P "mul.T t1,v2,v3; add.T t2,t1,t0;", "t2 fma(v2,v3,mul(v0,v1))"},
    {"", P "mul.T t1,v2,v3; sub.T t2,t0,t1;", "t2 fma(v0,v1,-mul(v2,v3))"},
    {"", P "mul.T t1,v2,v3; sub.T t2,t1,t0;", "t2 fma(v2,v3,-mul(v0,v1))"},
    {"", P "mul.T t1,v2,v3; mul.T t2,v4,v5; add.T t3,t0,t1; add.T t4,t3,t2;", "t4 fma(v4,v5,fma(v0,v1,mul(v2,v3)))"},
    {"", P "mul.T t1,v2,v3; add.T t2,t0,t1; add.T t3,t0,v4;", "t2 fma(v2,v3,mul(v0,v1));t3 add(mul(v0,v1),v4)"},
    {"", P "mul.T t1,v2,v3; add.T t2,t0,t1; sub.T t3,t0,t1;", "t2 fma(v0,v1,mul(v2,v3));t3 fma(v0,v1,-mul(v2,v3))"},
    {"", P "mul.T t1,v2,v3; add.T t2,t0,t1;", "t2 fma(v2,v3,mul(v0,v1));t0 mul(v0,v1)"},
    {"", P "mul.T t1,t0,v2; add.T t2,t1,t0;", "t2 fma(mul(v0,v1),v2,mul(v0,v1))"},
    /* the sum with a product of one use goes first, but for 16 bits */
    {"sd", P "sub.T t1,v2,t0; mul.T t2,v3,v4; add.T t3,t0,t2;", "t1 add(v2,-mul(v0,v1));t3 fma(v3,v4,mul(v0,v1))"},
    {"hHbB", P "sub.T t1,v2,t0; mul.T t2,v3,v4; add.T t3,t0,t2;", "t1 fma(-v0,v1,v2);t3 fma(v3,v4,mul(v0,v1))"},
    /* copies and negations */
    {"", P "mov.B t1,t0; mov.B t2,t1; sub.T t3,v2,t2;", "t3 fma(-v0,v1,v2)"},
    {"", P "mov.B t1,t0; add.T t2,t0,v2;", "t2 add(mul(v0,v1),v2);t1 mul(v0,v1)"},
    {"sdhHb", P "neg.T t1,t0; add.T t2,t1,v2; sub.T t3,v3,t1;", "t2 fma(-v0,v1,v2);t3 fma(v0,v1,v3)"},
    {"sdhHb", P "neg.T t1,t0; sub.T t2,t1,v2;", "t2 fma(-v0,v1,-v2)"},
    {"sdhHb", P "neg.T t1,t0; neg.T t2,t1; add.T t3,t2,v2;", "t3 fma(v0,v1,v2)"},
    {"B", P "neg.T t1,t0; add.T t2,t1,v2;", "t2 add(-mul(v0,v1),v2)"},
    {"", P "neg.T t1,t0; add.T t2,t0,v2;", "t2 add(mul(v0,v1),v2);t1 -mul(v0,v1)"},
    {"", "neg.T t3,v0; mul.T t0,t3,v1; neg.T t4,v2; add.T t1,t0,t4;", "t1 fma(-v0,v1,-v2)"},
    /* what nothing reads is no use */
    {"", P "mul.T t1,t0,v2; sub.T t2,v3,t0;", "t2 fma(-v0,v1,v3)"},
    {"", P "mul.T t1,t0,v2; add.T t1,t1,t0; mov.B t3,t1; sub.T t2,v3,t0;", "t2 fma(-v0,v1,v3)"},
    /* constants */
    {"s", "mul.f32 t0,v0,0f40400000; sub.f32 t1,v1,t0;", "t1 fma(-v0,#3,v1)"},
    {"s", "mul.f32 t0,0f40400000,v0; sub.f32 t1,0f40a00000,t0;", "t1 fma(#-3,v0,#5)"},
    {"s", P "sub.f32 t1,t0,0f40400000;", "t1 fma(v0,v1,#-3)"},
    {"d", "mul.f64 t0,v0,0d4008000000000000; sub.f64 t1,v1,t0;", "t1 fma(-v0,#3,v1)"},
    {"d", P "sub.f64 t1,t0,0d4008000000000000;", "t1 fma(v0,v1,#-3)"},
    /* .ftz and .sat */
    {"shH", "mul.ftz.T t0,v0,v1; sub.ftz.T t1,v2,t0;", "t1 fma.ftz(-v0,v1,v2)"},
    {"shH", "mul.ftz.T t0,v0,v1; sub.T t1,v2,t0;", "t1 add(v2,-mul.ftz(v0,v1))"},
    {"shH", P "sub.ftz.T t1,v2,t0;", "t1 add.ftz(v2,-mul(v0,v1))"},
    {"shH", P "sub.ftz.T t1,v2,t0; add.T t2,t0,v3;", "t1 add.ftz(v2,-mul(v0,v1));t2 add(mul(v0,v1),v3)"},
    {"shH", P "sub.sat.T t1,v2,t0; add.T t2,t0,v3;", "t1 fma.sat(-v0,v1,v2);t2 fma(v0,v1,v3)"},
    {"shH", "mul.ftz.T t0,v0,v1; sub.ftz.sat.T t1,v2,t0;", "t1 fma.ftz.sat(-v0,v1,v2)"},
    {"shH", "mul.sat.T t0,v0,v1; sub.T t1,v2,t0;", "t1 add(v2,-mul.sat(v0,v1))"},
    {"shH", "mul.sat.T t0,v0,v1; mul.T t1,v2,v3; add.T t2,t0,t1;", "t2 fma(v2,v3,mul.sat(v0,v1))"},
    {"s", "mul.ftz.T t0,v0,v1; neg.ftz.T t1,t0; add.ftz.T t2,t1,v2;", "t2 fma.ftz(-v0,v1,v2)"},
    {"hH", "mul.ftz.T t0,v0,v1; neg.ftz.T t1,t0; add.ftz.T t2,t1,v2;", "t2 add.ftz(-mul.ftz(v0,v1),v2)"},
    {"s", "mul.ftz.T t0,v0,v1; neg.ftz.T t1,t0; sub.ftz.T t2,t1,v2;", "t2 fma.ftz(-v0,v1,-v2);t1 -mul.ftz(v0,v1)"},
    {"s", "mul.ftz.T t0,v0,v1; neg.ftz.T t1,t0; sub.ftz.T t2,v2,t0;",
     "t2 add.ftz(v2,-mul.ftz(v0,v1));t1 -mul.ftz(v0,v1)"},
    {"s", "mul.ftz.T t0,v0,v1; neg.T t1,t0; sub.ftz.T t2,t1,v2;", "t2 add.ftz(-mul.ftz(v0,v1),-v2);t1 -mul.ftz(v0,v1)"},
    {"shH", P "neg.ftz.T t1,t0; add.T t2,t1,v2;", "t2 add(-mul(v0,v1),v2)"},
    /* guards */
    {"", "mov.B t1,v5;" P "@p0 sub.T t1,v2,t0;", "t1 p0?fma(-v0,v1,v2):v5"},
    {"", "mov.B t1,v5;" P "@p0 sub.T t1,v2,t0;\n@!p0 sub.T t1,t0,v3;", "t1 p0?fma(-v0,v1,v2):fma(v0,v1,-v3)"},
    {"", "mov.B t0,v5;\n@p0 " P "sub.T t1,v2,t0;", "t1 p0?add(v2,-mul(v0,v1)):add(v2,-v5)"},
    {"", "mov.B t0,v5; mov.B t1,v6;\n@p0 " P "@p0 sub.T t1,v2,t0;", "t1 p0?add(v2,-mul(v0,v1)):v6"},
    {"", P "@p0 mov.B t0,v5;\nsub.T t1,v2,t0;", "t1 p0?add(v2,-v5):add(v2,-mul(v0,v1))"},
    {"", P "@p0 add.T t0,t0,v5;", "t0 p0?add(mul(v0,v1),v5):mul(v0,v1)"},
    {"", "mov.B t1,v5;" P "@p0 mov.B t1,t0;\nadd.T t2,t0,v2;", "t1 p0?mul(v0,v1):v5;t2 add(mul(v0,v1),v2)"},
    /* registers that change */
    {"", P "mov.B v0,v5; sub.T t1,v2,t0; add.T t2,t1,v0;", "t2 add(fma(-v0,v1,v2),v5)"},
    {"", P "mov.B v0,v5; mov.B v1,v6; sub.T t1,v2,t0; add.T t2,t1,v1;", "t2 add(fma(-v0,v1,v2),v6)"},
    {"", P "@p0 mov.B v0,v5;\nsub.T t1,v2,t0;", "t1 fma(-v0,v1,v2);v0 p0?v5:v0"},
    {"", P "add.T v2,v2,t0; mul.T t0,v3,v4; sub.T v2,v2,t0;", "v2 fma(-v3,v4,fma(v0,v1,v2))"},
    {"", "mul.T v0,v0,v1; sub.T v0,v0,v2; mul.T v0,v0,v1; sub.T v0,v3,v0;", "v0 fma(-fma(v0,v1,-v2),v1,v3)"},
    {"", P "add.T t1,t0,v2; mul.T t0,v3,v4;", "t1 fma(v0,v1,v2);t0 mul(v3,v4)"},
    /* a factor changes, and the product is wanted as an addend */
    {"hHbB", P "mov.B v0,v5; sub.T t1,v2,t0; mul.T t2,v3,v4; add.T t3,t0,t2;",
     "t1 fma(-v0,v1,v2);t3 fma(v3,v4,mul(v0,v1))"},
    {"sd", P "mul.T t1,v2,v3; mov.B v0,v5; mov.B v1,v6; sub.T t2,v4,t0; add.T t3,t1,t0; add.T t4,t1,v7;",
     "t2 fma(-v0,v1,v4);t3 fma(v2,v3,mul(v0,v1));t4 fma(v2,v3,v7)"},
    /* blocks */
    {"", P "mov.B t1,v5;\n@p0 bra $L;\nsub.T t1,v2,t0;\n$L:", "t1 p0?v5:add(v2,-mul(v0,v1))"},
    {"", P "sub.T t1,v2,t0;\nmov.B t2,v6;\n@p0 bra $L;\nsub.T t2,v3,t0;\n$L:",
     "t1 add(v2,-mul(v0,v1));t2 p0?v6:add(v3,-mul(v0,v1))"},
    {"", "mov.B t1,v5;\n@p0 bra $L;\n" P "sub.T t1,v2,t0;\n$L:", "t1 p0?v5:fma(-v0,v1,v2)"},
    {"", P JOIN "sub.T t1,v2,t0;", "t1 add(v2,-mul(v0,v1))"},
    {"", P "bra.uni $L;\n$L:\nsub.T t1,v2,t0;", "t1 fma(-v0,v1,v2)"},
    {"", P "$L:\nsub.T t1,v2,t0;", "t1 fma(-v0,v1,v2)"},
    {"", "@p0 bra $X;\n" P "bra.uni $L;\n$X:\nmul.T t0,v3,v4;\n$L:\nsub.T t1,v2,t0;",
     "t1 p0?add(v2,-mul(v3,v4)):add(v2,-mul(v0,v1))"},
    {"", P "sub.T t1,v2,t0;\nsetp.lt.u32 p2,n0,100;\n@!p2 ret;", "t1 fma(-v0,v1,v2)"},
    {"", P "setp.lt.u32 p2,n0,100;\n@!p2 ret;\nsub.T t1,v2,t0;", "t1 add(v2,-mul(v0,v1))"},
    /* loops: in one round; before; carried to the next */
    {"",
     "mov.B t1,v5; mov.u32 n3,0;\n$L:\n" P "sub.T t1,t1,t0; mov.B v0,t1; add.u32 n3,n3,4; setp.lt.u32 p2,n3,n1;\n"
     "@p2 bra $L;",
     "t1 fma(-fma(-v0,v1,v5),v1,fma(-v0,v1,v5))"},
    {"", P "mov.B t1,v5; mov.u32 n3,0;\n$L:\nsub.T t1,t1,t0; add.u32 n3,n3,4; setp.lt.u32 p2,n3,n1;\n@p2 bra $L;",
     "t1 add(add(v5,-mul(v0,v1)),-mul(v0,v1))"},
    {"",
     P "mov.B t1,v5; mov.u32 n3,0;\n$L:\nsub.T t1,t1,t0; bar.warp.sync -1; mul.T t0,v2,v3; add.u32 n3,n3,4; "
       "setp.lt.u32 p2,n3,n1;\n@p2 bra $L;",
     "t1 add(add(v5,-mul(v0,v1)),-mul(v2,v3))"},
};

static void test_rules(struct run *r)
{
    static char text[TEXT];
    for (unsigned i = 0; i < MG_COUNT(rules); i++)
        for (unsigned k = 0; k < MG_COUNT(kinds); k++)
            if (!*rules[i].letters || strchr(rules[i].letters, kinds[k].letter)) {
                ptx_of(text, &kinds[k], rules[i].body, rules[i].results, "sm_90");
                hold(r, &kinds[k], text, rules[i].results, i);
            }
}

/* ---- what ends a stretch ---- */
static const char *const ends[] = {
    "{ .param .b32 r0; call.uni (r0), other, (); ld.param.u32 n5,[r0]; }",
    "membar.cta;",
    "membar.gl;",
    "fence.acq_rel.gpu;",
    "fence.sc.cta;",
    "pmevent 1;",
    "div.rn.f32 x1,x1,x0;",
    "div.rn.ftz.f32 x1,x1,x0;",
    "div.rz.f32 x1,x1,x0;",
    "rcp.rn.f32 x1,x0;",
    "sqrt.rn.f32 x1,x0;",
    "sqrt.rm.ftz.f32 x1,x0;",
    "div.rn.f64 y1,y1,y0;",
    "rcp.rn.f64 y1,y0;",
    "sqrt.rn.f64 y1,y0;",
    "rsqrt.approx.f64 y1,y0;",
    "div.s32 n5,n0,n1;",
    "rem.s32 n5,n0,n1;",
    "div.u64 q3,q1,q0;",
    "rem.s64 q3,q1,q0;",
    "@p0 ld.global.u32 n5,[q2];",
    "@p0 st.global.u32 [q2],n0;",
    "@p0 bar.warp.sync -1;",
    "@!p1 red.global.add.u32 [q2],1;",
    "@p0 ld.shared.u32 n5,[sh];",
};
static const char *const keeps[] = {
    "bar.sync 0;",
    "bar.warp.sync -1;",
    "st.global.u32 [q2],n0;",
    "ld.global.u32 n5,[q2];",
    "ld.volatile.global.u32 n5,[q2];",
    "atom.global.add.u32 n5,[q2],1;",
    "red.global.add.u32 [q2],1;",
    "atom.shared.add.u32 n5,[sh],1;",
    "shfl.sync.bfly.b32 n5,n0,1,31,-1;",
    "vote.sync.ballot.b32 n5,p0,-1;",
    "activemask.b32 n5;",
    "redux.sync.add.u32 n5,n0,-1;",
    "div.u32 n5,n0,n1;",
    "rem.u32 n5,n0,n1;",
    "div.approx.f32 x1,x1,x0;",
    "div.full.f32 x1,x1,x0;",
    "rcp.approx.ftz.f32 x1,x0;",
    "sqrt.approx.f32 x1,x0;",
    "rsqrt.approx.f32 x1,x0;",
    "sin.approx.f32 x1,x0;",
    "ex2.approx.f32 x1,x0;",
    "rcp.approx.ftz.f64 y1,y0;",
    "@p0 add.u32 n5,n0,1;",
    "@p0 mov.u32 n5,n0;",
    "@p0 div.u32 n5,n0,n1;",
    "@p0 mul.f64 y1,y1,y0;",
    "@p0 sqrt.approx.f32 x1,x0;",
    "@p0 setp.lt.u32 p3,n0,n1;",
    "cvt.rzi.s64.f64 q3,y0;",
    "mul.lo.u64 q3,q0,q1;",
    "ld.acquire.gpu.global.u32 n5,[q2];",
    "nanosleep.u32 10;",
};

static void test_stretches(struct run *r)
{
    static char text[TEXT], body[512];
    for (unsigned i = 0; i < MG_COUNT(ends) + MG_COUNT(keeps); i++) {
        bool end = i < MG_COUNT(ends);
        const struct kind *k = &kinds[i % MG_COUNT(kinds)];
        const char *results = end ? "t1 add(v2,-mul(v0,v1))" : "t1 fma(-v0,v1,v2)";
        snprintf(body, sizeof body, P "%s\nsub.T t1,v2,t0;", end ? ends[i] : keeps[i - MG_COUNT(ends)]);
        ptx_of(text, k, body, results, "sm_90");
        hold(r, k, text, results, i);
    }
}

/* Nothing is fused where nvcc asked for debugging. Counts do not tell: both instructions are counted either way. */
static void test_debug(struct run *r)
{
    static char text[TEXT];
    for (unsigned k = 0; k < MG_COUNT(kinds); k++) {
        ptx_of(text, &kinds[k], P "sub.T t1,v2,t0;", "t1 add(v2,-mul(v0,v1))", "sm_90, debug");
        hold(r, &kinds[k], text, "t1 add(v2,-mul(v0,v1))", 1);
    }
}

/* ---- what the machine code computes ---- */
static void test_machine_code(struct run *r)
{
    static char text[TEXT], body[TEXT], results[TEXT];
    char line[4096];
    FILE *f = fopen("tests/simt/fused.cases", "r");
    assert_non_null(f);
    const struct kind *kind = NULL;
    unsigned cases = 0, fused = 0;
    for (bool more = true; more;) {
        more = fgets(line, sizeof line, f) != NULL;
        line[strcspn(line, "\n")] = 0;
        if ((!more || strncmp(line, "case ", 5) == 0) && kind) {
            ptx_of(text, kind, body, results, "sm_90");
            hold(r, kind, text, results, ++cases);
            fused += strstr(results, "fma") != NULL;
        }
        if (!more || *line == '#')
            continue;
        if (strncmp(line, "case ", 5) == 0) {
            kind = NULL;
            for (unsigned k = 0; k < MG_COUNT(kinds); k++)
                if (strcmp(kinds[k].name, line + 5) == 0)
                    kind = &kinds[k];
            assert_non_null(kind);
            *body = *results = 0;
        } else if (*line == '=') {
            put(results, line + 2);
            put(results, ";");
        } else {
            put(body, line);
            put(body, "\n");
        }
    }
    fclose(f);
    assert_in_range(cases, 400, 10000);
    assert_true(fused > cases / 4);
}

static void rules_hold(void **state)
{
    (void)state;
    under_engines(test_rules);
}
static void stretches_end(void **state)
{
    (void)state;
    under_engines(test_stretches);
}
static void debug_is_left_alone(void **state)
{
    (void)state;
    under_engines(test_debug);
}
static void machine_code_agrees(void **state)
{
    (void)state;
    under_engines(test_machine_code);
}

int kit_run_fused(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_hold),
        cmocka_unit_test(stretches_end),
        cmocka_unit_test(debug_is_left_alone),
        cmocka_unit_test(machine_code_agrees),
    };
    return cmocka_run_group_tests_name("fused", tests, NULL, NULL);
}
