/* form.h - what own.c and rounds.c share: values as forms of a thread's place in the launch. */
#ifndef MG_CHECK_FORM_H
#define MG_CHECK_FORM_H
#include "cfg/cfg.h"
#include "check/watch.h"
#include "flow/flow.h"

enum { VARIABLES = 6, /* threadIdx.x y z, blockIdx.x y z */ ROUNDS = 3 };

/* A number of times `by`, from 0 to `most`: a loop's rounds; which number it is nobody says, and of two forms it may be
 * another one. `capped`: together with its beginning, the sum of of[i] times index i, it comes to numbers that are no
 * more than `cap` apart. */
struct rounds {
    uint64_t by, most, of[VARIABLES], cap;
    bool capped;
};
static inline bool mg__rounds_same(const struct rounds *a, const struct rounds *b)
{
    return a->by == b->by && a->most == b->most && a->capped == b->capped && a->cap == b->cap &&
           !memcmp(a->of, b->of, sizeof(a->of));
}
struct form {
    uint64_t add, by[VARIABLES];
    struct rounds round[ROUNDS];
    uint8_t bits, nrounds;
    bool known; /* false: nothing came here yet */
};
/* A register that a loop counts with: what it holds before its step in its block, behind it, where no step can come
 * before, and ever. */
struct counter {
    uint32_t reg, insn, first, end;
    uint8_t *later; /* by block: a step may come before it */
    struct form before, behind, begin, ever;
};
struct reader {
    const struct mg_launch_info *info;
    const struct mg_ptx_func *func;
    struct form *regs;
    struct mg_cfg *cfg;
    uint64_t extent[VARIABLES];
    uint32_t at;        /* the instruction that is looked at */
    uint32_t *counters; /* by register: number in `counted` + 1, or 0 */
    MG_VEC(struct counter) counted;
};
/* The least and the greatest that the form comes to, as numbers of any size; false: too large. */
bool mg__form_range(const struct reader *r, const struct form *f, int64_t *least, int64_t *most);
/* A value of 32 bits as one of 64. */
struct form mg__form_wider(const struct reader *r, const struct form *from, bool is_signed);
struct form mg__form_result(const struct reader *r, const struct mg_ptx_insn *i);
/* The same for fewer bits; of two, what holds for both. */
struct form mg__form_cut(struct form f, unsigned bits);
struct form mg__form_join(const struct form *a, const struct form *b);
/* What the register holds where instruction `at` reads it. */
static inline const struct form *mg__form_of(const struct reader *r, uint32_t reg)
{
    const struct counter *c = r->counters[reg] ? &r->counted.at[r->counters[reg] - 1] : NULL;
    if (!c || r->at >= r->func->ninsns)
        return &r->regs[reg];
    if (r->at < c->first || r->at >= c->end)
        return c->later[r->cfg->block_of[r->at]] ? &c->ever : &c->begin;
    return r->at <= c->insn ? &c->before : &c->behind;
}
static inline bool mg__form_read_early(const struct mg_flow_live *live, uint32_t reg)
{
    return live->in[reg / 64] >> reg % 64 & 1;
}
/* ---- rounds.c ---- */
/* Finds registers that loops count with; false: no more than were known. */
bool mg__rounds_find(struct reader *r, const struct mg_flow_live *live);
void mg__rounds_free(struct reader *r);
#endif
