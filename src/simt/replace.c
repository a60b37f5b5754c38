/* replace.c - tensor maps that a kernel changes: tensormap.replace, which writes one field of a map in shared or global
 * memory, and tensormap.cp_fenceproxy, which copies a map from the one to the other.
 *
 * Whether the map still makes sense is looked at when it is used (bulk.c). What each field takes was asked of an H200
 * (tests/hardware/bulk.cu): the rank is one less than the tensor's, all others are as they are given to the driver.
 */
#include <assert.h>

#include "simt/engine_priv.h"
#include "simt/tensormap.h"

/* The map at a lane's address; NULL: a fault. */
static uint8_t *map_at(struct mg_warp *w, const struct mg_op *op, const struct mg_mem *mem, unsigned lane)
{
    const struct mg_run *run = w->worker->run;
    const uint32_t size = sizeof(struct mg_tensormap);
    uint64_t address[32], lo, hi;
    uint8_t *where;
    mg__address(w, mem, address);
    const uint64_t at = address[lane], window = at - run->simt->shared_window;
    if (at % 64) {
        mg__fault(w, op, lane, MG_ERR_MISALIGNED, "a tensor map at 0x%llx", (unsigned long long)at);
        mg__fault_hint(w, "Its address must be a multiple of 64 bytes, or of 128 in shared memory.");
        return NULL;
    }
    if (mem->space == MG_SPACE_SHARED || (mem->space == MG_SPACE_GENERIC && window < MG_WINDOW_SIZE))
        return mg__cluster_at(w, op, mem, lane, at, size, &where) ? where : NULL;
    const struct mg_allocation *a = mg__snapshot_find(run, at);
    if (a && at + size <= a->address + a->size)
        return (uint8_t *)(uintptr_t)at;
    return mg__access_outside(w, op, lane, at, size, &lo, &hi);
}

/* The numbers that PTX has for types of elements, as the driver has them. */
static uint8_t type_of(uint64_t value)
{
    static const uint8_t types[] = {MG_TENSOR_U8,   MG_TENSOR_U16,  MG_TENSOR_U32,     MG_TENSOR_S32,     MG_TENSOR_U64,
                                    MG_TENSOR_S64,  MG_TENSOR_F16,  MG_TENSOR_F32,     MG_TENSOR_F32_FTZ, MG_TENSOR_F64,
                                    MG_TENSOR_BF16, MG_TENSOR_TF32, MG_TENSOR_TF32_FTZ};
    return value < MG_COUNT(types) ? types[value] : MG_TENSOR_TYPES;
}

static void replace(struct mg_tensormap *m, unsigned field, unsigned dim, uint64_t value)
{
    const uint8_t byte = (uint8_t)MG_MIN(value, 255u);
    m->magic = MG_TENSORMAP_MAGIC; /* maps are also made of zeros, field by field */
    switch (field) {
    case MG_SUB_MAP_ADDRESS:
        m->address = value;
        break;
    case MG_SUB_MAP_RANK:
        m->rank = (uint8_t)(byte < 255 ? byte + 1 : byte);
        break;
    case MG_SUB_MAP_BOX:
        m->box[dim] = (uint16_t)MG_MIN(value, 257u);
        break;
    case MG_SUB_MAP_DIM:
        m->last[dim] = (uint32_t)value - 1;
        break;
    case MG_SUB_MAP_STRIDE:
        m->stride[dim] = value;
        break;
    case MG_SUB_MAP_STEP:
        m->step[dim] = byte;
        break;
    case MG_SUB_MAP_TYPE:
        m->type = type_of(value);
        break;
    case MG_SUB_MAP_INTERLEAVE:
        m->interleave = byte;
        break;
    case MG_SUB_MAP_SWIZZLE:
        m->swizzle = byte;
        break;
    default:
        assert(field == MG_SUB_MAP_FILL);
        m->nan = byte;
    }
}

MG_HANDLER(mg__op_tensormap_replace)
{
    const bool wide = op->is->of[op->is->nout + 1].bytes == 8;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        struct mg_tensormap m;
        uint8_t *at = map_at(w, op, op->u.mem, lane);
        if (!at)
            return NULL;
        memcpy(&m, at, sizeof m);
        replace(&m, op->mode & 255, op->mode >> 8, wide ? mg__lane64(w, op->b, lane) : mg__lane32(w, op->b, lane));
        memcpy(at, &m, sizeof m);
    }
    return op + 1;
}

/* The warp copies one map. */
MG_HANDLER(mg__op_tensormap_copy)
{
    const unsigned lane = (unsigned)__builtin_ctz(mask);
    const struct mg_bulk *b = op->u.bulk;
    const uint8_t *from = map_at(w, op, b->from, lane);
    uint8_t *to = from ? map_at(w, op, b->to, lane) : NULL;
    if (!to)
        return NULL;
    memmove(to, from, sizeof(struct mg_tensormap));
    return op + 1;
}
