/* atomic.c - atom and red: read, compute and write lane after lane, in lane order.
 *
 * Shared memory belongs to one worker, and so does everything while a launch runs on one worker; otherwise global
 * memory is updated by the host's own atomic instructions, or by compare-and-swap where it has none for the operation.
 */
#include "simt/simt_priv.h"

static uint64_t combine(const struct mg_mem *m, uint64_t old, uint64_t b, uint64_t c)
{
    uint32_t o = (uint32_t)old, v = (uint32_t)b;
    switch (m->atomop) {
    case MG_ATOM_EXCH:
        return b;
    case MG_ATOM_CAS: {
        uint64_t keep = m->width == 8 ? ~0ull : (1ull << 8 * m->width) - 1;
        return (old & keep) == (b & keep) ? c : old;
    }
    case MG_ATOM_AND:
        return old & b;
    case MG_ATOM_OR:
        return old | b;
    case MG_ATOM_XOR:
        return old ^ b;
    case MG_ATOM_INC:
        return sem_atom_inc_u32(o, v, 0);
    case MG_ATOM_DEC:
        return sem_atom_dec_u32(o, v, 0);
    case MG_ATOM_ADD:
        switch (m->type) {
        case MG_T_F32: /* atom.add.f32 on global memory flushes nothing from 2.0 on; on shared memory neither */
            return sem_add_f32(o, v, 0);
        case MG_T_F64:
            return sem_add_f64(old, b, 0);
        case MG_T_F16:
            return sem_add_f16((uint16_t)o, (uint16_t)v, 0);
        case MG_T_F16X2:
            return sem_add_f16x2(o, v, 0);
        case MG_T_BF16:
            return sem_add_bf16((uint16_t)o, (uint16_t)v, 0);
        case MG_T_BF16X2:
            return sem_add_bf16x2(o, v, 0);
        default:
            return m->width == 8 ? old + b : o + v;
        }
    default: {
        bool max = m->atomop == MG_ATOM_MAX;
        switch (m->type) {
        case MG_T_S32:
            return max ? sem_max_s32(o, v, 0) : sem_min_s32(o, v, 0);
        case MG_T_S64:
            return max ? sem_max_s64(old, b, 0) : sem_min_s64(old, b, 0);
        case MG_T_U64:
            return max ? sem_max_u64(old, b, 0) : sem_min_u64(old, b, 0);
        case MG_T_F16:
            return max ? sem_max_f16((uint16_t)o, (uint16_t)v, 0) : sem_min_f16((uint16_t)o, (uint16_t)v, 0);
        case MG_T_F16X2:
            return max ? sem_max_f16x2(o, v, 0) : sem_min_f16x2(o, v, 0);
        case MG_T_BF16:
            return max ? sem_max_bf16((uint16_t)o, (uint16_t)v, 0) : sem_min_bf16((uint16_t)o, (uint16_t)v, 0);
        case MG_T_BF16X2:
            return max ? sem_max_bf16x2(o, v, 0) : sem_min_bf16x2(o, v, 0);
        default:
            return max ? sem_max_u32(o, v, 0) : sem_min_u32(o, v, 0);
        }
    }
    }
}

static bool known(const struct mg_mem *m)
{
    switch (m->type) {
    case MG_T_B16:
        return m->atomop == MG_ATOM_CAS || m->atomop == MG_ATOM_EXCH;
    case MG_T_B32:
    case MG_T_B64:
        return m->atomop == MG_ATOM_CAS || m->atomop == MG_ATOM_EXCH || m->atomop <= MG_ATOM_XOR;
    case MG_T_U32:
    case MG_T_S32:
    case MG_T_U64:
    case MG_T_S64:
        return m->atomop >= MG_ATOM_ADD && (m->width == 4 || (m->atomop != MG_ATOM_INC && m->atomop != MG_ATOM_DEC));
    case MG_T_F32:
    case MG_T_F64:
        return m->atomop == MG_ATOM_ADD;
    case MG_T_F16:
    case MG_T_F16X2:
    case MG_T_BF16:
    case MG_T_BF16X2:
        return m->atomop == MG_ATOM_ADD || m->atomop == MG_ATOM_MIN || m->atomop == MG_ATOM_MAX;
    default:
        return false;
    }
}

static uint64_t plain(const struct mg_mem *m, uint8_t *p, uint64_t b, uint64_t c)
{
    uint64_t old = 0;
    memcpy(&old, p, m->width);
    uint64_t new = combine(m, old, b, c);
    memcpy(p, &new, m->width);
    return old;
}

#define ATOMIC(bits)                                                                                                   \
    static uint64_t atomic##bits(const struct mg_mem *m, uint8_t *p, uint64_t b, uint64_t c)                           \
    {                                                                                                                  \
        uint##bits##_t *at = (uint##bits##_t *)(void *)p, old = __atomic_load_n(at, __ATOMIC_RELAXED), new;            \
        do                                                                                                             \
            new = (uint##bits##_t)combine(m, old, b, c);                                                               \
        while (!__atomic_compare_exchange_n(at, &old, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));                 \
        return old;                                                                                                    \
    }
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

/* Shared-memory counters are the common case: addresses checked as vectors, then a plain loop. */
static bool shared_fast(struct mg_warp *w, const struct mg_op *op, uint32_t mask, uint64_t address[32], uint8_t *where[32])
{
    const struct mg_mem *m = op->u.mem;
    const struct mg_run *run = w->worker->run;
    if (m->space != MG_SPACE_SHARED || m->addr64 || run->want_every)
        return false;
    const uint32_t *a = mg__slot(w, m->addr);
    uint32_t low = ~0u, high = 0, bits = 0, offset = (uint32_t)m->offset;
    for (unsigned i = 0; i < 32; i++) {
        uint32_t at = a[i] + offset, on = 0u - (mask >> i & 1u);
        low = MG_MIN(low, at | ~on);
        high = MG_MAX(high, at & on);
        bits |= at & on;
        address[i] = at;
    }
    if (bits & (m->width - 1u) || high >= w->block->shared_size || w->block->shared_size - high < m->width)
        return false;
    for (unsigned i = 0; i < 32; i++)
        where[i] = w->block->shared + (address[i] & ((uint64_t)0 - (mask >> i & 1u)));
    if (!run->want_shapes)
        return true;
    struct mg_access *e = &w->worker->event;
    int32_t var = -1;
    for (uint32_t k = 0; k < run->nshared_vars && var < 0; k++)
        if (low >= run->shared_vars[k].offset && high + m->width <= run->shared_vars[k].offset + run->shared_vars[k].size)
            var = (int32_t)k;
    e->insn = op->insn;
    e->kind = m->kind;
    e->space = MG_SPACE_SHARED;
    e->width = m->width;
    e->mask = mask;
    memcpy(e->address, address, sizeof e->address);
    e->times = 1;
    e->shared_var = var;
    e->block = w->block->linear;
    e->warp = w->index;
    e->generic = false;
    mg__access_event(w->worker, e);
    return true;
}

MG_NO_TSAN MG_HANDLER(mg__op_atom)
{
    const struct mg_mem *m = op->u.mem;
    if (m->poll) {
        w->slice -= MG_POLL_COST;
        w->polled = true;
    }
    if (!known(m))
        return mg__op_unsupported(w, op, mask);
    uint64_t address[32];
    uint8_t *where[32];
    if (!shared_fast(w, op, mask, address, where)) {
        mg__address(w, m, address);
        if (!mg__access_slow(w, op, mask, address, where))
            return NULL;
    }
    bool own = m->space == MG_SPACE_SHARED || w->worker->run->serial;
    const void *bs = mg__slot(w, m->reg[1]), *cs = m->reg[2] >= 0 ? mg__slot(w, m->reg[2]) : bs;
    void *d = m->reg[0] >= 0 ? mg__slot(w, m->reg[0]) : NULL;
    if (own && !d && m->atomop == MG_ATOM_ADD && m->width == 4 && m->type != MG_T_F32 && m->type < MG_T_F16) {
        const uint32_t *b32 = bs;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned i = (unsigned)__builtin_ctz(rest);
            uint32_t v;
            memcpy(&v, where[i], 4);
            v += b32[i];
            memcpy(where[i], &v, 4);
        }
        return op + 1;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint64_t b = m->dst64 ? ((const uint64_t *)bs)[i] : ((const uint32_t *)bs)[i];
        uint64_t c = m->dst64 ? ((const uint64_t *)cs)[i] : ((const uint32_t *)cs)[i];
        uint64_t old = own             ? plain(m, where[i], b, c)
                       : m->width == 8 ? atomic64(m, where[i], b, c)
                       : m->width == 4 ? atomic32(m, where[i], b, c)
                                       : atomic16(m, where[i], b, c);
        if (d && m->dst64)
            ((uint64_t *)d)[i] = old;
        else if (d)
            ((uint32_t *)d)[i] = (uint32_t)old;
    }
    return op + 1;
}
