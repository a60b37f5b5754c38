/* order.c - the order in which ptxas would likely put a block's instructions.
 *
 * ptxas moves loads up as far as their addresses and stores in between let it. That is done here by list scheduling:
 * of what could come next, the one with the longest way to the block's end comes first. Barriers and their like stay
 * where they are.
 */
#include "time/time_priv.h"

enum { WINDOW = 96, LOAD_HEIGHT = 200, SHARED_HEIGHT = 30 };

struct node {
    uint32_t height, left; /* left: of those that it waits for */
    uint32_t after;        /* first link to those that wait for it */
};
struct scheduler {
    struct mg_arena arena;
    struct node *nodes;
    struct {
        uint32_t node, next;
    } * links;
    uint32_t nlinks, room;
    int32_t *writer; /* by register: the last node that writes it, and readers since, as links */
    uint32_t *readers;
    bool failed;
};

static uint32_t link_to(struct scheduler *s, uint32_t node, uint32_t next)
{
    if (s->nlinks == s->room) {
        uint32_t room = s->room ? 2 * s->room : 1024;
        void *links = realloc(s->links, room * sizeof(*s->links));
        if (!links) {
            s->failed = true;
            return next;
        }
        s->links = links;
        s->room = room;
    }
    s->links[s->nlinks].node = node;
    s->links[s->nlinks].next = next;
    return ++s->nlinks;
}

static void wait_for(struct scheduler *s, int32_t before, uint32_t node)
{
    if (before < 0 || (uint32_t)before == node)
        return;
    uint32_t links = s->nlinks;
    s->nodes[before].after = link_to(s, node, s->nodes[before].after);
    s->nodes[node].left += s->nlinks > links;
}

static void depend(struct scheduler *s, const struct mg_time_code *code, const struct mg_time_op *op, uint32_t node)
{
    for (uint32_t k = 0; k < op->reads; k++) {
        uint32_t r = code->regs[op->regs + k];
        wait_for(s, s->writer[r], node);
        s->readers[r] = link_to(s, node, s->readers[r]);
    }
    for (uint32_t k = 0; k < op->writes; k++) {
        uint32_t r = code->regs[op->regs + op->reads + k];
        wait_for(s, s->writer[r], node);
        for (uint32_t l = s->readers[r]; l; l = s->links[l - 1].next)
            wait_for(s, (int32_t)s->links[l - 1].node, node);
        s->writer[r] = (int32_t)node;
        s->readers[r] = 0;
    }
}

static void forget(struct scheduler *s, const struct mg_time_code *code, const struct mg_time_op *ops, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < (uint32_t)ops[i].reads + ops[i].writes; k++) {
            s->writer[code->regs[ops[i].regs + k]] = -1;
            s->readers[code->regs[ops[i].regs + k]] = 0;
        }
}

/* n ops between two fences. */
static void order(struct scheduler *s, const struct mg_launch_info *info, const struct mg_time_code *code,
                  struct mg_time_op *ops, uint32_t n)
{
    int32_t stored[MG_SPACE_COUNT];
    s->nlinks = 0;
    s->nodes = mg__arena_array(&s->arena, n, sizeof(*s->nodes));
    struct mg_time_op *sorted = mg__arena_array(&s->arena, n, sizeof(*sorted));
    uint32_t *ready = mg__arena_array(&s->arena, n, sizeof(*ready)), nready = 0;
    if (!s->nodes || !sorted || !ready) {
        s->failed = true;
        return;
    }
    memset(stored, 0xff, sizeof(stored));
    for (uint32_t i = 0; i < n; i++) {
        const struct mg_ptx_insn *insn = info->insns[ops[i].insn].insn;
        depend(s, code, &ops[i], i);
        if (!ops[i].access)
            continue;
        if (insn->access == MG_ACCESSES_STORE) {
            wait_for(s, stored[insn->space], i);
            stored[insn->space] = (int32_t)i;
        } else if (!(insn->flags & MG_F_NC)) {
            wait_for(s, stored[insn->space], i);
            wait_for(s, insn->space != MG_SPACE_GENERIC ? stored[MG_SPACE_GENERIC] : -1, i);
        }
    }
    for (uint32_t i = n; i-- > 0;) {
        const struct mg_ptx_insn *insn = info->insns[ops[i].insn].insn;
        uint32_t longest = 0;
        for (uint32_t l = s->nodes[i].after; l; l = s->links[l - 1].next)
            longest = MG_MAX(longest, s->nodes[s->links[l - 1].node].height);
        bool load = ops[i].access && insn->access == MG_ACCESSES_LOAD;
        s->nodes[i].height =
            longest + (load ? insn->space == MG_SPACE_SHARED ? SHARED_HEIGHT : LOAD_HEIGHT : ops[i].latency) + 1;
    }
    uint32_t done = 0, oldest = 0;
    bool *taken = mg__arena_array(&s->arena, n, sizeof(*taken));
    for (uint32_t i = 0; taken && i < n; i++)
        if (!s->nodes[i].left)
            ready[nready++] = i;
    while (taken && nready) {
        uint32_t best = UINT32_MAX;
        for (uint32_t k = 0; k < nready; k++)
            if (ready[k] < oldest + WINDOW &&
                (best == UINT32_MAX || s->nodes[ready[k]].height > s->nodes[ready[best]].height ||
                 (s->nodes[ready[k]].height == s->nodes[ready[best]].height && ready[k] < ready[best])))
                best = k;
        uint32_t node = ready[best];
        ready[best] = ready[--nready];
        sorted[done++] = ops[node];
        taken[node] = true;
        while (oldest < n && taken[oldest])
            oldest++;
        for (uint32_t l = s->nodes[node].after; l; l = s->links[l - 1].next)
            if (!--s->nodes[s->links[l - 1].node].left)
                ready[nready++] = s->links[l - 1].node;
    }
    forget(s, code, ops, n);
    if (done == n)
        memcpy(ops, sorted, n * sizeof(*ops));
}

static void order_range(struct scheduler *s, const struct mg_launch_info *info, struct mg_time_code *code, uint32_t at,
                        uint32_t end)
{
    while (at < end && !s->failed) {
        uint32_t to = at;
        while (to < end && !code->ops[to].fence)
            to++;
        if (to - at > 1)
            order(s, info, code, &code->ops[at], to - at);
        at = to + 1;
    }
}

bool mg__time_order(struct mg_time_code *code, const struct mg_launch_info *info)
{
    struct scheduler s = {0};
    mg__arena_init(&s.arena);
    s.writer = mg__arena_array(&s.arena, (size_t)code->nregs + 1, sizeof(*s.writer));
    s.readers = mg__arena_array(&s.arena, (size_t)code->nregs + 1, sizeof(*s.readers));
    s.failed = !s.writer || !s.readers;
    if (!s.failed)
        memset(s.writer, 0xff, code->nregs * sizeof(*s.writer));
    for (uint32_t k = 0; k < code->nblocks && !s.failed; k++) {
        order_range(&s, info, code, code->blocks[k].first, code->blocks[k].end);
        order_range(&s, info, code, code->blocks[k].unrolled, code->blocks[k].unrolled_end);
    }
    free(s.links);
    mg__arena_free(&s.arena);
    return !s.failed;
}
