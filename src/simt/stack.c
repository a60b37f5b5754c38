/* stack.c - how much of a thread's stack a function takes, and how large the stack of a launch is.
 *
 * A frame holds a function's local variables and, in one that calls others, what compiled code saves there: the return
 * address, and the registers whose values are needed after a call. PTX does not say how many those are; liveness does,
 * nearly.
 *
 * The driver gives a launch the larger of cudaLimitStackSize and of what its kernel is known to need. Where the call
 * graph is a tree the need is known whole and the limit does not matter; with recursion, indirect calls or alloca it
 * does.
 */
#include "simt/simt_priv.h"

uint32_t mg__stack_frame(const struct mg_ptx_func *func, uint32_t local_bytes)
{
    uint32_t saved = func->is_entry ? 0 : 4 * mg__estimate_saved(func);
    return (local_bytes + saved + 15) & ~15u;
}

struct walk {
    struct mg_program *program;
    uint32_t *most; /* by code: bytes of the deepest chain from it */
    uint8_t *state; /* 0: not seen, 1: on the way here, 2: known */
};

static uint32_t deepest(struct walk *walk, const struct mg_code *code)
{
    if (walk->state[code->id] == 1)
        walk->program->deep = true;
    if (walk->state[code->id])
        return walk->most[code->id];
    walk->state[code->id] = 1;
    uint32_t below = 0;
    for (uint32_t i = 0; i < code->nops; i++)
        if (code->ops[i].is->id == MG_DO_CALL && code->ops[i].u.call->callee)
            below = MG_MAX(below, deepest(walk, code->ops[i].u.call->callee));
    walk->state[code->id] = 2;
    uint64_t all = (uint64_t)below + code->stack_bytes;
    return walk->most[code->id] = (uint32_t)MG_MIN(all, MG_LOCAL_LIMIT);
}

bool mg__stack_measure(struct mg_program *program)
{
    struct walk walk = {program, calloc(program->ncodes, sizeof *walk.most), calloc(program->ncodes, 1)};
    bool good = walk.most && walk.state;
    if (good) {
        program->deep = program->stack || program->indirect;
        program->stack_need = deepest(&walk, program->entry);
    }
    free(walk.most);
    free(walk.state);
    return good;
}

uint32_t mg__stack_size(const struct mg_program *program, uint64_t limit)
{
    uint64_t size = MG_MAX(program->stack_need, program->entry->local_bytes);
    if (program->deep)
        size = MG_MAX(size, (limit + 15) & ~15ull);
    return (uint32_t)MG_MIN((size + 3) & ~3ull, MG_LOCAL_LIMIT); /* in words */
}
