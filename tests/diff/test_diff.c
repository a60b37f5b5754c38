/* test_diff.c - the engines against each other and against plain C: random programs, interpreted, compiled thoroughly,
 * compiled quickly, and begun by the interpreter and taken over by one kind of code after the other. Memory, faults,
 * shapes of accesses and counts of instructions must be the same to the last bit; and memory what plain.c says, which
 * shares nothing with the engines. A third of the programs is made of what plain.c knows. Of a program for which they
 * are not, statements are taken away as long as they still differ, and what is left is printed. Nor may the generated
 * code call anything by name but LLVM's intrinsics. An observer of every access is told the same, in the same order,
 * of what is interpreted and of what is compiled for it.
 *
 *     test_diff [--count N] [--seed S] [--seconds T]   N programs (1000), of the seeds from S (1) on, or fewer if the
 *                                                      time is over
 *     test_diff FILE.ptx [GRID BLOCK]                  a program of one's own; BLOCK may be 16x4
 */
#include "events.h"
#include "program.h"
#include "jit/jit.h"
#include "plain.h"
#include "simt/engine.h"
#include "simt/kit.h"

#include <ctype.h>
#include <unistd.h>

static struct mg_strbuf ir;       /* of the last kernel that was compiled thoroughly */
static struct mg_strbuf quick_ir; /* and quickly: what is asked for is verified */
static unsigned long texts[2];    /* of IR that were read, of either */
static unsigned long faults;      /* programs that end with one */
static unsigned long plain;       /* that were held to plain C, and ran to their end there */
static uint8_t *plain_out, *plain_sums;
enum { INTERPRETED, THOROUGH, QUICK, RISING, WATCHED, WATCHED_CODE, SIDES };
static struct side {
    const char *name, *engine;
    struct kit kit;
    uint64_t in, out, sums;
    struct events events; /* of those that are watched */
} sides[SIDES] = {{.name = "interpreted", .engine = "interp"},
                  {.name = "compiled", .engine = "jit"},
                  {.name = "compiled quickly", .engine = "quick"},
                  {.name = "taken over"},
                  {.name = "watched", .engine = "interp"},
                  {.name = "compiled and watched", .engine = "jit"}};

static void open_side(struct side *s)
{
    if (s->engine)
        setenv("MARGAY_ENGINE", s->engine, 1);
    else
        unsetenv("MARGAY_ENGINE");
    const bool watched = s >= &sides[WATCHED];
    kit_open(&s->kit, 1, 60000, watched ? MG_OBSERVE_COUNTS : MG_OBSERVE_SHAPES | MG_OBSERVE_COUNTS, NULL);
    if (watched)
        kit_expect(&s->kit, events_watch(s->kit.simt, &s->events));
    if (!s->engine) {
        s->kit.engine->due[MG_ENGINE_QUICK] = 30;
        s->kit.engine->due[MG_ENGINE_THOROUGH] = 200;
    }
    s->in = kit_alloc(&s->kit, IN_BYTES);
    s->out = kit_alloc(&s->kit, OUT_BYTES);
    s->sums = kit_alloc(&s->kit, SUMS_BYTES);
    s->events.region[0] = s->in, s->events.region[1] = s->out, s->events.region[2] = s->sums;
    uint32_t x = 1, *in = (uint32_t *)(uintptr_t)s->in;
    for (unsigned k = 0; k < IN_BYTES / 4; k++)
        x = x * 1664525u + 1013904223u, in[k] = x >> (x >> 24) % 32;
}

/* Whether it is a copy of an operation that this text has, as quick code does: "@op_…(". */
static bool is_own(const struct mg_strbuf *text, const char *name)
{
    const size_t length = strcspn(name, "(") + 1;
    if (strncmp(name, "@op_", 4) != 0)
        return false;
    for (const char *at = text->at; (at = strstr(at, "define internal ")) != NULL; at++) {
        const char *defined = strchr(at, '@');
        if (defined && strncmp(defined, name, length) == 0)
            return true;
    }
    return false;
}

/* A call of a function, in a line of IR. */
static bool calls(const struct mg_strbuf *text, bool quick, unsigned long *read, struct mg_strbuf *how)
{
    *read += text->count > 0;
    for (const char *at = text->count ? text->at : NULL; (at = at ? strstr(at, "call ") : NULL) != NULL; at++) {
        const char *end = strchr(at, '\n'), *name = strchr(at, '@'), *arguments = strchr(at, '(');
        if (name && (!end || name < end) && arguments && name < arguments && strncmp(name, "@llvm.", 6) != 0 &&
            !(quick && is_own(text, name)))
            return mg__strbuf_printf(how, "generated code has a call: %.*s", end ? (int)(end - at) : 80, at);
    }
    return false;
}

/* The first difference between the interpreter and side `which`, as a sentence; false: there is none. */
static bool sides_differ(unsigned which, const enum mg_status status[SIDES], bool waits, struct mg_strbuf *how)
{
    const struct kit *a = &sides[0].kit, *b = &sides[which].kit;
    const char *name = sides[which].name;
    if (status[0] != status[which])
        return mg__strbuf_printf(how, "interpreted: %s (%s); %s: %s (%s)", mg_status_text(status[0]), a->diag.message,
                                 name, mg_status_text(status[which]), b->diag.message);
    if (status[0] == MG_ERR_DEADLOCK || status[0] == MG_ERR_TIMEOUT) /* where everybody was depends on who ran first */
        return false;
    if (status[0] != MG_OK)
        return strcmp(a->diag.message, b->diag.message) != 0 &&
               mg__strbuf_printf(how, "%s\n%s: %s", a->diag.message, name, b->diag.message);
    const uint32_t *x = (void *)(uintptr_t)sides[0].out, *y = (void *)(uintptr_t)sides[which].out;
    for (unsigned k = 0; k < OUT_BYTES / 4; k++)
        if (x[k] != y[k])
            return mg__strbuf_printf(how, "memory: thread %u, byte %u: %08x interpreted, %08x %s", k / 64, k % 64 * 4,
                                     x[k], y[k], name);
    if (memcmp((void *)(uintptr_t)sides[0].sums, (void *)(uintptr_t)sides[which].sums, SUMS_BYTES) != 0)
        return mg__strbuf_printf(how, "memory of sums, %s", name);
    if (waits) /* how often somebody looked depends on who ran first */
        return false;
#define SAME(field)                                                                                           \
    if (a->sums.field != b->sums.field)                                                                       \
    return mg__strbuf_printf(how, "%s: %llu interpreted, %llu %s", #field, (unsigned long long)a->sums.field, \
                             (unsigned long long)b->sums.field, name)
    SAME(issued);
    SAME(threads);
    SAME(divergent);
    SAME(counts);
    if (which >= WATCHED) {
        const struct events *w = &sides[WATCHED].events, *c = &sides[which].events;
        for (unsigned k = 0; k < EVENT_BLOCKS; k++)
            if (w->of[k] != c->of[k])
                return mg__strbuf_printf(how, "events of block %u, %s", k, name);
        return false;
    }
    SAME(requests);
    SAME(lanes);
    SAME(sectors);
    SAME(wavefronts);
    SAME(shapes);
    return false;
}

/* The first difference between plain C and the interpreter. Programs that plain.c does not know have none. */
static bool plain_differs(const char *ptx, struct mg_dim3 grid, struct mg_dim3 block, enum mg_status status,
                          struct mg_strbuf *how)
{
    const struct side *s = &sides[INTERPRETED];
    const struct plain_region regions[] = {
        {(uint8_t *)(uintptr_t)s->in, IN_BYTES}, {plain_out, OUT_BYTES}, {plain_sums, SUMS_BYTES}};
    const uint64_t params[4] = {s->in, (uintptr_t)plain_out, (uintptr_t)plain_sums, 5};
    struct mg_strbuf why = {0};
    memset(plain_out, 0x5a, OUT_BYTES);
    memset(plain_sums, 0, SUMS_BYTES);
    enum plain_result result = plain_run(ptx, grid, block, params, regions, MG_COUNT(regions), &why);
    plain += result == PLAIN_DONE;
    if (getenv("DIFF_PLAIN") && result != PLAIN_DONE)
        fprintf(stderr, "plain C: %s\n", why.at);
    bool differs = false;
    if (result != PLAIN_UNKNOWN && (result == PLAIN_FAULT) != (status != MG_OK))
        differs = mg__strbuf_printf(how, "interpreted: %s (%s); plain C: %s", mg_status_text(status),
                                    s->kit.diag.message, why.at ? why.at : "ends");
    mg__strbuf_free(&why);
    if (differs || result != PLAIN_DONE)
        return differs;
    const uint32_t *x = (void *)(uintptr_t)s->out, *y = (void *)plain_out;
    for (unsigned k = 0; k < OUT_BYTES / 4; k++)
        if (x[k] != y[k])
            return mg__strbuf_printf(how, "memory: thread %u, byte %u: %08x interpreted, %08x in plain C", k / 64,
                                     k % 64 * 4, x[k], y[k]);
    return memcmp((void *)(uintptr_t)s->sums, plain_sums, SUMS_BYTES) != 0 &&
           mg__strbuf_printf(how, "memory of sums, plain C");
}

/* The first difference, as a sentence; false: there is none. */
static bool differ(const char *ptx, struct mg_dim3 grid, struct mg_dim3 block, struct mg_strbuf *how)
{
    enum mg_status status[SIDES];
    ir.count = quick_ir.count = 0;
    for (unsigned i = 0; i < SIDES; i++) {
        struct side *s = &sides[i];
        memset((void *)(uintptr_t)s->out, 0x5a, OUT_BYTES);
        memset((void *)(uintptr_t)s->sums, 0, SUMS_BYTES);
        events_clear(&s->events);
        kit_load(&s->kit, ptx);
        struct kit_params params = {{s->in, s->out, s->sums, 5}};
        struct mg_simt_launch l = {.grid = grid, .block = block, .params = params.p};
        status[i] = kit_launch_full(&s->kit, &l);
    }
    faults += status[0] != MG_OK;
    if (status[0] != MG_OK && getenv("DIFF_VERBOSE"))
        fprintf(stderr, "%s:%u %s\n%s\n", sides[0].kit.diag.message, sides[0].kit.diag.line, sides[0].kit.diag.excerpt,
                ptx);
    for (unsigned i = 1; i < SIDES; i++)
        if (sides_differ(i, status, strstr(ptx, "WAIT") != NULL, how))
            return true;
    if (plain_differs(ptx, grid, block, status[INTERPRETED], how))
        return true;
    return calls(&ir, false, &texts[0], how) || calls(&quick_ir, true, &texts[1], how);
}

static bool program_differs(const struct program *p, struct mg_strbuf *how)
{
    struct mg_strbuf text = {0};
    program_text(p, &text);
    if (getenv("DIFF_TEXT"))
        fprintf(stderr, "// grid %u, block %u x %u x %u\n%s\n", p->grid.x, p->block.x, p->block.y, p->block.z, text.at);
    bool differs = differ(text.at, p->grid, p->block, how);
    mg__strbuf_free(&text);
    return differs;
}

/* Takes away all that can be, so that the program still fails. */
static void reduce(struct program *p, bool (*fails)(const struct program *p, struct mg_strbuf *how))
{
    struct mg_strbuf how = {0};
    for (bool changed = true; changed;) {
        changed = false;
        struct stmt *s;
        for (size_t i = 0; (s = program_at(p, i)) != NULL; i++)
            for (unsigned way = 0; way < 2; way++) {
                bool *flag = way ? &s->bare : &s->off;
                if (*flag || (way ? s->kind == STMT_LINE : s->stays))
                    continue;
                *flag = true;
                if (fails(p, &how))
                    changed = true;
                else
                    *flag = false;
            }
        if (p->grid.x > 1) {
            uint32_t keep = p->grid.x;
            p->grid.x = 1;
            if (!fails(p, &how))
                p->grid.x = keep;
        }
    }
    mg__strbuf_free(&how);
}

/* ---- does that find the culprit? No engine is asked: programs fail that hold a certain line ---- */
static const char *culprit;

static bool holds_culprit(const struct program *p, struct mg_strbuf *how)
{
    struct mg_strbuf text = {0};
    (void)how;
    program_text(p, &text);
    bool holds = text.at && strstr(text.at, culprit);
    mg__strbuf_free(&text);
    return holds;
}

static unsigned lines_left(const struct stmt *s)
{
    unsigned n = s->kind == STMT_LINE && (!s->stays || s->head == culprit);
    for (unsigned k = 0; k < (s->bare ? 1 : 2); k++)
        for (size_t i = 0; i < s->list[k].count; i++)
            n += lines_left(s->list[k].at[i]);
    return s->off ? 0 : n;
}

static bool reducer_works(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct program p;
        size_t count = 0, k = 0;
        program_make(&p, seed, seed % 2);
        while (program_at(&p, count))
            count++;
        for (k = count * (seed % 5) / 5; k < count && program_at(&p, k)->kind != STMT_LINE;)
            k++;
        bool good = true;
        if (k < count) {
            unsigned before = lines_left(p.root);
            culprit = program_at(&p, k)->head;
            p.grid.x = 3;
            good = holds_culprit(&p, NULL);
            reduce(&p, holds_culprit);
            good = good && holds_culprit(&p, NULL) && lines_left(p.root) == 1 && p.grid.x == 1;
            if (!good)
                printf("seed %llu: of %u lines %u are left, and a grid of %u blocks, for: %s\n",
                       (unsigned long long)seed, before, lines_left(p.root), p.grid.x, culprit);
        }
        program_free(&p);
        if (!good)
            return false;
    }
    return true;
}

static int own(const char *path, unsigned grid, const char *shape)
{
    struct mg_strbuf text = {0}, how = {0};
    struct mg_dim3 block = {32, 1, 1};
    char piece[4096];
    if (sscanf(shape, "%ux%u", &block.x, &block.y) < 1)
        return 2;
    FILE *f = fopen(path, "r");
    if (!f)
        return 2;
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        mg__strbuf_append(&text, piece, n);
    fclose(f);
    bool differs = differ(text.at, (struct mg_dim3){grid, 1, 1}, block, &how);
    printf("%s\n", differs ? how.at : "the same");
    mg__strbuf_free(&text);
    mg__strbuf_free(&how);
    return differs;
}

static void close_sides(void)
{
    free(plain_out);
    free(plain_sums);
    mg__strbuf_free(&ir);
    mg__strbuf_free(&quick_ir);
    for (unsigned i = 0; i < SIDES; i++)
        kit_close(&sides[i].kit);
}

static bool read_options(int argc, char **argv, unsigned long *count, unsigned long *seed, unsigned long *seconds)
{
    const struct {
        const char *name;
        unsigned long *to;
    } options[] = {{"--count", count}, {"--seed", seed}, {"--seconds", seconds}};
    for (int i = 1; i < argc; i += 2) {
        unsigned k = 0;
        char *rest = NULL;
        while (k < MG_COUNT(options) && strcmp(argv[i], options[k].name) != 0)
            k++;
        if (k == MG_COUNT(options) || i + 1 == argc || !isdigit((unsigned char)argv[i + 1][0]))
            return false;
        *options[k].to = strtoul(argv[i + 1], &rest, 0);
        if (*rest)
            return false;
    }
    return true;
}

/* What was done; not 0 if it says too little. */
static int report(unsigned long k, unsigned long seed, int failed, const struct mg_jit_stats stats[SIDES])
{
    printf("%lu programs from seed %lu, %lu end with a fault; %lu held to plain C\n", k, seed, faults, plain);
    for (unsigned i = 1; i < SIDES; i++)
        for (unsigned effort = 0; effort < MG_ENGINE_EFFORTS; effort++)
            if (stats[i].compiled[effort])
                printf("%s: %llu %s, %.1f ms each; %llu refused\n", sides[i].name,
                       (unsigned long long)stats[i].compiled[effort],
                       effort == MG_ENGINE_QUICK ? "quickly" : "thoroughly",
                       1e3 * stats[i].compile_seconds[effort] / (double)stats[i].compiled[effort],
                       (unsigned long long)stats[i].refused);
    const struct events *e = &sides[WATCHED_CODE].events;
    printf("%s: %llu accesses, %llu of order, %llu steps\n", sides[WATCHED_CODE].name, (unsigned long long)e->accesses,
           (unsigned long long)e->syncs, (unsigned long long)e->steps);
    if (stats[THOROUGH].compiled[MG_ENGINE_THOROUGH] && (texts[0] == 0 || texts[1] == 0) && !failed) {
        printf("no IR was read\n");
        failed = 1;
    }
    if (!failed && k >= 20 &&
        (plain < k / 3 || stats[THOROUGH].compiled[MG_ENGINE_THOROUGH] < k / 2 ||
         stats[QUICK].compiled[MG_ENGINE_QUICK] < k / 2 || stats[WATCHED_CODE].compiled[MG_ENGINE_THOROUGH] < k / 2 ||
         e->steps < k || stats[RISING].compiled[MG_ENGINE_QUICK] < k / 4 ||
         stats[RISING].compiled[MG_ENGINE_THOROUGH] < k / 8)) {
        printf("too few were compiled, or held to plain C: this test says little\n");
        failed = 1;
    }
    return failed;
}

int main(int argc, char **argv)
{
    unsigned long count = 1000, seed = 1, seconds = 0;
    bool file = argc > 1 && strstr(argv[1], ".ptx");
    if (!file && !read_options(argc, argv, &count, &seed, &seconds)) {
        fprintf(stderr, "usage: test_diff [--count N] [--seed S] [--seconds T] | FILE.ptx [GRID BLOCK]\n");
        return 2;
    }
    if (!kit_compiles())
        return 77;
    plain_out = aligned_alloc(256, OUT_BYTES);
    plain_sums = aligned_alloc(256, SUMS_BYTES);
    if (!plain_out || !plain_sums)
        return 1;
    setenv("MARGAY_CHECK_SLOTS", "1", 1);
    for (unsigned i = 0; i < SIDES; i++)
        open_side(&sides[i]);
    mg__jit_dump(sides[THOROUGH].kit.engine, &ir);
    int failed = 0;
    if (file) {
        failed = own(argv[1], argc > 2 ? (unsigned)atoi(argv[2]) : 1, argc > 3 ? argv[3] : "32");
        close_sides();
        return failed;
    }
    if (!reducer_works()) {
        close_sides();
        return 1;
    }
    struct mg_jit_stats stats[SIDES] = {0};
    unsigned long k = 0;
    for (uint64_t start = mg__time_ns();
         k < count && !failed && (!seconds || mg__time_ns() - start < seconds * 1000000000u); k++) {
        struct program p;
        struct mg_strbuf how = {0}, text = {0};
        program_make(&p, seed + k, (seed + k) % 3 == 0);
        mg__jit_dump(sides[THOROUGH].kit.engine, k % 8 ? NULL : &ir); /* writing it takes time */
        mg__jit_dump(sides[QUICK].kit.engine, k % 8 ? NULL : &quick_ir);
        ir.count = quick_ir.count = 0;
        if (program_differs(&p, &how)) {
            printf("seed %lu: %s; taking away what does not matter ...\n", seed + k, how.at);
            fflush(stdout);
            reduce(&p, program_differs);
            how.count = 0;
            program_differs(&p, &how);
            program_text(&p, &text);
            printf("seed %lu, grid %u, block %ux%ux%u: %s\n%s\n", seed + k, p.grid.x, p.block.x, p.block.y, p.block.z,
                   how.at, text.at);
            failed = 1;
        }
        for (unsigned i = 1; i < SIDES; i++) {
            if (!sides[i].kit.engine)
                continue;
            mg__jit_stats(sides[i].kit.engine, &stats[i]);
            if (stats[i].faulty) {
                printf("seed %lu: the code that was made for it was refused (%s)\n", seed + k, sides[i].name);
                failed = 1;
            }
        }
        mg__strbuf_free(&how);
        mg__strbuf_free(&text);
        program_free(&p);
    }
    failed |= report(k, seed, failed, stats);
    close_sides();
    return failed;
}
