/* expr.c - constant expressions (PTX ISA 4.6): integers of 64 bits, signed or unsigned, with C's operators and
 * precedence; floating-point constants take a sign only. Division by zero is a syntax error; shifts of 64 or more
 * give what repeated shifts by one would.
 */
#include "ptx/ptx_priv.h"

static bool unary(struct parser *p, struct value *value);
static bool ternary(struct parser *p, struct value *value);

static bool enter(struct parser *p)
{
    if (++p->depth > MG_PTX_MAX_DEPTH)
        return mg__ptx_fail(p, "parentheses or signs nested more than %d deep", MG_PTX_MAX_DEPTH);
    return true;
}

static bool need_integer(struct parser *p, const struct value *value)
{
    return value->is_float ? mg__ptx_fail(p, "a floating-point constant takes no operator but a sign") : true;
}

static bool is_text(const struct tok *tok, const char *text)
{
    return tok->length == strlen(text) && memcmp(tok->at, text, tok->length) == 0;
}

static bool primary(struct parser *p, struct value *value)
{
    memset(value, 0, sizeof(*value));
    if (p->tok.kind == TOK_INT) {
        value->bits = p->tok.ival;
        value->is_unsigned = p->tok.is_unsigned;
        return mg__ptx_next(p);
    }
    if (p->tok.kind == TOK_FLOAT) {
        value->bits = p->tok.ival;
        value->is_float = true;
        value->wide = p->tok.wide;
        return mg__ptx_next(p);
    }
    if (p->tok.kind == TOK_IDENT && is_text(&p->tok, "WARP_SZ")) {
        value->bits = 32;
        return mg__ptx_next(p);
    }
    if (mg__ptx_punct(&p->tok, '(')) {
        MG_TRY(enter(p));
        MG_TRY(mg__ptx_next(p));
        if (mg__ptx_dot(&p->tok, ".s64") || mg__ptx_dot(&p->tok, ".u64")) { /* a cast */
            bool to_unsigned = mg__ptx_dot(&p->tok, ".u64");
            MG_TRY(mg__ptx_next(p));
            MG_TRY(mg__ptx_expect(p, ')', "behind the type of a cast"));
            MG_TRY(unary(p, value));
            MG_TRY(need_integer(p, value));
            value->is_unsigned = to_unsigned;
        } else {
            MG_TRY(ternary(p, value));
            MG_TRY(mg__ptx_expect(p, ')', "at the end of the expression"));
        }
        p->depth--;
        return true;
    }
    if (p->tok.kind == TOK_END)
        return mg__ptx_fail(p, "a constant is expected, but the text ends");
    return mg__ptx_fail(p, "a constant is expected, not '%.*s'", (int)MG_MIN(p->tok.length, 60u), p->tok.at);
}

static bool unary(struct parser *p, struct value *value)
{
    if (p->tok.kind != TOK_PUNCT || !strchr("+-!~", (int)(p->tok.punct & 0xFF)) || p->tok.punct > 0xFF)
        return primary(p, value);
    char op = (char)p->tok.punct;
    MG_TRY(enter(p));
    MG_TRY(mg__ptx_next(p));
    MG_TRY(unary(p, value));
    p->depth--;
    if (value->is_float) {
        if (op == '-')
            value->bits ^= value->wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
        return op == '+' || op == '-' ? true : need_integer(p, value);
    }
    if (op == '-')
        value->bits = 0 - value->bits;
    else if (op == '~')
        value->bits = ~value->bits;
    else if (op == '!') {
        value->bits = value->bits == 0;
        value->is_unsigned = false;
    }
    return true;
}

static int precedence(const struct tok *tok)
{
    if (tok->kind != TOK_PUNCT)
        return 0;
    switch (tok->punct) {
    case P2('|', '|'):
        return 1;
    case P2('&', '&'):
        return 2;
    case '|':
        return 3;
    case '^':
        return 4;
    case '&':
        return 5;
    case P2('=', '='):
    case P2('!', '='):
        return 6;
    case '<':
    case '>':
    case P2('<', '='):
    case P2('>', '='):
        return 7;
    case P2('<', '<'):
    case P2('>', '>'):
        return 8;
    case '+':
    case '-':
        return 9;
    case '*':
    case '/':
    case '%':
        return 10;
    default:
        return 0;
    }
}

static bool divide(struct parser *p, uint32_t op, bool is_unsigned, struct value *a, uint64_t b)
{
    if (b == 0)
        return mg__ptx_fail(p, "division by zero in a constant expression");
    int64_t sa = (int64_t)a->bits, sb = (int64_t)b;
    if (is_unsigned)
        a->bits = op == '/' ? a->bits / b : a->bits % b;
    else if (sb == -1) /* the most negative number over -1 does not fit */
        a->bits = op == '/' ? 0 - a->bits : 0;
    else
        a->bits = (uint64_t)(op == '/' ? sa / sb : sa % sb);
    return true;
}

static uint64_t shift(uint32_t op, bool is_unsigned, uint64_t a, uint64_t count)
{
    bool negative = !is_unsigned && (int64_t)a < 0;
    if (op == P2('<', '<'))
        return count > 63 ? 0 : a << count;
    if (count > 63)
        return negative ? UINT64_MAX : 0;
    return negative ? ~(~a >> count) : a >> count;
}

static bool apply(struct parser *p, uint32_t op, struct value *a, const struct value *b)
{
    MG_TRY(need_integer(p, a));
    MG_TRY(need_integer(p, b));
    bool is_unsigned = a->is_unsigned || b->is_unsigned;
    uint64_t ua = a->bits, ub = b->bits;
    bool less = is_unsigned ? ua < ub : (int64_t)ua < (int64_t)ub;
    bool is_bool = true;
    switch (op) {
    case P2('|', '|'):
        a->bits = ua || ub;
        break;
    case P2('&', '&'):
        a->bits = ua && ub;
        break;
    case P2('=', '='):
        a->bits = ua == ub;
        break;
    case P2('!', '='):
        a->bits = ua != ub;
        break;
    case '<':
        a->bits = less;
        break;
    case P2('>', '='):
        a->bits = !less;
        break;
    case P2('<', '='):
        a->bits = less || ua == ub;
        break;
    case '>':
        a->bits = !(less || ua == ub);
        break;
    default:
        is_bool = false;
    }
    if (is_bool) {
        a->is_unsigned = false;
        return true;
    }
    switch (op) {
    case '|':
        a->bits = ua | ub;
        break;
    case '^':
        a->bits = ua ^ ub;
        break;
    case '&':
        a->bits = ua & ub;
        break;
    case '+':
        a->bits = ua + ub;
        break;
    case '-':
        a->bits = ua - ub;
        break;
    case '*':
        a->bits = ua * ub;
        break;
    case P2('<', '<'):
    case P2('>', '>'):
        a->bits = shift(op, a->is_unsigned, ua, ub);
        return true; /* keeps the type of its left side */
    default:
        MG_TRY(divide(p, op, is_unsigned, a, ub));
    }
    a->is_unsigned = is_unsigned;
    return true;
}

/* Precedence climbing: operators of at least `level`, to the right of `value`. */
static bool binary(struct parser *p, int level, struct value *value)
{
    for (;;) {
        int mine = precedence(&p->tok);
        if (mine == 0 || mine < level)
            return true;
        uint32_t op = p->tok.punct;
        MG_TRY(mg__ptx_next(p));
        struct value right;
        MG_TRY(unary(p, &right));
        if (precedence(&p->tok) > mine)
            MG_TRY(binary(p, mine + 1, &right));
        MG_TRY(apply(p, op, value, &right));
    }
}

static bool ternary(struct parser *p, struct value *value)
{
    MG_TRY(unary(p, value));
    MG_TRY(binary(p, 1, value));
    if (!mg__ptx_punct(&p->tok, '?'))
        return true;
    MG_TRY(need_integer(p, value));
    MG_TRY(enter(p));
    MG_TRY(mg__ptx_next(p));
    struct value yes, no;
    MG_TRY(ternary(p, &yes));
    MG_TRY(mg__ptx_expect(p, ':', "in a conditional expression"));
    MG_TRY(ternary(p, &no));
    *value = value->bits ? yes : no;
    p->depth--;
    return true;
}

bool mg__ptx_expr(struct parser *p, struct value *value)
{
    p->depth = 0;
    return ternary(p, value);
}

bool mg__ptx_expr_after(struct parser *p, struct value *value)
{
    memset(value, 0, sizeof(*value));
    p->depth = 0;
    if (!mg__ptx_punct(&p->tok, '+') && !mg__ptx_punct(&p->tok, '-'))
        return true;
    /* `sym - 4 + 8` is (sym - 4) + 8, so the tail is 0 - 4 + 8 */
    return binary(p, 9, value);
}

bool mg__ptx_uint(struct parser *p, uint64_t limit, const char *what, uint32_t *value)
{
    if (p->tok.kind != TOK_INT)
        return mg__ptx_fail(p, "%s: a number is expected", what);
    if (p->tok.ival > limit)
        return mg__ptx_fail(p, "%s: %llu is more than %llu", what, (unsigned long long)p->tok.ival,
                            (unsigned long long)limit);
    *value = (uint32_t)p->tok.ival;
    return mg__ptx_next(p);
}
