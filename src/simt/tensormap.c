/* tensormap.c - the elements of a tile of a tensor, and what a tensor map must be.
 *
 * A tile is walked in the order in which it lies in shared memory: dimension 0 is contiguous. Elements outside of the
 * tensor are filled in by a load and left out by a store (PTX ISA, "Tensors"). With a swizzle each row of dimension 0
 * has the swizzle's 32, 64 or 128 bytes to itself, and the element stride of dimension 0 has no effect: so an H200
 * does. Of im2col maps the pixels of a tile are walked through the box between its corners, width first, then height
 * and depth, then images.
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

static bool is_known_slice(const struct mg_tensormap *m)
{
    return m->interleave == 1 && !m->im2col && m->rank == 3 && mg__tensormap_size(m->type) == 2 && m->box[0] == 8 &&
           m->last[0] == 7;
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
    if (!m->interleave && inner % 16)
        return "the box's inner dimension must be a multiple of 16 bytes";
    if (!m->interleave && m->swizzle && inner > 16u << m->swizzle)
        return "the box's inner dimension must not be wider than the swizzle";
    if (m->interleave && !is_known_slice(m)) /* what an H200 makes of others is not understood */
        return "interleaves are simulated for tiles of 16 bytes, of three dimensions and elements of two bytes";
    if (m->nan && !is_float(m->type))
        return "only floating-point elements can be filled with NaN";
    if (mg__tensormap_room(m) > MOST_SHARED)
        return "the tile does not fit into shared memory";
    return NULL;
}

/* Elements of a tile along a dimension. */
static uint32_t taken(const struct mg_tensormap *m, unsigned dim)
{
    return dim == 0 ? m->box[0] : (m->box[dim] + m->step[dim] - 1u) / m->step[dim];
}

/* Rows of dimension 0, and bytes of one. */
static uint64_t rows_of(const struct mg_tensormap *m, uint32_t *bytes)
{
    uint64_t n = 1;
    *bytes = mg__tensormap_size(m->type) * (m->im2col ? m->channels : m->box[0]);
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

/* A row of dimension 0 at `base`, of n elements, or outside. */
static bool row(const struct mg_tensormap *m, uint64_t base, bool in, int64_t from, uint32_t n, uint32_t *offset,
                mg_tensor_visit visit, void *arg)
{
    const uint32_t size = mg__tensormap_size(m->type);
    for (uint32_t k = 0, run; k < n; k += run) {
        bool here = in && inside(m, 0, from + k);
        for (run = 1; k + run < n && (in && inside(m, 0, from + k + run)) == here;)
            run++;
        struct mg_tensor_piece p = {here ? base + (uint64_t)(from + k) * size : 0, *offset + k * size, run * size};
        if (!visit(arg, &p))
            return false;
    }
    *offset += pitch_of(m, n * size);
    return true;
}

static bool walk_tile(const struct mg_tensormap *m, const int32_t *at, mg_tensor_visit visit, void *arg)
{
    uint32_t n[MG_TENSORMAP_DIMS], i[MG_TENSORMAP_DIMS] = {0}, offset = 0;
    for (unsigned d = 0; d < MG_TENSORMAP_DIMS; d++)
        n[d] = d < m->rank ? taken(m, d) : 1;
    for (;;) {
        uint64_t base = m->address;
        bool in = true;
        for (unsigned d = 1; d < m->rank; d++) {
            int64_t c = (int64_t)at[d] + (int64_t)i[d] * m->step[d];
            in &= inside(m, d, c);
            base += (uint64_t)c * m->stride[d - 1];
        }
        if (!row(m, base, in, at[0], n[0], &offset, visit, arg))
            return false;
        unsigned d = 1;
        while (d < MG_TENSORMAP_DIMS && ++i[d] == n[d])
            i[d++] = 0;
        if (d == MG_TENSORMAP_DIMS)
            return true;
    }
}

/* Pixels begin at the coordinates and stay in the box from `lower` to the tensor's end and `upper`; of each, what lies
 * `offsets` further is taken. */
static bool walk_pixels(const struct mg_tensormap *m, const int32_t *at, const uint16_t *offsets, mg_tensor_visit visit,
                        void *arg)
{
    const unsigned spatial = m->rank - 2u;
    int64_t pixel[MG_TENSORMAP_DIMS];
    uint32_t offset = 0;
    for (unsigned d = 1; d < m->rank; d++)
        pixel[d] = at[d];
    for (uint32_t k = 0; k < m->pixels; k++) {
        uint64_t base = m->address;
        bool in = true;
        for (unsigned d = 1; d < m->rank; d++) {
            int64_t c = pixel[d] + (d <= spatial ? offsets[d - 1] : 0);
            in &= inside(m, d, c);
            base += (uint64_t)c * m->stride[d - 1];
        }
        if (!row(m, base, in, at[0], m->channels, &offset, visit, arg))
            return false;
        for (unsigned d = 1; d < m->rank; d++) {
            pixel[d] += m->step[d];
            if (d > spatial || pixel[d] <= (int64_t)m->last[d] + m->upper[d - 1])
                break;
            pixel[d] = m->lower[d - 1];
        }
    }
    return true;
}

bool mg__tensormap_walk(const struct mg_tensormap *m, const int32_t at[MG_TENSORMAP_DIMS],
                        const uint16_t offsets[MG_TENSORMAP_DIMS - 2], mg_tensor_visit visit, void *arg)
{
    return m->im2col ? walk_pixels(m, at, offsets, visit, arg) : walk_tile(m, at, visit, arg);
}
