/* tensormap.c - the elements of a tile of a tensor, and what a tensor map must be.
 *
 * A tile is walked row by row of dimension 0, which is contiguous in shared memory; rows along dimension 1 are told
 * together. Elements outside of the
 * tensor are filled in by a load and left out by a store (PTX ISA, "Tensors"). With a swizzle each row of dimension 0
 * has the swizzle's 32, 64 or 128 bytes to itself, and the element stride of dimension 0 has no effect: so an H200
 * does. Of im2col maps the pixels of a tile are walked through the box between its corners, width first, then height
 * and depth, then images.
 *
 * An interleaved tensor lies in slices of 16 or 32 bytes of channels: dimension 0 is the width, in slices, and the last
 * but one says which slice of the channels; a tile has one, whatever the box's size there. The type of the elements
 * says only what is filled in. The driver API documents none of this: an H200 does so.
 */
#include "simt/tensormap.h"

#define MOST_SHARED (227u << 10) /* of a block of sm_90 */

unsigned mg__tensormap_size(unsigned type)
{
    static const uint8_t size[MG_TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type < MG_TENSOR_TYPES ? size[type] : 0;
}

static bool is_float(unsigned type)
{
    return type >= MG_TENSOR_F16;
}

/* Bytes of an element of dimension 0. */
static unsigned unit_of(const struct mg_tensormap *m)
{
    return m->interleave ? 8u << m->interleave : mg__tensormap_size(m->type);
}

const char *mg__tensormap_wrong(const struct mg_tensormap *m)
{
    const unsigned size = mg__tensormap_size(m->type);
    const uint32_t inner = (uint32_t)(m->im2col ? m->channels : m->box[0]) * size;
    if (!size)
        return "there is no such type of elements";
    if (m->type == MG_TENSOR_TF32_FTZ) /* an H200 makes zeros of subnormal numbers; not of those of f32 */
        return "elements of tf32 whose subnormal numbers are flushed are not simulated";
    if (m->interleave > 2 || m->swizzle > 3 || m->nan > 1)
        return "there is no such interleave, swizzle or fill";
    if (m->rank < 1 || m->rank > MG_TENSORMAP_DIMS || (m->rank < 3 && (m->interleave || m->im2col)))
        return "the rank must be 1 to 5, and 3 at least with an interleave or im2col";
    if (m->address % (m->interleave == 2 ? 32 : 16))
        return "the address must be a multiple of 16 bytes, of 32 with an interleave of 32";
    for (unsigned i = 0; i + 1 < m->rank; i++)
        if (m->stride[i] % (m->interleave == 2 ? 32 : 16) || m->stride[i] >> 40)
            return "strides must be multiples of 16 bytes, of 32 with an interleave of 32, and less than 2^40";
    for (unsigned i = 0; i < m->rank; i++)
        if (m->step[i] < 1 || m->step[i] > 8 || (!m->im2col && (m->box[i] < 1 || m->box[i] > 256)))
            return "a box is 1 to 256 elements wide, and element strides are 1 to 8";
    if (m->im2col && (m->channels < 1 || m->channels > 256 || m->pixels < 1 || m->pixels > 1024))
        return "a column has 1 to 256 channels, and 1 to 1024 pixels";
    if (!(m->interleave && m->im2col) && inner % 16)
        return "the box's inner dimension must be a multiple of 16 bytes";
    if (!m->interleave && m->swizzle && inner > 16u << m->swizzle)
        return "the box's inner dimension must not be wider than the swizzle";
    if (m->nan && !is_float(m->type))
        return "only floating-point elements can be filled with NaN";
    if (mg__tensormap_room(m) > MOST_SHARED)
        return "the tile does not fit into shared memory";
    return NULL;
}

/* Elements of a tile along a dimension. */
static uint32_t taken(const struct mg_tensormap *m, unsigned dim)
{
    if (m->interleave && dim + 2 == m->rank)
        return 1;
    return dim || m->interleave ? (m->box[dim] + m->step[dim] - 1u) / m->step[dim] : m->box[0];
}

/* Elements of a tile along dimension 0. */
static uint32_t width_of(const struct mg_tensormap *m)
{
    return !m->im2col ? taken(m, 0) : m->interleave ? 1 : m->channels;
}

/* Rows of dimension 0, and bytes of one. */
static uint64_t rows_of(const struct mg_tensormap *m, uint32_t *bytes)
{
    uint64_t n = 1;
    *bytes = unit_of(m) * width_of(m);
    for (unsigned i = 1; i < m->rank && !m->im2col; i++)
        n *= taken(m, i);
    return m->im2col ? m->pixels : n;
}

/* From one row to the next in shared memory. */
static uint32_t pitch_of(const struct mg_tensormap *m, uint32_t bytes)
{
    return m->swizzle && !m->interleave ? MG_MAX(bytes, 16u << m->swizzle) : bytes;
}

uint64_t mg__tensormap_tile(const struct mg_tensormap *m)
{
    uint32_t bytes;
    return rows_of(m, &bytes) * bytes;
}

uint64_t mg__tensormap_room(const struct mg_tensormap *m)
{
    uint32_t bytes;
    uint64_t rows = rows_of(m, &bytes);
    return (rows - 1) * pitch_of(m, bytes) + bytes;
}

static bool inside(const struct mg_tensormap *m, unsigned dim, int64_t at)
{
    return at >= 0 && at <= m->last[dim];
}

/* How many of `n` elements of a dimension from `from` on lie as it does, inside or outside. */
static uint32_t alike(const struct mg_tensormap *m, unsigned dim, int64_t from, uint32_t n, uint32_t step, bool *in)
{
    *in = inside(m, dim, from);
    if (!*in && from >= 0)
        return n;
    const int64_t left = (*in ? (int64_t)m->last[dim] + 1 : 0) - from;
    return (uint32_t)MG_MIN((int64_t)n, (left + step - 1) / step);
}

/* So many rows of dimension 0 from `from` on, of which each element is `step` further; `p` has the rest. */
static bool rows(const struct mg_tensormap *m, bool in, int64_t from, uint32_t step, const struct mg_tensor_piece *p,
                 mg_tensor_visit visit, void *arg)
{
    const uint32_t unit = unit_of(m), n = width_of(m);
    struct mg_tensor_piece part = *p;
    for (uint32_t k = 0, run; k < n; k += run) {
        const int64_t at = from + (int64_t)k * step;
        bool here;
        run = in ? alike(m, 0, at, n - k, step, &here) : n;
        part.global = in && here ? p->global + (uint64_t)at * unit : 0;
        if (part.global && step > 1)
            run = 1;
        part.offset = p->offset + k * unit;
        part.bytes = run * unit;
        if (!visit(arg, &part))
            return false;
    }
    return true;
}

/* The rows along dimension 1 of one place in the higher ones, at `base`. */
static bool walk_plane(const struct mg_tensormap *m, const int32_t *at, uint64_t base, bool in, uint32_t offset,
                       mg_tensor_visit visit, void *arg)
{
    const uint32_t n = m->rank > 1 ? taken(m, 1) : 1, step = m->step[1];
    struct mg_tensor_piece p = {.pitch = pitch_of(m, unit_of(m) * width_of(m)), .apart = step * m->stride[0]};
    for (uint32_t k = 0; k < n; k += p.rows) {
        const int64_t c = m->rank > 1 ? at[1] + (int64_t)k * step : 0;
        bool here = true;
        p.rows = m->rank > 1 ? alike(m, 1, c, n - k, step, &here) : 1;
        p.global = base + (uint64_t)c * m->stride[0];
        p.offset = offset + k * p.pitch;
        if (!rows(m, in && here, at[0], m->interleave ? m->step[0] : 1, &p, visit, arg))
            return false;
    }
    return true;
}

static bool walk_tile(const struct mg_tensormap *m, const int32_t *at, mg_tensor_visit visit, void *arg)
{
    uint32_t n[MG_TENSORMAP_DIMS], i[MG_TENSORMAP_DIMS] = {0}, bytes, offset = 0;
    for (unsigned d = 2; d < MG_TENSORMAP_DIMS; d++)
        n[d] = d < m->rank ? taken(m, d) : 1;
    rows_of(m, &bytes);
    const uint32_t plane = (m->rank > 1 ? taken(m, 1) : 1) * pitch_of(m, bytes);
    for (;; offset += plane) {
        uint64_t base = m->address;
        bool in = true;
        for (unsigned d = 2; d < m->rank; d++) {
            int64_t c = (int64_t)at[d] + (int64_t)i[d] * m->step[d];
            in &= inside(m, d, c);
            base += (uint64_t)c * m->stride[d - 1];
        }
        if (!walk_plane(m, at, base, in, offset, visit, arg))
            return false;
        unsigned d = 2;
        while (d < MG_TENSORMAP_DIMS && ++i[d] == n[d])
            i[d++] = 0;
        if (d == MG_TENSORMAP_DIMS)
            return true;
    }
}

unsigned mg__tensormap_spatial(const struct mg_tensormap *m)
{
    return !m->interleave;
}

/* Pixels begin at the coordinates and stay in the box from `lower` to the tensor's end and `upper`; of each, what lies
 * `offsets` further is taken. */
static bool walk_pixels(const struct mg_tensormap *m, const int32_t *at, const uint16_t *offsets, mg_tensor_visit visit,
                        void *arg)
{
    const unsigned first = mg__tensormap_spatial(m), behind = first + m->rank - 2u;
    int64_t pixel[MG_TENSORMAP_DIMS];
    struct mg_tensor_piece p = {.rows = 1, .pitch = pitch_of(m, unit_of(m) * width_of(m))};
    for (unsigned d = 0; d < m->rank; d++)
        pixel[d] = at[d];
    for (uint32_t k = 0; k < m->pixels; k++, p.offset += p.pitch) {
        bool in = true;
        p.global = m->address;
        for (unsigned d = 1; d < m->rank; d++) {
            int64_t c = pixel[d] + (d >= first && d < behind ? offsets[d - first] : 0);
            in &= inside(m, d, c);
            p.global += (uint64_t)c * m->stride[d - 1];
        }
        if (!rows(m, in, pixel[0] + (first == 0 ? offsets[0] : 0), 1, &p, visit, arg))
            return false;
        unsigned d = first;
        for (; d < behind && (pixel[d] += m->step[d]) > (int64_t)m->last[d] + m->upper[d - first]; d++)
            pixel[d] = m->lower[d - first];
        if (d == behind)
            pixel[m->rank - 1] += m->step[m->rank - 1];
    }
    return true;
}

bool mg__tensormap_walk(const struct mg_tensormap *m, const int32_t at[MG_TENSORMAP_DIMS],
                        const uint16_t offsets[MG_TENSORMAP_DIMS - 2], mg_tensor_visit visit, void *arg)
{
    return m->im2col ? walk_pixels(m, at, offsets, visit, arg) : walk_tile(m, at, visit, arg);
}
