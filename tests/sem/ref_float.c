/* ref_float.c - floating point by MPFR: the exact operation, one rounding, then what PTX and the H100 make of flushing,
 * clamping and NaN. MPFR rounds with exponents without end first, which is also where the hardware judges tininess.
 *
 * The rules for NaN come from running all operations on an H100 (docs/semantics.md); tests/sem/h100.txt holds them.
 */
#include "ref_priv.h"
#include <mpfr.h>
#include <stdlib.h>

struct format {
    const char *name;
    int bits, digits, bias; /* of the encoding; of the significand, hidden one included */
};
static const struct format formats[] = {{"f16", 16, 11, 15},   {"bf16", 16, 8, 127}, {"f32", 32, 24, 127},
                                        {"f64", 64, 53, 1023}, {"tf32", 19, 11, 127}, {"e4m3", 8, 4, 7},
                                        {"e5m2", 8, 3, 15}};
static const struct format *find_format(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}
static uint64_t exponent_mask(const struct format *f)
{
    return ((uint64_t)1 << (f->bits - f->digits)) - 1;
}
static uint64_t infinity(const struct format *f)
{
    return exponent_mask(f) << (f->digits - 1);
}
static uint64_t sign_of(uint64_t v, const struct format *f)
{
    return v >> (f->bits - 1) & 1;
}
static uint64_t magnitude(uint64_t v, const struct format *f)
{
    return v & (((uint64_t)1 << (f->bits - 1)) - 1);
}
static bool is_nan(uint64_t v, const struct format *f)
{
    return magnitude(v, f) > (f->bits == 8 && f->bias == 7 ? 0x7e : infinity(f));
}
static uint64_t canonical(const struct format *f)
{
    return f->bits == 64 ? 0xfff8000000000000 : ((uint64_t)1 << (f->bits - 1)) - 1;
}
static uint64_t flush(uint64_t v, const struct format *f)
{
    return (v & infinity(f)) ? v : v & (uint64_t)1 << (f->bits - 1);
}

/* Scratch numbers, made once; the test is one thread. */
static mpfr_t x[5];
static void ready(void)
{
    static bool done;
    for (int i = 0; i < 5 && !done; i++)
        mpfr_init2(x[i], 4400);
    done = true;
}
static void load(mpfr_t out, uint64_t v, const struct format *f)
{
    uint64_t mag = magnitude(v, f);
    if (is_nan(v, f)) {
        mpfr_set_nan(out);
        return;
    }
    if (mag == infinity(f) && !(f->bits == 8 && f->bias == 7)) {
        mpfr_set_inf(out, sign_of(v, f) ? -1 : 1);
        return;
    }
    int exp = (int)(mag >> (f->digits - 1));
    uint64_t sig = mag & (((uint64_t)1 << (f->digits - 1)) - 1);
    if (exp)
        sig |= (uint64_t)1 << (f->digits - 1);
    mpfr_set_uj_2exp(out, sig, (exp ? exp : 1) - f->bias - f->digits + 1, MPFR_RNDN);
    if (sign_of(v, f))
        mpfr_neg(out, out, MPFR_RNDN);
}
static mpfr_rnd_t direction(uint32_t mode)
{
    static const mpfr_rnd_t rounds[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU};
    return rounds[mode & 3];
}
/* Rounds `exact` (any precision) to the format. NaN: the canonical one. */
static uint64_t store(mpfr_t exact, const struct format *f, uint32_t mode)
{
    static mpfr_t r, scaled;
    static bool made;
    if (!made) {
        mpfr_init2(r, 53);
        mpfr_init2(scaled, 4400);
        made = true;
    }
    uint64_t top = (uint64_t)1 << (f->bits - 1), inf = infinity(f);
    bool e4m3 = f->bits == 8 && f->bias == 7; /* its top exponent is one of numbers; 0x7f stands for too large */
    if (e4m3)
        inf = 0x7f;
    if (mpfr_nan_p(exact))
        return canonical(f);
    uint64_t sign = mpfr_signbit(exact) ? top : 0;
    if (mpfr_zero_p(exact))
        return sign;
    if (mpfr_inf_p(exact))
        return sign | inf;
    mpfr_rnd_t rnd = direction(mode);
    mpfr_set_prec(r, f->digits);
    mpfr_set(r, exact, rnd); /* exponents without end */
    mpfr_set_ui_2exp(scaled, 1, 1 - f->bias, MPFR_RNDN);
    bool tiny = mpfr_cmpabs(r, scaled) < 0;
    if (tiny && (mode & SEM_FTZ))
        return sign;
    uint64_t mag;
    if (tiny || mpfr_cmpabs(exact, scaled) < 0) { /* in the subnormal range: a multiple of the least one */
        mpfr_mul_2si(scaled, exact, f->bias + f->digits - 2, MPFR_RNDN);
        mpfr_rint(scaled, scaled, rnd);
        mpfr_abs(scaled, scaled, MPFR_RNDN);
        mag = mpfr_get_uj(scaled, MPFR_RNDN);
    } else {
        mpfr_exp_t e = mpfr_get_exp(r); /* r = 0.1… * 2^e */
        if (e - 2 + f->bias >= (mpfr_exp_t)exponent_mask(f) - 1 + e4m3) {
            bool away = rnd == MPFR_RNDN || (rnd == MPFR_RNDU && !sign) || (rnd == MPFR_RNDD && sign);
            return sign | (away ? inf : inf - 1);
        }
        mpfr_abs(scaled, r, MPFR_RNDN);
        mpfr_mul_2si(scaled, scaled, f->digits - e, MPFR_RNDN);
        mag = mpfr_get_uj(scaled, MPFR_RNDN) + ((uint64_t)(e - 2 + f->bias) << (f->digits - 1));
    }
    return sign | mag;
}
/* Clamping at the end: .sat, .relu, .satfinite. */
static uint64_t finish(uint64_t r, const struct format *f, uint32_t mode)
{
    uint64_t one = (uint64_t)f->bias << (f->digits - 1), inf = infinity(f);
    if ((mode & SEM_SATFINITE) && magnitude(r, f) == inf)
        r--;
    if (mode & SEM_SAT)
        r = is_nan(r, f) || sign_of(r, f) ? 0 : r > one ? one : r;
    if ((mode & SEM_RELU) && !(is_nan(r, f) && !sign_of(r, f)) && sign_of(r, f))
        r = 0;
    return r;
}
static uint64_t quiet(uint64_t v)
{
    return v | 0x0008000000000000;
}

/* ---- add, sub, mul, fma, mad, div, rcp, sqrt ---- */
static bool arithmetic(const char *op, const struct format *f, const uint64_t v[4], uint32_t mode, uint64_t *r)
{
    static const char *const ops[] = {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"};
    static const int operands[] = {2, 2, 2, 3, 3, 2, 1, 1};
    int which = 0;
    while (which < 8 && strcmp(op, ops[which]))
        which++;
    if (which == 8)
        return false;
    uint64_t in[3];
    for (int i = 0; i < operands[which]; i++) {
        in[i] = (mode & SEM_FTZ) ? flush(v[i], f) : v[i];
        load(x[i], in[i], f);
    }
    if (f->bits == 64) { /* which NaN is passed on */
        static const int prefer[2][3] = {{1, 2, 0}, {0, 1, 2}};
        for (int i = 0; i < 3; i++) {
            int k = prefer[which >= 5][i];
            if (k < operands[which] && is_nan(in[k], f)) {
                *r = quiet(in[k]);
                return true;
            }
        }
    }
    mpfr_rnd_t rnd = direction(mode);
    mpfr_set_prec(x[3], 4400);
    if (which == 0)
        mpfr_add(x[3], x[0], x[1], rnd);
    else if (which == 1)
        mpfr_sub(x[3], x[0], x[1], rnd);
    else if (which == 2)
        mpfr_mul(x[3], x[0], x[1], rnd);
    else if (which <= 4)
        mpfr_fma(x[3], x[0], x[1], x[2], rnd);
    else { /* not finite in general: enough digits, the last one telling that there is more */
        mpfr_set_prec(x[3], 300);
        int more = which == 5   ? mpfr_div(x[3], x[0], x[1], MPFR_RNDZ)
                   : which == 6 ? mpfr_ui_div(x[3], 1, x[0], MPFR_RNDZ)
                                : mpfr_sqrt(x[3], x[0], MPFR_RNDZ);
        if (more && mpfr_regular_p(x[3])) {
            mpfr_set_ui_2exp(x[4], 1, mpfr_get_exp(x[3]) - 320, MPFR_RNDN);
            mpfr_prec_round(x[3], 400, MPFR_RNDN);
            if (mpfr_sgn(x[3]) > 0)
                mpfr_add(x[3], x[3], x[4], MPFR_RNDN);
            else
                mpfr_sub(x[3], x[3], x[4], MPFR_RNDN);
        }
    }
    *r = finish(store(x[3], f, mode), f, mode);
    return true;
}

static bool minmax(const char *op, const struct format *f, const uint64_t v[4], uint32_t mode, uint64_t *r)
{
    bool max = strcmp(op, "max") == 0;
    if (!max && strcmp(op, "min") != 0)
        return false;
    uint64_t a = v[0], b = v[1], sign = sign_of(a, f) ^ sign_of(b, f);
    if (mode & SEM_FTZ)
        a = flush(a, f), b = flush(b, f);
    if (mode & SEM_XORSIGN_ABS)
        a = magnitude(a, f), b = magnitude(b, f);
    bool na = is_nan(a, f), nb = is_nan(b, f);
    if ((na && nb) || ((na || nb) && (mode & SEM_NAN))) {
        *r = f->bits == 64 ? quiet(b) : canonical(f);
        return true;
    }
    load(x[0], a, f);
    load(x[1], b, f);
    int order = na ? (max ? -1 : 1) : nb ? (max ? 1 : -1) : mpfr_cmp(x[0], x[1]);
    if (order == 0) /* -0 is less than +0 */
        order = (int)sign_of(b, f) - (int)sign_of(a, f);
    *r = (order > 0) == max ? a : b;
    if (mode & SEM_XORSIGN_ABS)
        *r = magnitude(*r, f) | sign << (f->bits - 1);
    return true;
}
static bool compare(const char *cmp, const struct format *f, const uint64_t v[4], uint32_t mode, uint64_t *r)
{
    uint64_t a = (mode & SEM_FTZ) ? flush(v[0], f) : v[0], b = (mode & SEM_FTZ) ? flush(v[1], f) : v[1];
    bool nan = is_nan(a, f) || is_nan(b, f);
    if (strcmp(cmp, "num") == 0 || strcmp(cmp, "nan") == 0) {
        *r = nan == (cmp[1] == 'a');
        return true;
    }
    load(x[0], a, f);
    load(x[1], b, f);
    int order = nan ? 0 : mpfr_cmp(x[0], x[1]);
    char base[3] = {cmp[0], cmp[1], 0};
    bool truth = strcmp(base, "eq") == 0   ? order == 0
                 : strcmp(base, "ne") == 0 ? order != 0
                 : strcmp(base, "lt") == 0 ? order < 0
                 : strcmp(base, "le") == 0 ? order <= 0
                 : strcmp(base, "gt") == 0 ? order > 0
                                           : order >= 0;
    *r = nan ? cmp[2] == 'u' : truth;
    return true;
}

/* ---- conversions ---- */
static void integral(mpfr_t v, uint32_t mode)
{
    if (mpfr_number_p(v))
        mpfr_rint(v, v, direction(mode));
}
static uint64_t float_to_int(uint64_t v, const struct format *s, struct ref_type d, uint32_t mode)
{
    uint64_t low;
    if (is_nan(v, s)) {
        low = d.bits == 64 || s->bits == 64 ? (uint64_t)1 << (d.bits - 1) : 0;
    } else {
        load(x[0], (mode & SEM_FTZ) ? flush(v, s) : v, s);
        integral(x[0], mode);
        sem_s128 lo = d.is_signed ? -((sem_s128)1 << (d.bits - 1)) : 0;
        sem_s128 hi = ((sem_s128)1 << (d.is_signed ? d.bits - 1 : d.bits)) - 1;
        sem_s128 value;
        mpfr_set_ui_2exp(x[1], 1, 64, MPFR_RNDN);
        if (mpfr_cmpabs(x[0], x[1]) >= 0)
            value = mpfr_sgn(x[0]) < 0 ? lo : hi;
        else if (mpfr_sgn(x[0]) < 0) {
            mpfr_neg(x[0], x[0], MPFR_RNDN);
            value = -(sem_s128)mpfr_get_uj(x[0], MPFR_RNDN);
        } else {
            value = (sem_s128)mpfr_get_uj(x[0], MPFR_RNDN);
        }
        low = ref_wrap(value < lo ? lo : value > hi ? hi : value, d.bits);
    }
    return d.bits == 8 ? ref_wrap(ref_value(low, d), 16) : low;
}
static uint64_t convert(uint64_t v, const struct format *s, const struct format *d, uint32_t mode)
{
    uint32_t m = mode;
    if (d->bits != 32 && s->bits != 32)
        m &= ~(uint32_t)SEM_FTZ;
    if (is_nan(v, s)) {
        uint64_t payload = v & (((uint64_t)1 << (s->digits - 1)) - 1), sign = sign_of(v, s);
        bool passes = (s->bits == 64 || d->bits == 64) && !(mode & (SEM_FTZ | SEM_INTEGRAL)) && s != d;
        uint64_t r = canonical(d);
        if (s->bits == 64 && d->bits == 32)
            passes = true;
        if (s == d && d->bits == 64)
            r = quiet(v);
        else if (d->bits == 64 && !passes)
            r = 0x7fffffffe0000000;
        if (passes) {
            int shift = d->digits - s->digits;
            payload = shift > 0 ? payload << shift : payload >> -shift;
            r = sign << (d->bits - 1) | infinity(d) | (uint64_t)1 << (d->digits - 2) | payload;
        } else if (strcmp(s->name, "bf16") == 0 && strcmp(d->name, "f32") == 0) {
            r = v << 16;
        }
        return finish(r, d, mode & SEM_SAT);
    }
    /* .ftz: flushes an f32 source (but for f16's sake it does not), and an f32 result */
    bool from_f32 = s->bits == 32 && d->bits != 16;
    load(x[0], (m & SEM_FTZ) && from_f32 ? flush(v, s) : v, s);
    if (mode & SEM_INTEGRAL)
        integral(x[0], mode);
    if (d->bits != 32)
        m &= ~(uint32_t)SEM_FTZ;
    return finish(store(x[0], d, m), d, mode);
}
static uint64_t to_tf32(uint64_t v, uint32_t mode)
{
    const struct format *s = find_format("f32"), *d = find_format("tf32");
    bool rna = (mode & SEM_RND_MASK) == SEM_RNA;
    uint64_t r;
    if (is_nan(v, s))
        r = rna ? v >> 13 : 0x3ffff;
    else if (rna) /* half a unit up on the magnitude, which runs over into infinity as it should */
        r = magnitude(v, s) == infinity(s) ? v >> 13 : (v + 0x1000) >> 13;
    else {
        load(x[0], v, s);
        r = finish(store(x[0], d, mode & SEM_RND_MASK), d, mode & SEM_RELU);
    }
    if ((mode & SEM_SATFINITE) && (r & infinity(d)) == infinity(d))
        r--;
    return r << 13 & 0xffffffff;
}
static uint64_t to_fp8(uint64_t v, const struct format *s, const struct format *d, uint32_t mode)
{
    if (is_nan(v, s))
        return 0x7f;
    load(x[0], v, s);
    uint64_t r = store(x[0], d, 0), most = d->bias == 7 ? 0x7e : 0x7b;
    if (magnitude(r, d) > most)
        r = (r & 0x80) | most;
    return (mode & SEM_RELU) && sign_of(v, s) ? 0 : r;
}
static bool conversion(const struct ref_name *n, const uint64_t v[4], uint32_t mode, uint64_t *r)
{
    const char *to = n->part[1], *from = n->part[2];
    const struct format *s = find_format(from), *d = find_format(to);
    struct ref_type is, id;
    if (strcmp(to, "tf32") == 0) {
        *r = to_tf32(v[0], mode);
        return true;
    }
    if (s && d && d->bits >= 16) {
        *r = convert(v[0], s, d, mode);
        return true;
    }
    if (s && ref_int_type(to, &id)) {
        *r = float_to_int(v[0], s, id, mode);
        return true;
    }
    if (d && ref_int_type(from, &is)) {
        sem_s128 value = ref_value(v[0], is);
        mpfr_set_uj(x[0], (uint64_t)(value < 0 ? -value : value), MPFR_RNDN);
        if (value < 0)
            mpfr_neg(x[0], x[0], MPFR_RNDN);
        *r = finish(store(x[0], d, mode & SEM_RND_MASK), d, mode);
        return true;
    }
    if ((strcmp(to, "f16x2") == 0 || strcmp(to, "bf16x2") == 0) && strcmp(from, "f32") == 0) {
        d = find_format(to[0] == 'b' ? "bf16" : "f16");
        *r = convert(v[0], s, d, mode) << 16 | convert(v[1], s, d, mode);
        return true;
    }
    const char *fp8 = strncmp(to, "e", 1) == 0 ? to : from;
    d = find_format(strncmp(fp8, "e4m3", 4) == 0 ? "e4m3" : "e5m2");
    const struct format *half = find_format("f16");
    if (fp8 == to && strcmp(from, "f32") == 0) {
        *r = to_fp8(v[0], s, d, mode) << 8 | to_fp8(v[1], s, d, mode);
    } else if (fp8 == to) {
        *r = to_fp8(v[0] >> 16, half, d, mode) << 8 | to_fp8(v[0] & 0xffff, half, d, mode);
    } else {
        *r = 0;
        for (int i = 0; i < 2; i++) {
            load(x[0], v[0] >> 8 * i & 0xff, d);
            *r |= finish(store(x[0], half, 0), half, mode) << 16 * i;
        }
    }
    return true;
}

bool ref_float(const struct ref_name *n, const uint64_t v[4], uint32_t mode, uint64_t *r)
{
    ready();
    const char *op = n->part[0], *last = n->part[n->count - 1];
    if (strcmp(op, "cvt") == 0)
        return conversion(n, v, mode, r);
    if (strcmp(op, "slct") == 0) {
        const struct format *f = find_format("f32");
        uint64_t c = (mode & SEM_FTZ) ? flush(v[2], f) : v[2];
        *r = !is_nan(c, f) && (!sign_of(c, f) || magnitude(c, f) == 0) ? v[0] : v[1];
        return true;
    }
    size_t len = strlen(last);
    if (len > 2 && strcmp(last + len - 2, "x2") == 0) { /* two halves: each on its own */
        struct ref_name one = *n;
        one.part[n->count - 1][len - 2] = 0;
        uint64_t lo[4], hi[4], a, b;
        for (int i = 0; i < 4; i++) {
            lo[i] = v[i] & 0xffff;
            hi[i] = v[i] >> 16 & 0xffff;
        }
        if (!ref_float(&one, lo, mode, &a) || !ref_float(&one, hi, mode, &b))
            return false;
        *r = b << 16 | a;
        return true;
    }
    const struct format *f = find_format(last);
    if (!f)
        return false;
    if (strcmp(op, "setp") == 0)
        return compare(n->part[1], f, v, mode, r);
    if (strcmp(op, "testp") == 0) {
        const char *what = n->part[1];
        uint64_t m = magnitude(v[0], f), inf = infinity(f), least = (uint64_t)1 << (f->digits - 1);
        *r = strcmp(what, "finite") == 0       ? m < inf
             : strcmp(what, "infinite") == 0   ? m == inf
             : strcmp(what, "number") == 0     ? m <= inf
             : strcmp(what, "notanumber") == 0 ? m > inf
             : strcmp(what, "normal") == 0     ? m == 0 || (m >= least && m < inf)
                                               : m > 0 && m < least;
        return true;
    }
    if (strcmp(op, "copysign") == 0) {
        *r = sign_of(v[0], f) << (f->bits - 1) | magnitude(v[1], f);
        return true;
    }
    if (strcmp(op, "abs") == 0 || strcmp(op, "neg") == 0) {
        if (is_nan(v[0], f)) {
            *r = f->bits == 64 ? quiet(v[0]) : canonical(f);
            return true;
        }
        uint64_t a = (mode & SEM_FTZ) ? flush(v[0], f) : v[0];
        *r = op[0] == 'a' ? magnitude(a, f) : a ^ (uint64_t)1 << (f->bits - 1);
        return true;
    }
    return n->count == 2 && (minmax(op, f, v, mode, r) || arithmetic(op, f, v, mode, r));
}

bool ref_eval(const char *row, const uint64_t v[4], uint32_t mode, uint64_t *result)
{
    struct ref_name n = {.count = 0};
    for (const char *p = row; *p && n.count < 8; n.count++) {
        size_t len = strcspn(p, "_");
        snprintf(n.part[n.count], sizeof(n.part[0]), "%.*s", (int)len, p);
        p += len + (p[len] == '_');
    }
    return ref_integer(&n, v, mode, result) || ref_float(&n, v, mode, result);
}
