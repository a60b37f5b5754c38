/* beyond.c - what the warps of a block may rely on of the other blocks of their cluster, each in its own time.
 *
 * All know of what came before the cluster's barrier (block.met). Beyond that, arrivals at mbarriers of other blocks
 * bring what their warps may rely on, and who waits there takes it; barriers of the block share it.
 */
#include "check/watch.h"

static struct beyond *of_block(const struct beyonds *k, uint64_t block)
{
    for (size_t i = 0; i < k->list.count; i++)
        if (k->list.at[i].block == block)
            return &k->list.at[i];
    return NULL;
}

void mg__beyond_bring(struct beyonds *to, uint64_t block, const uint32_t known[MG_ORDER_WARPS])
{
    struct beyond *k = of_block(to, block);
    if (!k) {
        if (!mg__vec_push(&to->list, (struct beyond){.block = block}))
            return;
        k = &to->list.at[to->list.count - 1];
    }
    for (uint32_t v = 0; v < MG_ORDER_WARPS; v++)
        k->known[v] = MG_MAX(k->known[v], known[v]);
}

void mg__beyond_join(struct beyonds *to, const struct beyonds *from, uint64_t except)
{
    for (size_t i = 0; i < from->list.count; i++)
        if (from->list.at[i].block != except)
            mg__beyond_bring(to, from->list.at[i].block, from->list.at[i].known);
}

void mg__beyond_known(const struct block *b, uint32_t warp, const struct block *of, uint32_t known[MG_ORDER_WARPS])
{
    const struct beyond *k = of_block(&b->beyond[warp], of->linear);
    for (uint32_t v = 0; v < MG_ORDER_WARPS; v++) {
        const uint32_t all = v == MG_ORDER_AGENT ? of->order->agent : of->met;
        known[v] = k ? MG_MAX(all, k->known[v]) : all;
    }
}

uint32_t mg__beyond_of(const struct block *b, uint32_t warp, uint64_t block, uint32_t its)
{
    const struct beyond *k = of_block(&b->beyond[warp], block);
    return k ? k->known[its] : 0;
}

bool mg__beyond_begun(const struct block *b, uint32_t warp, const struct block *of)
{
    return of->met > of->order->begin || of_block(&b->beyond[warp], of->linear);
}

void mg__beyond_meet(struct block *b, uint32_t warps)
{
    struct beyonds *all = &b->beyond[__builtin_ctz(warps)];
    size_t any = 0;
    for (uint32_t rest = warps; rest; rest &= rest - 1)
        any |= b->beyond[__builtin_ctz(rest)].list.count;
    if (!any) /* nobody knows of another block */
        return;
    for (uint32_t rest = warps; rest; rest &= rest - 1)
        mg__beyond_join(all, &b->beyond[__builtin_ctz(rest)], b->linear);
    for (uint32_t rest = warps; rest; rest &= rest - 1)
        mg__beyond_join(&b->beyond[__builtin_ctz(rest)], all, b->linear);
}

void mg__beyond_forget(struct block *b, bool all)
{
    for (uint32_t k = 0; k < MG_COUNT(b->beyond); k++) {
        b->beyond[k].list.count = 0;
        if (all)
            mg__vec_free(&b->beyond[k].list);
    }
}
