/* steps.c - a warp's turn in the interpreter: handlers call one another until one of them ends it. A warp that an
 * observer follows goes on op by op, and the observer hears of each before it is executed (observe.h,
 * MG_OBSERVE_STEPS).
 */
#include "simt/simt_priv.h"

static bool counts_block(const struct mg_op *op)
{
    return op->fn == mg__op_block || op->fn == mg__op_block_join || op->fn == mg__op_loop || op->fn == mg__op_loop_join;
}

/* Tells the observers that want to follow the warp what it is about to do. `before`: the op that it comes from, or NULL
 * where it begins a leaf. */
static void tell_step(struct mg_warp *w, const struct mg_op *op, const struct mg_op *before)
{
    const struct mg_run *run = w->worker->run;
    const struct mg_code *code = w->frame->code;
    bool falls = before && (op == before + 1 || (op == before + 2 && before->fn == mg__op_guard));
    if (!falls && (counts_block(op) || op == code->ops))
        return; /* a block begins: what came before it was done elsewhere */
    before = falls && op == before + 1 ? before : op - 1;
    struct mg_step step = {.from = before->insn + !counts_block(before),
                           .to = op->insn,
                           .warp = w->index,
                           .mask = w->mask,
                           .block = w->block->linear,
                           .frame = w->frame,
                           .regs = w->regs,
                           .slots = code->slots};
    if (counts_block(op)) /* its first instruction comes with the next op */
        step.to--;
    if (step.from > step.to || step.to >= run->program->ninsns)
        return;
    bool goes_on = false;
    for (unsigned i = 0; i < run->nobservers; i++)
        if (run->observers[i].wants & MG_OBSERVE_STEPS)
            goes_on |= run->observers[i].step(w->worker->observers[i], &step);
    w->followed = goes_on;
}

static MG_HANDLER(stop_here)
{
    (void)w;
    (void)mask;
    return op;
}

/* Where handlers have kept the place of a copied op, it is the op's. */
static void put_back(struct mg_warp *w, const struct mg_op copy[2], const struct mg_op *op)
{
    for (size_t i = 0; i < w->splits.count; i++)
        if (w->splits.at[i].pc == copy || w->splits.at[i].pc == copy + 1)
            w->splits.at[i].pc = op + (w->splits.at[i].pc - copy);
    for (size_t i = 0; i < w->joins.count; i++)
        if (w->joins.at[i].pc == copy || w->joins.at[i].pc == copy + 1)
            w->joins.at[i].pc = op + (w->joins.at[i].pc - copy);
}

/* One op and no more, although handlers call the next one themselves: a copy of it, with an end behind it. */
static const struct mg_op *run_one(struct mg_warp *w, const struct mg_op *op)
{
    uint32_t mask = w->mask;
    if (counts_block(op))
        return op->fn(w, op, mask);
    if (op->fn == mg__op_guard) {
        mask &= mg__pred(w, op->guard) ^ op->invert;
        if (!mask)
            return op + 2;
        op++;
    }
    struct mg_op copy[2] = {*op, {.fn = stop_here}};
    w->copied = op;
    w->copy = copy;
    const struct mg_op *next = copy->fn(w, copy, mask);
    w->copied = w->copy = NULL;
    put_back(w, copy, op); /* which may have been kept though the op goes on: where others have a turn first, say */
    return next == copy ? op : next == &copy[1] ? op + 1 : next;
}

static void run_followed(struct mg_warp *w, const struct mg_op *op)
{
    const struct mg_op *before = NULL, *next;
    for (; op; op = next) {
        if (w->followed)
            tell_step(w, op, before); /* and it may be followed no more */
        bool one = w->followed;
        next = one ? run_one(w, op) : op->fn(w, op, w->mask);
        before = one ? op : NULL;
    }
}

void mg__warp_run(struct mg_warp *w)
{
    w->stop = MG_STOP_NONE;
    const struct mg_op *op = w->splits.at[w->current].pc;
    if (w->worker->run->want_steps) {
        run_followed(w, op);
    } else {
        do
            op = op->fn(w, op, w->mask);
        while (op);
    }
    w->worker->run->simt->lanes->leave();
}
