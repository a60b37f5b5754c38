/* tensormap.h - a tensor map: the opaque 128 bytes of a CUtensorMap, as this device reads them.
 *
 * NVIDIA documents what goes in (driver API, "Tensor Map Object Managment") and not what they look like: this layout is
 * ours. Numbers are kept as given, so that tensormap.c is plain arithmetic.
 */
#ifndef MG_SIMT_TENSORMAP_H
#define MG_SIMT_TENSORMAP_H
#include "base/base.h"

#define MG_TENSORMAP_DIMS 5u
#define MG_TENSORMAP_MAGIC 0x70616d6eu

enum mg_tensor_type { /* CUtensorMapDataType */
                      MG_TENSOR_U8,
                      MG_TENSOR_U16,
                      MG_TENSOR_U32,
                      MG_TENSOR_S32,
                      MG_TENSOR_U64,
                      MG_TENSOR_S64,
                      MG_TENSOR_F16,
                      MG_TENSOR_F32,
                      MG_TENSOR_F64,
                      MG_TENSOR_BF16,
                      MG_TENSOR_F32_FTZ,
                      MG_TENSOR_TF32,
                      MG_TENSOR_TF32_FTZ,
                      MG_TENSOR_TYPES
};
struct mg_tensormap {
    uint64_t address;
    uint64_t stride[MG_TENSORMAP_DIMS - 1]; /* bytes, of dimension 1 and on */
    uint32_t last[MG_TENSORMAP_DIMS];       /* elements of a dimension, less one */
    uint16_t box[MG_TENSORMAP_DIMS];        /* 1 … 256 elements of the tensor that a tile spans */
    uint8_t step[MG_TENSORMAP_DIMS];        /* of which it takes each first of so many */
    uint8_t type, rank, interleave, swizzle, nan, im2col;
    int16_t lower[MG_TENSORMAP_DIMS - 2], upper[MG_TENSORMAP_DIMS - 2]; /* im2col: corners of the pixels' box */
    uint16_t channels, pixels;
    uint32_t magic;
    uint8_t rest[24];
};
_Static_assert(sizeof(struct mg_tensormap) == 128, "as a CUtensorMap");

unsigned mg__tensormap_size(unsigned type); /* bytes of an element */
/* What the driver asks of a map (its documentation of cuTensorMapEncodeTiled and Im2col); NULL: it is well made. */
const char *mg__tensormap_wrong(const struct mg_tensormap *map);

/* One piece of a tile: `bytes` of so many rows of the tensor, `apart` bytes from each other. In shared memory it is at
 * `offset` of the tile, before the swizzle, and each row `pitch` further. `global` is 0 where it lies outside. */
struct mg_tensor_piece {
    uint64_t global, apart;
    uint32_t offset, bytes, rows, pitch;
};
typedef bool (*mg_tensor_visit)(void *arg, const struct mg_tensor_piece *piece);
/* All pieces. False: one visit said so. */
bool mg__tensormap_walk(const struct mg_tensormap *map, const int32_t at[MG_TENSORMAP_DIMS],
                        const uint16_t offsets[MG_TENSORMAP_DIMS - 2], mg_tensor_visit visit, void *arg);
unsigned mg__tensormap_spatial(const struct mg_tensormap *map); /* im2col: the dimension that is the pixels' first */
uint64_t mg__tensormap_tile(const struct mg_tensormap *map);    /* bytes of a tile's elements */
uint64_t mg__tensormap_room(const struct mg_tensormap *map); /* of shared memory, from the first to the last of them */
/* Where a byte of shared memory goes: 16 bytes change places with others of the same 256, 512 or 1,024. */
static inline uint64_t mg__tensormap_swizzle(unsigned swizzle, uint64_t address)
{
    uint64_t rows = address >> 7 & ((1u << swizzle) - 1); /* 1: of 32 bytes, 2: of 64, 3: of 128 */
    return address ^ rows << 4;
}
#endif
