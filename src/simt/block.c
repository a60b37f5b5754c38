/* block.c - contexts of blocks and their clusters: made once, and used for one cluster after the other.
 *
 * All blocks of a cluster begin together and belong to one worker, so that what they do with one another's shared
 * memory needs no locks and always happens in the same order.
 */
#include "simt/engine_priv.h"

static bool make_block(struct mg_worker *worker, struct mg_cluster *c, uint32_t rank)
{
    struct mg_run *run = worker->run;
    struct mg_block *b = &c->blocks[rank];
    const struct mg_dim3 *dim = &run->launch->block;
    uint32_t threads = dim->x * dim->y * dim->z;
    b->run = run;
    b->cluster = c;
    b->rank = rank;
    b->poll_reach = run->cluster_size > 1 ? 3 : 2;
    b->nwarps = (threads + 31) / 32;
    b->shared_size = run->shared_size;
    b->shared = calloc(1, (size_t)b->shared_size + 2 * MG_PAD);
    b->warps = aligned_alloc(64, (b->nwarps * sizeof *b->warps + 63) / 64 * 64);
    if (b->warps)
        memset(b->warps, 0, b->nwarps * sizeof *b->warps);
    if (!b->shared || !b->warps)
        return false;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        w->block = b;
        w->worker = worker;
        w->index = k;
        w->sites = worker->sites;
        w->rows_of = worker->rows_of;
        w->ops = run->program->entry->ops;
        w->counts = worker->counts;
        w->root = mg__frame_new(worker, run->program->entry);
        if (!w->root)
            return false;
        w->root->local_top = run->program->entry->local_bytes;
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t t = k * 32 + i;
            w->tid[0][i] = t % dim->x;
            w->tid[1][i] = t / dim->x % dim->y;
            w->tid[2][i] = t / dim->x / dim->y;
        }
        mg__fill_warp(w);
        if (worker->tier && !mg__engine_warp(w))
            return false;
    }
    return true;
}

static void free_block(struct mg_block *b)
{
    for (uint32_t k = 0; b->warps && k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        for (size_t i = 0; i < w->joins.count; i++)
            if (w->joins.at[i].live)
                free(w->joins.at[i].callee);
        free(w->root);
        mg__local_free(w);
        free(w->cells);
        mg__vec_free(&w->splits);
        mg__vec_free(&w->joins);
    }
    free(b->warps);
    free(b->shared);
}

void mg__block_event(struct mg_block *b, enum mg_sync_kind kind)
{
    if (!mg__wants_sync(&b->warps[0]))
        return;
    mg__sync_event(&b->warps[0], NULL, kind, 0);
    mg__sync_emit(b->warps[0].worker);
}

/* Numbers go along x, then y, then z: clusters' in the grid, blocks' in the cluster and in the grid. */
static void place_block(const struct mg_run *run, struct mg_block *b)
{
    const struct mg_dim3 *grid = &run->launch->grid, *in = &run->cluster, *all = &run->clusters;
    uint64_t c = b->cluster->linear;
    b->ctaid[0] = (uint32_t)(c % all->x) * in->x + b->rank % in->x;
    b->ctaid[1] = (uint32_t)(c / all->x % all->y) * in->y + b->rank / in->x % in->y;
    b->ctaid[2] = (uint32_t)(c / all->x / all->y) * in->z + b->rank / in->x / in->y;
    b->linear = b->ctaid[0] + (uint64_t)grid->x * (b->ctaid[1] + (uint64_t)grid->y * b->ctaid[2]);
}

static bool begin_block(struct mg_worker *worker, struct mg_block *b)
{
    const struct mg_dim3 *dim = &worker->run->launch->block;
    uint32_t threads = dim->x * dim->y * dim->z;
    place_block(worker->run, b);
    b->live_threads = threads;
    b->live_warps = b->nwarps;
    b->compiled = b->engine = b->fresh = mg__engine_pays(worker) && mg__engine_may(worker->run);
    b->tier = worker->tier;
    b->round = (struct mg_round){0};
    b->opened = b->hinted = b->waits = b->looked = false;
    b->nuntold = 0;
    b->in_vain = 0;
    bool again = b->as_begun;
    b->as_begun = false;
    if (!again)
        memset(b->barriers, 0, sizeof b->barriers);
    /* A device leaves what the last block wrote; zeros make a run repeatable. */
    memset(b->shared, 0, b->shared_size);
    for (uint32_t k = 0; k < b->nwarps; k++) {
        uint32_t lanes = MG_MIN(threads - k * 32, 32u);
        b->warps[k].root->local_base = 0;
        b->warps[k].root->local_top = worker->run->program->entry->local_bytes;
        if (!again && !mg__warp_begin(&b->warps[k], lanes == 32 ? ~0u : (1u << lanes) - 1))
            return false;
        b->warps[k].filled = false;
        b->warps[k].came = b->warps[k].owed = 0;
        b->warps[k].wanted = NULL;
        b->warps[k].waits = false;
        b->warps[k].multiplies = b->warps[k].lags = 0;
        mg__slice_begin(&b->warps[k]);
        if (!b->compiled || k == 0)
            mg__fill_block(&b->warps[k], b->compiled ? 1 : 32);
    }
    mg__block_event(b, MG_SYNC_BLOCK_BEGIN);
    return true;
}

struct mg_cluster *mg__cluster_make(struct mg_worker *worker)
{
    uint32_t size = worker->run->cluster_size;
    struct mg_cluster *c = calloc(1, sizeof *c);
    if (!c || !(c->blocks = calloc(size, sizeof *c->blocks))) {
        free(c);
        return NULL;
    }
    for (uint32_t r = 0; r < size; r++)
        if (!make_block(worker, c, r)) {
            mg__cluster_free(worker, c);
            return NULL;
        }
    return c;
}

void mg__cluster_free(const struct mg_worker *worker, struct mg_cluster *c)
{
    for (uint32_t r = 0; r < worker->run->cluster_size; r++)
        free_block(&c->blocks[r]);
    mg__mbarrier_free(c);
    mg__bulk_free(c);
    mg__wgmma_free(c);
    free(c->blocks);
    free(c);
}

bool mg__cluster_begin(struct mg_worker *worker, struct mg_cluster *c, uint64_t linear)
{
    uint32_t size = worker->run->cluster_size;
    c->linear = linear;
    c->live = size;
    c->arrived = 0;
    c->busy = true;
    c->lost = false;
    c->slices = 0;
    mg__mbarrier_forget(c);
    mg__bulk_forget(c);
    mg__wgmma_forget(c);
    atomic_store_explicit(&worker->begun, atomic_load_explicit(&worker->begun, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    for (uint32_t r = 0; r < size; r++)
        if (!begin_block(worker, &c->blocks[r]))
            return false;
    return true;
}
