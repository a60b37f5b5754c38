/* tensormap.c - the driver's functions that make tensor maps (driver API, "Tensor Map Object Management"). */
#include "cudart/cudart.h"
#include "simt/tensormap.h"

enum { CU_SUCCESS, CU_INVALID_VALUE };

static bool set_shape(struct mg_tensormap *m, uint32_t rank, const uint64_t *dims, const uint64_t *strides,
                      const uint32_t *steps)
{
    if (rank < 1 || rank > MG_TENSORMAP_DIMS || !dims || !steps || (rank > 1 && !strides))
        return false;
    m->rank = (uint8_t)rank;
    for (uint32_t i = rank; i < MG_TENSORMAP_DIMS; i++) /* a kernel may raise the rank later */
        m->box[i] = m->step[i] = 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 1 || dims[i] > (1ull << 32) || steps[i] < 1 || steps[i] > 8)
            return false;
        m->last[i] = (uint32_t)(dims[i] - 1);
        m->step[i] = (uint8_t)steps[i];
        if (i)
            m->stride[i - 1] = strides[i - 1];
    }
    return true;
}

static bool set_kind(struct mg_tensormap *m, int type, void *address, int interleave, int swizzle, int l2, int nan)
{
    if (type < 0 || type >= MG_TENSOR_TYPES || interleave < 0 || interleave > 2 || swizzle < 0 || swizzle > 3 ||
        l2 < 0 || l2 > 3 || nan < 0 || nan > 1 || !address)
        return false;
    m->magic = MG_TENSORMAP_MAGIC;
    m->address = (uint64_t)(uintptr_t)address;
    m->type = (uint8_t)type;
    m->interleave = (uint8_t)interleave;
    m->swizzle = (uint8_t)swizzle;
    m->nan = (uint8_t)nan;
    return true;
}

/* The documents want 64 bytes of alignment for the map. An H200's driver (580) takes it at any address, and
 * cuda.bindings has it at 16 wherever Python puts the object.
 */
static int done(struct mg_tensormap *out, const struct mg_tensormap *m)
{
    if (!out || mg__tensormap_wrong(m))
        return CU_INVALID_VALUE;
    memcpy(out, m, sizeof(*m));
    return CU_SUCCESS;
}

int mg__cuTensorMapEncodeTiled(struct mg_tensormap *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                               const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                               int swizzle, int l2, int nan)
{
    struct mg_tensormap m = {0};
    if (!set_kind(&m, type, address, interleave, swizzle, l2, nan) || !set_shape(&m, rank, dims, strides, steps) ||
        !box)
        return CU_INVALID_VALUE;
    for (uint32_t i = 0; i < rank; i++)
        m.box[i] = (uint16_t)MG_MIN(box[i], 257u);
    return done(out, &m);
}

int mg__cuTensorMapEncodeIm2col(struct mg_tensormap *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                                const uint64_t *strides, const int *lower, const int *upper, uint32_t channels,
                                uint32_t pixels, const uint32_t *steps, int interleave, int swizzle, int l2, int nan)
{
    struct mg_tensormap m = {.im2col = 1};
    if (!set_kind(&m, type, address, interleave, swizzle, l2, nan) || !set_shape(&m, rank, dims, strides, steps) ||
        !lower || !upper || rank < 3)
        return CU_INVALID_VALUE;
    const int most = 1 << (rank == 3 ? 15 : rank == 4 ? 7 : 4);
    for (uint32_t i = 0; i + 2 < rank; i++) {
        if (lower[i] < -most || lower[i] >= most || upper[i] < -most || upper[i] >= most)
            return CU_INVALID_VALUE;
        m.lower[i] = (int16_t)lower[i];
        m.upper[i] = (int16_t)upper[i];
    }
    m.channels = (uint16_t)MG_MIN(channels, 257u);
    m.pixels = (uint16_t)MG_MIN(pixels, 1025u);
    return done(out, &m);
}
