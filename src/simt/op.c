/* op.c - the table of operations (op.def) as data, and what makes an op of its row and its operands. */
#include "simt/simt_priv.h"

const struct mg_op_row mg__op_rows[MG_DO_COUNT] = {
/* Joined to "", what is no text does not compile. */
#define OP(id, handler, kind, results, sources, effects) {#id, "" results, "" sources, MG_ENGINE_##kind, effects},
#include "simt/op.def"
#undef OP
};

/* What compiled code calls leaves the warp's lanes as they are. */
#define OP(id, handler, kind, results, sources, effects) \
    _Static_assert(MG_ENGINE_##kind != MG_ENGINE_CALL || !((effects)&MG_ENGINE_PARTS), #id);
#include "simt/op.def"
#undef OP

mg_handler mg__op_handler(const struct mg_lanes *l, const struct mg_op *op)
{
    switch ((enum mg_op_id)op->is->id) {
#define OP(id, handler, kind, results, sources, effects) \
    case MG_DO_##id:                                     \
        return handler;
#include "simt/op.def"
#undef OP
    case MG_DO_COUNT:
        break;
    }
    return NULL;
}

/* ---- operands ---- */
struct letters { /* of one operand; any: of that many */
    char place, size;
    bool optional, any;
};

/* The next ones; what is `any` comes again and again. False: there are no more. */
static bool next_letters(const char **row, struct letters *now)
{
    if (now->any)
        return true;
    const char *p = *row;
    while (*p == ' ')
        p++;
    if (!*p)
        return false;
    *now = (struct letters){.place = p[0], .size = p[1], .optional = p[2] == '?' || p[2] == '*', .any = p[2] == '*'};
    *row = p + 2 + now->optional;
    return true;
}

static bool fits(const char *row, const struct mg_engine_operand *of, unsigned n)
{
    struct letters l = {0};
    for (unsigned k = 0; k < n; k++) {
        if (!next_letters(&row, &l))
            return false;
        unsigned bytes = of[k].bytes;
        if (of[k].slot < 0 ? !l.optional
                           : !((l.size == 'y' && (bytes == 0 || bytes == 4 || bytes == 8)) ||
                               (strchr("wx", l.size) && bytes == 4) || (strchr("dx", l.size) && bytes == 8) ||
                               (l.size == 'p' && bytes == 0)))
            return false;
    }
    return l.any || !next_letters(&row, &l) || l.optional;
}

bool mg__op_fits(enum mg_op_id id, const struct mg_engine_operand *of, unsigned nout, unsigned n)
{
    return nout <= n && n <= UINT16_MAX && fits(mg__op_rows[id].results, of, nout) &&
           fits(mg__op_rows[id].sources, of + nout, n - nout);
}

static int32_t *field(struct mg_op *op, char place)
{
    switch (place) {
    case 'd':
        return &op->d;
    case 'a':
        return &op->a;
    case 'b':
        return &op->b;
    case 'c':
        return &op->c;
    case 'e':
        return &op->e;
    case 'D':
        return &op->d2;
    case 'g':
        return &op->guard;
    default: /* m, -: none */
        return NULL;
    }
}

static void fill(struct mg_op *op, const char *row, const struct mg_engine_operand *of, unsigned n)
{
    struct letters l = {0};
    for (unsigned k = 0; k < n && next_letters(&row, &l); k++) {
        int32_t *to = field(op, l.place);
        if (to)
            *to = of[k].slot;
    }
}

void mg__op_finish(struct mg_op *op, const struct mg_lanes *lanes)
{
    const struct mg_op_row *row = &mg__op_rows[op->is->id];
    op->d = op->a = op->b = op->c = op->e = op->d2 = op->guard = -1;
    fill(op, row->results, op->is->of, op->is->nout);
    fill(op, row->sources, op->is->of + op->is->nout, op->is->nin);
    op->fn = mg__op_handler(lanes, op);
}
