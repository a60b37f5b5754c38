/* texels.c - what a texture holds at a place: address modes, filters, conversions, by the CUDA C++ Programming Guide,
 * "Texture Fetching", and the PTX ISA.
 *
 * The fraction that a linear filter weighs by has 8 bits, rounded to the nearest, so 1 is one of its values. Weights
 * and sums are computed in double and rounded once; how a device rounds on the way is not documented, and was not
 * measured. A cube's face is filtered by itself. There is one level: levels and gradients choose nothing.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "simt/texture.h"

/* sem_cvt.h is written over the first one */
#include "sem/sem_base.h"
#include "sem/sem_cvt.h"

struct texel {
    double value[4];  /* of what is a number in the end */
    uint32_t bits[4]; /* of what is not */
};

/* ---- texels ---- */
static bool is_real(const struct mg_texture *t)
{
    return t->kind == MG_TEXEL_FLOAT || t->unit;
}

static uint32_t channel_bits(const uint8_t *at, unsigned bits, bool sign)
{
    uint32_t word = 0;
    memcpy(&word, at, bits / 8);
    if (sign && bits < 32)
        word = (uint32_t)((int32_t)(word << (32 - bits)) >> (32 - bits));
    return word;
}

static double number(const struct mg_texture *t, uint32_t bits)
{
    float f;
    if (t->kind == MG_TEXEL_FLOAT) {
        if (t->bits == 16)
            bits = sem__f16_to_f32((uint16_t)bits);
        memcpy(&f, &bits, sizeof(f));
        return (double)f;
    }
    const double most = (double)((UINT64_C(1) << (t->bits - (t->kind == MG_TEXEL_SIGNED))) - 1);
    double v = t->kind == MG_TEXEL_SIGNED ? (double)(int32_t)bits : (double)bits;
    return fmax(v / most, -1); /* the least of a signed type is -1, too */
}

static struct texel read_at(const struct mg_texture *t, uint32_t x, uint32_t y, uint32_t z)
{
    const unsigned size = t->bits / 8;
    const uint8_t *at =
        (const uint8_t *)(uintptr_t)t->base + z * t->slice + y * t->pitch + (uint64_t)x * size * t->channels;
    struct texel out = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    for (unsigned c = 0; c < t->channels; c++) {
        out.bits[c] = channel_bits(at + c * size, t->bits, t->kind == MG_TEXEL_SIGNED);
        if (is_real(t))
            out.value[c] = number(t, out.bits[c]);
    }
    return out;
}

/* A whole coordinate where it leads. False: to the border. */
static bool settle(int64_t i, uint32_t n, unsigned mode, uint32_t *at)
{
    const int64_t size = n;
    if (i >= 0 && i < size) {
        *at = (uint32_t)i;
        return true;
    }
    if (mode == MG_TEXTURE_BORDER)
        return false;
    if (mode == MG_TEXTURE_CLAMP) {
        *at = i < 0 ? 0 : n - 1;
        return true;
    }
    int64_t period = mode == MG_TEXTURE_MIRROR ? 2 * size : size, k = (i % period + period) % period;
    *at = (uint32_t)(k < size ? k : period - 1 - k);
    return true;
}

static struct texel at_place(const struct mg_texture *t, const int64_t i[3])
{
    const uint32_t n[3] = {t->width, t->height, t->depth};
    uint32_t at[3];
    bool inside = true;
    for (unsigned k = 0; k < 3; k++) {
        unsigned mode = k == 2 && t->layered ? MG_TEXTURE_CLAMP : t->address[k]; /* layers have no other mode */
        inside &= settle(i[k], n[k], mode, &at[k]);
    }
    if (inside)
        return read_at(t, at[0], at[1], at[2]);
    struct texel border = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    for (unsigned c = 0; c < 4; c++) {
        border.value[c] = (double)t->border[c];
        memcpy(&border.bits[c], &t->border[c], sizeof(border.bits[c]));
    }
    return border;
}

static void put(const struct mg_texture *t, const struct texel *v, uint32_t out[4])
{
    for (unsigned c = 0; c < 4; c++) {
        float f = (float)v->value[c];
        if (is_real(t))
            memcpy(&out[c], &f, sizeof(f));
        else
            out[c] = v->bits[c];
    }
}

/* ---- places ---- */
/* A coordinate in texels; what is no number is 0, and what is far away stays beyond every edge. */
static double in_texels(const struct mg_texture *t, float x, uint32_t n, unsigned mode)
{
    const double far = 1e9;
    if (isnan(x))
        return 0;
    if (t->normalized && mode == MG_TEXTURE_WRAP)
        return isinf(x) ? 0 : (double)(x - floorf(x)) * n;
    double v = t->normalized ? (double)x * n : (double)x;
    if (t->normalized && mode == MG_TEXTURE_MIRROR && !isinf(x)) {
        double turn = fmod(fabs((double)x), 2);
        v = (turn < 1 ? turn : 2 - turn) * n;
    }
    return fmax(-far, fmin(far, v));
}

/* The two texels of a linear filter begin at *first; the weight of the second, in 256ths. */
static unsigned between(double x, int64_t *first)
{
    double low = floor(x - 0.5);
    *first = (int64_t)low;
    return (unsigned)floor((x - 0.5 - low) * 256 + 0.5);
}

struct spot {
    int64_t at[3];
    unsigned weight[3]; /* 0: there is no second one */
};

static struct spot find_spot(const struct mg_texture *t, const struct mg_texture_point *p, bool linear)
{
    const float c[3] = {p->x, p->y, p->z};
    const uint32_t n[3] = {t->width, t->height, t->depth};
    struct spot s = {{0, 0, 0}, {0, 0, 0}};
    for (unsigned k = 0; k < 3; k++) {
        double x = in_texels(t, c[k], n[k], t->address[k]);
        if (k == 2 && t->layered)
            s.at[k] = p->layer;
        else if (linear && (k == 0 || n[k] > 1))
            s.weight[k] = between(x, &s.at[k]);
        else
            s.at[k] = n[k] > 1 || k == 0 ? (int64_t)floor(x) : 0;
    }
    return s;
}

void mg__texture_sample(const struct mg_texture *t, const struct mg_texture_point *p, uint32_t out[4])
{
    const bool linear = t->linear && is_real(t);
    const struct spot s = find_spot(t, p, linear);
    struct texel sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    if (!linear) {
        sum = at_place(t, s.at);
        put(t, &sum, out);
        return;
    }
    for (unsigned corner = 0; corner < 8; corner++) {
        int64_t at[3];
        double weight = 1;
        for (unsigned k = 0; k < 3; k++) {
            bool second = corner >> k & 1;
            at[k] = s.at[k] + second;
            weight *= (double)(second ? s.weight[k] : 256 - s.weight[k]) / 256;
        }
        if (weight == 0)
            continue;
        const struct texel v = at_place(t, at);
        for (unsigned c = 0; c < 4; c++)
            sum.value[c] += weight * v.value[c];
    }
    put(t, &sum, out);
}

void mg__texture_fetch(const struct mg_texture *t, const int64_t at[3], uint32_t out[4])
{
    const struct texel v = at_place(t, at);
    put(t, &v, out);
}

void mg__texture_gather(const struct mg_texture *t, const struct mg_texture_point *p, unsigned channel, uint32_t out[4])
{
    static const uint8_t dx[] = {0, 1, 1, 0}, dy[] = {1, 1, 0, 0};
    const struct spot s = find_spot(t, p, true);
    for (unsigned k = 0; k < 4; k++) {
        const int64_t at[3] = {s.at[0] + dx[k], s.at[1] + dy[k], s.at[2]};
        uint32_t all[4];
        const struct texel v = at_place(t, at);
        put(t, &v, all);
        out[k] = all[channel];
    }
}

/* Programming Guide, "Cubemap Textures": the axis of the largest coordinate names the face. */
struct mg_texture_point mg__texture_face(const struct mg_texture_point *d)
{
    float x = fabsf(d->x), y = fabsf(d->y), z = fabsf(d->z), m, s, t;
    int face;
    if (x >= y && x >= z) {
        face = d->x < 0;
        m = x, s = d->x < 0 ? d->z : -d->z, t = -d->y;
    } else if (y >= z) {
        face = 2 + (d->y < 0);
        m = y, s = d->x, t = d->y < 0 ? -d->z : d->z;
    } else {
        face = 4 + (d->z < 0);
        m = z, s = d->z < 0 ? -d->x : d->x, t = -d->y;
    }
    return (struct mg_texture_point){(s / m + 1) / 2, (t / m + 1) / 2, 0, face};
}
