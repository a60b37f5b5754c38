/* ref_approx.c - the true values of the approximate operations by MPFR, and the bounds that PTX ISA gives them.
 *
 * A bound is relative, absolute, or in units of the last place of the result. Special values (NaN, infinities, zeros
 * and their signs) have no bound: they must be right. Results that are subnormal in a half get half a unit more.
 */
#include "ref_priv.h"
#include <math.h>
#include <mpfr.h>

struct bound {
    const char *row;
    double relative, absolute, ulps;
};
/* PTX ISA 9.0, the description of each instruction. */
static const struct bound bounds[] = {
    {"rcp_approx_f32", 0, 0, 1},
    {"div_full_f32", 0, 0, 2},
    {"div_approx_f32", 0, 0, 2},
    {"sqrt_approx_f32", 0x1p-23, 0, 0},
    {"rsqrt_approx_f32", 0x1.12p-23, 0, 0}, /* 2^-22.9 */
    {"sin_approx_f32", 0, 0x1.6ap-21, 0},   /* 2^-20.5 between -2pi and 2pi; 2^-14.7 to 100pi */
    {"cos_approx_f32", 0, 0x1.6ap-21, 0},
    {"lg2_approx_f32", 0x1p-22, 0x1p-22, 0}, /* absolute between 0.5 and 2, relative outside */
    {"ex2_approx_f32", 0, 0, 2},
    {"tanh_approx_f32", 0x1p-11, 0, 0},
    {"rcp_approx_ftz_f64", 0x1p-19, 0, 0},
    {"rsqrt_approx_ftz_f64", 0x1p-19, 0, 0},
    {"rsqrt_approx_f64", 0x1p-51, 0, 0},
    {"ex2_approx_f16", 0x1.12p-10, 0, 0}, /* 2^-9.9 */
    {"ex2_approx_ftz_bf16", 0x1p-7, 0, 0},
    {"tanh_approx_f16", 0, 0x1.02p-11, 0}, /* 2^-10.987 */
    {"tanh_approx_bf16", 0, 0x1p-8, 0},
};

static double half_value(uint64_t v, int mbits, int bias)
{
    double sign = v >> 15 & 1 ? -1 : 1;
    int exp = (int)(v >> mbits & (mbits == 10 ? 31 : 255));
    uint64_t man = v & (((uint64_t)1 << mbits) - 1);
    if (exp == (mbits == 10 ? 31 : 255))
        return man ? NAN : sign * INFINITY;
    return sign * ldexp((double)(man | (exp ? (uint64_t)1 << mbits : 0)), (exp ? exp : 1) - bias - mbits);
}
static double value(uint64_t v, int kind) /* kind: 16, 17 (bf16), 32, 64 */
{
    if (kind == 16)
        return half_value(v, 10, 15);
    if (kind == 17)
        return half_value(v, 7, 127);
    if (kind == 32) {
        float f;
        uint32_t u = (uint32_t)v;
        memcpy(&f, &u, 4);
        return f;
    }
    double d;
    memcpy(&d, &v, 8);
    return d;
}

bool ref_approx(const char *row, const uint64_t v[4], uint32_t mode, uint64_t result, bool *known)
{
    char name[64];
    size_t len = (size_t)snprintf(name, sizeof(name), "%s", row);
    if (strcmp(name + len - 2, "x2") == 0) {
        name[len - 2] = 0;
        for (int i = 0; i < 2; i++) {
            uint64_t one[4] = {v[0] >> 16 * i & 0xffff};
            if (!ref_approx(name, one, mode, result >> 16 * i & 0xffff, known))
                return false;
        }
        return true;
    }
    const struct bound *b = NULL;
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        if (strcmp(bounds[i].row, name) == 0)
            b = &bounds[i];
    }
    *known = b != NULL;
    if (!b)
        return false;
    bool has64 = strstr(name, "f64") != NULL;
    int kind = has64 ? 64 : strstr(name, "bf16") ? 17 : strstr(name, "f16") ? 16 : 32;
    double least = kind == 64 ? 0x1p-1022 : kind == 16 ? 0x1p-14 : 0x1p-126;
    bool ftz = (mode & SEM_FTZ) || strstr(name, "_ftz_");
    uint64_t bits = v[0];
    if (has64 && ftz)
        bits &= 0xffffffff00000000; /* these look at the upper half */
    double in = value(bits, kind), in2 = value(v[1], kind), out = value(result, kind);
    if (ftz && fabs(in) < least)
        in = copysign(0, in);
    if (ftz && fabs(in2) < least)
        in2 = copysign(0, in2);

    static mpfr_t x, y, t;
    static bool made;
    if (!made) {
        mpfr_inits2(300, x, y, t, (mpfr_ptr)0);
        made = true;
    }
    mpfr_set_d(x, in, MPFR_RNDN);
    if (strncmp(name, "div", 3) == 0) {
        if (strstr(name, "approx") && fabs(in2) > 0x1p126 && isfinite(in2))
            return isinf(in) || isnan(in) ? isnan(out) : out == 0;
        mpfr_set_d(y, in2, MPFR_RNDN);
        mpfr_div(t, x, y, MPFR_RNDN);
    } else if (strncmp(name, "rcp", 3) == 0) {
        mpfr_ui_div(t, 1, x, MPFR_RNDN);
    } else if (strncmp(name, "sqrt", 4) == 0) {
        mpfr_sqrt(t, x, MPFR_RNDN);
    } else if (strncmp(name, "rsqrt", 5) == 0) {
        mpfr_rec_sqrt(t, x, MPFR_RNDN);
        if (in == 0 && signbit(in))
            mpfr_set_inf(t, -1);
    } else if (strncmp(name, "sin", 3) == 0) {
        mpfr_sin(t, x, MPFR_RNDN);
    } else if (strncmp(name, "cos", 3) == 0) {
        mpfr_cos(t, x, MPFR_RNDN);
    } else if (strncmp(name, "lg2", 3) == 0) {
        mpfr_log2(t, x, MPFR_RNDN);
    } else if (strncmp(name, "ex2", 3) == 0) {
        mpfr_exp2(t, x, MPFR_RNDN);
    } else {
        mpfr_tanh(t, x, MPFR_RNDN);
    }
    if (mpfr_nan_p(t)) {
        uint64_t canonical = kind == 64 ? 0 : kind == 32 ? 0x7fffffff : 0x7fff;
        return isnan(out) && (kind == 64 || result == canonical);
    }
    double most = kind == 64 ? 0x1.fffffffffffffp1023 : kind == 32 ? 0x1.fffffep127 : kind == 16 ? 65504 : 0x1.fep127;
    double truth = mpfr_get_d(t, MPFR_RNDN);
    if (mpfr_inf_p(t))
        return isinf(out) && signbit(out) == signbit(truth);
    if (mpfr_zero_p(t))
        return out == 0 && signbit(out) == signbit(truth);
    if (isinf(out))
        return fabs(truth) > most * (1 - 0x1p-8) && signbit(out) == signbit(truth);
    if (ftz && out == 0)
        return fabs(truth) < least * (1 + 0x1p-20) && signbit(out) == (truth < 0);
    if (isnan(out))
        return false;

    double allowed = b->absolute;
    if (strncmp(name, "sin", 3) == 0 || strncmp(name, "cos", 3) == 0) {
        if (fabs(in) > 628.3185) /* nothing is promised there */
            return fabs(out) <= 1;
        allowed = fabs(in) <= 6.2831853 ? b->absolute : 0x1.3bp-15;
    } else if (strncmp(name, "lg2", 3) == 0) {
        allowed = in > 0.5 && in < 2 ? b->absolute : b->relative * fabs(truth);
    } else if (b->ulps > 0) {
        int exp;
        frexp(truth, &exp);
        double ulp = ldexp(1, exp - 24);
        allowed = b->ulps * (ulp < 0x1p-149 ? 0x1p-149 : ulp);
    } else if (b->relative > 0) {
        allowed = b->relative * fabs(truth);
    }
    if (kind == 16)
        allowed += 0x1p-25;
    if (kind == 17)
        allowed += 0x1p-134;
    if (kind == 32)
        allowed += 0x1p-150;
    mpfr_sub_d(t, t, out, MPFR_RNDN);
    return mpfr_cmp_d(t, allowed) <= 0 && mpfr_cmp_d(t, -allowed) >= 0;
}
