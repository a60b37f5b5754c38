/* test_random.c - what src/flow claims of random programs, held to the values that their threads have in plain C.
 *
 * tests/diff/plain.c runs them without anything of src/. Before each instruction of each thread, all that is claimed of
 * the registers that it reads has to be true: low bits that are zero, that all threads of the block have the same, the
 * linear form, with its terms as they were where it says, and the object that an address lies in. A register that the
 * thread has not written yet, or has from one, has no value, and nothing is asked of it. Liveness is held otherwise:
 * where a block begins all registers that are not live there get noise, and memory has to end as without. So do what
 * was loaded, in threads for which no choice has taken it (mg__flow_choices).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diff/plain_priv.h"
#include "diff/program.h"
#include "flow/flow.h"

enum { THREADS = 1024, LOG = 256 };

struct written { /* a result, since the thread's block began */
    uint32_t insn, reg;
    uint64_t value;
};
struct thread {
    uint64_t begin[P_REGS]; /* registers where its block began */
    bool set[P_REGS], begin_set[P_REGS];
    struct written log[LOG];
    unsigned nlog;
    uint32_t last; /* instruction before, + 1 */
    bool executed; /* its guard was true */
};
struct watch {
    const struct mg_ptx_func *func;
    struct mg_cfg *cfg;
    struct mg_flow_values values;
    struct mg_flow_live live;
    struct mg_flow_choice *choices;
    uint8_t (*took)[THREADS]; /* by load and thread, what its choices said: 1 no, 2 yes */
    struct mg_flow_origin *origins;
    const uint64_t *params;
    struct plain_region regions[3]; /* of the first three parameters */
    int reg_of[P_REGS];             /* plain.c's, by register of src/ptx */
    struct thread *threads;
    uint64_t agreed[P_REGS]; /* by register: what the first thread of the block had */
    bool any[P_REGS], memory[P_REGS];
    uint32_t block;
    bool scramble, mapped;
    uint64_t noise;
};
static unsigned programs = 100;
static unsigned long checked[5]; /* zeros, sameness, forms, origins, choices */
static uint8_t in[IN_BYTES], out[2][OUT_BYTES], sums[2][SUMS_BYTES];

static uint64_t value_of(const struct watch *w, const struct p_thread *t, uint32_t reg)
{
    return t->regs[w->reg_of[reg]][0];
}

/* plain.c's registers have the same names, and its instructions the same order. */
static void map(struct watch *w, const struct p_code *code)
{
    const struct mg_ptx_func *f = w->func;
    assert_int_equal(code->ninsns, f->ninsns);
    assert_true(f->nregs <= P_REGS);
    for (uint32_t r = 0; r < f->nregs; r++) {
        int k = 0;
        while (k < code->nregs && strcmp(code->regs[k].name, f->regs[r].name))
            k++;
        assert_true(k < code->nregs);
        w->reg_of[r] = k;
    }
    w->mapped = true;
}

/* ---- what a thread wrote ---- */
static void note_results(const struct watch *w, struct thread *h, const struct p_thread *t)
{
    const struct mg_ptx_insn *insn = &w->func->insns[h->last - 1];
    struct mg_flow_walk reads = {w->func, insn, 0, 0}, writes = reads;
    uint32_t reg;
    bool set = true;
    if (!h->executed)
        return;
    for (bool written; mg__flow_next(&reads, &reg, &written);)
        set &= written || h->set[reg];
    for (bool written; mg__flow_next(&writes, &reg, &written);) {
        if (!written)
            continue;
        h->set[reg] = set;
        assert_true(h->nlog < LOG);
        h->log[h->nlog++] = (struct written){h->last - 1, reg, value_of(w, t, reg)};
    }
}

static void make_noise(struct watch *w, struct p_thread *t, const struct p_code *code, uint32_t reg)
{
    unsigned bits = code->regs[w->reg_of[reg]].bits;
    w->noise = w->noise * 6364136223846793005u + 1442695040888963407u;
    t->regs[w->reg_of[reg]][0] = w->noise >> 3 & (bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1);
}

static void begin_block(struct watch *w, struct thread *h, struct p_thread *t, const struct p_code *code,
                        uint32_t block)
{
    const uint64_t *live = &w->live.in[w->live.words * block];
    h->nlog = 0;
    for (uint32_t r = 0; r < w->func->nregs; r++) {
        if (w->scramble && !mg__flow_holds(live, r))
            make_noise(w, t, code, r);
        h->begin[r] = value_of(w, t, r);
        h->begin_set[r] = h->set[r];
    }
}

/* Threads of the first blocks alone: `took` has room for as many. */
static void see_choices(struct watch *w, const struct p_machine *m, struct p_thread *t, uint32_t i)
{
    const size_t thread = (size_t)(t - m->threads) + m->ctaid * m->block.x * m->block.y * m->block.z;
    if (thread >= THREADS)
        return;
    for (uint32_t k = 0; !w->scramble && k < i; k++)
        if (w->choices[k].at == i)
            w->took[k][thread] |= (value_of(w, t, w->choices[k].predicate) != 0) == w->choices[k].when ? 2 : 1;
    const uint32_t load = w->threads[t - m->threads].last - 1;
    struct mg_flow_walk writes = {w->func, &w->func->insns[load], 0, 0};
    uint32_t reg;
    if (!w->scramble || load == UINT32_MAX || w->took[load][thread] != 1)
        return;
    checked[4]++;
    for (bool written; mg__flow_next(&writes, &reg, &written);)
        if (written)
            make_noise(w, t, m->code, reg);
}

/* ---- claims ---- */
static bool evaluate(const struct watch *w, const struct p_machine *m, const struct thread *h, const struct p_thread *t,
                     const struct mg_flow_form *form, uint32_t *sum)
{
    *sum = (uint32_t)form->add;
    if (form->var)
        *sum += (uint32_t)w->values.shared->at[form->var->id];
    for (unsigned i = 0; i < form->nterms; i++) {
        const struct mg_flow_term *k = &form->term[i];
        const uint32_t sizes[2][3] = {{m->block.x, m->block.y, m->block.z}, {m->grid.x, m->grid.y, m->grid.z}};
        uint64_t v = 0;
        unsigned n = h->nlog;
        if (k->kind == MG_FLOW_TERM_PARAM) {
            v = m->params[k->index / 8] >> k->index % 8 * 8;
        } else if (k->kind == MG_FLOW_TERM_SREG) {
            v = k->index == MG_SR_TID      ? t->id[k->at]
                : k->index == MG_SR_NTID   ? sizes[0][k->at]
                : k->index == MG_SR_NCTAID ? sizes[1][k->at]
                : k->index == MG_SR_CTAID  ? (k->at ? 0 : m->ctaid)
                                           : (uint64_t)(t - m->threads) % 32;
        } else if (!k->at) {
            v = h->begin[k->index];
            if (!h->begin_set[k->index])
                return false;
        } else {
            while (n > 0 && (h->log[n - 1].insn != k->at - 1 || h->log[n - 1].reg != k->index))
                n--;
            if (!n) /* its guard was false: what was there before */
                return false;
            v = h->log[n - 1].value;
        }
        *sum += (uint32_t)v * (uint32_t)k->times;
    }
    return true;
}

static void claim(const struct watch *w, const char *what, uint32_t i, uint32_t reg, bool holds)
{
    if (!holds)
        fail_msg("%s of %s, at %s in line %u", what, w->func->regs[reg].name, w->func->insns[i].text,
                 w->func->insns[i].ptx_line);
}

static void check_register(struct watch *w, const struct p_thread *t, uint32_t i, uint32_t reg)
{
    uint64_t v = value_of(w, t, reg);
    unsigned zeros = w->values.zeros[reg];
    checked[0] += zeros > 0;
    claim(w, "low bits", i, reg, !(v & ((UINT64_C(1) << zeros) - 1)));
    if (w->values.varies[reg] || w->memory[reg])
        return;
    if (!w->any[reg])
        w->agreed[reg] = v;
    w->any[reg] = true;
    checked[1]++;
    claim(w, "sameness", i, reg, w->agreed[reg] == v);
}

static void check_address(const struct watch *w, const struct p_code *code, uint32_t i, const struct mg_ptx_opnd *o,
                          uint64_t address)
{
    struct mg_flow_origin from = mg__flow_origin_of(w->origins, o);
    if (from.some || (from.kind != MG_FLOW_POINTER && from.kind != MG_FLOW_VARIABLE))
        return;
    uint64_t begin = 0, size = 0;
    if (from.kind == MG_FLOW_POINTER) {
        begin = w->params[from.offset / 8];
        size = w->regions[from.offset / 8].size;
    } else {
        int k = 0;
        while (k < code->nvars && strcmp(code->vars[k].name, from.var->name))
            k++;
        assert_true(k < code->nvars);
        begin = code->vars[k].at;
        size = from.var->size;
    }
    checked[3]++;
    claim(w, "origin", i, o->index, address - begin < size);
}

static void check_operand(struct watch *w, const struct p_machine *m, const struct thread *h, const struct p_thread *t,
                          uint32_t i, const struct mg_ptx_opnd *o)
{
    bool address = o->kind == MG_OPND_ADDR && o->has_reg;
    struct mg_flow_form form;
    uint32_t sum;
    if ((o->kind != MG_OPND_REG && !address) || !h->set[o->index])
        return;
    uint64_t v = value_of(w, t, o->index) + (address ? (uint64_t)o->imm : 0);
    check_register(w, t, i, o->index);
    if (mg__flow_form(&w->values, i, o, &form) && evaluate(w, m, h, t, &form, &sum)) {
        bool trivial = form.nterms == 1 && form.term[0].kind == MG_FLOW_TERM_REG && form.term[0].index == o->index;
        unsigned bits = mg__ptx_type_size((enum mg_ptx_type)w->func->regs[o->index].type) * 8;
        checked[2] += !trivial;
        claim(w, "linear form", i, o->index, bits < 32 || sum == (uint32_t)v);
    }
    if (address && w->func->insns[i].space != MG_SPACE_LOCAL)
        check_address(w, m->code, i, o, v);
}

static void before(void *arg, const struct p_machine *m, struct p_thread *t)
{
    struct watch *w = arg;
    uint32_t i = (uint32_t)t->at, block = w->cfg->block_of[i];
    const struct mg_ptx_insn *insn = &w->func->insns[i];
    struct thread *h = &w->threads[t - m->threads];
    if (!w->mapped)
        map(w, m->code);
    if (m->ctaid != w->block) {
        memset(w->any, 0, sizeof w->any);
        memset(w->threads, 0, THREADS * sizeof *w->threads);
        w->block = m->ctaid;
    }
    see_choices(w, m, t, i);
    if (h->last)
        note_results(w, h, t);
    if (i == w->cfg->blocks[block].first)
        begin_block(w, h, t, m->code, block);
    h->last = i + 1;
    h->executed = insn->guard < 0 || (value_of(w, t, (uint32_t)insn->guard) != 0) != insn->guard_negate;
    for (unsigned n = insn->nresults; !w->scramble && n < insn->nops; n++) {
        const struct mg_ptx_opnd *o = mg__ptx_op(w->func, insn, n);
        const struct mg_ptx_opnd *e = o->kind == MG_OPND_VEC ? &w->func->operands[o->first] : o;
        for (uint32_t k = 0; k < (o->kind == MG_OPND_VEC ? o->count : 1); k++)
            if (h->executed)
                check_operand(w, m, h, t, i, &e[k]);
    }
}

/* ---- one program ---- */
static bool is_pointer(const void *arg, uint64_t offset)
{
    (void)arg;
    return offset < 24;
}

/* Registers with something of memory in them, which may change. */
static void find_memory(struct watch *w)
{
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < w->func->ninsns; i++) {
            const struct mg_ptx_insn *insn = &w->func->insns[i];
            struct mg_flow_walk reads = {w->func, insn, 0, 0}, writes = reads;
            bool memory = mg__ptx_accesses(insn);
            uint32_t reg;
            for (bool written; mg__flow_next(&reads, &reg, &written);)
                memory |= !written && w->memory[reg];
            for (bool written; memory && mg__flow_next(&writes, &reg, &written);) {
                again |= written && !w->memory[reg];
                w->memory[reg] |= written;
            }
        }
    }
}

static enum plain_result run(struct watch *w, const struct program *p, const char *text, bool scramble)
{
    struct mg_strbuf why = {0};
    const uint64_t params[4] = {(uintptr_t)in, (uintptr_t)out[scramble], (uintptr_t)sums[scramble], 5};
    struct plain_region regions[3] = {
        {in, sizeof in}, {out[scramble], sizeof out[0]}, {sums[scramble], sizeof sums[0]}};
    memset(out[scramble], 0x5a, sizeof out[0]);
    memset(sums[scramble], 0, sizeof sums[0]);
    memset(w->threads, 0, THREADS * sizeof *w->threads);
    memset(w->any, 0, sizeof w->any);
    memcpy(w->regions, regions, sizeof regions);
    w->params = params;
    w->scramble = scramble;
    w->block = 0;
    enum plain_result result =
        plain_run_watched(text, p->grid, p->block, params, regions, MG_COUNT(regions), &why, before, w);
    mg__strbuf_free(&why);
    return result;
}

/* Shared variables lie where plain.c has them. */
static void place(struct mg_flow_shared *s, const struct mg_ptx_module *m)
{
    uint64_t at = 0;
    for (size_t i = 0; i < m->nvars; i++)
        if (m->vars[i]->space == MG_SPACE_SHARED) {
            at = (at + 15) & ~UINT64_C(15);
            s->at[i] = at;
            at += m->vars[i]->size;
        }
}

static bool hold(uint64_t seed)
{
    struct program p;
    struct mg_strbuf text = {0};
    struct mg_ptx_module *module;
    struct mg_diag diag;
    struct mg_flow_shared shared;
    struct watch w = {.noise = seed};
    program_make(&p, seed, true);
    assert_true(program_text(&p, &text));
    assert_int_equal(mg__ptx_parse(text.at, text.count, &module, &diag), MG_OK);
    w.func = mg__ptx_find_func(module, "k");
    w.threads = calloc(THREADS, sizeof *w.threads);
    w.origins = calloc(w.func->nregs + 1, sizeof *w.origins);
    w.choices = calloc(w.func->ninsns + 1, sizeof *w.choices);
    w.took = calloc(w.func->ninsns + 1, sizeof *w.took);
    assert_true(w.threads && w.origins && w.choices && w.took && mg__cfg_build(w.func, &w.cfg) == MG_OK &&
                mg__flow_shared(module, &w.func, 1, &shared));
    place(&shared, module);
    assert_true(mg__flow_values(w.func, w.cfg, &shared, &w.values) && mg__flow_live(w.func, w.cfg, &w.live));
    mg__flow_choices(w.func, w.cfg, &w.values.chains, w.choices);
    mg__flow_origins(w.func, is_pointer, NULL, w.origins);
    find_memory(&w);
    bool done = run(&w, &p, text.at, false) == PLAIN_DONE;
    if (done) {
        assert_int_equal(run(&w, &p, text.at, true), PLAIN_DONE);
        if (memcmp(out[0], out[1], sizeof out[0]) || memcmp(sums[0], sums[1], sizeof sums[0]))
            fail_msg("seed %llu: a register that was not live was read, or what was not chosen",
                     (unsigned long long)seed);
    }
    mg__flow_values_free(&w.values);
    mg__flow_live_free(&w.live);
    mg__flow_shared_free(&shared);
    mg__cfg_free(w.cfg);
    mg__ptx_free(module);
    mg__strbuf_free(&text);
    program_free(&p);
    free(w.threads);
    free(w.origins);
    free(w.choices);
    free(w.took);
    return done;
}

static void claims_hold_in_random_programs(void **state)
{
    (void)state;
    unsigned done = 0;
    for (size_t k = 0; k < sizeof in; k++)
        in[k] = (uint8_t)(k * 2654435761u >> 13);
    for (unsigned seed = 1; seed <= programs; seed++)
        done += hold(seed);
    print_message(
        "%u of %u programs; %lu low bits, %lu registers that agree, %lu linear forms, %lu origins, %lu choices\n", done,
        programs, checked[0], checked[1], checked[2], checked[3], checked[4]);
    assert_true(done * 2 > programs);
    for (unsigned k = 0; k < MG_COUNT(checked); k++)
        assert_true(checked[k] > (k == 4 ? 2ul : 100ul) * programs);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        programs = (unsigned)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims_hold_in_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
