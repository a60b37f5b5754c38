/* test_isa.c - every instruction of isa.def that the engine executes, run through it, against plain C.
 *
 * Three kinds of programs: the operations of src/sem (alu.def, against the reference of tests/sem), atomic operations
 * of every type and space, and hand-written programs for all else (prog_*.c). Each text that runs is also parsed here,
 * and the opcodes found are ticked off: a row of isa.def that no program contains fails the last test.
 */
#include "alu.h"
#include "chain.h"
#include "prog.h"
#include "margay/margay.h"
#include "ptx/ptx.h"
#include "sem/ref.h"
#include "textures.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static struct mg_context *context;
static bool ran[MG_OP_COUNT];

static int set_up(void **state)
{
    (void)state;
    struct mg_options options = {.threads = 2, .timeout_ms = 60000};
    return mg_context_create(&options, &context) == MG_OK ? 0 : -1;
}
static int tear_down(void **state)
{
    (void)state;
    mg_context_destroy(context);
    return 0;
}
static void tell(const char *what)
{
    const struct mg_diag *d = mg_last_error(context);
    print_error("%s: %s: %s [%s] %s:%u\n", what, mg_status_name(d->status), d->message, d->excerpt, d->file, d->line);
}
/* Ticks off the opcodes of a text. */
static void tick(const char *text, size_t length)
{
    struct mg_ptx_module *module;
    if (mg__ptx_parse(text, length, &module, NULL) != MG_OK)
        return; /* the launch tells */
    for (size_t f = 0; f < module->nfuncs; f++) {
        for (size_t i = 0; i < module->funcs[f]->ninsns; i++)
            ran[module->funcs[f]->insns[i].opcode] = true;
    }
    mg__ptx_free(module);
}

/* ---- the operations of src/sem ---- */
static void operations_compute_what_the_reference_says(void **state)
{
    (void)state;
    enum { INPUTS = 512, CHUNK = 64 };
    struct alu_list list;
    char wrong_row[96];
    assert_true(alu_cases(&list, wrong_row));
    uint64_t in, out;
    assert_int_equal(mg_mem_alloc(context, INPUTS * 32, &in), MG_OK);
    assert_int_equal(mg_mem_alloc(context, INPUTS * 8, &out), MG_OK);
    int wrong = 0;
    for (size_t first = 0, count; first < list.count; first += count) {
        count = MG_MIN((size_t)CHUNK, list.count - first);
        char *text;
        size_t length;
        FILE *file = open_memstream(&text, &length);
        alu_module(file, list.at, first, count);
        fclose(file);
        struct mg_module *module;
        enum mg_status status = mg_module_load(context, text, length, &module);
        if (status != MG_OK) {
            tell("alu.def");
            wrong++;
            free(text);
            continue;
        }
        tick(text, length);
        free(text);
        for (size_t k = first; k < first + count; k++) {
            const struct alu_case *c = &list.at[k];
            struct mg_kernel *kernel;
            char name[32];
            snprintf(name, sizeof(name), "k%zu", k);
            assert_int_equal(mg_kernel_find(module, name, &kernel), MG_OK);
            for (uint32_t i = 0; i < INPUTS; i++)
                alu_input(c, i, INPUTS, (uint64_t *)(uintptr_t)in + 4 * i);
            void *args[] = {&in, &out};
            struct mg_dim3 grid = {INPUTS / 128, 1, 1}, block = {128, 1, 1};
            if (mg_launch(context, kernel, grid, block, 0, args) != MG_OK) {
                tell(c->text);
                wrong++;
                continue;
            }
            int told = 0;
            for (uint32_t i = 0; i < INPUTS; i++) {
                uint64_t v[4], got = ((uint64_t *)(uintptr_t)out)[i], want = 0;
                bool known, ok;
                alu_input(c, i, INPUTS, v);
                if (alu_is_exact(c))
                    ok = ref_eval(mg_sem_rows[c->op].name, v, c->mode, &want) && got == want;
                else
                    ok = ref_approx(mg_sem_rows[c->op].name, v, c->mode, got, &known);
                if (!ok && told++ < 2)
                    print_error("%s: %#llx %#llx %#llx %#llx -> %#llx, reference %#llx\n", c->text,
                                (unsigned long long)v[0], (unsigned long long)v[1], (unsigned long long)v[2],
                                (unsigned long long)v[3], (unsigned long long)got, (unsigned long long)want);
            }
            wrong += told > 0;
        }
    }
    mg_mem_free(context, in);
    mg_mem_free(context, out);
    alu_free(&list);
    assert_int_equal(wrong, 0);
}

/* ---- whole programs ---- */
struct memory {
    uint64_t in, out, buf;
    size_t n;
};
static void alloc(struct memory *m, size_t threads)
{
    m->n = threads;
    assert_int_equal(mg_mem_alloc(context, threads * PROG_SLOTS * 8, &m->in), MG_OK);
    assert_int_equal(mg_mem_alloc(context, threads * PROG_SLOTS * 8, &m->out), MG_OK);
    assert_int_equal(mg_mem_alloc(context, PROG_BUF, &m->buf), MG_OK);
    memset((void *)(uintptr_t)m->out, 0x55, threads * PROG_SLOTS * 8);
}
static void release(struct memory *m)
{
    mg_mem_free(context, m->in);
    mg_mem_free(context, m->out);
    mg_mem_free(context, m->buf);
}
static enum mg_status run_text(const char *name, char *text, size_t length, const struct memory *m, uint32_t grid,
                               uint32_t block, uint32_t shared)
{
    struct mg_module *module;
    struct mg_kernel *kernel;
    enum mg_status status = mg_module_load(context, text, length, &module);
    if (status == MG_OK)
        status = mg_kernel_find(module, "run", &kernel);
    if (status == MG_OK) {
        uint64_t in = m->in, out = m->out, buf = m->buf;
        void *args[] = {&in, &out, &buf};
        status = mg_launch(context, kernel, (struct mg_dim3){grid, 1, 1}, (struct mg_dim3){block, 1, 1}, shared, args);
    }
    if (status == MG_OK)
        tick(text, length);
    else
        tell(name);
    return status;
}
static bool run_prog(const struct prog *p)
{
    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    prog_ptx(file, p);
    fclose(file);
    struct memory m;
    uint32_t n = p->grid * p->block;
    alloc(&m, n);
    uint64_t *in = (uint64_t *)(uintptr_t)m.in, *out = (uint64_t *)(uintptr_t)m.out;
    uint64_t *want = malloc(n * PROG_SLOTS * 8);
    uint8_t *buf = malloc(PROG_BUF);
    assert_true(want && buf);
    prog_inputs(p, in, buf);
    memcpy((void *)(uintptr_t)m.buf, buf, PROG_BUF);
    memset(want, 0x55, n * PROG_SLOTS * 8);
    struct env e = {n, p->grid, p->block, in, want, buf};
    enum mg_status status = run_text(p->name, text, length, &m, p->grid, p->block, p->shared);
    bool ok = status == MG_OK;
    if (ok) {
        p->expect(&e);
        for (uint32_t i = 0; i < n * PROG_SLOTS && ok; i++) {
            ok = out[i] == want[i];
            if (!ok)
                print_error("%s: thread %u, output %u: %#llx, expected %#llx\n", p->name, i / PROG_SLOTS,
                            i % PROG_SLOTS, (unsigned long long)out[i], (unsigned long long)want[i]);
        }
        const uint8_t *got = (const uint8_t *)(uintptr_t)m.buf;
        for (uint32_t i = 0; i < PROG_BUF && ok; i++) {
            ok = got[i] == buf[i];
            if (!ok)
                print_error("%s: buffer byte %u: %u, expected %u\n", p->name, i, got[i], buf[i]);
        }
    }
    free(want);
    free(buf);
    free(text);
    release(&m);
    return ok;
}
static void run_list(const struct prog_list *list)
{
    int wrong = 0;
    for (size_t i = 0; i < list->count; i++)
        wrong += !run_prog(list->at[i]);
    assert_int_equal(wrong, 0);
}
static void memory_programs(void **state)
{
    (void)state;
    run_list(&prog_memory);
}
static void warp_programs(void **state)
{
    (void)state;
    run_list(&prog_warp);
}
static void control_programs(void **state)
{
    (void)state;
    run_list(&prog_control);
    run_list(&prog_wgmma);
}
static void value_programs(void **state)
{
    (void)state;
    run_list(&prog_values);
}

static void atomics_of_every_type_and_space(void **state)
{
    (void)state;
    static struct atomic_case cases[256];
    size_t count = atomic_cases(cases, 256);
    int wrong = 0;
    for (size_t k = 0; k < count; k++) {
        char *text;
        size_t length;
        FILE *file = open_memstream(&text, &length);
        atomic_ptx(file, &cases[k]);
        fclose(file);
        struct memory m;
        const uint32_t n = 256;
        alloc(&m, n);
        uint64_t *in = (uint64_t *)(uintptr_t)m.in, *out = (uint64_t *)(uintptr_t)m.out;
        atomic_inputs(&cases[k], in, n);
        if (run_text(cases[k].text, text, length, &m, n / 64, 64, 0) != MG_OK) {
            wrong++;
        } else {
            for (uint32_t i = 0; i < n; i++) {
                uint64_t want[2];
                const uint64_t *got = out + PROG_SLOTS * i;
                assert_true(atomic_expect(&cases[k], i, in + PROG_SLOTS * i, want));
                if (got[0] != want[0] || got[1] != want[1]) {
                    print_error("%s, thread %u: %#llx and %#llx, expected %#llx and %#llx\n", cases[k].text, i,
                                (unsigned long long)got[0], (unsigned long long)got[1], (unsigned long long)want[0],
                                (unsigned long long)want[1]);
                    wrong++;
                    break;
                }
            }
        }
        free(text);
        release(&m);
    }
    assert_int_equal(wrong, 0);
}

/* Random chains of carry instructions against arithmetic of 128 bits, and against what an H200 gave. */
static uint64_t run_chain(uint32_t seed, const struct memory *m)
{
    struct chain chain;
    char *text, name[32];
    size_t length;
    uint64_t *in = (uint64_t *)(uintptr_t)m->in, *out = (uint64_t *)(uintptr_t)m->out, hash = ALU_HASH_START;
    chain_make(seed, &chain);
    FILE *file = open_memstream(&text, &length);
    chain_ptx(file, &chain);
    fclose(file);
    for (uint32_t i = 0; i < CHAIN_THREADS; i++)
        chain_input(seed, i, in + CHAIN_SLOTS * i);
    snprintf(name, sizeof(name), "chain %u", seed);
    enum mg_status status = run_text(name, text, length, m, CHAIN_THREADS / 64, 64, 0);
    for (uint32_t i = 0; i < CHAIN_THREADS && status == MG_OK; i++) {
        uint64_t want[CHAIN_SLOTS];
        chain_expect(&chain, i, in + CHAIN_SLOTS * i, want);
        for (int k = 0; k < CHAIN_SLOTS; k++) {
            hash = alu_hash(hash, out[CHAIN_SLOTS * i + (uint32_t)k]);
            if (want[k] != out[CHAIN_SLOTS * i + (uint32_t)k] && status == MG_OK) {
                print_error("%s, thread %u, output %d: %#llx, expected %#llx in\n%s", name, i, k,
                            (unsigned long long)out[CHAIN_SLOTS * i + (uint32_t)k], (unsigned long long)want[k], text);
                status = MG_ERR_INTERNAL;
            }
        }
    }
    free(text);
    return status == MG_OK ? hash : 0;
}
static void carry_chains(void **state)
{
    (void)state;
    static uint64_t hash[CHAIN_COUNT];
    struct memory m;
    int wrong = 0;
    const char *engine = getenv("MARGAY_ENGINE");
    uint32_t step = engine && strcmp(engine, "interp") ? 8 : 1; /* compiling one takes a second or two */
    alloc(&m, CHAIN_THREADS);
    for (uint32_t seed = 0; seed < CHAIN_COUNT; seed += step)
        wrong += (hash[seed] = run_chain(seed, &m)) == 0;
    release(&m);
    assert_int_equal(wrong, 0);
#ifdef CHAINS_MEASURED
    FILE *file = fopen(CHAINS_MEASURED, "r");
    assert_non_null(file);
    char line[160];
    unsigned long long want;
    unsigned seed, seen = 0;
    while (fgets(line, sizeof(line), file)) {
        if (line[0] == '#' || sscanf(line, "%llx carry %u", &want, &seed) != 2)
            continue;
        assert_true(seed < CHAIN_COUNT);
        if (seed % step == 0)
            assert_true(hash[seed] == want);
        seen++;
    }
    fclose(file);
    assert_int_equal(seen, CHAIN_COUNT);
#endif
}

static void trap_ends_the_launch(void **state)
{
    (void)state;
    static const char text[] = ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry run(.param .u64 x)\n"
                               "{ .reg .b32 %r; .reg .pred %p; mov.u32 %r, %tid.x; setp.eq.u32 %p, %r, 5;\n"
                               "@%p trap; ret; }\n";
    struct mg_module *module;
    struct mg_kernel *kernel;
    assert_int_equal(mg_module_load(context, text, strlen(text), &module), MG_OK);
    assert_int_equal(mg_kernel_find(module, "run", &kernel), MG_OK);
    uint64_t x = 0;
    void *args[] = {&x};
    struct mg_dim3 one = {1, 1, 1}, block = {32, 1, 1};
    assert_int_equal(mg_launch(context, kernel, one, block, 0, args), MG_ERR_TRAP);
}

static void textures_and_surfaces(void **state)
{
    (void)state;
    tick(textures_text, strlen(textures_text));
    assert_true(textures_are_right());
}

static void every_instruction_was_run(void **state)
{
    (void)state;
    int missing = 0;
    for (int op = 1; op < MG_OP_COUNT; op++) {
        const struct mg_ptx_isa *row = mg__ptx_isa((enum mg_ptx_opcode)op);
        if (row->executed && !ran[op]) {
            print_error("no program runs %s\n", row->name);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_programs),
        cmocka_unit_test(memory_programs),
        cmocka_unit_test(warp_programs),
        cmocka_unit_test(control_programs),
        cmocka_unit_test(atomics_of_every_type_and_space),
        cmocka_unit_test(carry_chains),
        cmocka_unit_test(operations_compute_what_the_reference_says),
        cmocka_unit_test(trap_ends_the_launch),
        cmocka_unit_test(textures_and_surfaces),
        cmocka_unit_test(every_instruction_was_run), /* last: it looks at what the others ran */
    };
    return cmocka_run_group_tests_name("isa", tests, set_up, tear_down);
}
