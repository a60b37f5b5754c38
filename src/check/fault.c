/* fault.c - accesses that no device would make: which object was meant, and where the address is. */
#include "check/watch.h"

/* The allocation that an address lies behind or before, by less than 64 KiB; -1: none is that near. */
static int32_t nearest_allocation(const struct launch *l, uint64_t address)
{
    uint64_t least = 64u << 10;
    int32_t found = -1;
    for (size_t k = 0; k < l->info->nallocations; k++) {
        const struct mg_allocation *a = &l->info->allocations[k];
        uint64_t away = a->address <= address ? address - a->address - a->size : a->address - address;
        if (away < least) {
            least = away;
            found = (int32_t)k;
        }
    }
    return found;
}

enum { BELOW_SHARED = 64 << 10 }; /* bytes, as near as simt/access.c looks */

/* The variable at the start of shared memory; -1: there is none. */
static int32_t first_shared(const struct launch *l)
{
    for (uint32_t k = 0; k < l->info->nshared_vars; k++)
        if (l->info->shared_vars[k].offset == 0)
            return (int32_t)k;
    return -1;
}

void mg__watch_fault(void *self, struct mg_access *a, enum mg_fault_kind fault)
{
    struct worker *w = self;
    struct launch *l = w->launch;
    const struct site *site = &l->code.sites[a->insn];
    bool from = site->async && a->space == MG_SPACE_GLOBAL;
    int32_t meant = from ? site->from_object : site->object;
    const struct mg_flow_origin *source = from ? &site->from : &site->source;
    bool shared = source->kind == MG_FLOW_VARIABLE && source->var->space == MG_SPACE_SHARED;
    if (!l->bounds)
        return;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t address = a->address[lane];
        enum check_kind kind = fault == MG_FAULT_MISALIGNED ? KIND_BOUNDS_MISALIGNED : KIND_BOUNDS_ALLOCATION;
        enum place_kind place = PLACE_ADDRESS;
        int32_t object = -1;
        uint64_t offset = address;
        if (a->space == MG_SPACE_SHARED) {
            place = PLACE_SHARED;
            object = shared ? meant : mg__watch_shared_object(l, address);
            if (object >= 0)
                offset = address - l->info->shared_vars[object].offset;
            if (fault == MG_FAULT_ADDRESS)
                kind = KIND_BOUNDS_VARIABLE;
        } else if (a->space == MG_SPACE_LOCAL) {
            place = PLACE_LOCAL;
            if (fault == MG_FAULT_ADDRESS)
                kind = KIND_BOUNDS_VARIABLE;
        } else if (fault == MG_FAULT_ADDRESS && address < 4096) {
            kind = KIND_BOUNDS_NULL;
        } else if (fault == MG_FAULT_ADDRESS && l->info->shared_window - address <= BELOW_SHARED) {
            kind = KIND_BOUNDS_VARIABLE;
            place = PLACE_SHARED;
            object = first_shared(l);
            offset = address - l->info->shared_window;
        } else {
            object = meant >= 0 && !shared ? meant : mg__watch_allocation(l, address, -1);
            if (object >= 0) {
                place = PLACE_GLOBAL;
                offset = address - l->info->allocations[object].address;
                if (fault == MG_FAULT_ADDRESS && l->info->allocations[object].name)
                    kind = KIND_BOUNDS_VARIABLE;
            } else if (fault == MG_FAULT_ADDRESS) {
                pthread_mutex_lock(&l->check->lock);
                const struct freed *f = mg__freed_find(l->check, address);
                if (f) {
                    kind = KIND_BOUNDS_FREED;
                    place = PLACE_FREED;
                    offset = address - f->address;
                } else if (address - l->info->range >= l->info->range_size) {
                    kind = KIND_BOUNDS_HOST_POINTER;
                }
                pthread_mutex_unlock(&l->check->lock);
                if (!f && kind == KIND_BOUNDS_ALLOCATION && (object = nearest_allocation(l, address)) >= 0) {
                    place = PLACE_GLOBAL;
                    offset = address - l->info->allocations[object].address; /* below it: negative */
                }
            }
        }
        mg__watch_note(w, kind, place, object, offset, mg__element_of(l, a), a->insn, NO_INSN, mg__watch_actor(a, lane),
                       mg__nobody);
    }
}
