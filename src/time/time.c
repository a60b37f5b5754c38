/* time.c - the observer: counts, and a sample of the accesses, while the launch runs; then the model, and its answer.
 *
 * All instructions are counted. Of the accesses only those of sampled blocks are kept (sample.c), which are chosen by
 * their number alone: the answer is the same for any number of workers and under all engines.
 */
#include "time/time_priv.h"

const double mg__time_parameter[MG_TIME_PARAMETERS] = {
#define PARAMETER(id, value, unit, source) value,
#include "time/device.def"
};

double mg__time_of_board(const struct mg_arch *arch, enum mg_time_parameter id)
{
    static const struct {
        const char *board;
        enum mg_time_parameter id;
        double value;
    } boards[] = {
#define PARAMETER(id, value, unit, source)
#define OF_BOARD(board, id, value, source) {board, MG_TIME_P_##id, value},
#include "time/device.def"
    };
    for (size_t k = 0; k < MG_COUNT(boards); k++)
        if (boards[k].id == id && !strcmp(boards[k].board, arch->board->name))
            return boards[k].value;
    return mg__time_parameter[id];
}

struct mg_time {
    const struct mg_arch *arch;
    uint32_t regs;
    struct mg_time_native native;
    struct mg_time_result last;
    const struct mg_insn_info *insns; /* of the last launch, … */
    uint32_t ninsns;
    double (*stalled)[MG_STALLS];                   /* … and the samples of its warps at each */
    struct mg_model_made *made[MG_MODEL_MADE_KEPT]; /* of the latest kernels */
    struct mg_time_again *again;
    struct mg_time_codes codes;
    struct mg_time_choice begun; /* of the launch that has begun last */
    bool keeps;
    struct mg_time_kept *kept;                    /* of the last launch; NULL: nothing */
    struct mg_time_sample *spare[MG_TIME_BLOCKS]; /* of launches that are over: their memory is used again */
};
struct launch {
    struct mg_time *time;
    const struct mg_launch_info *info;
    struct mg_model_made *made;
    struct mg_insn_counts *counts;
    struct mg_time_choice choice;
    struct mg_time_sample *samples[MG_TIME_BLOCKS];
    struct mg_time_sample *spare[MG_TIME_BLOCKS]; /* for these; each is one worker's to take */
    struct mg_occupancy occupancy;
    uint64_t blocks;
    uint32_t *work; /* by block: accesses of its warps; NULL: there are too many blocks, or too few to tell */
    bool failed;
};
struct worker {
    struct launch *launch;
    struct mg_insn_counts *counts;
    struct mg_time_sample *samples[MG_TIME_BLOCKS];
    uint64_t block; /* the last one that was looked up, and its sample */
    struct mg_time_sample *sample;
    struct mg_time_met *met; /* 2^met_bits of them, while patterns last; or NULL */
    unsigned met_bits;
    uint32_t pushed; /* one out by another */
    uint32_t seldom; /* accesses before there were */
    uint32_t *work;
    bool failed;
};
enum {
    SELDOM = 64 /* accesses: a launch of fewer remembers none */,
    MET_BITS = 8, /* 256 places for them at first, eight times as many where they push each other out */
    MET_MORE = 3,
    WORK = 1 << 18 /* blocks of which each one's work is known, most */
};

static void free_launch(struct launch *l)
{
    for (unsigned i = 0; i < MG_TIME_BLOCKS; i++) {
        struct mg_time_sample *s = l->samples[i] ? l->samples[i] : l->spare[i], **to = &l->time->spare[i];
        if (s != l->spare[i])
            mg__time_sample_free(l->spare[i]);
        if (s && (*to || !mg__time_sample_clear(s)))
            mg__time_sample_free(s);
        else if (s)
            *to = s;
    }
    if (l->made)
        mg__model_made_free(l->made);
    free(l->counts);
    free(l->work);
    free(l);
}

static enum mg_status launch_begin(void *self, const struct mg_launch_info *info, unsigned workers, void **state)
{
    struct mg_time *t = self;
    struct launch *l = calloc(1, sizeof(*l));
    (void)workers;
    *state = NULL;
    if (!l)
        return MG_ERR_NOMEM;
    l->time = t;
    l->info = info;
    l->blocks = (uint64_t)info->grid.x * info->grid.y * info->grid.z;
    l->made = mg__model_made_kept(t->made, info);
    l->counts = calloc((size_t)info->ninsns + 1, sizeof(*l->counts));
    l->work = l->blocks <= WORK ? calloc(l->blocks, sizeof(*l->work)) : NULL;
    if (!l->made || !l->counts || (l->blocks <= WORK && !l->work)) {
        free_launch(l);
        return MG_ERR_NOMEM;
    }
    struct mg_occupancy_query query = mg_arch_query(info->block.x * info->block.y * info->block.z, t->regs,
                                                    info->shared_static, info->shared_dynamic);
    query.shared_optin = info->shared_dynamic;
    if (mg_arch_occupancy(t->arch, &query, &l->occupancy) != MG_OK || !l->occupancy.blocks)
        l->occupancy.blocks = 1;
    mg__time_choose(&l->choice, l->blocks, t->arch->board->sm_count, l->occupancy.blocks);
    t->begun = l->choice;
    memcpy(l->spare, t->spare, sizeof(l->spare));
    memset(t->spare, 0, sizeof(t->spare));
    *state = l;
    return MG_OK;
}

static void *worker_begin(void *state, unsigned worker)
{
    struct launch *l = state;
    struct worker *w = calloc(1, sizeof(*w));
    (void)worker;
    if (!w)
        return NULL;
    w->launch = l;
    w->block = UINT64_MAX;
    w->counts = calloc((size_t)l->info->ninsns + 1, sizeof(*w->counts));
    w->work = l->work ? calloc(l->blocks, sizeof(*w->work)) : NULL;
    if (!w->counts || (l->work && !w->work)) {
        free(w->counts);
        free(w->work);
        free(w);
        return NULL;
    }
    return w;
}

static void look_up(struct worker *w, uint64_t block)
{
    const struct mg_time_choice *c = &w->launch->choice;
    w->block = block;
    w->sample = NULL;
    for (unsigned i = 0; i < c->n; i++) {
        if (c->block[i] != block)
            continue;
        if (!w->samples[i]) {
            struct mg_time_sample **spare = &w->launch->spare[i];
            w->samples[i] = *spare ? *spare : mg__time_sample_create();
            *spare = NULL;
        }
        w->sample = w->samples[i];
        w->failed |= !w->sample;
    }
}

static struct mg_time_met *find_met(struct worker *w, const struct mg_access *a)
{
    const bool crowded = w->met && w->met_bits == MET_BITS && w->pushed >> MET_BITS;
    if (!w->met && ++w->seldom <= SELDOM)
        return NULL;
    if (!w->met || crowded) {
        free(w->met);
        w->met_bits = crowded ? MET_BITS + MET_MORE : MET_BITS;
        w->met = calloc((size_t)1 << w->met_bits, sizeof(*w->met));
        w->failed |= !w->met;
    }
    const uint64_t key = (uint64_t)a->pattern->id << 32 ^ (uint64_t)a->insn << 8 ^ a->base % 32;
    return w->met ? &w->met[key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - w->met_bits)] : NULL;
}

static void on_access(void *worker, struct mg_access *a)
{
    struct worker *w = worker;
    const struct launch *l = w->launch;
    struct mg_model_access made;
    if (a->block != w->block)
        look_up(w, a->block);
    if (w->work && a->block < l->blocks && !l->info->parted)
        w->work[a->block]++;
    if (!w->sample || a->insn >= l->info->ninsns || !a->mask || w->failed)
        return;
    struct mg_time_met *met = NULL;
    if (a->pattern) {
        met = find_met(w, a);
        if (met && mg__time_sample_met(w->sample, met, a, &w->failed))
            return;
    }
    mg__access_lanes(a);
    const size_t before = mg__time_sample_requests(w->sample);
    const bool some = mg__model_made_access(l->made, a, true, &made) && made.mask;
    if (some)
        w->failed |= !mg__time_sample_add(w->sample, l->time->arch, l->info, &made, a);
    if (met && !w->failed && mg__time_sample_requests(w->sample) == before + some) {
        w->pushed += met->pattern != NULL;
        mg__time_sample_meet(w->sample, met, l->info, some ? &made : NULL, a);
    }
}

static bool closely(void *worker, uint64_t block)
{
    const struct mg_time_choice *c = &((struct worker *)worker)->launch->choice;
    bool found = false;
    for (unsigned i = 0; i < c->n; i++)
        found |= c->block[i] == block;
    return found;
}

static unsigned blocks(void *state, uint64_t *at, unsigned most)
{
    const struct mg_time_choice *c = &((struct launch *)state)->choice;
    memcpy(at, c->block, MG_MIN(c->n, most) * sizeof(*at));
    return c->n;
}

static void together(void *worker, uint64_t block, uint64_t accesses)
{
    struct worker *w = worker;
    if (w->work && block < w->launch->blocks)
        w->work[block] += (uint32_t)accesses;
}

static void on_counts(void *worker, const struct mg_insn_counts *counts, uint32_t ninsns)
{
    struct worker *w = worker;
    free(w->met);
    w->met = NULL;
    memcpy(w->counts, counts, MG_MIN(ninsns, w->launch->info->ninsns) * sizeof(*counts));
}

static void worker_end(void *state, void *worker)
{
    struct launch *l = state;
    struct worker *w = worker;
    for (uint32_t i = 0; i < l->info->ninsns; i++) {
        l->counts[i].warps += w->counts[i].warps;
        l->counts[i].threads += w->counts[i].threads;
        l->counts[i].divergent += w->counts[i].divergent;
    }
    for (unsigned i = 0; i < MG_TIME_BLOCKS; i++) {
        if (!l->samples[i])
            l->samples[i] = w->samples[i];
        else
            mg__time_sample_free(w->samples[i]);
    }
    for (uint64_t k = 0; l->work && k < l->blocks; k++)
        l->work[k] += w->work[k];
    l->failed |= w->failed;
    free(w->met);
    free(w->counts);
    free(w->work);
    free(w);
}

/* Lines of the first cache that shared memory leaves. */
static uint32_t cache_lines(const struct launch *l)
{
    const struct mg_arch *arch = l->time->arch;
    uint64_t shared = (uint64_t)l->occupancy.blocks * l->occupancy.shared_block, set = 0;
    for (unsigned i = 0; i < arch->ncarveouts && set < shared; i++)
        set = arch->carveouts_kib[i] * UINT64_C(1024);
    uint64_t all = arch->unified_cache ? arch->unified_cache : 32768;
    uint64_t lines = MG_MAX(all - MG_MIN(set, all), UINT64_C(16384)) / arch->line_bytes, sms = arch->board->sm_count;
    /* of those that share it, only some are looked at, which have their part of it */
    uint64_t there = MG_MIN((uint64_t)l->occupancy.blocks, (l->blocks + sms - 1) / sms);
    return (uint32_t)(there > l->choice.together ? MG_MAX(lines * l->choice.together / there, UINT64_C(64)) : lines);
}

/* Bytes of the second cache, before it has to lose some. */
static double cache_room(const struct launch *l)
{
    return P(L2_ROOM) * (double)l->time->arch->board->l2_bytes;
}

/* What the second cache has no room for is written back; it makes room evenly for what is read and what is written. */
static double lost(const struct launch *l, const struct mg_time_traffic *t)
{
    const double all = t->read + t->written, room = cache_room(l);
    return all > room ? 1 - room / all : 0;
}

static void count_traffic(const struct launch *l, const struct mg_time_traffic *t, struct mg_time_result *r)
{
    const struct mg_board *board = l->time->arch->board;
    double fetched = P(L2_FETCHED) * (double)MG_MIN(l->blocks, (uint64_t)board->sm_count);
    r->l1_sectors = t->l1_sectors;
    r->l1_hits = t->l1_hits;
    r->l2_sectors = t->l2_sectors + fetched;
    r->l2_hits = t->l2_hits + fetched;
    r->dram_write = t->written * lost(l, t) + t->local_written;
}

/* Until its pages have come, what needs them waits: nothing else goes on meanwhile. */
static void add_pages(const struct launch *l, const struct mg_time_traffic *t, struct mg_time_result *r)
{
    if (mg_board_link_peak(l->time->arch->board) <= 0)
        return;
    const double seconds = (t->paged * P(PAGE_ARRAY) + t->pages * P(PAGE)) * 1e-6;
    r->part[MG_TIME_PAGES] = seconds;
    r->seconds += seconds;
    r->least += seconds / P(RANGE);
    r->most += seconds * P(RANGE);
}

/* How much more the multiprocessor does that is done last than one that has its part of equal blocks: each block goes
 * to the one that has done least so far. Blocks without an access do nothing. */
static double unequal(const struct launch *l)
{
    uint64_t sms = l->time->arch->board->sm_count, done[1024] = {0}, all = 0, most = 0, busy = 0;
    bool equal = l->work != NULL;
    for (uint64_t k = 1; equal && k < l->blocks; k++)
        equal = l->work[k] == l->work[0];
    if (!l->work || equal || sms > MG_COUNT(done))
        return 1;
    for (uint64_t k = 0; k < l->blocks; k++) {
        if (!l->work[k])
            continue;
        uint64_t least = busy < sms ? busy : 0;
        for (uint64_t i = 1; busy >= sms && i < sms; i++)
            least = done[i] < done[least] ? i : least;
        done[least] += l->work[k];
        all += l->work[k];
        most = MG_MAX(most, done[least]);
        busy++;
    }
    double mean = (double)all / MG_MAX((double)busy, 1.0) * (double)((busy + sms - 1) / sms);
    return all ? MG_MAX((double)most / mean, 1.0) : 1;
}

/* Takes the code and the accesses of a launch that was estimated, for questions about changes. */
static bool keep(struct launch *l, const struct mg_time_machine *machine)
{
    struct mg_time_kept *kept = calloc(1, sizeof(*kept));
    if (!kept)
        return false;
    *kept = (struct mg_time_kept){
        .machine = *machine, .counts = l->counts, .again = l->time->again, .result = l->time->last};
    kept->machine.stalled = NULL;
    kept->result.seconds = mg__time_of_kernel(&kept->result);
    l->counts = NULL;
    l->time->kept = kept;
    return true;
}

static void estimate(struct launch *l, struct mg_time_result *r)
{
    const struct mg_launch_info *info = l->info;
    struct mg_time *t = l->time;
    struct mg_time_traffic traffic = {0};
    struct mg_time_access *access = calloc((size_t)info->ninsns + 1, sizeof(*access));
    t->stalled = calloc((size_t)info->ninsns + 1, sizeof(*t->stalled));
    struct mg_time_code *code = access && t->stalled ? mg__time_code_again(&t->codes, info, l->counts, l->made,
                                                                           t->native.words ? &t->native : NULL)
                                                     : NULL;
    if (code &&
        mg__time_digest(l->samples, &l->choice, info, l->counts, cache_lines(l), cache_room(l), access, &traffic)) {
        t->insns = info->insns;
        t->ninsns = info->ninsns;
        uint32_t threads = info->block.x * info->block.y * info->block.z;
        double all = 0;
        for (uint32_t i = 0; i < info->ninsns; i++)
            all += (double)l->counts[i].warps;
        double warps = (double)l->blocks * ((threads + 31) / 32);
        struct mg_time_machine machine = {.arch = l->time->arch,
                                          .code = code,
                                          .access = access,
                                          .blocks = l->blocks,
                                          .warps = (threads + 31) / 32,
                                          .resident = l->occupancy.blocks,
                                          .unequal = unequal(l),
                                          .written = lost(l, &traffic),
                                          .most = (uint64_t)(4 * all / warps) + 1000,
                                          .ninsns = info->ninsns,
                                          .stalled = t->stalled};
        if (mg__time_run_again(t->again, &machine, r)) {
            count_traffic(l, &traffic, r);
            add_pages(l, &traffic, r);
            r->native = code->native;
            if (t->keeps && code->native) { /* changes are made to what PTX suggests */
                struct mg_time_code *plain = mg__time_code_again(&t->codes, info, l->counts, l->made, NULL);
                machine.code = plain ? plain : code;
                mg__time_code_free(plain ? code : NULL);
                code = plain ? plain : code;
            }
            if (t->keeps && !code->native && keep(l, &machine))
                return;
        }
    }
    mg__time_code_free(code);
    free(access);
}

static void launch_end(void *state, enum mg_status status)
{
    struct launch *l = state;
    if (!l)
        return;
    free(l->time->stalled);
    l->time->stalled = NULL;
    l->time->ninsns = 0;
    mg__time_kept_free(l->time->kept);
    l->time->kept = NULL;
    l->time->last = (struct mg_time_result){0};
    if (status == MG_OK && !l->failed)
        estimate(l, &l->time->last);
    free_launch(l);
}

struct mg_time *mg__time_create(const struct mg_arch *arch)
{
    struct mg_time *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->arch = arch;
    t->again = mg__time_again_create();
    return t;
}

void mg__time_destroy(struct mg_time *time)
{
    if (time) {
        for (unsigned k = 0; k < MG_MODEL_MADE_KEPT; k++)
            mg__model_made_free(time->made[k]);
        for (unsigned i = 0; i < MG_TIME_BLOCKS; i++)
            mg__time_sample_free(time->spare[i]);
        mg__time_again_free(time->again);
        free(time->stalled);
        mg__time_kept_free(time->kept);
        mg__time_codes_forget(&time->codes);
    }
    free(time);
}

void mg__time_keep(struct mg_time *time)
{
    time->keeps = true;
}

struct mg_time_sectors mg__time_sectors(const struct mg_time *time, uint32_t insn)
{
    const bool kept = time->kept && insn < time->kept->machine.ninsns;
    return kept ? mg__time_kept_sectors(time->kept, insn) : (struct mg_time_sectors){0};
}

bool mg__time_changed(struct mg_time *time, const struct mg_time_change *change, double *seconds)
{
    return time->kept && mg__time_ask(time->kept, change, seconds);
}

unsigned mg__time_blocks(const struct mg_time *time, uint64_t *at, unsigned most)
{
    const unsigned n = MG_MIN(time->begun.n, most);
    memcpy(at, time->begun.block, n * sizeof(*at));
    return n;
}

void mg__time_regs(struct mg_time *time, uint32_t regs)
{
    time->regs = regs;
}

void mg__time_native(struct mg_time *time, const struct mg_time_native *native)
{
    time->native = native ? *native : (struct mg_time_native){0};
}

const struct mg_time_result *mg__time_result(const struct mg_time *time)
{
    return &time->last;
}

struct mg_observer mg__time_observer(struct mg_time *time)
{
    return (struct mg_observer){
        .self = time,
        .wants = MG_OBSERVE_EVERY | MG_OBSERVE_COUNTS | MG_OBSERVE_PARAMS,
        .launch_begin = launch_begin,
        .worker_begin = worker_begin,
        .access = on_access,
        .closely = closely,
        .together = together,
        .blocks = blocks,
        .counts = on_counts,
        .worker_end = worker_end,
        .launch_end = launch_end,
    };
}

static const enum mg_metric stalls[] = {
#define STALL(id, metric) MG_METRIC_##metric,
#include "report/part.def"
};

/* Samples as metrics, and the time that they are a part of. */
static void add_samples(const struct mg_time_result *r, const double samples[MG_STALLS], struct mg_metrics *m)
{
    double sum = 0, all = 0;
    for (unsigned k = 0; k < MG_STALLS; k++) {
        m->v[stalls[k]] = (uint64_t)(samples[k] + 0.5);
        sum += samples[k];
        all += r->stalled[k];
    }
    double time = mg__time_of_kernel(r) - r->part[MG_TIME_LAUNCH];
    m->v[MG_METRIC_TIME_LINE] = all > 0 ? (uint64_t)(time * 1e9 * sum / all + 0.5) : 0;
}

void mg__time_lines(const struct mg_time *time, struct mg_report_line *lines, size_t nlines)
{
    for (size_t k = 0; k < nlines && time->last.known; k++) {
        double samples[MG_STALLS] = {0};
        for (uint32_t i = 0; i < time->ninsns; i++)
            if (time->insns[i].line == lines[k].line && !strcmp(time->insns[i].file, lines[k].file))
                for (unsigned s = 0; s < MG_STALLS; s++)
                    samples[s] += time->stalled[i][s];
        add_samples(&time->last, samples, &lines[k].metrics);
    }
}

void mg__time_metrics(const struct mg_time_result *r, struct mg_metrics *m)
{
    if (!r->known)
        return;
    m->v[MG_METRIC_TIME] = (uint64_t)(r->seconds * 1e9 + 0.5);
    m->v[MG_METRIC_TIME_NATIVE] = r->native ? m->v[MG_METRIC_TIME] : 0;
    m->v[MG_METRIC_TIME_LEAST] = (uint64_t)(r->least * 1e9 + 0.5);
    m->v[MG_METRIC_TIME_MOST] = (uint64_t)(r->most * 1e9 + 0.5);
#define PART(id, metric, name) m->v[MG_METRIC_##metric] = (uint64_t)(r->part[MG_TIME_##id] * 1e9 + 0.5);
#include "report/part.def"
    add_samples(r, r->stalled, m);
    m->v[MG_METRIC_L1_SECTORS] = (uint64_t)(r->l1_sectors + 0.5);
    m->v[MG_METRIC_L1_HITS] = (uint64_t)(r->l1_hits + 0.5);
    m->v[MG_METRIC_L2_SECTORS] = (uint64_t)(r->l2_sectors + 0.5);
    m->v[MG_METRIC_L2_HITS] = (uint64_t)(r->l2_hits + 0.5);
    m->v[MG_METRIC_DRAM_READ] = (uint64_t)(r->dram_read + 0.5);
    m->v[MG_METRIC_DRAM_WRITE] = (uint64_t)(r->dram_write + 0.5);
}
