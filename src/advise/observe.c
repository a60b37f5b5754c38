/* observe.c - the observer: records a launch for the judge.
 *
 * It wants every access, because two of its questions need exact addresses: which bytes the threads of a block share
 * (asked of a sample of blocks, spread evenly over the grid), and where in its rows a shared variable was touched, so
 * that another layout can be tried. All sums are exact whatever is sampled. Workers keep their own record and are
 * merged in order; nothing in the result depends on how blocks were dealt out.
 *
 * What an access costs is computed once for each shape of it that is kept. In blocks of no sample the engine's own
 * pattern of an access stands for its shape: such accesses are counted by it, and no addresses are made of them.
 */
#include "advise/advise_priv.h"

#include <limits.h>

struct mg_advise {
    const struct mg_arch *arch;
    struct mg_time *time;
    struct mg_longest *longest;
    struct mg_sites sites[MG_SITES_KEPT];
    struct mg_model *model;                         /* NULL: every block is looked at */
    struct mg_model_made *made[MG_MODEL_MADE_KEPT]; /* of the latest kernels */
    void (*done)(void *arg, const struct mg_report_advice *advice);
    void *arg;
    uint32_t regs;
    const char *regs_from;
    bool regs_exact;
    struct mg_advise_block *spare[MG_BLOCKS_SAMPLED]; /* of launches that are over: their memory is used again */
};

/* Accesses of an instruction that the engine told with this pattern and base, and so of one shape. */
struct met {
    const struct mg_pattern *pattern; /* NULL: nothing is here */
    uint64_t base, times;             /* times: not yet added to the shape and to the sums */
    uint32_t insn;
    uint8_t space;
    unsigned level; /* of the instruction's shapes, then and since */
    struct mg_advise_shape shape;
};
enum {
    MET_BITS = 9, /* 512 places for them at first, eight times as many where they push each other out */
    MET_MORE = 3,
    SELDOM = 64 /* accesses: a launch of fewer does without */,
    SHARED_FROM = 16 /* blocks of a grid, of which few are looked at */,
    MANY = 64 /* blocks: those that are looked at stand for the others */
};

struct worker {
    struct mg_seen *seen; /* info, made, sites and sampled: read only */
    struct mg_advise_block **spare;
    bool rest; /* its blocks are those of a parted launch that nobody looks at */
    struct mg_tried *insns;
    struct mg_shapes *global, *shared;
    struct mg_advise_block *blocks[MG_BLOCKS_SAMPLED];
    uint64_t index; /* of the block that was looked up last, and its sample */
    struct mg_advise_block *block;
    struct met *met; /* 2^met_bits of them, or NULL */
    unsigned met_bits;
    uint32_t pushed; /* one out by another */
    uint32_t seldom; /* accesses before there were */
    uint32_t most;   /* shapes of an instruction */
    bool failed;     /* out of memory: the launch gets no advice */
};
struct launch {
    struct mg_advise *advise;
    struct mg_seen seen;
    unsigned nworkers;
    struct mg_insn_counts *near; /* of a parted launch the counts of the blocks that were looked at */
    struct mg_advise_block *spare[MG_BLOCKS_SAMPLED]; /* for its blocks; each is one worker's to take */
    bool failed;
};

static void free_seen(struct mg_seen *s)
{
    for (uint32_t i = 0; s->global && i < s->info->ninsns; i++)
        mg__shapes_free(&s->global[i]);
    for (uint32_t i = 0; s->shared && i < s->info->ninsns; i++)
        mg__shapes_free(&s->shared[i]);
    for (unsigned i = 0; i < MG_BLOCKS_SAMPLED; i++)
        mg__block_free(s->blocks[i]);
    mg__model_made_free(s->made);
    mg__sites_free(&s->sites);
    free(s->insns);
    free(s->global);
    free(s->shared);
}

/* Of those that the model of time looks at the nearest to each, so that few blocks are looked at in all. */
static void share_blocks(struct mg_seen *s, const uint64_t *theirs, unsigned n)
{
    for (unsigned i = 0; i < s->nsampled && n >= s->nsampled; i++) {
        unsigned best = UINT_MAX;
        uint64_t apart = UINT64_MAX;
        for (unsigned k = 0; k < n; k++) {
            uint64_t far = theirs[k] > s->sampled[i] ? theirs[k] - s->sampled[i] : s->sampled[i] - theirs[k];
            bool free = !i || theirs[k] > s->sampled[i - 1];
            unsigned behind = 0; /* enough are left for those that follow */
            for (unsigned m = 0; m < n; m++)
                behind += theirs[m] > theirs[k];
            if (free && behind >= s->nsampled - i - 1 && far < apart) {
                apart = far;
                best = k;
            }
        }
        if (best == UINT_MAX)
            return;
        s->sampled[i] = theirs[best];
    }
}

/* Blocks (2i + 1) / 2n of the way through the grid, or near them: all of a small one, and the middles of n equal parts
 * of a large one, of which the model of time looks at some. */
static void choose_blocks(struct mg_seen *s)
{
    const struct mg_dim3 *g = &s->info->grid;
    uint64_t theirs[32];
    const unsigned n = mg__time_blocks(s->time, theirs, MG_COUNT(theirs));
    s->nblocks = (uint64_t)g->x * g->y * g->z;
    const bool shared = s->nblocks >= SHARED_FROM && n;
    const unsigned most = shared ? MG_MIN(n, (unsigned)MG_BLOCKS_SAMPLED) : MG_BLOCKS_SAMPLED;
    s->nsampled = (unsigned)MG_MIN(s->nblocks, (uint64_t)most);
    uint64_t part = s->nblocks / most, rest = s->nblocks % most;
    for (unsigned i = 0; i < s->nsampled; i++)
        s->sampled[i] = s->nblocks <= most ? i : part * i + rest * i / most + part / 2;
    if (shared)
        share_blocks(s, theirs, n);
}

static enum mg_status launch_begin(void *self, const struct mg_launch_info *info, unsigned workers, void **state)
{
    struct launch *l = calloc(1, sizeof(*l));
    *state = NULL;
    if (!l)
        return MG_ERR_NOMEM;
    l->advise = self;
    l->nworkers = workers;
    struct mg_seen *s = &l->seen;
    s->info = info;
    s->regs = l->advise->regs;
    s->arch = l->advise->arch;
    s->time = l->advise->time;
    s->regs_from = l->advise->regs_from ? l->advise->regs_from : "";
    s->regs_exact = l->advise->regs_exact;
    choose_blocks(s);
    uint32_t naccesses = 0;
    for (uint32_t i = 0; i < info->ninsns; i++)
        naccesses += info->insns[i].insn && mg__ptx_accesses(info->insns[i].insn);
    s->most =
        MG_MAX(MG_MIN(MG_SHAPES_ALL / MG_MAX(naccesses, 1u), (uint32_t)MG_SHAPES_KEPT), (uint32_t)MG_SHAPES_LEAST);
    s->made = mg__model_made_kept(l->advise->made, info);
    l->near = calloc((size_t)info->ninsns + 1, sizeof(*l->near));
    s->insns = calloc((size_t)info->ninsns + 1, sizeof(*s->insns));
    s->global = calloc((size_t)info->ninsns + 1, sizeof(*s->global));
    s->shared = calloc((size_t)info->ninsns + 1, sizeof(*s->shared));
    if (!l->near || !s->made || !s->insns || !s->global || !s->shared ||
        !mg__sites_find(info, l->advise->sites, &s->sites)) {
        free_seen(s);
        free(l->near);
        free(l);
        return MG_ERR_NOMEM;
    }
    memcpy(l->spare, l->advise->spare, sizeof(l->spare));
    memset(l->advise->spare, 0, sizeof(l->advise->spare));
    *state = l;
    return MG_OK;
}

static void free_worker(struct worker *w)
{
    uint32_t n = w->seen->info->ninsns;
    for (uint32_t i = 0; w->global && i < n; i++)
        mg__shapes_free(&w->global[i]);
    for (uint32_t i = 0; w->shared && i < n; i++)
        mg__shapes_free(&w->shared[i]);
    for (unsigned i = 0; i < MG_BLOCKS_SAMPLED; i++)
        mg__block_free(w->blocks[i]);
    free(w->global);
    free(w->shared);
    free(w->insns);
    free(w->met);
    free(w);
}

static void *worker_begin(void *state, unsigned worker)
{
    struct launch *l = state;
    struct worker *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    uint32_t n = l->seen.info->ninsns;
    w->seen = &l->seen;
    w->spare = l->spare;
    w->rest = worker >= l->nworkers;
    w->most = l->seen.most;
    w->index = UINT64_MAX;
    w->insns = calloc((size_t)n + 1, sizeof(*w->insns));
    w->global = calloc((size_t)n + 1, sizeof(*w->global));
    w->shared = calloc((size_t)n + 1, sizeof(*w->shared));
    if (!w->insns || !w->global || !w->shared) {
        free_worker(w);
        return NULL;
    }
    return w;
}

static struct mg_advise_block *sampled_block(struct worker *w, uint64_t index)
{
    const struct mg_seen *s = w->seen;
    if (index == w->index)
        return w->block;
    w->index = index;
    w->block = NULL;
    for (unsigned i = 0; i < s->nsampled; i++) {
        if (s->sampled[i] != index)
            continue;
        if (!w->blocks[i]) {
            const struct mg_dim3 *dim = &s->info->block;
            const uint32_t warps = (uint32_t)(((uint64_t)dim->x * dim->y * dim->z + 31) / 32);
            struct mg_advise_block *spare = w->spare[i];
            w->spare[i] = NULL;
            w->blocks[i] =
                mg__block_create(spare, index, s->info->range, s->sites.count,
                                 s->info->shared_static + s->info->shared_dynamic + 16, warps, i == s->nsampled / 2);
        }
        w->failed |= !w->blocks[i];
        w->block = w->blocks[i];
    }
    return w->block;
}

/* Parameters lie in constant memory, too: those that a register names can be a table. */
static bool is_constant(uint8_t space)
{
    return space == MG_SPACE_CONST || space == MG_SPACE_PARAM;
}

/* What lanes read at places of their own in constant memory no model counts: then all blocks. */
static unsigned blocks(void *state, uint64_t *at, unsigned most)
{
    const struct launch *l = state;
    const struct mg_launch_info *info = l->seen.info;
    bool all = !l->advise->model;
    for (uint32_t i = 0; i < info->ninsns && !all; i++) {
        const struct mg_ptx_insn *insn = info->insns[i].insn;
        all = insn && insn->access == MG_ACCESSES_LOAD && is_constant(insn->space) &&
              mg__ptx_op(info->insns[i].func, insn, insn->address)->has_reg;
    }
    memcpy(at, l->seen.sampled, MG_MIN(l->seen.nsampled, most) * sizeof(*at));
    return all ? UINT_MAX : l->seen.nsampled;
}

static bool closely(void *worker, uint64_t block)
{
    const struct mg_seen *s = ((struct worker *)worker)->seen;
    bool found = false;
    for (unsigned i = 0; i < s->nsampled; i++)
        found |= s->sampled[i] == block;
    return found;
}

static uint32_t other_side(const struct mg_access *a)
{
    const uint64_t base = a->other[__builtin_ctz(a->mask)] & ~UINT64_C(127);
    uint32_t digest = 0;
    for (uint32_t m = a->mask; m; m &= m - 1)
        digest = (digest ^ (uint32_t)(a->other[__builtin_ctz(m)] - base)) * 0x9E3779B1u;
    return digest | 1; /* 0: no copy */
}

/* The shape of an access; its hash is not filled in for one whose lanes lie too far apart to be told by distances.
 * Constants are told by their place in device memory, whose `range` starts elsewhere in each run. */
static void shape_of(const struct mg_access *a, uint64_t range, struct mg_advise_shape *s)
{
    bool constant = is_constant(a->space), shared = !constant && a->space != MG_SPACE_GLOBAL;
    uint64_t base = a->space == MG_SPACE_CONST ? range : constant || shared ? 0 : a->address[__builtin_ctz(a->mask)];
    s->hash = s->times = 0;
    s->mask = a->mask;
    s->width = a->width;
    s->kind = a->kind;
    s->taken = s->ideal = s->moved = 0;
    s->var = constant ? MG_VAR_CONST : shared ? a->shared_var : -1;
    s->phase = constant ? 0 : (uint8_t)(base & 31);
    s->other = a->other ? other_side(a) : 0;
    /* far lanes wrap: still different shapes, and their cost was computed exactly */
    for (unsigned i = 0; i < 32; i++)
        s->at[i] = (int32_t)(uint32_t)(a->address[i] - base);
    for (unsigned i = 0; i < 32 && a->mask != UINT32_MAX; i++)
        s->at[i] = a->mask >> i & 1 ? s->at[i] : 0;
}

static void cost_of(const struct mg_seen *seen, struct mg_access *a, struct mg_advise_shape *s)
{
    struct mg_model_access made;
    if (is_constant(a->space)) {
        s->ideal = 1;
        for (unsigned lane = 0; lane < 32; lane++) {
            bool fresh = a->mask >> lane & 1;
            for (unsigned other = 0; other < lane && fresh; other++)
                fresh = !(a->mask >> other & 1) || a->address[other] != a->address[lane];
            s->taken += fresh;
        }
        return;
    }
    if (!mg__model_made_access(seen->made, a, true, &made))
        return; /* another instruction's access carries it */
    const struct mg_ptx_insn *insn = seen->info->insns[a->insn].insn;
    for (bool more = true, second = false; more;
         more = !second && mg__model_made_second(seen->made, a->insn, &made), second = true) {
        if (a->space == MG_SPACE_SHARED) {
            struct mg_cost c = mg__model_access_shared(seen->arch, insn, &made);
            s->taken += c.wavefronts;
            s->ideal += c.ideal;
        } else {
            uint64_t origin = mg__model_origin(seen->info, made.address[__builtin_ctz(made.mask)]);
            struct mg_global_cost c = mg__model_access_global(seen->arch, insn, &made, origin);
            s->taken += c.touched;
            s->ideal += c.ideal;
            s->moved += c.moved;
        }
    }
}

static struct mg_shapes *shapes_of(struct worker *w, uint32_t insn, uint8_t space)
{
    return space == MG_SPACE_GLOBAL ? &w->global[insn] : &w->shared[insn];
}

/* `times` more accesses of the shape to the sums of its instruction. */
static void add_sums(struct worker *w, uint32_t insn, uint8_t space, const struct mg_advise_shape *s, uint64_t times)
{
    struct mg_tried *t = &w->insns[insn];
    if (is_constant(space)) {
        t->const_requests += times;
        t->const_passes += s->taken * times;
    } else if (space == MG_SPACE_SHARED) {
        t->wavefronts += s->taken * times;
        t->wavefronts_ideal += s->ideal * times;
    } else {
        unsigned lanes = (unsigned)__builtin_popcount(s->mask);
        t->requests += times;
        t->lanes += lanes * times;
        t->bytes += (uint64_t)lanes * s->width * times;
        t->touched += s->taken * times;
        t->ideal += s->ideal * times;
        t->moved += s->moved * times;
    }
}

/* What was only counted by pattern. A shape that is not there any more was thinned away, and its count with it. */
static void settle(struct worker *w, struct met *m)
{
    struct mg_advise_shape *s = m->times ? mg__shapes_find(shapes_of(w, m->insn, m->space), &m->shape) : NULL;
    if (s)
        s->times += m->times;
    add_sums(w, m->insn, m->space, &m->shape, m->times);
    m->times = 0;
}

/* Where an access with this pattern is counted; it is there if `pattern` is the same. Of global memory only the place
 * in a sector is part of a shape. */
static struct met *met_at(struct worker *w, const struct mg_access *a, uint64_t base)
{
    uint64_t h = ((uint64_t)a->pattern->id << 20 ^ (uint64_t)a->insn << 6 ^ base) * UINT64_C(0x9E3779B97F4A7C15);
    return &w->met[h >> (64 - w->met_bits)];
}

static bool is_met(struct worker *w, const struct met *m, const struct mg_access *a, uint64_t base)
{
    return m->pattern == a->pattern && m->insn == a->insn && m->base == base && m->space == a->space &&
           m->level == shapes_of(w, a->insn, a->space)->level;
}

static void settle_all(struct worker *w)
{
    for (size_t i = 0; w->met && i < (size_t)1 << w->met_bits; i++)
        if (w->met[i].pattern)
            settle(w, &w->met[i]);
    free(w->met);
    w->met = NULL;
}

static struct met *find_met(struct worker *w, const struct mg_access *a, uint64_t base)
{
    const bool crowded = w->met && w->met_bits == MET_BITS && w->pushed >> MET_BITS;
    if (crowded)
        settle_all(w);
    if (!w->met && ++w->seldom > SELDOM) {
        w->met_bits = crowded ? MET_BITS + MET_MORE : MET_BITS;
        w->met = calloc((size_t)1 << w->met_bits, sizeof(*w->met));
        w->failed |= !w->met;
    }
    return w->met ? met_at(w, a, base) : NULL;
}

/* To the shapes and the sums; `met`, if not NULL: where accesses like this one are counted from here on. Returns the
 * sectors that it moved. */
static uint32_t add_access(struct worker *w, struct mg_access *a, struct met *met, uint64_t base)
{
    mg__access_lanes(a);
    struct mg_shapes *set = shapes_of(w, a->insn, a->space);
    set->most = w->most;
    struct mg_advise_shape fresh;
    shape_of(a, w->seen->info->range, &fresh);
    struct mg_advise_shape *s = met ? NULL : mg__shapes_recent(set, &fresh);
    if (!s) {
        fresh.hash = mg__shape_hash(&fresh);
        s = mg__shapes_find(set, &fresh);
    }
    if (!s) {
        cost_of(w->seen, a, &fresh);
        fresh.times = a->times;
        s = &fresh;
        w->failed |= !mg__shapes_add(set, &fresh);
    } else {
        s->times += a->times;
    }
    add_sums(w, a->insn, a->space, s, a->times);
    if (met) {
        const struct mg_advise_shape shape = *s; /* what is told last may move the shapes */
        if (met->pattern) {
            settle(w, met);
            w->pushed++;
        }
        *met = (struct met){.pattern = mg__shapes_keeps(set, shape.hash) ? a->pattern : NULL,
                            .base = base,
                            .insn = a->insn,
                            .space = a->space,
                            .level = set->level,
                            .shape = shape};
        return shape.moved;
    }
    return s->moved;
}

/* Of blocks that nobody looks at: in a small grid some are unlike all others, and the shapes of global memory are all
 * taken. Where in shared memory they lie is not told. */
static bool takes_rest(const struct mg_seen *s, uint32_t insn)
{
    const struct mg_ptx_insn *at = s->info->insns[insn].insn;
    return s->nblocks < MANY && at && at->access != MG_ACCESSES_COPY;
}

static void add_rest(struct worker *w, struct mg_access *a)
{
    if (a->insn >= w->seen->info->ninsns || a->space != MG_SPACE_GLOBAL || !takes_rest(w->seen, a->insn))
        return;
    for (uint32_t row = 0; row < a->rows; row++) {
        mg__access_row(a, row);
        if (a->mask)
            (void)add_access(w, a, NULL, 0);
    }
}

static void on_access(void *worker, struct mg_access *a)
{
    struct worker *w = worker;
    const struct mg_seen *seen = w->seen;
    if (w->rest) {
        add_rest(w, a);
        return;
    }
    bool shared = a->space == MG_SPACE_SHARED, constant = is_constant(a->space);
    if (a->insn >= seen->info->ninsns || (!shared && !constant && a->space != MG_SPACE_GLOBAL) || !a->mask)
        return;
    struct mg_advise_block *block = constant ? NULL : sampled_block(w, a->block);
    struct met *met = NULL;
    uint32_t moved;
    const uint64_t base = shared || constant ? a->base : a->base & 31;
    if (a->pattern && !a->other && a->block != UINT64_MAX)
        met = find_met(w, a, base);
    if (met && is_met(w, met, a, base)) {
        met->times++;
        moved = met->shape.moved;
    } else {
        moved = add_access(w, a, met, base);
    }
    if (!block)
        return;
    if (shared) {
        const enum mg_ptx_opcode op = (enum mg_ptx_opcode)seen->info->insns[a->insn].insn->opcode;
        mg__block_shared(block, a, mg__ptx_isa(op)->group == MG_G_MATRIX);
    } else if (seen->sites.of[a->insn] != UINT32_MAX) {
        mg__access_lanes(a);
        uint32_t site = seen->sites.of[a->insn];
        block->moved[site] += moved;
        w->failed |= !mg__block_global(block, a, site, seen->sites.shift);
    }
}

static void on_counts(void *worker, const struct mg_insn_counts *counts, uint32_t ninsns)
{
    struct worker *w = worker;
    settle_all(w); /* patterns end here */
    for (uint32_t i = 0; i < ninsns && i < w->seen->info->ninsns; i++) {
        w->insns[i].warps += counts[i].warps;
        w->insns[i].threads += counts[i].threads;
        w->insns[i].divergent += counts[i].divergent;
    }
}

static void worker_end(void *state, void *worker)
{
    struct launch *l = state;
    struct worker *w = worker;
    struct mg_seen *s = &l->seen;
    for (uint32_t i = 0; i < s->info->ninsns; i++) {
        uint64_t *to = (uint64_t *)&s->insns[i];
        const uint64_t *from = (const uint64_t *)&w->insns[i];
        for (size_t k = 0; k < sizeof(struct mg_tried) / sizeof(*to); k++)
            to[k] += from[k];
        l->near[i].warps += w->rest ? 0 : w->insns[i].warps;
        l->near[i].threads += w->rest ? 0 : w->insns[i].threads;
        s->global[i].most = s->shared[i].most = w->most;
        w->failed |= !mg__shapes_merge(&s->global[i], &w->global[i]) || !mg__shapes_merge(&s->shared[i], &w->shared[i]);
    }
    for (unsigned i = 0; i < MG_BLOCKS_SAMPLED; i++) {
        if (!s->blocks[i]) { /* a block runs on one worker */
            s->blocks[i] = w->blocks[i];
            w->blocks[i] = NULL;
        }
    }
    l->failed |= w->failed;
    free_worker(w);
}

static uint64_t times(uint64_t n, double factor)
{
    return (uint64_t)((double)n * factor + 0.5);
}

/* From the blocks that were looked at to all of a parted launch: what models count is theirs, of all blocks; lanes and
 * requests, and how often each shape came, go by how often the instruction was executed, where the others did not tell
 * their shapes. */
static void extend(struct mg_seen *s, const struct mg_model *model, const struct mg_insn_counts *near)
{
    s->parted = true;
    for (uint32_t i = 0; i < s->info->ninsns; i++) {
        struct mg_tried *t = &s->insns[i];
        struct mg_model_counted all;
        if (t->warps == near[i].warps || !mg__model_counted(model, i, &all))
            continue;
        const double warps = near[i].warps ? (double)t->warps / (double)near[i].warps : 1,
                     threads = near[i].threads ? (double)t->threads / (double)near[i].threads : warps;
        const bool told = takes_rest(s, i);
        if (!told) {
            t->requests = t->requests ? times(t->requests, warps) : all.requests;
            t->bytes = t->lanes ? times(t->bytes, threads) : all.sectors_ideal * s->arch->sector_bytes;
            t->lanes = t->lanes ? times(t->lanes, threads) : all.requests ? t->threads : 0;
        }
        t->touched = all.sectors;
        t->ideal = all.sectors_ideal;
        t->moved = all.moved;
        t->wavefronts = all.wavefronts;
        t->wavefronts_ideal = all.ideal;
        t->const_requests = times(t->const_requests, warps);
        t->const_passes = times(t->const_passes, warps);
        for (unsigned k = 0; k < (told ? 1 : 2); k++) {
            struct mg_shapes *set = k ? &s->global[i] : &s->shared[i];
            for (uint32_t j = 0; j < set->count; j++)
                set->at[j].times = times(set->at[j].times, warps);
        }
    }
}

static void judge(struct launch *l, enum mg_status status)
{
    const struct mg_advise *a = l->advise;
    struct mg_model_counted all;
    if (!mg__longest_is(a->longest, l->seen.info, mg__time_of_kernel(mg__time_result(a->time)))) {
        mg__advise_count(&l->seen, status, a->done, a->arg);
        return;
    }
    if (l->seen.info->parted)
        extend(&l->seen, a->model, l->near);
    for (uint32_t i = 0; i < l->seen.info->ninsns; i++) {
        if (a->model && mg__model_counted(a->model, i, &all))
            l->seen.insns[i].bulk = all.bulk;
        mg__shapes_sort(&l->seen.global[i]);
        mg__shapes_sort(&l->seen.shared[i]);
    }
    (void)mg__advise_judge(&l->seen, status, a->done, a->arg);
}

static void launch_end(void *state, enum mg_status status)
{
    struct launch *l = state;
    if (!l)
        return;
    if (!l->failed)
        judge(l, status);
    for (unsigned i = 0; i < MG_BLOCKS_SAMPLED; i++) {
        struct mg_advise_block **to = &l->advise->spare[i], *b = l->seen.blocks[i] ? l->seen.blocks[i] : l->spare[i];
        if (l->seen.blocks[i])
            mg__block_free(l->spare[i]);
        l->seen.blocks[i] = NULL;
        if (b)
            mg__block_end(b);
        mg__block_free(*to);
        *to = b;
    }
    mg__sites_keep(l->advise->sites, &l->seen.sites);
    free_seen(&l->seen);
    free(l->near);
    free(l);
}

/* ---- public ---- */
enum mg_status mg__advise_create(const struct mg_arch *arch, struct mg_time *time, struct mg_model *model,
                                 void (*done)(void *arg, const struct mg_report_advice *advice), void *arg,
                                 struct mg_advise **advise)
{
    *advise = calloc(1, sizeof(**advise));
    if (!*advise || !((*advise)->longest = mg__longest_create())) {
        free(*advise);
        *advise = NULL;
        return MG_ERR_NOMEM;
    }
    (*advise)->arch = arch;
    (*advise)->time = time;
    (*advise)->model = model;
    (*advise)->done = done;
    (*advise)->arg = arg;
    return MG_OK;
}

void mg__advise_destroy(struct mg_advise *advise)
{
    for (unsigned k = 0; advise && k < MG_MODEL_MADE_KEPT; k++)
        mg__model_made_free(advise->made[k]);
    for (unsigned i = 0; advise && i < MG_BLOCKS_SAMPLED; i++)
        mg__block_free(advise->spare[i]);
    for (unsigned k = 0; advise && k < MG_SITES_KEPT; k++)
        mg__sites_free(&advise->sites[k]);
    mg__longest_free(advise ? advise->longest : NULL);
    free(advise);
}

void mg__advise_regs(struct mg_advise *advise, uint32_t regs, const char *from, bool exact)
{
    advise->regs = regs;
    advise->regs_from = from;
    advise->regs_exact = exact;
}

struct mg_observer mg__advise_observer(struct mg_advise *advise)
{
    return (struct mg_observer){
        .self = advise,
        .wants = MG_OBSERVE_EVERY | MG_OBSERVE_COUNTS | MG_OBSERVE_REST | MG_OBSERVE_PARAMS,
        .launch_begin = launch_begin,
        .worker_begin = worker_begin,
        .access = on_access,
        .closely = closely,
        .blocks = blocks,
        .counts = on_counts,
        .worker_end = worker_end,
        .launch_end = launch_end,
    };
}
