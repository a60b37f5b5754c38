/* texels.c - what a texture holds at a place: address modes, filters, conversions, by the CUDA C++ Programming Guide,
 * "Texture Fetching", and the PTX ISA; how it rounds on the way, as an H200 does (tests/hardware/textures.cu).
 *
 * - A coordinate that is a part of the size loses what is beyond 21 bits behind the point, downwards, before it is
 *   multiplied with the size. A filter's place is a whole number of 256ths of a texel, a tie upwards.
 * - Weights are 256ths, too. Those of a volume are split along z, then x, then y, each time one part rounded and the
 *   other what is left (`weigh`); a plane's along both at once. A line is a plane of one row, looked at beside its
 * edge.
 * - Sums are exact. One of floats is rounded once, to its texels' type, a tie away from zero; one of integers that are
 *   read as parts of 1 is a whole number of 65535ths, or of 32767ths.
 *
 * Of halves and of signed bytes a few sums are one step off: the device keeps some digits less on the way. A cube's
 * face is filtered by itself, where a device goes on into the next face if the mode is wrap or border.
 *
 * Mipmaps (tests/hardware/mipmaps.cu): a level is a whole number of 256ths, what is beyond is cut off; so is its bias,
 * which a plain read, of level 0, does without; then it is clamped. The nearest level is that of half a level more,
 * downwards; between two levels weights are split as along z, first of all. Of gradients the level is the logarithm of
 * the longest of both, their sum and their difference, where the length is the larger part and 11/32 of the smaller
 * one, of sums 11/16 of that; the device's logarithm is up to two 256ths off. In a volume the levels' own values are
 * weighed, and a gradient's length is its Euclidean one: neither was asked of a device.
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
    uint32_t word;
    uint16_t half;
    switch (bits) {
    case 8:
        return sign ? (uint32_t)(int8_t)*at : *at;
    case 16:
        memcpy(&half, at, sizeof(half));
        return sign ? (uint32_t)(int16_t)half : half;
    default:
        memcpy(&word, at, sizeof(word));
        return word;
    }
}

/* Of integers that are read as parts of 1: what 1 is, and the whole number. */
static double most(const struct mg_texture *t)
{
    return (double)((UINT64_C(1) << (t->bits - (t->kind == MG_TEXEL_SIGNED))) - 1);
}

static double level(const struct mg_texture *t, uint32_t bits)
{
    return t->kind == MG_TEXEL_SIGNED ? (double)(int32_t)bits : (double)bits;
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
    return fmax(level(t, bits) / most(t), -1); /* the least of a signed type is -1, too */
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
    if ((uint64_t)i[0] < n[0] && (uint64_t)i[1] < n[1] && (uint64_t)i[2] < n[2]) /* nearly always */
        return read_at(t, (uint32_t)i[0], (uint32_t)i[1], (uint32_t)i[2]);
    for (unsigned k = 0; k < 3; k++) {
        if (k == 2 && t->layered) /* one that is not there is the last, before the first, too */
            at[k] = i[k] >= 0 && i[k] < n[k] ? (uint32_t)i[k] : n[k] - 1;
        else
            inside &= settle(i[k], n[k], t->address[k], &at[k]);
    }
    if (inside)
        return read_at(t, at[0], at[1], at[2]);
    struct texel border = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    for (unsigned c = 0; c < 4; c++) {
        memcpy(&border.bits[c], &t->border[c], sizeof(border.bits[c]));
        if (t->unit) /* as a texel would have it, a tie downwards */
            border.bits[c] = (uint32_t)(int32_t)ceil(fmax(-1, fmin(1, (double)t->border[c])) * most(t) - 0.5);
        border.value[c] = t->unit ? number(t, border.bits[c]) : (double)t->border[c];
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
static double in_texels(const struct mg_texture *t, float x, uint32_t n)
{
    const double far = 1e9, steps = 1 << 21;
    if (isnan(x))
        return 0;
    const double v = t->normalized ? floor((double)x * steps) / steps * n : (double)x;
    return v < -far ? -far : v > far ? far : v;
}

/* Downwards, of what in_texels gives: without a call of floor. */
static int64_t whole(double x)
{
    const int64_t i = (int64_t)x;
    return i - ((double)i > x);
}

struct spot { /* of a filter: two texels begin at `at`, and the second one has this weight, in 256ths */
    int64_t at[3];
    unsigned weight[3];
};
static void between(double x, uint32_t n, bool clamped, struct spot *s, unsigned k)
{
    int64_t place = whole(x * 256 - 128 + 0.5);
    if (clamped)
        place = place < 0 ? 0 : MG_MIN(place, ((int64_t)n - 1) * 256);
    s->at[k] = place >> 8;
    s->weight[k] = (unsigned)(place & 255);
}

static unsigned up(unsigned v) /* 65536ths as 256ths */
{
    return (v + 128) >> 8;
}

static unsigned down(unsigned v) /* the same, a tie downwards */
{
    return (v + 127) >> 8;
}

/* Of the eight texels, the nearer one along x in bit 0, y in 1, z in 2: 256 in all. */
static void weigh(const unsigned part[3], unsigned weight[8])
{
    const unsigned x = part[0], y = part[1];
    if (!part[2]) {
        const unsigned both = up(x * y), of[4] = {256 - x - y + both, x - both, y - both, both};
        memset(weight, 0, 8 * sizeof(*weight));
        memcpy(weight, of, sizeof(of));
        return;
    }
    for (unsigned z = 0; z < 2; z++) {
        const unsigned slice = z ? part[2] : 256 - part[2], far = up(slice * x), near = slice - far;
        const unsigned far_up = up(far * y), near_up = down(near * y);
        weight[4 * z + 0] = near - near_up;
        weight[4 * z + 1] = far - far_up;
        weight[4 * z + 2] = near_up;
        weight[4 * z + 3] = far_up;
    }
}

/* `clamps`: a place beside an edge that clamps is the edge's texel alone. */
static struct spot find_spot(const struct mg_texture *t, const struct mg_texture_point *p, bool linear, bool clamps)
{
    const float c[3] = {p->x, p->y, p->z};
    const uint32_t n[3] = {t->width, t->height, t->depth};
    struct spot s = {{0, 0, 0}, {0, 0, 0}};
    for (unsigned k = 0; k < 3; k++) {
        const double x = in_texels(t, c[k], n[k]);
        if (k == 2 && t->layered)
            s.at[k] = p->layer;
        else if (linear && (k < 2 || t->volume))
            between(x, n[k], clamps && t->address[k] == MG_TEXTURE_CLAMP, &s, k);
        else
            s.at[k] = n[k] > 1 || k == 0 ? whole(x) : 0;
    }
    return s;
}

/* To the nearest of floats with so many digits behind the point, a tie away from zero. */
static double rounded(double v, int digits, int least)
{
    int exponent;
    frexp(v, &exponent);
    const double unit = ldexp(1, (exponent - 1 < least ? least : exponent - 1) - digits);
    return copysign(floor(fabs(v) / unit + 0.5) * unit, v);
}

/* A sum of 256ths of texels: of floats, or of whole numbers, of which it makes 65535ths or 32767ths. */
static double filtered(const struct mg_texture *t, double sum)
{
    const double whole = t->kind == MG_TEXEL_SIGNED ? 32767 : 65535;
    if (t->kind == MG_TEXEL_FLOAT)
        return t->bits == 16 ? rounded(sum / 256, 10, -14) : rounded(sum / 256, 23, -126);
    return fmax(floor(sum * whole / (most(t) * 256) + 0.5) / whole, -1);
}

/* Adds the texels that a filter takes, each with its weight: one of a plane's, or with `slice` of 256 left to a level.
 */
static void add_texels(const struct mg_texture *t, const struct mg_texture_point *p, const unsigned *slice,
                       double scale, struct texel *sum)
{
    const bool linear = t->linear && is_real(t);
    struct spot s = find_spot(t, p, linear, true);
    unsigned weight[8];
    if (slice) { /* as the nearer or the further slice of a volume: there is nothing else along z */
        const unsigned part[3] = {s.weight[0], s.weight[1], slice[1]};
        weigh(part, weight);
        memmove(weight, weight + 4 * slice[0], 4 * sizeof(*weight));
        memset(weight + 4, 0, 4 * sizeof(*weight));
    } else {
        weigh(s.weight, weight);
    }
    for (unsigned corner = 0; corner < 8; corner++) {
        if (!weight[corner])
            continue;
        const int64_t at[3] = {s.at[0] + (corner & 1), s.at[1] + (corner >> 1 & 1), s.at[2] + (corner >> 2)};
        const struct texel v = at_place(t, at);
        for (unsigned c = 0; c < 4; c++)
            sum->value[c] += weight[corner] * scale * (t->kind == MG_TEXEL_FLOAT ? v.value[c] : level(t, v.bits[c]));
    }
}

static void finish(const struct mg_texture *t, struct texel *sum, uint32_t out[4])
{
    for (unsigned c = 0; c < 4; c++)
        sum->value[c] = filtered(t, sum->value[c]);
    put(t, sum, out);
}

static void sample_one(const struct mg_texture *t, const struct mg_texture_point *p, uint32_t out[4])
{
    struct texel sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    if (t->linear && is_real(t)) {
        add_texels(t, p, NULL, 1, &sum);
        finish(t, &sum, out);
        return;
    }
    sum = at_place(t, find_spot(t, p, false, true).at);
    put(t, &sum, out);
}

/* ---- mipmaps ---- */
static uint32_t half(uint32_t n, unsigned k)
{
    return MG_MAX(n >> k, 1);
}

static uint64_t level_bytes(const struct mg_texture *v)
{
    return (v->slice * v->depth + MG_TEXTURE_LEVEL - 1) / MG_TEXTURE_LEVEL * MG_TEXTURE_LEVEL;
}

struct mg_texture mg__texture_level(const struct mg_texture *t, unsigned k)
{
    const uint64_t texel = (uint64_t)t->channels * t->bits / 8;
    struct mg_texture v = *t;
    v.levels = 1;
    for (unsigned i = 1; i <= k; i++) {
        v.base += level_bytes(&v);
        v.width = half(t->width, i);
        v.height = half(t->height, i);
        v.depth = t->layered ? t->depth : half(t->depth, i);
        v.pitch = (v.width * texel + MG_TEXTURE_ROW - 1) / MG_TEXTURE_ROW * MG_TEXTURE_ROW;
        v.slice = v.pitch * v.height;
    }
    return v;
}

uint64_t mg__texture_bytes(const struct mg_texture *t)
{
    if (t->levels < 2)
        return (t->depth - 1) * t->slice + (t->height - 1) * t->pitch + (uint64_t)t->width * t->channels * t->bits / 8;
    const struct mg_texture last = mg__texture_level(t, t->levels - 1u);
    return last.base - t->base + last.slice * last.depth;
}

int mg__texture_named(float level)
{
    const float most = 64;
    return isnan(level) ? 0 : (int)(fmaxf(-most, fminf(most, level)) * 256);
}

static double length(const double *v, unsigned n)
{
    double larger = fmax(fabs(v[0]), fabs(v[1])), smaller = fmin(fabs(v[0]), fabs(v[1]));
    return n > 2 ? sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) : larger + smaller * 11 / 32;
}

int mg__texture_steep(const struct mg_texture *t, const float *dx, const float *dy, unsigned n)
{
    const uint32_t size[3] = {t->width, t->height, t->depth};
    double of[4][3] = {{0}};
    for (unsigned k = 0; k < n && k < 3; k++) {
        const double scale = t->normalized ? size[k] : 1;
        of[0][k] = dx[k] * scale;
        of[1][k] = dy[k] * scale;
        of[2][k] = of[0][k] + of[1][k];
        of[3][k] = of[0][k] - of[1][k];
    }
    double longest = fmax(length(of[0], n), length(of[1], n));
    if (n == 2)
        longest = fmax(longest, fmax(length(of[2], n), length(of[3], n)) * 11 / 16);
    return longest > 0 ? mg__texture_named((float)log2(longest)) : mg__texture_named(-INFINITY);
}

void mg__texture_sample_at(const struct mg_texture *t, const struct mg_texture_point *p, int at, uint32_t out[4])
{
    const int last = (MG_MAX(t->levels, 1) - 1) * 256;
    at = MG_MIN(MG_MAX(at, t->least), t->most);
    at = MG_MIN(MG_MAX(at, 0), last);
    const unsigned k = (unsigned)at >> 8, part = t->mip_linear && is_real(t) ? at & 255 : 0;
    if (!part) {
        const struct mg_texture one = mg__texture_level(t, t->mip_linear && is_real(t) ? k : (unsigned)(at + 128) >> 8);
        sample_one(&one, p, out);
        return;
    }
    const struct mg_texture near = mg__texture_level(t, k), far = mg__texture_level(t, k + 1);
    struct texel sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    if (t->volume) {
        add_texels(&near, p, NULL, (256 - part) / 256.0, &sum);
        add_texels(&far, p, NULL, part / 256.0, &sum);
    } else {
        add_texels(&near, p, (const unsigned[]){0, part}, 1, &sum);
        add_texels(&far, p, (const unsigned[]){1, part}, 1, &sum);
    }
    finish(t, &sum, out);
}

void mg__texture_sample(const struct mg_texture *t, const struct mg_texture_point *p, uint32_t out[4])
{
    if (t->levels > 1)
        mg__texture_sample_at(t, p, 0, out);
    else
        sample_one(t, p, out);
}

void mg__texture_fetch(const struct mg_texture *t, const int64_t at[3], uint32_t out[4])
{
    const struct texel v = at_place(t, at);
    put(t, &v, out);
}

void mg__texture_gather(const struct mg_texture *t, const struct mg_texture_point *p, unsigned channel, uint32_t out[4])
{
    static const uint8_t dx[] = {0, 1, 1, 0}, dy[] = {1, 1, 0, 0};
    const struct spot s = find_spot(t, p, true, false);
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
