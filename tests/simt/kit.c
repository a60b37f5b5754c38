/* kit.c - see kit.h. The observer's sectors are counted here, from addresses alone, not by the model. */
#include "kit.h"

#include "jit/jit.h"
#include "model/model.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

static enum mg_status launch_begin(void *self, const struct mg_launch_info *launch, unsigned workers, void **state)
{
    struct kit_observer *o = self;
    memset(o->sums, 0, sizeof *o->sums);
    o->workers = workers;
    o->launch = launch;
    *state = o;
    return MG_OK;
}

struct seen {
    struct kit_observer *by;
    struct kit_sums sums;
    bool rest; /* of a launch in two parts, of the blocks that nobody names */
};
/* The blocks that are named: some in the midst, and the last. */
static uint64_t named(const struct kit_observer *o, unsigned k)
{
    const struct mg_dim3 *g = &o->launch->grid;
    return k < 4 ? 1 + 7 * k : (uint64_t)g->x * g->y * g->z - 1;
}
static unsigned blocks(void *state, uint64_t *at, unsigned most)
{
    for (unsigned k = 0; k < 5 && k < most; k++)
        at[k] = named(state, 4 - k);
    return 5;
}
static void *worker_begin(void *state, unsigned worker)
{
    struct seen *s = calloc(1, sizeof *s);
    if (s)
        s->by = state;
    if (s && s->by->launch->parted && worker >= s->by->workers)
        s->rest = true;
    return s;
}

static unsigned sectors_of(const struct mg_access *a)
{
    uint64_t seen[64];
    unsigned n = 0;
    for (unsigned i = 0; i < 32; i++) {
        if (!(a->mask >> i & 1))
            continue;
        for (uint64_t s = a->address[i] / 32; s <= (a->address[i] + a->width - 1) / 32; s++) {
            unsigned k = 0;
            while (k < n && seen[k] != s)
                k++;
            if (k == n)
                seen[n++] = s;
        }
    }
    return n;
}

/* Where every access is seen: its addresses to the bit, which warp made it, and that the host pointers fit. */
static uint64_t exact_of(const struct mg_launch_info *launch, const struct mg_access *a)
{
    unsigned first = (unsigned)__builtin_ctz(a->mask);
    uint64_t h = mix(mix(a->insn, a->block), a->warp);
    for (unsigned i = first; i < 32; i++) {
        if (!(a->mask >> i & 1))
            continue;
        h = mix(h, a->address[i] - (a->space == MG_SPACE_GLOBAL ? launch->range : 0));
        if (a->space == MG_SPACE_GLOBAL)
            assert_true((uintptr_t)a->where[i] == a->address[i]);
        else if (a->space == MG_SPACE_SHARED)
            assert_true(a->where[i] - a->where[first] == (int64_t)(a->address[i] - a->address[first]));
        if (a->kind == MG_ACCESS_ST)
            for (unsigned k = 0; k < a->width / a->element; k++)
                h = mix(h, ((const uint8_t *)a->value[k])[i * (a->value64 ? 8u : 4u)]);
    }
    return h;
}

static void one_access(struct seen *s, struct mg_access *a)
{
    struct kit_sums *sum = &s->sums;
    const struct mg_launch_info *launch = s->by->launch;
    assert_true(a->mask != 0 && a->insn < launch->ninsns && a->times > 0 && a->width % a->element == 0);
    if (a->pattern)
        assert_true(a->pattern->mask == a->mask && a->pattern->id < MG_PATTERN_LIMIT);
    if (s->by->wants & KIT_SOME && a->block == UINT64_MAX) {
        assert_true(a->space == MG_SPACE_GLOBAL && a->kind == MG_ACCESS_LD);
        sum->joined += a->times;
    } else if (s->rest && s->by->wants & MG_OBSERVE_REST) {
        assert_true(launch->parted);
    } else if (s->by->wants & MG_OBSERVE_EVERY) {
        if (launch->parted && s->by->wants & KIT_BLOCKS) {
            bool is_named = false;
            for (unsigned k = 0; k < 5; k++)
                is_named |= named(s->by, k) == a->block;
            assert_true(is_named && !s->rest);
        } else {
            sum->by_block += mix(a->block, 1);
        }
        assert_true(a->times == 1 && a->rows == 1 && a->target == a->block);
        sum->exact += exact_of(launch, a);
    }
    uint64_t base = a->address[__builtin_ctz(a->mask)], h = mix(a->insn, a->mask);
    h = mix(h, a->width | (uint64_t)a->kind << 16 | (uint64_t)a->space << 24 | (uint64_t)a->generic << 40);
    h = mix(mix(h, (uint64_t)(a->shared_var + 1)), base % 32);
    for (unsigned i = 0; i < 32; i++)
        if (a->mask >> i & 1)
            h = mix(h, a->address[i] - base);
    sum->requests += a->times;
    sum->lanes += a->times * (unsigned)__builtin_popcount(a->mask);
    sum->shapes += h * a->times;
    if (a->space == MG_SPACE_GLOBAL)
        sum->sectors += a->times * sectors_of(a);
    if (a->space == MG_SPACE_SHARED)
        sum->wavefronts += a->times * mg__model_shared(mg_arch_find(90), (enum mg_access_kind)a->kind,
                                                       launch->insns[a->insn].insn, a->width, a->mask, a->address)
                                          .wavefronts;
}

static void on_access(void *worker, struct mg_access *a)
{
    struct seen *s = worker;
    s->sums.events++;
    s->sums.patterns += a->pattern != NULL;
    for (uint32_t row = 0; row < a->rows; row++) {
        mg__access_row(a, row);
        one_access(s, a);
    }
}

static bool closely(void *worker, uint64_t block)
{
    (void)worker;
    return block % 3 == 1;
}

static void together(void *worker, uint64_t block, uint64_t accesses)
{
    const struct seen *s = worker;
    assert_true(accesses > 0 && (s->by->launch->parted ? s->by->wants & KIT_BLOCKS : block % 3 != 1));
    ((struct seen *)worker)->sums.by_block += mix(block, 1) * accesses;
}

static void on_counts(void *worker, const struct mg_insn_counts *counts, uint32_t ninsns)
{
    struct seen *s = worker;
    assert_int_equal(ninsns, s->by->launch->ninsns);
    for (uint32_t i = 0; i < ninsns; i++) {
        s->sums.counts += counts[i].warps * mix(i, 1) + counts[i].threads * mix(i, 2) + counts[i].divergent * mix(i, 3);
        s->sums.issued += counts[i].warps;
        s->sums.threads += counts[i].threads;
        s->sums.divergent += counts[i].divergent;
    }
}

static void worker_end(void *state, void *worker)
{
    struct kit_sums *to = ((struct kit_observer *)state)->sums;
    struct seen *s = worker;
    const struct kit_sums *from = &s->sums;
    to->events += from->events;
    to->requests += from->requests;
    to->lanes += from->lanes;
    to->sectors += from->sectors;
    to->wavefronts += from->wavefronts;
    to->shapes += from->shapes;
    to->exact += from->exact;
    to->joined += from->joined;
    to->by_block += from->by_block;
    to->patterns += from->patterns;
    to->counts += from->counts;
    to->issued += from->issued;
    to->threads += from->threads;
    to->divergent += from->divergent;
    free(s);
}

static void launch_end(void *state, enum mg_status status)
{
    (void)status;
    ((struct kit_observer *)state)->parted = ((struct kit_observer *)state)->launch->parted;
    ((struct kit_observer *)state)->launch = NULL;
}

static void print(void *arg, const char *text, size_t length)
{
    struct kit *kit = arg;
    size_t had = kit->printed ? strlen(kit->printed) : 0;
    kit->printed = realloc(kit->printed, had + length + 1);
    assert_non_null(kit->printed);
    memcpy(kit->printed + had, text, length);
    kit->printed[had + length] = 0;
}

bool kit_compiles(void)
{
    const char *reason = "";
    struct mg_engine *probe = mg__jit_open(&(struct mg_jit_options){0}, &reason);
    if (!probe)
        printf("skipped: %s\n", reason);
    mg__jit_close(probe);
    setenv("MARGAY_CACHE", "off", 1);
    return probe != NULL;
}

static void attach(struct kit *kit, struct kit_observer *o, unsigned wants, struct kit_sums *sums)
{
    struct mg_observer observer = {.self = o,
                                   .wants = wants & 0xffff,
                                   .launch_begin = launch_begin,
                                   .worker_begin = worker_begin,
                                   .access = on_access,
                                   .closely = wants & KIT_SOME ? closely : NULL,
                                   .together = wants & (KIT_SOME | KIT_BLOCKS) ? together : NULL,
                                   .blocks = wants & KIT_BLOCKS ? blocks : NULL,
                                   .counts = on_counts,
                                   .worker_end = worker_end,
                                   .launch_end = launch_end};
    *o = (struct kit_observer){.wants = wants, .sums = sums};
    if (wants)
        assert_int_equal(mg__simt_observe(kit->simt, &observer), MG_OK);
}

void kit_open(struct kit *kit, unsigned threads, unsigned timeout_ms, unsigned wants, const char *isa)
{
    memset(kit, 0, sizeof *kit);
    if (isa)
        setenv("MARGAY_ISA", isa, 1);
    struct mg_simt_options o = {.threads = threads,
                                .timeout_ms = timeout_ms,
                                .memory = 256u << 20,
                                .print = print,
                                .print_arg = kit,
                                .each_lane = wants & KIT_EACH_LANE};
    assert_int_equal(mg__simt_create(&o, &kit->simt), MG_OK);
    if (mg__jit_choose(kit->simt, getenv("MARGAY_ENGINE"), false, &kit->engine, &kit->diag) != MG_OK)
        fail_msg("%s", kit->diag.message);
    if (isa)
        unsetenv("MARGAY_ISA");
    attach(kit, &kit->observers[0], wants & ~KIT_EACH_LANE, &kit->sums);
}

void kit_beside(struct kit *kit, unsigned wants)
{
    attach(kit, &kit->observers[1], wants, &kit->beside);
}

void kit_close(struct kit *kit)
{
    mg__simt_destroy(kit->simt);
    mg__jit_close(kit->engine);
    free(kit->printed);
    memset(kit, 0, sizeof *kit);
}

void kit_load(struct kit *kit, const char *ptx)
{
    struct mg_ptx_module *parsed = NULL;
    struct mg_diag diag = {0};
    if (kit->module)
        mg__simt_module_unload(kit->module);
    kit->module = NULL;
    if (mg__ptx_parse(ptx, strlen(ptx), &parsed, &diag) != MG_OK)
        fail_msg("line %u: %s [%s]\n%s", diag.line, diag.message, diag.excerpt, ptx);
    if (mg__simt_module_load(kit->simt, parsed, &kit->module, &diag) != MG_OK)
        fail_msg("%s", diag.message);
    kit->kernel = mg__simt_kernel_find(kit->module, "k");
    assert_non_null(kit->kernel);
}

uint64_t kit_alloc(struct kit *kit, uint64_t size)
{
    uint64_t address;
    assert_int_equal(mg__mem_alloc(kit->simt, size, 256, &address), MG_OK);
    memset((void *)(uintptr_t)address, 0, size);
    return address;
}

enum mg_status kit_launch_full(struct kit *kit, const struct mg_simt_launch *launch)
{
    memset(&kit->diag, 0, sizeof kit->diag);
    free(kit->printed);
    kit->printed = NULL;
    return mg__simt_launch(kit->simt, kit->kernel, launch, &kit->diag);
}

enum mg_status kit_launch(struct kit *kit, uint32_t grid, uint32_t block, struct kit_params params)
{
    struct mg_simt_launch l = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .params = params.p};
    return kit_launch_full(kit, &l);
}

void kit_expect_at(const struct kit *kit, enum mg_status status, const char *file, int line)
{
    if (status != MG_OK)
        print_error("%s:%u: %s [%s]\n", kit->diag.file, kit->diag.line, kit->diag.message, kit->diag.excerpt);
    _assert_int_equal((uintmax_t)status, MG_OK, file, line);
}

unsigned kit_line(const char *ptx)
{
    const char *here = strstr(ptx, "HERE");
    unsigned line = 1;
    for (const char *c = ptx; here && c < here; c++)
        line += *c == '\n';
    return here ? line : 0;
}
