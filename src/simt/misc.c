/* misc.c - handlers that move values inside a thread: special registers, packing, parameters, the stack. */
#include "simt/simt_priv.h"

#define FOR_LANES(i, mask) \
    for (uint32_t rest_ = (mask), i; rest_ && (i = (uint32_t)__builtin_ctz(rest_), true); rest_ &= rest_ - 1)

MG_HANDLER(mg__op_nop)
{
    (void)w;
    (void)mask;
    return op + 1;
}

MG_HANDLER(mg__op_mov_pred)
{
    mg__pred_set(w, op->d, mg__pred(w, op->a), mask);
    return op + 1;
}

static void set_lane(struct mg_warp *w, int32_t operand, bool wide, unsigned lane, uint64_t value)
{
    if (wide)
        ((uint64_t *)mg__slot(w, operand))[lane] = value;
    else
        ((uint32_t *)mg__slot(w, operand))[lane] = (uint32_t)value;
}

/* mov between a register and its parts: mode is the number of parts, their bytes << 8, and bit 16: 64 bits. */
MG_HANDLER(mg__op_pack)
{
    unsigned n = op->mode & 0xff, bytes = op->mode >> 8 & 0xff;
    bool wide = op->mode >> 16;
    const int32_t part[4] = {op->a, op->b, op->c, op->e};
    FOR_LANES(i, mask)
    {
        uint64_t value = 0;
        for (unsigned k = 0; k < n; k++) {
            uint64_t v = mg__lane32(w, part[k], i);
            value |= (bytes == 4 ? v : v & ((1u << 8 * bytes) - 1)) << (8 * bytes * k);
        }
        set_lane(w, op->d, wide, i, value);
    }
    return op + 1;
}

MG_HANDLER(mg__op_unpack)
{
    unsigned n = op->mode & 0xff, bytes = op->mode >> 8 & 0xff;
    bool wide = op->mode >> 16;
    const int32_t part[4] = {op->a, op->b, op->c, op->e};
    FOR_LANES(i, mask)
    {
        uint64_t value = wide ? mg__lane64(w, op->d, i) : mg__lane32(w, op->d, i);
        for (unsigned k = 0; k < n; k++) {
            uint64_t v = value >> (8 * bytes * k);
            if (part[k] >= 0)
                set_lane(w, part[k], false, i, bytes == 4 ? v : v & ((1u << 8 * bytes) - 1));
        }
    }
    return op + 1;
}

MG_HANDLER(mg__op_halves)
{
    const uint32_t *a = mg__slot(w, op->a);
    uint32_t *d = mg__slot(w, op->d);
    FOR_LANES(i, mask)
    d[i] = op->mode ? a[i] >> 16 : a[i] & 0xffff;
    return op + 1;
}

/* As modelled, where an observer is the clock. */
static uint64_t clock_of(const struct mg_warp *w, bool nanoseconds)
{
    const struct mg_run *run = w->worker->run;
    if (run->clock < 0)
        return nanoseconds ? mg__clock_ns() : w->issued;
    return run->observers[run->clock].clock(w->worker->observers[run->clock], w->block->linear, w->index, nanoseconds);
}

static uint64_t special(const struct mg_warp *w, unsigned reg, unsigned dim, unsigned lane)
{
    const struct mg_run *run = w->worker->run;
    const struct mg_dim3 *grid = &run->launch->grid, *block = &run->launch->block;
    switch (reg) {
    case MG_SR_TID:
        return dim < 3 ? w->tid[dim][lane] : 0;
    case MG_SR_NTID:
        return dim == 0 ? block->x : dim == 1 ? block->y : dim == 2 ? block->z : 0;
    case MG_SR_CTAID:
        return dim < 3 ? w->block->ctaid[dim] : 0;
    case MG_SR_NCTAID:
        return dim == 0 ? grid->x : dim == 1 ? grid->y : dim == 2 ? grid->z : 0;
    case MG_SR_LANEID:
        return lane;
    case MG_SR_WARPID:
        return w->index;
    case MG_SR_NWARPID:
        return run->simt->arch->max_warps_sm;
    case MG_SR_SMID:
        return w->block->linear % run->simt->arch->board->sm_count;
    case MG_SR_NSMID:
        return run->simt->arch->board->sm_count;
    case MG_SR_GRIDID:
        return 1;
    case MG_SR_LANEMASK_EQ:
        return 1u << lane;
    case MG_SR_LANEMASK_LE:
        return (2ull << lane) - 1;
    case MG_SR_LANEMASK_LT:
        return (1u << lane) - 1;
    case MG_SR_LANEMASK_GE:
        return (uint32_t) ~((1u << lane) - 1);
    case MG_SR_LANEMASK_GT:
        return (uint32_t) ~((2ull << lane) - 1);
    case MG_SR_CLOCK:
        return (uint32_t)clock_of(w, false);
    case MG_SR_CLOCK_HI:
        return clock_of(w, false) >> 32;
    case MG_SR_CLOCK64:
        return clock_of(w, false);
    case MG_SR_GLOBALTIMER: /* nanoseconds since 1970, as a device's: the system_clock of libcu++ is built on it */
        return clock_of(w, true);
    case MG_SR_GLOBALTIMER_LO:
        return (uint32_t)clock_of(w, true);
    case MG_SR_GLOBALTIMER_HI:
        return clock_of(w, true) >> 32;
    case MG_SR_DYNAMIC_SMEM_SIZE:
        return run->launch->shared;
    case MG_SR_TOTAL_SMEM_SIZE:
        return run->shared_total;
    case MG_SR_ENVREG: /* 1 and 2: where the grid-wide barrier of a cooperative launch lives */
        return dim == 1 ? run->workspace >> 32 : dim == 2 ? (uint32_t)run->workspace : 0;
    case MG_SR_RESERVED_SMEM: /* begin, end, capacity, and places in it, which its users agree on */
        return dim == 2 ? MG_SHARED_RESERVED
                        : run->shared_size - MG_SHARED_RESERVED + (dim == 1 ? MG_SHARED_RESERVED : dim == 4 ? 512 : 0);
    case MG_SR_CLUSTER:
        return mg__cluster_register(w->block, dim);
    default:
        return UINT64_MAX;
    }
}

static bool varies(unsigned reg)
{
    return reg == MG_SR_TID || (reg >= MG_SR_LANEMASK_EQ && reg <= MG_SR_LANEMASK_GT) || reg == MG_SR_LANEID;
}

MG_HANDLER(mg__op_sreg)
{
    bool wide = op->mode;
    unsigned reg = op->u.imm & 0xffff, dim = op->u.imm >> 16 & 0xff;
    if (reg == MG_SR_OTHER) {
        mg__fault(w, op, (uint32_t)__builtin_ctz(mask), MG_ERR_UNSUPPORTED, "the special register %s is not simulated",
                  mg__ptx_sreg_name((enum mg_ptx_sreg)reg, dim));
        mg__fault_hint(w, "Give the kernel a path that does without it.");
        return NULL;
    }
    if (reg == MG_SR_CLOCK || reg == MG_SR_CLOCK64)
        w->issued += 16; /* so that a wait by clock ends */
    if (!wide && mask == ~0u && reg == MG_SR_TID && dim < 3) {
        memcpy(mg__slot(w, op->d), w->tid[dim], 128);
        return op + 1;
    }
    bool lanes = varies(reg);
    uint64_t same = lanes ? 0 : special(w, reg, dim, 0);
    if (!lanes && !wide && mask == ~0u) {
        uint32_t *d = mg__slot(w, op->d);
        for (unsigned i = 0; i < 32; i++)
            d[i] = (uint32_t)same;
        return op + 1;
    }
    FOR_LANES(i, mask)
    set_lane(w, op->d, wide, i, lanes ? special(w, reg, dim, i) : same);
    return op + 1;
}

static void fill(struct mg_warp *w, const struct mg_fill *f)
{
    uint8_t *slot = w->root->regs + f->slot;
    const bool same = f->kind != MG_FILL_SREG || !varies(f->sreg);
    uint64_t value = 0;
    if (f->kind != MG_FILL_SREG)
        memcpy(&value, w->worker->run->params + f->offset, f->bytes);
    else if (same)
        value = special(w, f->sreg, f->dim, 0);
    for (unsigned i = 0; i < 32; i++) {
        if (!same)
            value = special(w, f->sreg, f->dim, i);
        if (f->bytes == 8)
            ((uint64_t *)(void *)slot)[i] = value;
        else
            ((uint32_t *)(void *)slot)[i] = (uint32_t)value;
    }
}

void mg__fill_warp(struct mg_warp *w)
{
    const struct mg_code *code = w->root->code;
    for (uint32_t k = 0; k < code->nfills; k++)
        if (code->fills[k].sreg != MG_SR_CTAID)
            fill(w, &code->fills[k]);
}

void mg__fill_block(struct mg_warp *w, unsigned lanes)
{
    const struct mg_code *code = w->root->code;
    w->filled = lanes == 32;
    for (uint32_t k = 0; k < code->nfills; k++)
        if (code->fills[k].sreg == MG_SR_CTAID) {
            uint32_t *slot = (uint32_t *)(void *)(w->root->regs + code->fills[k].slot);
            for (unsigned i = 0; i < lanes; i++)
                slot[i] = w->block->ctaid[code->fills[k].dim];
        }
}

MG_HANDLER(mg__op_local_address)
{
    uint64_t address = op->u.imm + w->frame->local_base;
    FOR_LANES(i, mask)
    set_lane(w, op->d, op->mode, i, address);
    return op + 1;
}

MG_HANDLER(mg__op_isspacep)
{
    const struct mg_run *run = w->worker->run;
    const struct mg_simt *s = run->simt;
    const uint64_t *a = mg__slot(w, op->a);
    uint32_t result = 0;
    for (unsigned i = 0; i < 32; i++) {
        bool shared = a[i] - s->shared_window < op->u.imm * MG_WINDOW_SIZE,
             local = a[i] - s->local_window < MG_WINDOW_SIZE, param = a[i] - s->param_window < MG_WINDOW_SIZE,
             constant = false;
        if (op->mode == MG_SPACE_CONST) {
            const struct mg_allocation *found = mg__snapshot_find(run, a[i]);
            constant = found && found->constant;
        }
        bool yes = op->mode == MG_SPACE_SHARED  ? shared
                   : op->mode == MG_SPACE_LOCAL ? local
                   : op->mode == MG_SPACE_PARAM ? param
                   : op->mode == MG_SPACE_CONST
                       ? constant
                       : a[i] - s->shared_window >= (MG_MAX_CLUSTER + 1) * MG_WINDOW_SIZE && !local && !param;
        result |= (uint32_t)yes << i;
    }
    mg__pred_set(w, op->d, result, mask);
    return op + 1;
}

static uint32_t combine(uint32_t a, uint32_t c, uint32_t boolop)
{
    return boolop == MG_BOOL_AND ? a & c : boolop == MG_BOOL_OR ? a | c : boolop == MG_BOOL_XOR ? a ^ c : a;
}

MG_HANDLER(mg__op_setp_bool)
{
    uint32_t a = mg__pred(w, op->a), c = op->c >= 0 ? mg__pred(w, op->c) : 0;
    uint32_t other = op->b >= 0 ? mg__pred(w, op->b) : ~a;
    mg__pred_set(w, op->d, combine(a, c, op->mode), mask);
    if (op->d2 >= 0)
        mg__pred_set(w, op->d2, combine(other, c, op->mode), mask);
    return op + 1;
}

MG_HANDLER(mg__op_set)
{
    uint32_t c = op->c >= 0 ? mg__pred(w, op->c) : 0;
    uint32_t low = combine(mg__pred(w, op->a), c, op->mode);
    uint32_t high = op->b >= 0 ? combine(mg__pred(w, op->b), c, op->mode) : 0;
    uint32_t yes;
    switch (op->u.imm) {
    case MG_T_F32:
        yes = 0x3f800000u;
        break;
    case MG_T_F16:
    case MG_T_F16X2:
        yes = 0x3c00u;
        break;
    case MG_T_BF16:
    case MG_T_BF16X2:
        yes = 0x3f80u;
        break;
    default:
        yes = ~0u;
        break;
    }
    uint32_t *d = mg__slot(w, op->d);
    FOR_LANES(i, mask)
    {
        uint32_t value = low >> i & 1 ? yes : 0;
        if (op->b >= 0)
            value = (value & 0xffff) | (high >> i & 1 ? yes << 16 : 0);
        d[i] = value;
    }
    return op + 1;
}

/* ---- parameters ---- */
static uint64_t read_bytes(const uint8_t *p, unsigned width, bool sext)
{
    uint64_t value = 0;
    memcpy(&value, p, width);
    if (sext && width < 8 && value >> (8 * width - 1) & 1)
        value |= ~0ull << (8 * width);
    return value;
}

MG_HANDLER(mg__op_ld_kparam)
{
    const struct mg_mem *mem = op->u.mem;
    const struct mg_run *run = w->worker->run;
    unsigned bytes = mem->width * mem->vec;
    if (run->want_params && mem->addr >= 0 && mask)
        mg__access_params(w, op, mask);
    for (unsigned v = 0; v < mem->vec; v++) {
        if (mem->reg[v] < 0)
            continue;
        uint64_t same = 0;
        bool known = false;
        FOR_LANES(i, mask)
        {
            if (!known) {
                uint64_t at = (uint64_t)mem->offset;
                if (mem->addr >= 0)
                    at += mem->addr64 ? mg__lane64(w, mem->addr, i) : mg__lane32(w, mem->addr, i);
                if (at > run->param_size || bytes > run->param_size - at)
                    return mg__fault(w, op, i, MG_ERR_ADDRESS,
                                     "access of %u bytes at offset %llu of the kernel's %u "
                                     "bytes of parameters",
                                     bytes, (unsigned long long)at, run->param_size);
                same = read_bytes(run->params + at + v * mem->width, mem->width, mem->sext);
                known = mem->addr < 0;
                if (known && mask == ~0u && !mem->dst64) {
                    uint32_t *d = mg__slot(w, mem->reg[v]);
                    for (unsigned k = 0; k < 32; k++)
                        d[k] = (uint32_t)same;
                    break;
                }
            }
            set_lane(w, mem->reg[v], mem->dst64, i, same);
        }
    }
    return op + 1;
}

/* ---- arguments and results of calls ---- */
static uint8_t *param_byte(const struct mg_frame *f, uint32_t offset, unsigned lane)
{
    return (uint8_t *)&mg__param_row(f, offset)[lane] + offset % 4;
}

uint64_t mg__param_read(const struct mg_frame *f, uint32_t offset, unsigned bytes, unsigned lane)
{
    uint64_t value = 0;
    for (unsigned b = 0; b < bytes; b++)
        value |= (uint64_t)*param_byte(f, offset + b, lane) << 8 * b;
    return value;
}

void mg__param_write(const struct mg_frame *f, uint32_t offset, unsigned bytes, unsigned lane, uint64_t value)
{
    for (unsigned b = 0; b < bytes; b++)
        *param_byte(f, offset + b, lane) = (uint8_t)(value >> 8 * b);
}

MG_WIDE void mg__lanes_copy(uint32_t *to, const uint32_t *from, uint32_t mask)
{
    if (mask == ~0u) {
        memcpy(to, from, 128);
        return;
    }
    for (unsigned i = 0; i < 32; i++) {
        uint32_t on = 0u - (mask >> i & 1);
        to[i] = (to[i] & ~on) | (from[i] & on);
    }
}

MG_WIDE static void join_halves(uint64_t *to, const uint32_t *low, const uint32_t *high, uint32_t mask)
{
    for (unsigned i = 0; i < 32; i++) {
        uint64_t on = 0ull - (mask >> i & 1);
        to[i] = (to[i] & ~on) | ((low[i] | (uint64_t)high[i] << 32) & on);
    }
}

MG_WIDE static void part_halves(uint32_t *low, uint32_t *high, const uint64_t *from, uint32_t mask)
{
    for (unsigned i = 0; i < 32; i++) {
        uint32_t on = 0u - (mask >> i & 1);
        low[i] = (low[i] & ~on) | ((uint32_t)from[i] & on);
        high[i] = (high[i] & ~on) | ((uint32_t)(from[i] >> 32) & on);
    }
}

MG_HANDLER(mg__op_ld_param)
{
    const struct mg_mem *mem = op->u.mem;
    const struct mg_frame *f = w->frame;
    for (unsigned v = 0; v < mem->vec; v++) {
        uint32_t offset = (uint32_t)mem->offset + v * mem->width;
        if (mem->reg[v] < 0)
            continue;
        if (mem->width == 4 && !mem->dst64 && offset % 4 == 0)
            mg__lanes_copy(mg__slot(w, mem->reg[v]), mg__param_row(f, offset), mask);
        else if (mem->width == 8 && mem->dst64 && offset % 4 == 0)
            join_halves(mg__slot(w, mem->reg[v]), mg__param_row(f, offset), mg__param_row(f, offset + 4), mask);
        else
            FOR_LANES(i, mask)
            {
                uint64_t value = mg__param_read(f, offset, mem->width, i);
                set_lane(w, mem->reg[v], mem->dst64, i, read_bytes((const uint8_t *)&value, mem->width, mem->sext));
            }
    }
    return op + 1;
}

MG_HANDLER(mg__op_st_param)
{
    const struct mg_mem *mem = op->u.mem;
    const struct mg_frame *f = w->frame;
    for (unsigned v = 0; v < mem->vec; v++) {
        uint32_t offset = (uint32_t)mem->offset + v * mem->width;
        if (mem->width == 4 && !mem->dst64 && offset % 4 == 0)
            mg__lanes_copy(mg__param_row(f, offset), mg__slot(w, mem->reg[v]), mask);
        else if (mem->width == 8 && mem->dst64 && offset % 4 == 0)
            part_halves(mg__param_row(f, offset), mg__param_row(f, offset + 4), mg__slot(w, mem->reg[v]), mask);
        else
            FOR_LANES(i, mask)
        mg__param_write(f, offset, mem->width, i,
                        mem->dst64 ? mg__lane64(w, mem->reg[v], i) : mg__lane32(w, mem->reg[v], i));
    }
    return op + 1;
}

/* ---- the stack ----
 * It grows upwards here, and all lanes that run together share its top: alloca takes the most that a lane asks for. */
MG_HANDLER(mg__op_alloca)
{
    const uint64_t *size = mg__slot(w, op->a);
    uint64_t most = 0, align = MG_MAX(op->u.imm, 16);
    FOR_LANES(i, mask)
    most = MG_MAX(most, size[i]);
    uint32_t top = w->frame->local_top;
    uint64_t at = (top + align - 1) / align * align;
    if (align & (align - 1) || most > MG_LOCAL_LIMIT || at + most > w->worker->run->stack_bytes) {
        mg__fault(w, op, (uint32_t)__builtin_ctz(mask), MG_ERR_ADDRESS,
                  "alloca of %llu bytes overflows the thread's stack", (unsigned long long)most);
        return NULL;
    }
    w->frame->local_top = (uint32_t)(at + most);
    FOR_LANES(i, mask)
    set_lane(w, op->d, op->mode, i, at);
    return op + 1;
}

MG_HANDLER(mg__op_stack)
{
    bool save = op->mode & 1, wide = op->mode & 2;
    if (save) {
        FOR_LANES(i, mask)
        set_lane(w, op->d, wide, i, w->frame->local_top);
    } else {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        uint64_t top = wide ? mg__lane64(w, op->d, lane) : mg__lane32(w, op->d, lane);
        if (top >= w->frame->local_base && top <= w->worker->run->stack_bytes)
            w->frame->local_top = (uint32_t)top;
    }
    return op + 1;
}

MG_HANDLER(mg__op_nanosleep)
{
    (void)mask;
    mg__poll(w, 2);
    return op + 1;
}
