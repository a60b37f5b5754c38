/* say.c - what an occurrence is in a sentence: who did what to which variable, and what the other one did. */
#include "check/check_priv.h"

static bool say_line(const struct launch *l, const struct line *line, const struct line *other, struct mg_strbuf *out)
{
    (void)l;
    if (!other->line)
        return true;
    if (strcmp(line->file, other->file)) {
        const char *slash = strrchr(other->file, '/');
        return mg__strbuf_printf(out, " at %s:%u", slash ? slash + 1 : other->file, other->line);
    }
    return other->line == line->line ? mg__strbuf_printf(out, " in the same line")
                                     : mg__strbuf_printf(out, " in line %u", other->line);
}

static const char *does(const struct launch *l, uint32_t insn)
{
    return insn != NO_INSN && l->code.sites[insn].writes ? "writes" : "reads";
}

/* Where the wait stands that did not wait (mbarrier.c). */
static bool say_vain(const struct launch *l, uint32_t wait, const struct line *line, struct mg_strbuf *out)
{
    const struct line own = mg__name_line(l->info, wait), call = mg__name_call(l->info, wait),
                      at = call.line ? call : own;
    return mg__strbuf_printf(out, ": the wait") && say_line(l, line, &at, out) &&
           mg__strbuf_printf(out, " is for the parity of a phase that is over already");
}

/* cp.async and the like, which are no bulk copies. */
static bool copies_into(const struct launch *l, uint32_t insn)
{
    return l->info->insns[insn].insn->access == MG_ACCESSES_COPY;
}

/* "thread (5,0,0) of block (0,0,0) reads tile[3], thread (3,0,0) writes it in line 12, and …" */
static bool say_race(const struct launch *l, const struct occurrence *o, const char *name, const struct line *line,
                     const struct line *other, struct mg_strbuf *out)
{
    bool between = o->who.block != o->with.block;
    const char *first = "reads", *second = "writes",
               *why = between ? "nothing orders the two blocks" : "no barrier lies between";
    switch (o->kind) {
    case KIND_RACE_READ_WRITE:
    case KIND_RACE_BLOCKS_READ_WRITE:
        first = "writes";
        second = "reads";
        break;
    case KIND_RACE_WRITE_WRITE:
    case KIND_RACE_BLOCKS_WRITE_WRITE:
        first = second = "writes";
        break;
    case KIND_RACE_SAME_VALUE:
        first = second = "writes";
        why = "the value is the same";
        break;
    case KIND_RACE_IN_STEP:
        first = o->value[0] ? "writes" : "reads";
        second = o->value[1] ? "writes" : "reads";
        why = "only running in step orders them";
        break;
    case KIND_RACE_ASYNC:
        first = o->value[0] ? copies_into(l, o->insn) ? "copies to" : "writes" : "reads";
        second = o->value[1] ? "copies there" : "copies it";
        why = "the copy has not been waited for";
        break;
    case KIND_RACE_WGMMA:
        first = "writes";
        second = "multiplies it";
        why = "has not waited for that yet";
        break;
    case KIND_RACE_FILLED:
    case KIND_RACE_SOURCE:
    case KIND_RACE_PROXY:
        first = o->value[0] ? "writes" : "reads";
        second = o->value[1] ? "copies there" : "copies it";
        why = o->kind == KIND_RACE_PROXY ? "no fence.proxy.async lies between" : "nothing orders the two";
        break;
    case KIND_RACE_SCOPE:
        first = does(l, o->insn);
        second = does(l, o->other);
        why = "block scope orders nothing between blocks";
        break;
    case KIND_RACE_BLOCKS_WRITE_READ:
        if (o->value[0])
            why = o->value[0] == FLAG_NO_FENCE ? "the flag between the two has no fence"
                  : o->value[0] == FLAG_RAISED_ALONE
                      ? "the warp that raises the flag has not met the one that writes"
                      : "the warp that waits for the flag has not met the one that reads";
        break;
    case KIND_RACE_CLUSTER:
        first = does(l, o->insn);
        second = does(l, o->other);
        why = "no barrier of the cluster lies between";
        break;
    case KIND_RACE_TORN:
        second = "writes half of";
        why = "the other half apart from it";
        break;
    case KIND_RACE_LETTER:
        first = does(l, o->insn);
        second = does(l, o->other);
        why = "only the letter of the memory model minds";
        break;
    case KIND_RACE_WIDTHS:
        first = second = "changes";
        why = "the two atomics have different widths";
        break;
    default:
        break;
    }
    if (o->kind == KIND_RACE_WGMMA_REGISTERS)
        return mg__name_thread(l, &o->who, true, out) &&
               mg__strbuf_printf(out, " uses registers that the multiplication") && say_line(l, line, other, out) &&
               mg__strbuf_printf(out, " has in flight, and no wgmma.wait_group of its group lies between");
    if (o->kind == KIND_RACE_CLUSTER_LIFE)
        return mg__name_thread(l, &o->who, true, out) &&
               mg__strbuf_printf(out, " uses %s of ", name[0] ? name : "shared memory") &&
               mg__name_thread(l, &o->with, true, out) &&
               mg__strbuf_printf(out, o->value[0] ? ", which may have ended" : ", which may not have begun");
    if (o->kind == KIND_RACE_WGMMA_FENCE)
        return mg__name_thread(l, &o->who, true, out) &&
               mg__strbuf_printf(out, " multiplies, and no wgmma.fence lies behind what wrote its registers");
    bool copies = o->kind == KIND_RACE_ASYNC || o->kind == KIND_RACE_FILLED || o->kind == KIND_RACE_SOURCE ||
                  o->kind == KIND_RACE_WGMMA || o->kind == KIND_RACE_PROXY;
    return mg__name_thread(l, &o->who, true, out) && mg__strbuf_printf(out, " %s %s, ", first, name[0] ? name : "it") &&
           mg__name_thread(l, &o->with, between, out) && mg__strbuf_printf(out, copies ? " %s" : " %s it", second) &&
           say_line(l, line, other, out) && mg__strbuf_printf(out, ", and %s", why) &&
           (o->kind != KIND_RACE_ASYNC || !o->value[3] || say_vain(l, o->value[3] - 1, line, out));
}

static bool same_place(const struct line *a, const struct line *b)
{
    return a->line == b->line && !strcmp(a->file, b->file);
}

/* Where every warp of the block waits, if that is in more than two places. */
static bool say_stuck(const struct launch *l, const struct occurrence *o, struct mg_strbuf *out)
{
    unsigned places = 0;
    bool good = true;
    if (!l->stuck.count || l->stuck.at[0].who.block != o->who.block)
        return true;
    for (unsigned pass = 0; pass < 2 && good; pass++) {
        unsigned told = 0;
        for (size_t i = 0; i < l->stuck.count; i++) {
            struct line line = mg__name_line(l->info, l->stuck.at[i].insn);
            size_t k = 0;
            for (struct line before; k < i; k++)
                if (before = mg__name_line(l->info, l->stuck.at[k].insn), same_place(&line, &before))
                    break;
            if (k < i)
                continue;
            places += !pass;
            if (!pass || places < 3)
                continue;
            good &= mg__strbuf_printf(out, "%s line %u (warp", told++ ? "," : "; where all wait:", line.line);
            const char *between = " ";
            for (; k < l->stuck.count; k++) {
                struct line also = mg__name_line(l->info, l->stuck.at[k].insn);
                if (same_place(&line, &also)) {
                    good &= mg__strbuf_printf(out, "%s%u", between, l->stuck.at[k].who.warp);
                    between = ", ";
                }
            }
            good &= mg__strbuf_printf(out, ")");
        }
    }
    return good;
}

static bool say_life(const struct launch *l, const struct occurrence *o, const struct line *line,
                     const struct line *other, struct mg_strbuf *out)
{
    if (o->value[0] == 0)
        return mg__strbuf_printf(out, " uses an mbarrier that nobody has initialised");
    if (o->value[0] == 1)
        return mg__strbuf_printf(out, " uses an mbarrier that ") && mg__name_thread(l, &o->with, true, out) &&
               mg__strbuf_printf(out, " initialises") && say_line(l, line, other, out) &&
               mg__strbuf_printf(out, ", and nothing orders the two");
    if (o->value[0] == 3)
        return mg__strbuf_printf(out, " initialises an mbarrier that other blocks use, ") &&
               mg__name_thread(l, &o->with, true, out) && say_line(l, line, other, out) &&
               mg__strbuf_printf(out,
                                 ", and neither a fence nor the cluster's barrier, which is relaxed, shows it to them");
    return mg__strbuf_printf(out, " ends an mbarrier that others may still use") && say_line(l, line, other, out);
}

static bool say_barrier(const struct launch *l, const struct occurrence *o, const struct line *line,
                        const struct line *other, struct mg_strbuf *out)
{
    const struct mg_insn_info *i = &l->info->insns[o->insn];
    const char *what = i->insn->sub == MG_SUB_WARP_SYNC ? "__syncwarp"
                       : i->insn->opcode == MG_OP_SHFL  ? "the shuffle"
                       : i->insn->opcode == MG_OP_VOTE  ? "the vote"
                                                        : "the warp operation";
    if (o->kind == KIND_BARRIER_NO_PROGRESS && o->value[0])
        return mg__name_thread(l, &o->who, true, out) &&
               mg__strbuf_printf(out, " waits here in a loop for what no thread will do") &&
               (o->value[1] == 0 || (mg__strbuf_printf(out, ", ") && mg__name_thread(l, &o->with, false, out) &&
                                     mg__strbuf_printf(out, " waits") && say_line(l, line, other, out))) &&
               say_stuck(l, o, out);
    if (o->kind == KIND_BARRIER_NO_PROGRESS)
        return mg__strbuf_printf(out, "threads wait here for what does not happen, until the time limit");
    if (!mg__name_thread(l, &o->who, true, out))
        return false;
    switch (o->kind) {
    case KIND_BARRIER_LEFT:
    case KIND_BARRIER_NOT_REACHED:
        if (o->kind == KIND_BARRIER_NOT_REACHED && o->value[1] == 0)
            return mg__strbuf_printf(out, " waits here for threads that never come");
        if (!mg__strbuf_printf(out, " waits here, and ") || !mg__name_thread(l, &o->with, false, out))
            return false;
        if (i->insn->effects & MG_E_SYNCS && l->info->insns[o->insn].insn != NULL && o->value[1] == 1 &&
            o->other != NO_INSN)
            return mg__strbuf_printf(out, " waits elsewhere") && say_line(l, line, other, out) && say_stuck(l, o, out);
        return mg__strbuf_printf(out, " ended") && say_line(l, line, other, out) &&
               mg__strbuf_printf(out, " without coming here");
    case KIND_BARRIER_MBARRIER:
        if (!mg__strbuf_printf(out, " waits here for ever"))
            return false;
        if (o->other != NO_INSN && o->value[2]) /* mbarrier.c */
            return mg__strbuf_printf(out,
                                     " for the parity of a phase to which nobody comes: the one before it is over, "
                                     "and it has not seen that; ") &&
                   mg__name_thread(l, &o->with, false, out) && mg__strbuf_printf(out, " arrived last") &&
                   say_line(l, line, other, out);
        if (o->other != NO_INSN)
            return mg__strbuf_printf(out, ": %u phases are over, of which it has seen %u; ", o->value[0],
                                     o->value[1]) &&
                   mg__name_thread(l, &o->with, false, out) && mg__strbuf_printf(out, " arrived last") &&
                   say_line(l, line, other, out);
        return mg__strbuf_printf(out, ": %u of %u arrivals came in this phase", o->value[1] - o->value[0],
                                 o->value[1]) &&
               ((!o->value[2] && !o->value[3]) ||
                mg__strbuf_printf(out, ", and %u bytes where %u were expected", o->value[3], o->value[2]));
    case KIND_BARRIER_MBARRIER_LIFE:
        return say_life(l, o, line, other, out);
    case KIND_BARRIER_MBARRIER_COUNT:
        return mg__strbuf_printf(out, " arrives here, %u at once, and the phase waits for %u more of %u", o->value[0],
                                 o->value[1], o->value[2]) &&
               (!o->value[3] || (mg__strbuf_printf(out, ", but for bytes that are to come") &&
                                 say_vain(l, o->value[3] - 1, line, out)));
    case KIND_BARRIER_DIFFERENT:
        return mg__strbuf_printf(out, " waits here while ") && mg__name_thread(l, &o->with, false, out) &&
               mg__strbuf_printf(out, " waits") && say_line(l, line, other, out);
    case KIND_BARRIER_SHARED:
        if (o->value[1])
            return mg__strbuf_printf(out, " comes to barrier %u, which has opened for arrivals alone, of ",
                                     o->value[0]) &&
                   mg__name_thread(l, &o->with, false, out) &&
                   mg__strbuf_printf(out, " among others: nobody waited at it");
        return mg__strbuf_printf(out, " comes to barrier %u, where ", o->value[0]) &&
               mg__name_thread(l, &o->with, false, out) &&
               mg__strbuf_printf(out, " and others have met, and nothing keeps the two groups apart");
    case KIND_BARRIER_MASK:
        if (o->value[0])
            return mg__strbuf_printf(out, " gives %s mask 0x%08x, and a lane that it names gives 0x%08x", what,
                                     o->value[0], o->value[1]);
        return mg__strbuf_printf(out, " is at %s, whose mask names lanes 0x%08x, which do not come", what, o->value[1]);
    case KIND_BARRIER_MASK_SELF:
        return mg__strbuf_printf(out, " executes %s with mask 0x%08x, which leaves it out", what, o->value[0]);
    case KIND_BARRIER_SHUFFLE_SOURCE:
        return mg__strbuf_printf(out, " reads from lane %u, which does not take part", o->value[0]);
    case KIND_BARRIER_COUNT:
        if (o->other == NO_INSN && o->value[1] >= 16)
            return mg__strbuf_printf(out, " names barrier %u; a block has 0 to 15", o->value[1]);
        if (o->other == NO_INSN)
            return mg__strbuf_printf(out, " names %u threads; the number must be a multiple of 32 up to 1024",
                                     o->value[0]);
        return mg__strbuf_printf(out, " names %u threads, and ", o->value[0]) &&
               mg__name_thread(l, &o->with, false, out) && mg__strbuf_printf(out, " %u", o->value[1]) &&
               say_line(l, line, other, out);
    case KIND_BARRIER_REGISTERS:
    case KIND_BARRIER_REGISTERS_GROUP:
    case KIND_BARRIER_REGISTERS_DIRECTION:
    case KIND_BARRIER_REGISTERS_IGNORED:
        return mg__registers_say(l, o, out);
    default:
        return true;
    }
}

static bool writes(const struct launch *l, const struct occurrence *o)
{
    return l->code.sites[o->insn].writes && !(l->code.sites[o->insn].async && o->place == PLACE_GLOBAL);
}

/* All of a lane's bytes: a vector's elements together. */
static uint32_t bytes_of(const struct launch *l, const struct occurrence *o)
{
    const struct mg_ptx_insn *i = l->info->insns[o->insn].insn;
    return MG_MAX((uint32_t)o->width, i->vec * (uint32_t)mg__ptx_type_size((enum mg_ptx_type)i->type[0]));
}

/* What becomes of a value that nobody made. */
static bool say_use(const struct occurrence *o, const struct line *line, const struct line *other,
                    struct mg_strbuf *out)
{
    static const char *const uses[] = {[USE_BRANCH] = "and it decides a branch",
                                       [USE_ADDRESS] = "and it is part of an address",
                                       [USE_ATOMIC] = "and it is an operand of an atomic",
                                       [USE_RESULT] = "and what is computed from it is stored",
                                       [USE_COPY] = "and stores it"};
    return o->other == NO_INSN ||
           (mg__strbuf_printf(out, ", %s", uses[o->value[0]]) && say_line(NULL, line, other, out));
}

/* What nobody made, and where a kernel copied it to the place that is read now. */
static bool say_unwritten(const struct launch *l, const struct occurrence *o, const char *name, const struct line *line,
                          struct mg_strbuf *out)
{
    const struct region *r = o->kind == KIND_INIT_GLOBAL && o->object >= 0 ? l->regions[o->object] : NULL;
    const struct mg_report_finding *f = r ? mg__copied_there(l->check, r, o->offset) : NULL;
    const struct line there = f && f->file ? (struct line){f->file, f->line, f->column} : (struct line){"", 0, 0};
    if (f && f->kernel) {
        const char *kernel = f->kernel + (strncmp(f->kernel, "void ", 5) ? 0 : 5);
        return mg__strbuf_printf(out, " reads %s, where %.*s has copied", name, (int)strcspn(kernel, "("), kernel) &&
               say_line(l, line, &there, out) && mg__strbuf_printf(out, " %s, which nobody had written", f->variable);
    }
    return mg__strbuf_printf(out, " reads %s, which %s", name,
                             o->place == PLACE_SHARED  ? "no thread of the block has written"
                             : o->place == PLACE_LOCAL ? "it has not written"
                                                       : "nobody has written");
}

static bool say_access(const struct launch *l, const struct occurrence *o, const char *name, const struct line *line,
                       const struct line *other, struct mg_strbuf *out)
{
    const char *does = writes(l, o) ? "writes" : "reads";
    if (!mg__name_thread(l, &o->who, true, out))
        return false;
    switch (o->kind) {
    case KIND_INIT_SHARED:
    case KIND_INIT_LOCAL:
    case KIND_INIT_GLOBAL:
    case KIND_INIT_HEAP:
    case KIND_INIT_COPIED:
        return say_unwritten(l, o, name, line, out) && say_use(o, line, other, out);
    case KIND_BOUNDS_HEAP:
        return mg__strbuf_printf(out, " %s %s, which is %s", does, name,
                                 o->value[0] ? "freed" : "beyond the end of what malloc gave") &&
               say_line(l, line, other, out);
    case KIND_BOUNDS_HEAP_FREE:
        return o->value[0]
                   ? mg__strbuf_printf(out, " frees %s, which %s", name,
                                       o->value[0] == 1 ? "was freed before" : "is not where malloc's piece begins") &&
                         say_line(l, line, other, out)
                   : mg__strbuf_printf(out, " frees a pointer that malloc has not given");
    case KIND_BOUNDS_BULK:
        return mg__strbuf_printf(out, " asks for a bulk copy that the device refuses: %s", l->texts.at[o->value[0]]);
    case KIND_BOUNDS_SWIZZLE:
        return mg__swizzle_say(o, name, out) && say_line(l, line, other, out);
    case KIND_BOUNDS_MISALIGNED:
        return mg__strbuf_printf(out, " %s %s, which is not aligned to the %s's size", does, name,
                                 writes(l, o) ? "store" : "load");
    case KIND_BOUNDS_NULL:
        return mg__strbuf_printf(out, " %s through a null pointer (0x%llx)", does, (unsigned long long)o->offset);
    case KIND_BOUNDS_CONSTANT:
        return mg__strbuf_printf(out, " writes to %s, which is constant memory", name);
    case KIND_BOUNDS_HOST_POINTER:
        return mg__strbuf_printf(out, " %s through a pointer to memory of the host", does);
    case KIND_BOUNDS_FREED:
        return mg__strbuf_printf(out, " %s %s", does, name);
    default:
        if (o->place == PLACE_SHARED && (int64_t)o->offset < 0)
            return mg__strbuf_printf(out, " %s %s: %lld bytes before its start", does, name, -(long long)o->offset);
        if (o->place == PLACE_SHARED && o->object >= 0)
            return mg__strbuf_printf(out, " %s %s, beyond its %u bytes", does, name,
                                     l->info->shared_vars[o->object].size);
        if (o->place == PLACE_GLOBAL)
            return mg__strbuf_printf(out, " %s %s: %lld bytes %s", does, name,
                                     (int64_t)o->offset < 0 ? (long long)-(int64_t)o->offset
                                                            : (long long)(o->offset + bytes_of(l, o)) -
                                                                  (long long)l->info->allocations[o->object].size,
                                     (int64_t)o->offset < 0 ? "before its start" : "past its end");
        if (o->place == PLACE_LOCAL)
            return mg__strbuf_printf(out, " %s %s, outside the thread's own arrays", does, name);
        return mg__strbuf_printf(out, " %s through a pointer that is in no live allocation", does);
    }
}

bool mg__say(const struct launch *l, const struct occurrence *o, const char *name, const struct line *line,
             const struct line *other, struct mg_strbuf *out)
{
    const char *check = mg__kinds[o->kind].check;
    return !strcmp(check, "race")      ? say_race(l, o, name, line, other, out)
           : !strcmp(check, "barrier") ? say_barrier(l, o, line, other, out)
                                       : say_access(l, o, name, line, other, out);
}
