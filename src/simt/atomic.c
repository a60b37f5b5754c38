/* atomic.c - atom and red: read, compute and write lane after lane, in lane order.
 *
 * Shared memory belongs to one worker, and so does everything while a launch runs on one worker; otherwise global
 * memory is updated by the host's own atomic instructions, or by compare-and-swap where it has none for the operation.
 *
 * One that gives the old values and leaves all of them as they were, be it a lock that is taken or an addition of 0,
 * may be what a wait is made of, and is charged as a poll; a compare-and-swap that failed shows, too, that the launch's
 * counts depend on who came first.
 */
#include "simt/simt_priv.h"

/* `flush`: SEM_FTZ or 0, for additions of f32. */
static uint64_t combine(const struct mg_mem *m, uint64_t old, uint64_t b, uint64_t c, uint32_t flush)
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
        case MG_T_F32: /* flushes subnormals in global memory, not in shared (PTX ISA, atom; measured on an H100) */
            return sem_add_f32(o, v, flush);
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
    case MG_T_B128:
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

static uint64_t plain(const struct mg_mem *m, uint8_t *p, uint64_t b, uint64_t c, uint32_t flush, bool *changed)
{
    uint64_t old = 0, now = 0;
    memcpy(&old, p, m->width);
    uint64_t new = combine(m, old, b, c, flush);
    memcpy(p, &new, m->width);
    memcpy(&now, p, m->width);
    *changed |= now != old;
    return old;
}

#define ATOMIC(bits)                                                                                         \
    static uint64_t atomic##bits(const struct mg_mem *m, uint8_t *p, uint64_t b, uint64_t c, uint32_t flush, \
                                 bool *changed)                                                              \
    {                                                                                                        \
        uint##bits##_t *at = (uint##bits##_t *)(void *)p, old = __atomic_load_n(at, __ATOMIC_RELAXED), new;  \
        do                                                                                                   \
            new = (uint##bits##_t)combine(m, old, b, c, flush);                                              \
        while (!__atomic_compare_exchange_n(at, &old, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));       \
        *changed |= new != old;                                                                              \
        return old;                                                                                          \
    }
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

bool mg__atomic_known(const struct mg_mem *m)
{
    return known(m);
}

void mg__atomic_one(const struct mg_mem *m, uint8_t *at, const uint8_t *with, bool own)
{
    uint64_t value = 0;
    bool changed = false;
    memcpy(&value, with, m->width);
    (void)(own             ? plain(m, at, value, 0, 0, &changed)
           : m->width == 8 ? atomic64(m, at, value, 0, 0, &changed)
           : m->width == 4 ? atomic32(m, at, value, 0, 0, &changed)
                           : atomic16(m, at, value, 0, 0, &changed));
}

static inline void tell_change(struct mg_warp *w, const struct mg_mem *m, bool changed)
{
    w->worker->alters |= changed;
    if (!changed)
        mg__poll(w, m->poll);
    else if (m->poll && w->worker->run->gives)
        mg__give(w);
}

/* The elements of a vector, one operation each; `where`, for the caller's lanes. */
MG_NO_TSAN static void vectors(struct mg_warp *w, const struct mg_mem *m, uint32_t mask, uint8_t *const where[32],
                               bool own)
{
    bool changed = m->poll == 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint32_t with[8], old[8]; /* the results may go where the operands are */
        for (unsigned k = 0; k < m->vec; k++)
            with[k] = ((const uint32_t *)mg__slot(w, m->with[k]))[i];
        for (unsigned k = 0; k < m->vec; k++) {
            uint8_t *at = where[i] + k * m->width;
            old[k] = (uint32_t)(own             ? plain(m, at, with[k], 0, SEM_FTZ, &changed)
                                : m->width == 4 ? atomic32(m, at, with[k], 0, SEM_FTZ, &changed)
                                                : atomic16(m, at, with[k], 0, SEM_FTZ, &changed));
        }
        for (unsigned k = 0; k < m->vec; k++)
            if (m->reg[k] >= 0)
                ((uint32_t *)mg__slot(w, m->reg[k]))[i] = old[k];
    }
    tell_change(w, m, changed);
}

static void failed(struct mg_warp *w, bool swap)
{
    w->worker->waits |= swap ? MG_WAITED_SWAP : 0;
}

/* exch and cas of 128 bits, in words (lower_mem.c). Only one worker has the memory. */
MG_NO_TSAN static void quads(struct mg_warp *w, const struct mg_mem *m, uint32_t mask, uint8_t *const where[32])
{
    bool cas = m->atomop == MG_ATOM_CAS, changed = false;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint32_t old[4], first[4], second[4];
        memcpy(old, where[i], sizeof old);
        for (unsigned k = 0; k < 4; k++) {
            first[k] = mg__lane32(w, m->with[k], i);
            second[k] = cas ? mg__lane32(w, m->with[4 + k], i) : 0;
        }
        bool same = memcmp(old, first, sizeof old) == 0;
        if (!cas || same)
            memcpy(where[i], cas ? second : first, sizeof first);
        changed |= memcmp(where[i], old, sizeof old) != 0;
        failed(w, cas && !same);
        for (unsigned k = 0; k < 4; k++)
            if (m->reg[k] >= 0)
                ((uint32_t *)mg__slot(w, m->reg[k]))[i] = old[k];
    }
    tell_change(w, m, changed);
}

/* The same of elements that nobody else can reach now, by the operations that most programs have: what becomes of o, as
 * it was, by the operand v. False: not of these. */
#define EACH(word, NEW)                                         \
    for (uint32_t rest = mask; rest; rest &= rest - 1) {        \
        const unsigned i = (unsigned)__builtin_ctz(rest);       \
        word *at = (word *)(void *)where[i], o = *at, v = b[i]; \
        const word now = NEW;                                   \
        differ |= now ^ o;                                      \
        other |= o ^ v;                                         \
        *at = now;                                              \
        old[i] = o;                                             \
    }                                                           \
    break;
MG_NO_TSAN static bool words(struct mg_warp *w, const struct mg_mem *m, uint32_t mask, uint8_t *const where[32])
{
    const uint32_t *b = mg__slot(w, m->reg[1]), *c = m->reg[2] >= 0 ? mg__slot(w, m->reg[2]) : b;
    uint32_t unwanted[32], *old = m->reg[0] >= 0 ? mg__slot(w, m->reg[0]) : unwanted, differ = m->poll == 0, other = 0;
    const bool is_signed = m->type == MG_T_S32;
    if (m->width != 4 || m->dst64 || (!is_signed && m->type != MG_T_U32 && m->type != MG_T_B32))
        return false;
    switch (m->atomop) {
    case MG_ATOM_ADD:
        EACH(uint32_t, o + v)
    case MG_ATOM_EXCH:
        EACH(uint32_t, v)
    case MG_ATOM_CAS:
        EACH(uint32_t, o == v ? c[i] : o)
    case MG_ATOM_AND:
        EACH(uint32_t, o & v)
    case MG_ATOM_OR:
        EACH(uint32_t, o | v)
    case MG_ATOM_XOR:
        EACH(uint32_t, o ^ v)
    case MG_ATOM_MIN:
        EACH(uint32_t, (is_signed ? (int32_t)v < (int32_t)o : v < o) ? v : o)
    case MG_ATOM_MAX:
        EACH(uint32_t, (is_signed ? (int32_t)v > (int32_t)o : v > o) ? v : o)
    default:
        return false;
    }
    failed(w, other && m->atomop == MG_ATOM_CAS);
    tell_change(w, m, differ != 0);
    return true;
}

/* Of 64 bits, integers and f64. */
MG_NO_TSAN static bool words64(struct mg_warp *w, const struct mg_mem *m, uint32_t mask, uint8_t *const where[32])
{
    const uint64_t *b = mg__slot(w, m->reg[1]), *c = m->reg[2] >= 0 ? mg__slot(w, m->reg[2]) : b;
    uint64_t unwanted[32], *old = m->reg[0] >= 0 ? mg__slot(w, m->reg[0]) : unwanted, differ = m->poll == 0, other = 0;
    const bool real = m->type == MG_T_F64;
    if (m->width != 8 || !m->dst64)
        return false;
    switch (real && m->atomop != MG_ATOM_ADD ? MG_ATOM_NONE : m->atomop) {
    case MG_ATOM_ADD:
        EACH(uint64_t, real ? sem_add_f64(o, v, 0) : o + v)
    case MG_ATOM_EXCH:
        EACH(uint64_t, v)
    case MG_ATOM_CAS:
        EACH(uint64_t, o == v ? c[i] : o)
    default:
        return false;
    }
    failed(w, other && m->atomop == MG_ATOM_CAS);
    tell_change(w, m, differ != 0);
    return true;
}

/* Sums of f32, in memory that others may reach, too, if not `own`; flushed or not, by where it is. */
MG_NO_TSAN static bool floats(struct mg_warp *w, const struct mg_mem *m, uint32_t mask, uint8_t *const where[32],
                              bool own)
{
    const uint32_t *b = mg__slot(w, m->reg[1]), flush = m->space == MG_SPACE_SHARED ? 0 : SEM_FTZ;
    uint32_t unwanted[32], *old = m->reg[0] >= 0 ? mg__slot(w, m->reg[0]) : unwanted, differ = m->poll == 0;
    if (m->type != MG_T_F32 || m->atomop != MG_ATOM_ADD || m->space == MG_SPACE_GENERIC)
        return false;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        uint32_t *at = (uint32_t *)(void *)where[i], o = __atomic_load_n(at, __ATOMIC_RELAXED),
                 now = sem_add_f32(o, b[i], flush);
        while (!own && !__atomic_compare_exchange_n(at, &o, now, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            now = sem_add_f32(o, b[i], flush);
        if (own)
            *at = now;
        differ |= now ^ o;
        old[i] = o;
    }
    tell_change(w, m, differ != 0);
    return true;
}

/* One element a lane, in lane order; `where`, for the caller's lanes. */
MG_NO_TSAN static void elements(struct mg_warp *w, const struct mg_mem *m, uint32_t mask, uint8_t *const where[32],
                                bool own)
{
    if (floats(w, m, mask, where, own) || (own && (words(w, m, mask, where) || words64(w, m, mask, where))))
        return;
    const void *bs = mg__slot(w, m->reg[1]), *cs = m->reg[2] >= 0 ? mg__slot(w, m->reg[2]) : bs;
    void *d = m->reg[0] >= 0 ? mg__slot(w, m->reg[0]) : NULL;
    uint64_t keep = m->width == 8 ? ~0ull : (1ull << 8 * m->width) - 1;
    bool changed = m->poll == 0, lost = false;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint64_t b = m->dst64 ? ((const uint64_t *)bs)[i] : ((const uint32_t *)bs)[i];
        uint64_t c = m->dst64 ? ((const uint64_t *)cs)[i] : ((const uint32_t *)cs)[i];
        uint32_t flush = m->type == MG_T_F32 && !mg__cluster_holds(w->block, where[i]) ? SEM_FTZ : 0;
        uint64_t old = own             ? plain(m, where[i], b, c, flush, &changed)
                       : m->width == 8 ? atomic64(m, where[i], b, c, flush, &changed)
                       : m->width == 4 ? atomic32(m, where[i], b, c, flush, &changed)
                                       : atomic16(m, where[i], b, c, flush, &changed);
        lost |= ((old ^ b) & keep) != 0;
        if (d && m->dst64)
            ((uint64_t *)d)[i] = old;
        else if (d)
            ((uint32_t *)d)[i] = (uint32_t)old;
    }
    failed(w, lost && m->atomop == MG_ATOM_CAS);
    tell_change(w, m, changed);
}

/* Of compiled code, which knows that all lanes are in bounds and has counted them: device addresses, or offsets in
 * shared memory. */
bool mg__atom_checks(const struct mg_mem *m)
{
    return known(m) && m->vec == 1 && m->atomop != MG_ATOM_CAS && m->atomop != MG_ATOM_EXCH && m->type != MG_T_B128 &&
           !m->local_frame && m->addr >= 0 &&
           (m->space == MG_SPACE_SHARED || (m->space == MG_SPACE_GLOBAL && m->addr64));
}

MG_NO_TSAN MG_HANDLER(mg__op_atom_checked)
{
    const struct mg_mem *m = op->u.mem;
    uint64_t address[32];
    uint8_t *where[32];
    bool shared = m->space == MG_SPACE_SHARED, own = shared || w->worker->run->serial;
    mg__address(w, m, address);
    for (unsigned i = 0; i < 32; i++)
        where[i] = shared ? w->block->shared + address[i] : (uint8_t *)(uintptr_t)address[i];
    if (m->atomop == MG_ATOM_ADD && m->width == 4 && (m->type == MG_T_U32 || m->type == MG_T_S32)) {
        const uint32_t *b = mg__slot(w, m->reg[1]);
        uint32_t unwanted[32], *old = m->reg[0] >= 0 ? mg__slot(w, m->reg[0]) : unwanted, sum = m->poll == 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned i = (unsigned)__builtin_ctz(rest);
            uint32_t *at = (uint32_t *)(void *)where[i], more = b[i]; /* the result may go where the operand is */
            sum |= more;
            old[i] = own ? *at : __atomic_fetch_add(at, more, __ATOMIC_SEQ_CST);
            if (own)
                *at = old[i] + more;
        }
        tell_change(w, m, sum != 0);
    } else {
        elements(w, m, mask, where, own);
    }
    return op + 1;
}

MG_NO_TSAN MG_HANDLER(mg__op_atom)
{
    const struct mg_mem *m = op->u.mem;
    if (!known(m))
        return mg__op_unsupported(w, op, mask);
    uint64_t address[32];
    uint8_t *where[32];
    if (!w->worker->run->simt->lanes->places(w, op, mask, where)) {
        mg__address(w, m, address);
        if (!mg__access_slow(w, op, mask, address, where))
            return NULL;
    }
    bool own = m->space == MG_SPACE_SHARED || m->cluster || w->worker->run->serial;
    struct mg_local_copy copy;
    mg__local_take(w, m, mask, where, &copy);
    if (m->type == MG_T_B128)
        quads(w, m, mask, where);
    else if (m->vec > 1)
        vectors(w, m, mask, where, own);
    else
        elements(w, m, mask, where, own);
    mg__local_put(&copy);
    return op + 1;
}
