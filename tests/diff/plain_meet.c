/* plain_meet.c - operations for which the threads of plain.c wait for each other: of a warp, when all of its lanes that
 * have not ended stand there; of a block, when all of its threads do. */
#include "plain_priv.h"

/* `n` threads from `t` on wait at the same place, those that ended aside; *at: any one of them. */
static bool all_wait(struct p_thread *t, uint32_t n, struct p_thread **at)
{
    *at = NULL;
    for (uint32_t k = 0; k < n; k++) {
        if (t[k].state == ENDED)
            continue;
        if (t[k].state != WAITS || (*at && (*at)->at != t[k].at))
            return false;
        *at = &t[k];
    }
    return *at != NULL;
}

static void shuffle(struct p_machine *m, struct p_thread *t, uint32_t n, const struct p_insn *i)
{
    u64 values[32] = {0}, from[32] = {0};
    bool inside[32] = {0};
    const struct p_type word = {.bits = 32}, one = {.bits = 1};
    for (uint32_t k = 0; k < n; k++) {
        int64_t b = (int64_t)p_get(m, &t[k], &i->ops[2], word) & 31, c = (int64_t)p_get(m, &t[k], &i->ops[3], word);
        int64_t segment = c >> 8 & 31, bound = (segment & k) | (c & 31 & ~segment), j = k;
        if (p_has(i, W_UP))
            j = k - b, inside[k] = j >= bound;
        else if (p_has(i, W_DOWN))
            j = k + b, inside[k] = j <= bound;
        else if (p_has(i, W_BFLY))
            j = k ^ b, inside[k] = j <= bound;
        else
            j = (segment & k) | (b & ~segment), inside[k] = j <= bound;
        from[k] = inside[k] ? (u64)j : k;
        if (from[k] >= n || t[from[k]].state == ENDED)
            p_stop(m, PLAIN_UNKNOWN, "a shuffle from a lane that is not there", i);
        else
            values[k] = p_get(m, &t[from[k]], &i->ops[1], word);
    }
    for (uint32_t k = 0; k < n; k++) {
        p_put(m, &t[k], p_part(m, &i->ops[0], 0), values[k], word);
        if (i->ops[0].kind == O_PAIR)
            p_put(m, &t[k], p_part(m, &i->ops[0], 1), inside[k], one);
    }
}

static void vote(struct p_machine *m, struct p_thread *t, uint32_t n, const struct p_insn *i)
{
    const struct p_type one = {.bits = 1}, word = {.bits = 32};
    u64 ballot = 0, active = 0;
    for (uint32_t k = 0; k < n; k++) {
        ballot |= t[k].state != ENDED ? p_get(m, &t[k], &i->ops[1], one) << k : 0;
        active |= (u64)(t[k].state != ENDED) << k;
    }
    for (uint32_t k = 0; k < n; k++)
        if (t[k].state != ENDED && p_has(i, W_BALLOT))
            p_put(m, &t[k], &i->ops[0], ballot, word);
        else if (t[k].state != ENDED)
            p_put(m, &t[k], &i->ops[0], p_has(i, W_ALL) ? ballot == active : ballot != 0, one);
}

static void reduce(struct p_machine *m, struct p_thread *t, uint32_t n, const struct p_insn *i)
{
    u64 all = p_get(m, &t[0], &i->ops[1], i->type[0]);
    for (uint32_t k = 1; k < n; k++) {
        u64 v = p_get(m, &t[k], &i->ops[1], i->type[0]);
        bool less = i->type[0].is_signed ? (int64_t)v < (int64_t)all : v < all;
        all = p_has(i, W_ADD) ? all + v : p_has(i, W_MIN) == less ? v : all;
    }
    for (uint32_t k = 0; k < n; k++)
        p_put(m, &t[k], &i->ops[0], all, i->type[0]);
}

static void count_at_barrier(struct p_machine *m, const struct p_insn *i)
{
    const struct p_type one = {.bits = 1}, word = {.bits = 32};
    u64 n = 0;
    for (uint32_t k = 0; k < m->nthreads; k++)
        n += m->threads[k].state != ENDED && p_get(m, &m->threads[k], &i->ops[2], one);
    for (uint32_t k = 0; k < m->nthreads; k++)
        if (m->threads[k].state != ENDED)
            p_put(m, &m->threads[k], &i->ops[0], n, word);
    if (!p_has(i, W_POPC))
        p_stop(m, PLAIN_UNKNOWN, "a reduction at a barrier", i);
}

static void go_on(struct p_thread *t, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (t[k].state == WAITS)
            t[k].state = GOES, t[k].at++;
}

/* Whoever has waited for those that wait now. */
bool p_meet(struct p_machine *m)
{
    struct p_thread *one;
    bool any = false;
    for (uint32_t w = 0; w < m->nthreads; w += 32) {
        struct p_thread *t = &m->threads[w];
        uint32_t n = MG_MIN(32u, m->nthreads - w);
        if (!all_wait(t, n, &one))
            continue;
        const struct p_insn *i = &m->code->insns[one->at];
        if (i->op == P_BAR && !p_has(i, W_WARP))
            continue;
        for (uint32_t k = 0; k < n && (i->op == P_SHFL || i->op == P_REDUX); k++)
            if (t[k].state == ENDED)
                p_stop(m, PLAIN_UNKNOWN, "a lane has ended", i);
        if (i->op == P_SHFL)
            shuffle(m, t, n, i);
        else if (i->op == P_VOTE)
            vote(m, t, n, i);
        else if (i->op == P_REDUX)
            reduce(m, t, n, i);
        go_on(t, n);
        any = true;
    }
    if (any || !all_wait(m->threads, m->nthreads, &one))
        return any;
    if (p_has(&m->code->insns[one->at], W_RED))
        count_at_barrier(m, &m->code->insns[one->at]);
    go_on(m->threads, m->nthreads);
    return true;
}
