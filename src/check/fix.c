/* fix.c - what to do about a finding, and where: between which lines, at the end of which loop's body, behind which
 * branch. The catalogue's advice (kind.def) is for what is not told more exactly here.
 */
#include "check/check_priv.h"

enum { MOST_PAIRS = 64 };

/* An element that is read, changed and written back, in one line. */
static bool updates(const struct launch *l, const struct occurrence *o, const struct line *line,
                    const struct line *other)
{
    if (!line->line || line->line != other->line || strcmp(line->file, other->file) || o->insn == NO_INSN)
        return false;
    const struct site *s = &l->code.sites[o->insn];
    bool reads = false, writes = false;
    for (uint32_t k = 0; k < l->info->ninsns; k++) {
        const struct site *k_site = &l->code.sites[k];
        struct line at = mg__name_line(l->info, k);
        if (!k_site->number || k_site->atomic || at.line != line->line || strcmp(at.file, line->file) ||
            k_site->object != s->object)
            continue;
        reads |= k_site->reads;
        writes |= k_site->writes;
    }
    return reads && writes;
}

/* Whether the one of the two that reads is of a place to which nothing stores that was computed there: of an unrolled
 * loop each read has its own store. */
static bool reads_neighbour(const struct launch *l, const struct occurrence *o)
{
    if (o->insn == NO_INSN || o->other == NO_INSN || l->code.sites[o->insn].writes == l->code.sites[o->other].writes)
        return false;
    const struct mg_insn_info *read = &l->info->insns[l->code.sites[o->insn].writes ? o->other : o->insn];
    for (uint32_t k = 0; k < l->info->ninsns; k++) {
        const struct mg_insn_info *i = &l->info->insns[k];
        if (l->code.sites[k].number && i->insn->access == MG_ACCESSES_STORE && i->func == read->func &&
            mg__idiom_same_place(read->func, read->insn, i->insn))
            return false;
    }
    return true;
}

static bool same_file(const struct line *a, const struct line *b)
{
    return a->line && b->line && !strcmp(a->file, b->file);
}

/* "line 4", with the file where the other place is in another. */
static bool put_line(struct mg_strbuf *out, const struct line *line, const struct line *beside)
{
    const char *slash = strrchr(line->file, '/');
    if (same_file(line, beside))
        return mg__strbuf_printf(out, "line %u", line->line);
    return mg__strbuf_printf(out, "%s:%u", slash ? slash + 1 : line->file, line->line);
}

static bool is_atomic(const struct launch *l, uint32_t insn)
{
    return insn != NO_INSN && l->code.sites[insn].atomic;
}

/* Of an inlined function, the line that calls it. */
static struct line called(const struct launch *l, uint32_t insn, const struct line *line)
{
    struct line call = mg__name_call(l->info, insn);
    return same_file(&call, line) ? call : *line;
}

/* Whether an access of one line leads to one of the other, barriers or not: a loop that was unrolled has several of
 * each. */
static bool line_leads(const struct launch *l, const struct line *from, const struct line *to)
{
    unsigned tried = 0;
    for (uint32_t i = 0; i < l->info->ninsns; i++) {
        struct line a = l->code.sites[i].number ? mg__name_line(l->info, i) : (struct line){"", 0, 0};
        if (!same_file(&a, from) || a.line != from->line)
            continue;
        for (uint32_t k = 0; k < l->info->ninsns && tried < MOST_PAIRS; k++) {
            struct line b = l->code.sites[k].number ? mg__name_line(l->info, k) : (struct line){"", 0, 0};
            if (!same_file(&b, to) || b.line != to->line)
                continue;
            tried++;
            if (mg__code_leads(l->info, i, k, false, false))
                return true;
        }
    }
    return false;
}

static bool on_line(const struct launch *l, uint32_t insn, const struct line *line)
{
    const struct line at = l->code.sites[insn].number ? mg__name_line(l->info, insn) : (struct line){"", 0, 0};
    return same_file(&at, line) && at.line == line->line;
}

/* Whether what the line writes in one round leads to what it reads in the next with no barrier between. */
static bool rounds_are_open(const struct launch *l, const struct line *line)
{
    unsigned tried = 0;
    for (uint32_t i = 0; i < l->info->ninsns; i++)
        for (uint32_t k = 0; l->code.sites[i].writes && on_line(l, i, line) && k < l->info->ninsns; k++)
            if (l->code.sites[k].reads && !l->code.sites[k].writes && on_line(l, k, line) && tried++ < MOST_PAIRS &&
                mg__code_leads(l->info, i, k, true, false))
                return true;
    return false;
}

/* Whether the later access is in another round of a loop that was unrolled: between the two is a copy of each, or of
 * what stands in front of the earlier one. */
static bool in_next_copy(const struct launch *l, const struct occurrence *o)
{
    enum { FAR = 512 }; /* instructions, beyond which nobody looks */
    if (o->insn == NO_INSN || o->other >= o->insn || o->insn - o->other > FAR ||
        l->info->insns[o->insn].func != l->info->insns[o->other].func ||
        !mg__code_leads(l->info, o->other, o->insn, true, false))
        return false;
    const struct line line = mg__name_line(l->info, o->insn), other = mg__name_line(l->info, o->other);
    const bool alike = same_file(&line, &other) && line.line == other.line;
    bool came = alike;
    for (uint32_t k = o->other + 1; k < o->insn; k++) {
        const struct line at = l->code.sites[k].number ? mg__name_line(l->info, k) : (struct line){"", 0, 0};
        if (!at.line || (alike && on_line(l, k, &line)))
            continue;
        if (came && !alike && on_line(l, k, &other))
            return true;
        came |= on_line(l, k, &line);
        for (uint32_t before = o->other - MG_MIN(o->other, FAR); alike && before < o->other; before++)
            if (on_line(l, before, &at) && mg__code_leads(l->info, before, o->other, true, false))
                return true;
    }
    return false;
}

/* Outside what one of the two stands in, which not all threads may come to, or not as often. */
static bool put_side(const struct launch *l, uint32_t insn, uint32_t other, const char *side, const struct line *line,
                     struct mg_strbuf *out)
{
    const enum code_inside in = mg__code_alone(l->info, mg__name_told(l->info, insn), other);
    return in == INSIDE_NOTHING || mg__strbuf_printf(out, "%s the %s that line %u stands in", side,
                                                     in == INSIDE_LOOP ? "loop" : "branch", line->line);
}

/* Two accesses of one block with nothing between: where the barrier belongs. `line` is the later one of the program;
 * where it stands above the earlier one and leads there, it is a loop that leads from one to the other. */
static bool put_barrier(const struct launch *l, const struct occurrence *o, const struct line *line,
                        const struct line *other, const char *barrier, struct mg_strbuf *out)
{
    struct line later = called(l, o->insn, line), earlier = called(l, o->other, other);
    const bool forwarded = mg__code_forwarded(l->info, &l->code, o->other, o->insn);
    if (o->who.block == o->with.block && !mg__code_leads(l->info, o->other, o->insn, true, false) &&
        !forwarded) /* two arms of a branch, of warps with other roles */
        return mg__strbuf_printf(out,
                                 "Order the two by a barrier to which both sides come: a named one (bar.sync with a "
                                 "number of its own), an mbarrier, or a __syncthreads() behind the branch.");
    if (!same_file(&later, &earlier) || later.line != earlier.line) { /* not both in one call */
        line = &later;
        other = &earlier;
    }
    const bool copy = same_file(line, other) && in_next_copy(l, o);
    bool same = same_file(line, other) && (copy || mg__code_leads(l->info, o->insn, o->other, false, false) ||
                                           (other->line > line->line && line_leads(l, line, other)));
    if (same && other->line == line->line)
        return mg__strbuf_printf(out,
                                 "Put a %s at the end of the loop's body: line %u of one round and of the "
                                 "next have nothing between them.",
                                 barrier, line->line);
    if (same && (copy || other->line > line->line))
        return mg__strbuf_printf(out,
                                 "Put a %s at the end of the loop's body: line %u of one round and line "
                                 "%u of the next have nothing between them.",
                                 barrier, other->line, line->line);
    return mg__strbuf_printf(out, "Put a %s between ", barrier) && put_line(out, other, line) &&
           mg__strbuf_printf(out, " and ") && put_line(out, line, other) &&
           (!same_file(line, other) || (put_side(l, o->other, o->insn, ", behind", other, out) &&
                                        (forwarded || put_side(l, o->insn, o->other, ", in front of", line, out)))) &&
           mg__strbuf_printf(out, ".");
}

static bool between_blocks(const struct occurrence *o)
{
    return o->who.block != o->with.block;
}

/* Whether what both use is changed by atomics only. */
static bool atomics_alone(const struct launch *l, const struct occurrence *o)
{
    bool found = false;
    for (uint32_t k = 0; o->object >= 0 && k < l->info->ninsns; k++) {
        const struct site *s = &l->code.sites[k];
        if (s->number && s->writes && s->object == o->object) {
            if (!s->atomic)
                return false;
            found = true;
        }
    }
    return found;
}

/* A plain read of what atomics change: an algorithm may well do with any value that the place had. */
static bool late_read(struct mg_strbuf *out, const char *last)
{
    return mg__strbuf_printf(out,
                             "If an older value does no harm, read it with a relaxed atomic: cuda::atomic_ref's load. "
                             "If it must be the last one, %s.",
                             last);
}

static bool volatile_update(struct mg_strbuf *out)
{
    return mg__strbuf_printf(out, "Use an atomic operation (atomicAdd, atomicMax, atomicCAS): volatile makes no update "
                                  "whole. Under a lock, put a __threadfence() behind taking it and one before giving "
                                  "it back.");
}

static bool in_bulk(const struct launch *l, uint32_t insn)
{
    return insn != NO_INSN && mg__ptx_isa((enum mg_ptx_opcode)l->info->insns[insn].insn->opcode)->group == MG_G_BULK;
}

/* Between blocks of a cooperative launch, which have a grid's barrier. */
static bool fix_grid(const struct launch *l, const struct occurrence *o, const struct line *line,
                     const struct line *other, struct mg_strbuf *out)
{
    const bool alike = same_file(line, other) && line->line == other->line;
    if ((o->kind != KIND_RACE_BLOCKS_WRITE_READ && o->kind != KIND_RACE_BLOCKS_READ_WRITE &&
         (o->kind != KIND_RACE_BLOCKS_WRITE_WRITE || alike)) ||
        !l->info->cooperative || !mg__code_leads(l->info, o->other, o->insn, false, false))
        return false;
    return put_barrier(l, o, line, other, "grid.sync()", out) &&
           (mg__code_leads(l->info, o->other, o->insn, true, false) ||
            mg__strbuf_printf(out, " The __syncthreads() there is for the threads of one block alone."));
}

/* A wait for a phase that was over before, or for the one before the first. */
static bool fix_parity(const struct launch *l, uint32_t wait, const struct line *line, struct mg_strbuf *out)
{
    const struct line own = mg__name_line(l->info, wait), at = called(l, wait, &own);
    return mg__strbuf_printf(out, "Give the wait%s", at.line ? " of " : "") && (!at.line || put_line(out, &at, line)) &&
           mg__strbuf_printf(out, " the parity of the phase that it is for: 0 for the first phase of an mbarrier, 1 "
                                  "for the second, and so on in turns.");
}

/* Both under one lock: what it lacks is fences, of the block or, between blocks, of the device. */
static bool fix_lock(const struct launch *l, const struct code_lock *lock, const char *fence, const struct line *line,
                     struct mg_strbuf *out)
{
    const struct line taking = mg__name_line(l->info, lock->taken), giving = mg__name_line(l->info, lock->given),
                      take_call = called(l, lock->taken, &taking), give_call = called(l, lock->given, &giving);
    const bool apart = take_call.line != give_call.line; /* else all of it is in one call */
    const struct line taken = apart ? take_call : taking, given = apart ? give_call : giving;
    return mg__strbuf_printf(out, "A lock orders what is under it by fences: put a %s behind taking it, ", fence) &&
           put_line(out, &taken, line) && mg__strbuf_printf(out, ", and one before giving it back, ") &&
           put_line(out, &given, line) && mg__strbuf_printf(out, ".");
}

static bool fix_race(const struct launch *l, const struct occurrence *o, const struct line *line,
                     const struct line *other, struct mg_strbuf *out)
{
    bool known = o->insn != NO_INSN && o->other != NO_INSN;
    const bool back = known && (l->code.sites[o->insn].goes_back || l->code.sites[o->other].goes_back);
    bool flags = known && l->code.sites[o->insn].class == MG_ORDER_VOLATILE &&
                 l->code.sites[o->other].class == MG_ORDER_VOLATILE;
    bool general = o->kind != KIND_RACE_ASYNC && o->kind != KIND_RACE_FILLED && o->kind != KIND_RACE_SOURCE &&
                   o->kind != KIND_RACE_PROXY && o->kind != KIND_RACE_WGMMA && o->kind != KIND_RACE_LETTER &&
                   o->kind != KIND_RACE_SCOPE && o->kind != KIND_RACE_WIDTHS && o->kind != KIND_RACE_STREAMS;
    struct code_lock lock;
    if (general && known && mg__code_locked(l->info, &l->code, o->insn, o->other, &lock))
        return fix_lock(l, &lock, between_blocks(o) ? "__threadfence()" : "__threadfence_block()", line, out);
    switch (o->kind) {
    case KIND_RACE_BLOCKS_WRITE_READ:
    case KIND_RACE_BLOCKS_READ_WRITE:
        if (o->kind == KIND_RACE_BLOCKS_WRITE_READ && o->value[0] == FLAG_RAISED_ALONE)
            return mg__strbuf_printf(out, "All threads of the block must come to a __syncthreads() between the write "
                                          "and the fence and flag that publish it.");
        if (o->kind == KIND_RACE_BLOCKS_WRITE_READ && o->value[0] == FLAG_READ_ALONE)
            return mg__strbuf_printf(out, "All threads of the block must come to a __syncthreads() between the wait "
                                          "for the flag and the read.");
        if (o->kind == KIND_RACE_BLOCKS_WRITE_READ && o->value[0])
            return mg__strbuf_printf(out, "Put a __threadfence() between the write and the flag that publishes it, and "
                                          "another between reading the flag and the read.");
        if (back)
            return volatile_update(out);
        if (atomics_alone(l, o))
            return late_read(out, l->info->cooperative ? "all blocks must come to a grid.sync() between the two"
                                                       : "split the kernel in two");
        break;
    case KIND_RACE_WRITE_READ:
    case KIND_RACE_READ_WRITE:
        if (back)
            return volatile_update(out);
        if (flags)
            return mg__strbuf_printf(out, "Put a __threadfence_block() between the write and the flag that publishes "
                                          "it, and another between reading the flag and the read.");
        if (o->place == PLACE_GLOBAL && known && is_atomic(l, o->insn) != is_atomic(l, o->other) && atomics_alone(l, o))
            return late_read(out, "all threads must come to a __syncthreads() between the two");
        break;
    case KIND_RACE_IN_STEP: /* of two rounds */
        if (known && line->line && other->line &&
            ((same_file(line, other) && line->line < other->line) ||
             (o->insn > o->other ? in_next_copy(l, o) : mg__code_leads(l->info, o->other, o->insn, true, true))))
            return put_barrier(l, o, line, other, "__syncwarp()", out);
        break;
    case KIND_RACE_ASYNC:
        if (known && l->code.sites[o->insn].async && l->code.sites[o->other].async && o->value[0] && o->value[1] &&
            !in_bulk(l, o->insn) && !in_bulk(l, o->other))
            return mg__strbuf_printf(out, "Wait for the copy (cp.async.wait_group, __pipeline_wait_prior) before the "
                                          "next one to the same place: nothing orders copies in flight.");
        if (o->value[3])
            return fix_parity(l, o->value[3] - 1, line, out);
        return (in_bulk(l, o->insn) || in_bulk(l, o->other)) &&
               mg__strbuf_printf(out, "Wait for the copy before it is used: at the mbarrier that it tells, for the "
                                      "parity of its phase, or for its group (cp.async.bulk.wait_group).");
    case KIND_RACE_SAME_VALUE:
        return between_blocks(o) && mg__strbuf_printf(out, "Let one block write it: if (blockIdx.x == 0). Others may "
                                                           "read it after the launch. A flag that any may raise: "
                                                           "atomicOr.");
    default:
        break;
    }
    const bool update = general && updates(l, o, line, other), neighbour = update && reads_neighbour(l, o);
    if (neighbour && o->kind != KIND_RACE_IN_STEP && !between_blocks(o) && o->place == PLACE_SHARED &&
        rounds_are_open(l, line))
        return mg__strbuf_printf(out,
                                 "Put a __syncthreads() at the end of the loop's body: line %u of one round and of the "
                                 "next have nothing between them. Where threads of one round read what others of it "
                                 "write, read into a variable first, with a __syncthreads() before the write as well.",
                                 line->line);
    if (neighbour)
        return mg__strbuf_printf(
            out, o->kind == KIND_RACE_IN_STEP ? "Read into a variable first, let all lanes come to a __syncwarp(), and "
                                                "write behind it; or write to a second buffer."
                 : o->place == PLACE_SHARED ? "Read into a variable first, let all threads come to a __syncthreads(), "
                                              "outside of any branch, and write behind it; or write to a second buffer."
                                            : "Write to a buffer of its own: what is written here, others still read.");
    if (update)
        return mg__strbuf_printf(out, "Use an atomic operation (atomicAdd, atomicOr, atomicCAS) for what is read, "
                                      "changed and written back.");
    if (known && line->line && other->line && between_blocks(o) && !back && !is_atomic(l, o->insn) &&
        !is_atomic(l, o->other))
        return fix_grid(l, o, line, other, out);
    bool plain_writes = o->kind == KIND_RACE_WRITE_WRITE && !is_atomic(l, o->insn) && !is_atomic(l, o->other) &&
                        same_file(line, other) && line->line == other->line && !in_next_copy(l, o);
    if (!known || !line->line || !other->line || between_blocks(o) || plain_writes ||
        !mg__kind_in_block(o->kind))
        return false;
    return put_barrier(l, o, line, other, o->value[2] ? "__syncwarp()" : "__syncthreads()", out);
}

/* A barrier that is for as many threads as it names, or that has a number. */
static bool is_named(const struct launch *l, uint32_t insn)
{
    const struct mg_insn_info *at = &l->info->insns[insn];
    const struct mg_ptx_insn *i = at->insn;
    const struct mg_ptx_opnd *number = i->nops > i->nresults ? mg__ptx_op(at->func, i, i->nresults) : NULL;
    const bool plain = i->sub == MG_SUB_SYNC || i->sub == MG_SUB_ARRIVE;
    return number && (number->kind != MG_OPND_IMM || number->imm != 0 || (plain && i->nops > 1));
}

static bool fix_barrier(const struct launch *l, const struct occurrence *o, const struct line *line,
                        struct mg_strbuf *out)
{
    if (o->kind == KIND_BARRIER_MBARRIER && o->other != NO_INSN && o->value[2])
        return mg__strbuf_printf(out,
                                 "Wait for parity %u, which the phase that is over has: 0 is the first phase's of an "
                                 "mbarrier, 1 the second's, and so on in turns.",
                                 (o->value[0] - 1) & 1);
    if (o->kind == KIND_BARRIER_MBARRIER && o->other != NO_INSN)
        return mg__strbuf_printf(out, "Let who fills again wait until all have seen that the phase is over: at an "
                                      "mbarrier of their own (empty), or at a __syncthreads().");
    if (o->kind == KIND_BARRIER_MBARRIER_COUNT && o->value[3])
        return fix_parity(l, o->value[3] - 1, line, out);
    if (o->kind == KIND_BARRIER_SHARED && o->value[1])
        return mg__strbuf_printf(out, "Let who arrives (bar.arrive) wait, at a barrier of another number, until those "
                                      "that wait here have come, before it arrives again.");
    bool plain = o->insn != NO_INSN && l->info->insns[o->insn].insn->effects & MG_E_SYNCS && line->line;
    if (!plain || (o->kind != KIND_BARRIER_LEFT && o->kind != KIND_BARRIER_NOT_REACHED))
        return false;
    if (is_named(l, o->insn))
        return mg__strbuf_printf(out, "A named barrier opens when as many threads have come as it names, whether they "
                                      "wait (bar.sync) or not (bar.arrive): let both sides come to it equally often, "
                                      "in the same order.");
    const enum code_inside in = mg__code_inside(l->info, o->insn);
    if (in == INSIDE_LOOP)
        return mg__strbuf_printf(out,
                                 "Let all threads leave the loop together: let each come to the __syncthreads() of "
                                 "line %u in every round, with its work under the condition, and leave when "
                                 "__syncthreads_or says that none has any left.",
                                 line->line);
    if (in == INSIDE_BRANCH)
        return mg__strbuf_printf(out,
                                 "Move the __syncthreads() of line %u behind the branch that it stands in: every "
                                 "thread of the block must come to it.",
                                 line->line);
    return o->kind == KIND_BARRIER_LEFT &&
           mg__strbuf_printf(out,
                             "Do not return before the barrier of line %u: keep the thread, and put its work under "
                             "the condition.",
                             line->line);
}

const char *mg__fix(const struct launch *l, const struct occurrence *o, const struct line *line,
                    const struct line *other, struct mg_strbuf *out)
{
    const char *check = mg__kinds[o->kind].check;
    bool told = !strcmp(check, "race")           ? fix_race(l, o, line, other, out)
                : !strcmp(check, "barrier")      ? fix_barrier(l, o, line, out)
                : o->kind == KIND_BOUNDS_SWIZZLE ? mg__swizzle_fix(o, out)
                                                 : false;
    return told ? out->at : mg__kinds[o->kind].advice;
}
