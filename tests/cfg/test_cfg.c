/* test_cfg.c - blocks and reconvergence points of functions by hand, and of random graphs against path removal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cfg/cfg.h"

struct built {
    struct mg_ptx_module *module;
    struct mg_cfg *cfg;
};

static struct built build_as(const char *kind, const char *body)
{
    struct built built;
    struct mg_strbuf text = {0};
    struct mg_diag diag;
    assert_true(mg__strbuf_printf(&text,
                                  ".version 9.0\n.target sm_90\n.address_size 64\n.func f;\n%s k() {\n"
                                  ".reg .pred p, q; .reg .b32 r;\n%s\n}\n",
                                  kind, body));
    if (mg__ptx_parse(text.at, text.count, &built.module, &diag) != MG_OK)
        fail_msg("%u: %s\n%s", diag.line, diag.message, diag.excerpt);
    mg__strbuf_free(&text);
    assert_int_equal(mg__cfg_build(mg__ptx_find_func(built.module, "k"), &built.cfg), MG_OK);
    return built;
}

static struct built build(const char *body)
{
    return build_as(".entry", body);
}

static void drop(struct built *built)
{
    mg__cfg_free(built->cfg);
    mg__ptx_free(built->module);
}

/* "E" in a list of expected ipdoms is the virtual exit. */
static void expect_ipdoms_as(const char *kind, const char *body, const char *expected)
{
    struct built b = build_as(kind, body);
    struct mg_strbuf got = {0};
    assert_true(mg__strbuf_append(&got, "", 0));
    for (uint32_t i = 0; i < b.cfg->nblocks; i++) {
        if (b.cfg->blocks[i].ipdom == MG_CFG_EXIT)
            mg__strbuf_printf(&got, "%sE", i ? " " : "");
        else
            mg__strbuf_printf(&got, "%s%u", i ? " " : "", b.cfg->blocks[i].ipdom);
    }
    assert_string_equal(got.at, expected);
    mg__strbuf_free(&got);
    drop(&b);
}

static void expect_ipdoms(const char *body, const char *expected)
{
    expect_ipdoms_as(".entry", body, expected);
}

#define WORK "membar.gl;\n"

static void straight_line(void **state)
{
    (void)state;
    expect_ipdoms(WORK WORK "ret;", "E");
    expect_ipdoms(WORK, "E");
    expect_ipdoms("call f;\n" WORK "call f;\nret;", "E"); /* a call ends no block */
    expect_ipdoms("L:\n" WORK "M:\nret;", "E");           /* nor does a label that nothing jumps to */
    struct built b = build("");
    assert_int_equal(b.cfg->nblocks, 0);
    drop(&b);
}

static void branches(void **state)
{
    (void)state;
    expect_ipdoms("@p bra T;\n" WORK "T:\nret;", "2 2 E");
    expect_ipdoms("@p bra T;\n" WORK "bra J;\nT:\n" WORK "J:\nret;", "3 3 3 E");
    expect_ipdoms("@p bra T;\n@q bra U;\n" WORK "U:\n" WORK "T:\nret;", "4 3 3 4 E");
    expect_ipdoms("@p bra T;\nT:\nret;", "1 E");                         /* both ways lead to the same place */
    expect_ipdoms("@p bra T;\n" WORK "ret;\nT:\n" WORK "ret;", "E E E"); /* several exits */
    expect_ipdoms("@p bra T;\n" WORK "T:\n", "E E");                     /* to the function's end */
}

static void loops(void **state)
{
    (void)state;
    expect_ipdoms("L:\n" WORK "@p bra L;\nret;", "1 E");
    /* while with a break: 0 head, 1 body, 2 rest and back, 3 end */
    expect_ipdoms("H:\n@p bra E;\n" WORK "@q bra E;\n" WORK "bra H;\nE:\nret;", "3 3 0 E");
    /* a loop in a loop: 0 outer head, 1 inner, 2 outer latch, 3 end */
    expect_ipdoms("O:\n" WORK "I:\n" WORK "@p bra I;\n@q bra O;\nret;", "1 2 3 E");
    /* continue: 0 head, 1 then continue, 2 else, 3 latch */
    expect_ipdoms("H:\n@p bra C;\n" WORK "@q bra X;\n" WORK "C:\n@p bra H;\nX:\n" WORK "ret;", "4 4 3 4 E");
    struct built b = build("O:\n" WORK "I:\n" WORK "@p bra I;\n@q bra O;\nret;");
    assert_true(b.cfg->blocks[0].loop_head && b.cfg->blocks[1].loop_head);
    assert_false(b.cfg->blocks[2].loop_head || b.cfg->blocks[3].loop_head);
    assert_true(b.cfg->blocks[2].reconverges && b.cfg->blocks[3].reconverges);
    assert_false(b.cfg->blocks[0].reconverges || b.cfg->blocks[1].reconverges);
    drop(&b);
}

static void endless_loops(void **state)
{
    (void)state;
    expect_ipdoms("L: bra L;", "E");
    /* nothing leaves: the last block of the loop stands for its end */
    expect_ipdoms("L:\n@p bra M;\n" WORK "M:\n" WORK "bra L;", "2 2 E");
    /* one way never ends: it keeps nobody from meeting on the other */
    expect_ipdoms("@p bra L;\n" WORK "ret;\nL:\n" WORK "bra L;", "1 E E");
}

static void guarded_ends(void **state)
{
    (void)state;
    expect_ipdoms("@p ret;\n" WORK "ret;", "1 E");
    expect_ipdoms("@p exit;\n@q trap;\n" WORK, "1 2 E");
    /* a guarded exit in one arm does not keep the arms apart */
    expect_ipdoms("@p bra T;\n@q exit;\n" WORK "T:\nret;", "3 2 3 E");
    /* an unguarded ret does */
    expect_ipdoms("@p bra T;\n@q bra S;\nret;\nS:\n" WORK "T:\nret;", "E E E 4 E");
    struct built b = build("@p ret;\n" WORK "ret;");
    assert_int_equal(b.cfg->blocks[0].nsucc, 1);
    assert_int_equal(b.cfg->blocks[0].succ[0], 1);
    drop(&b);
}

/* Lanes that have left a kernel are waited for by nobody, wherever they left. In a function they come back. */
static void ways_out_of_kernels(void **state)
{
    static const struct {
        const char *body, *in_kernel, *in_function;
    } cases[] = {
        /* if (p) return; if (!q) { if (q) return; } the rest */
        {"@p bra R;\n@q bra J;\n" WORK "@q bra R;\nJ:\n" WORK "R:\nret;", "1 3 3 4 E", "4 4 4 4 E"},
        /* while (!p) if (q) return; the rest */
        {"L:\n@p bra X;\n" WORK "@q bra R;\nbra L;\nX:\n" WORK "R:\nret;", "3 2 0 4 E", "4 4 0 4 E"},
        /* the same where all return by themselves */
        {"L:\n@p bra X;\n" WORK "@q bra R;\nbra L;\nX:\n" WORK "ret;\nR:\nret;", "3 2 0 E E", "E E 0 E E"},
        /* an arm that ends the kernel has ways out of its own */
        {"@p bra T;\n@q bra A;\n@p bra R;\n" WORK "A:\n" WORK "bra R;\nT:\n" WORK "R:\nret;", "1 4 3 4 6 6 E",
         "6 6 6 4 6 6 E"},
        {"@p bra T;\n" WORK "bra R;\nT:\n@q bra A;\n@p bra R;\n" WORK "A:\n" WORK "R:\nret;", "2 6 5 4 5 6 E",
         "6 6 6 6 5 6 E"},
        /* where one instruction is left, and the text ends */
        {"@p bra R;\n@q bra J;\n" WORK "@q bra R;\nJ:\n" WORK "R:\n" WORK, "4 4 4 4 E", "4 4 4 4 E"},
        /* guards alone change nobody's way */
        {"@p bra R;\n" WORK "@q bra R;\n" WORK "R:\nret;", "3 3 3 E", "3 3 3 E"},
        /* nor does what the arms meet at, if it is more than an end */
        {"@p bra R;\n@q bra J;\n" WORK "@q bra R;\nJ:\n" WORK "R:\n" WORK "ret;", "4 4 4 4 E", "4 4 4 4 E"},
    };
    (void)state;
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        expect_ipdoms(cases[k].body, cases[k].in_kernel);
        expect_ipdoms_as(".func", cases[k].body, cases[k].in_function);
    }
}

/* Blocks to which some lanes come on several ways; what a device does is in tests/hardware/meets.cu and returns.cu. */
static void lanes_that_meet_before_others(void **state)
{
    static const struct {
        const char *body;
        uint32_t branch, inner, meet;
        const char *leaves; /* blocks that lanes come to out of the region */
    } cases[] = {
        /* if (p || q) T */
        {"@p bra T;\n" WORK "@!q bra E;\nT:\n" WORK "E:\n" WORK "ret;", 0, 2, 3, "3"},
        /* if (p && q) T else U */
        {"@!p bra U;\n" WORK "@!q bra U;\n" WORK "bra E;\nU:\n" WORK "E:\n" WORK "ret;", 0, 3, 4, "2"},
        /* if (p && q) T: the second condition's lanes meet where all do */
        {"@!p bra E;\n" WORK "@!q bra E;\n" WORK "E:\n" WORK "ret;", 0, MG_CFG_EXIT, 3, ""},
        /* do { if (p) { if (q) break; } T } while (p) */
        {"L:\n@!p bra T;\n" WORK "@q bra E;\nT:\n" WORK "@p bra L;\nE:\n" WORK "ret;", 0, 2, 3, "3"},
        /* while (p || q) T, whose second condition all pass that end it: that is within, and does not count */
        {"bra H;\nT:\n" WORK "H:\n@p bra T;\n" WORK "@q bra T;\n" WORK "ret;", 2, 1, 4, "4"},
        /* of two blocks the last */
        {"@p bra B;\n@q bra T;\nbra U;\nB:\n@p bra T;\n@!q bra E;\nbra U;\nT:\n" WORK "U:\n" WORK "E:\n" WORK "ret;",
         0, 7, 8, "8"},
        /* a way out of the kernel, which is none of those that stay */
        {"@p bra A;\n" WORK "@q bra R;\nA:\n@p bra B;\n" WORK "@q bra R;\nB:\n@p bra C;\n" WORK "C:\n" WORK
         "ret;\nR:\n" WORK "ret;",
         0, MG_CFG_EXIT, 2, ""},
        /* a loop with a way out of its own */
        {"@!p bra T;\nL:\n@q bra E;\n" WORK "@p bra L;\n" WORK "T:\n" WORK "E:\n" WORK "ret;", 0, MG_CFG_EXIT, 5, ""},
        /* out of a loop on two ways */
        {"L:\n@p bra T;\n" WORK "@q bra T;\n" WORK "@!p bra L;\n" WORK "bra E;\nT:\n" WORK "E:\n" WORK "ret;", 0,
         MG_CFG_EXIT, 5, ""},
    };
    (void)state;
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct built b = build(cases[k].body);
        struct mg_strbuf leaves = {0};
        assert_true(mg__strbuf_append(&leaves, "", 0));
        for (uint32_t i = 0; i < b.cfg->nblocks; i++)
            if (b.cfg->blocks[i].leaves)
                mg__strbuf_printf(&leaves, "%s%u", leaves.count ? " " : "", i);
        const struct mg_cfg_block *branch = &b.cfg->blocks[cases[k].branch];
        if (branch->inner != cases[k].inner || branch->meet != cases[k].meet || strcmp(leaves.at, cases[k].leaves) != 0)
            fail_msg("case %u: %d, %d, left at %s", k, (int)branch->inner, (int)branch->meet, leaves.at);
        mg__strbuf_free(&leaves);
        drop(&b);
    }
    /* One within another, and lanes that leave both: if (p || (q && (p || q))) T else U, in parts */
    struct built b = build("@p bra T;\n" WORK "@!q bra U;\n@p bra B;\n" WORK "@q bra C;\n@!p bra U;\nB:\n" WORK
                           "C:\n" WORK "T:\n" WORK "bra E;\nU:\n" WORK "E:\n" WORK "ret;");
    assert_int_equal(b.cfg->blocks[0].inner, 7);
    assert_int_equal(b.cfg->blocks[2].inner, 6);
    assert_int_equal(b.cfg->blocks[2].depth, 1);
    assert_int_equal(b.cfg->blocks[4].depth, 2);
    assert_int_equal(b.cfg->blocks[5].depth, 2);
    assert_int_equal(b.cfg->blocks[6].depth, 1);
    assert_true(b.cfg->blocks[8].leaves && b.cfg->blocks[8].depth == 0);
    drop(&b);
}

static void traps_keep_nobody_apart(void **state)
{
    (void)state;
    expect_ipdoms("@p bra T;\n@q bra B;\n" WORK "T:\nret;\nB:\ntrap;", "3 2 3 E E");
    expect_ipdoms("@p bra T;\n" WORK "trap;\nT:\n" WORK "trap;", "E E E"); /* both trap: the trap is the end */
}

static void unreachable_code(void **state)
{
    (void)state;
    expect_ipdoms("bra E;\n" WORK "E:\nret;", "2 2 E");
    struct built b = build("bra E;\nU:\n" WORK "E:\n@p bra U;\nret;\n" WORK "ret;");
    static const bool reachable[] = {true, true, true, true, false};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(b.cfg->blocks[i].reachable, reachable[i]);
    assert_int_equal(b.cfg->blocks[4].idom, 4);
    drop(&b);
}

static void branch_tables(void **state)
{
    (void)state;
    static const char body[] =
        "T: .branchtargets A, B, A, C;\nbrx.idx r, T;\nA:\n" WORK "bra J;\nB:\n" WORK "bra J;\nC:\n" WORK "J:\nret;";
    expect_ipdoms(body, "4 4 4 4 E");
    struct built b = build(body);
    assert_int_equal(b.cfg->blocks[0].nsucc, 3); /* each once */
    assert_int_equal(b.cfg->blocks[0].succ[2], 3);
    assert_int_equal(b.cfg->blocks[4].npred, 3);
    assert_int_equal(b.cfg->blocks[4].idom, 0);
    for (uint32_t i = 0; i < b.cfg->nblocks; i++) {
        for (uint32_t k = b.cfg->blocks[i].first; k < b.cfg->blocks[i].end; k++)
            assert_int_equal(b.cfg->block_of[k], i);
    }
    drop(&b);
}

static void fall_through_comes_first(void **state)
{
    (void)state;
    struct built b = build("L:\n" WORK "@p bra L;\n" WORK "ret;");
    assert_int_equal(b.cfg->blocks[0].nsucc, 2);
    assert_int_equal(b.cfg->blocks[0].succ[0], 1);
    assert_int_equal(b.cfg->blocks[0].succ[1], 0);
    drop(&b);
}

/* ---- random graphs: the definition of dominance, by removing a block and looking for a path around it ---- */
enum { MOST = 12 };
struct model {
    unsigned n;
    bool edge[MOST][MOST];
    bool exits[MOST], traps[MOST];
};

static uint32_t seed = 1;
static uint32_t random_below(uint32_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
}

static bool reaches(const struct model *m, unsigned from, unsigned removed, bool to_exit, unsigned to,
                    const bool *avoid)
{
    bool seen[MOST] = {false};
    unsigned stack[MOST], depth = 0;
    if (from == removed)
        return false;
    seen[from] = true;
    stack[depth++] = from;
    while (depth) {
        unsigned at = stack[--depth];
        if (to_exit ? m->exits[at] : at == to)
            return true;
        for (unsigned next = 0; next < m->n; next++) {
            if (m->edge[at][next] && next != removed && !seen[next] && !(avoid && avoid[next])) {
                seen[next] = true;
                stack[depth++] = next;
            }
        }
    }
    return false;
}

/* A random function of n blocks, each `membar` and an end; and the same as a model. */
static void random_function(struct model *m, struct mg_strbuf *text)
{
    memset(m, 0, sizeof(*m));
    m->n = 2 + random_below(MOST - 2);
    for (unsigned i = 0; i < m->n; i++) {
        unsigned to = random_below(m->n), kind = random_below(16);
        bool last = i + 1 == m->n;
        mg__strbuf_printf(text, "L%u:\nmembar.gl;\n", i);
        if (kind < 8) {
            mg__strbuf_printf(text, "@p bra L%u;\n", to);
            m->edge[i][to] = true;
        } else if (kind < 10) {
            mg__strbuf_printf(text, "bra L%u;\n", to);
            m->edge[i][to] = true;
        } else if (kind < 12) {
            unsigned other = random_below(m->n), third = random_below(m->n);
            mg__strbuf_printf(text, "T%u: .branchtargets L%u, L%u, L%u;\nbrx.idx r, T%u;\n", i, to, other, third, i);
            m->edge[i][to] = m->edge[i][other] = m->edge[i][third] = true;
        } else if (kind == 12) {
            mg__strbuf_printf(text, "ret;\n");
            m->exits[i] = true;
        } else if (kind == 13) {
            mg__strbuf_printf(text, "trap;\n");
            m->traps[i] = true;
        } else if (kind == 14) {
            mg__strbuf_printf(text, "@!q exit;\n");
        } /* else it falls through */
        if (kind < 8 || kind >= 14) {
            if (last)
                m->exits[i] = true;
            else
                m->edge[i][i + 1] = true;
        }
    }
}

static void random_graphs(void **state)
{
    (void)state;
    unsigned checked = 0, ways = 0;
    for (unsigned round = 0; round < 8000; round++) {
        struct model m;
        struct mg_strbuf text = {0};
        random_function(&m, &text);
        struct built b = build_as(round % 2 ? ".func" : ".entry", text.at);
        mg__strbuf_free(&text);
        /* blocks of the model that nothing jumps to merge with the one before: look blocks up by their first membar */
        const struct mg_ptx_func *func = mg__ptx_find_func(b.module, "k");
        uint32_t block[MOST], start[MOST], nth = 0;
        for (uint32_t i = 0; i < func->ninsns; i++) {
            if (func->insns[i].opcode == MG_OP_MEMBAR) {
                start[nth] = i;
                block[nth++] = b.cfg->block_of[i];
            }
        }
        assert_int_equal(nth, m.n);
        bool doomed[MOST];
        for (unsigned i = 0; i < m.n; i++)
            doomed[i] = !reaches(&m, i, UINT32_MAX, true, 0, NULL);
        for (unsigned i = 0; i < m.n; i++) {
            const struct mg_cfg_block *at = &b.cfg->blocks[block[i]];
            bool last_of_block = i + 1 == m.n || block[i + 1] != block[i];
            bool first_of_block = at->first == start[i];
            assert_int_equal(at->reachable, reaches(&m, 0, UINT32_MAX, false, i, NULL));
            /* candidates: those that every path to the exit must pass; the immediate one is passed before all others */
            unsigned want = UINT32_MAX;
            for (unsigned c = 0; c < m.n && last_of_block && !doomed[i]; c++) {
                if (c == i || reaches(&m, i, c, true, 0, doomed))
                    continue;
                if (want == UINT32_MAX || !reaches(&m, i, c, false, want, doomed))
                    want = c;
            }
            if (last_of_block && !doomed[i] && round % 2) {
                assert_int_equal(at->ipdom, want == UINT32_MAX ? MG_CFG_EXIT : block[want]);
                checked++;
            }
            if (last_of_block && !doomed[i] && !(round % 2) && at->ipdom != MG_CFG_EXIT) {
                /* of a kernel: some way out is reached by all who come to it through there */
                bool passed = false;
                for (unsigned c = 0; c < m.n; c++)
                    for (unsigned e = 0; block[c] == at->ipdom && e < m.n; e++)
                        passed |= m.exits[e] && reaches(&m, c, UINT32_MAX, false, e, NULL) &&
                                  !reaches(&m, i, c, false, e, NULL);
                assert_true(passed);
                ways++;
            }
            if (last_of_block) /* what is doomed meets only among its like */
                assert_true(at->ipdom == MG_CFG_EXIT || at->ipdom < b.cfg->nblocks);
            want = UINT32_MAX;
            for (unsigned c = 0; c < m.n && at->reachable && first_of_block && i; c++) {
                bool dominates = c != i && (c == 0 || !reaches(&m, 0, c, false, i, NULL));
                if (dominates && (want == UINT32_MAX || !reaches(&m, 0, want, false, c, NULL)))
                    want = c;
            }
            if (want != UINT32_MAX)
                assert_int_equal(at->idom, block[want]);
        }
        drop(&b);
    }
    assert_true(checked > 10000 && ways > 1000);
}

/* Long chains must not need a deep stack. */
static void large_functions(void **state)
{
    (void)state;
    struct mg_strbuf text = {0};
    enum { COUNT = 20000 };
    for (unsigned i = 0; i < COUNT; i++)
        mg__strbuf_printf(&text, "@p bra L%u;\nmembar.gl;\nL%u:\n", i, i);
    mg__strbuf_printf(&text, "ret;\n");
    struct built b = build(text.at);
    mg__strbuf_free(&text);
    assert_int_equal(b.cfg->nblocks, 2 * COUNT + 1);
    for (uint32_t i = 0; i < 2 * COUNT; i += 2)
        assert_int_equal(b.cfg->blocks[i].ipdom, i + 2);
    drop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_line),
        cmocka_unit_test(branches),
        cmocka_unit_test(loops),
        cmocka_unit_test(endless_loops),
        cmocka_unit_test(guarded_ends),
        cmocka_unit_test(ways_out_of_kernels),
        cmocka_unit_test(lanes_that_meet_before_others),
        cmocka_unit_test(traps_keep_nobody_apart),
        cmocka_unit_test(unreachable_code),
        cmocka_unit_test(branch_tables),
        cmocka_unit_test(fall_through_comes_first),
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(large_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
