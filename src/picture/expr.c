/* expr.c - the address of `tile[ty][tx]` for a thread: C's expressions of integers, read and worked out in one go.
 *
 * Known are threadIdx, blockIdx, blockDim and gridDim with .x, .y and .z; tx, ty, tz, bx, by and bz for the first two;
 * tid, the thread's number in its block; lane, warp and warpSize; and what mg__expr_let was told. Numbers have 64 bits
 * and wrap. What is not evaluated in C (the other side of ?:, && and ||) is read, and may divide by zero. No types but
 * casts, which change nothing here, and no calls.
 *
 * To add an operator: a row of `operators`, in the order of how tightly they bind, and a case in `apply`.
 */
#include "picture/expr.h"

#include <ctype.h>

enum { MOST_DEPTH = 100, MOST_BYTES = 1 << 24 };

struct reader {
    const char *text, *at;
    const struct mg_expr *expr; /* NULL: of a declaration: no variables */
    const struct mg_expr_thread *thread;
    const char *option;
    unsigned depth, unused; /* unused: inside of what C does not evaluate */
    struct mg_diag *diag;
    enum mg_status status;
};

static void fail(struct reader *r, const char *at, const char *what, const char *name, size_t length)
{
    if (r->status)
        return;
    r->status = mg__diag_set(r->diag, MG_ERR_SYNTAX, "%s%.*s%s", name ? "'" : "", name ? (int)MG_MIN(length, 40) : 0,
                             name ? name : "", name ? "' " : "");
    if (r->diag) {
        size_t used = strlen(r->diag->message);
        snprintf(r->diag->message + used, sizeof(r->diag->message) - used, "%s", what);
    }
    mg__diag_at(r->diag, r->option, 1, (unsigned)(at - r->text) + 1);
    mg__diag_excerpt(r->diag, r->text, strlen(r->text));
}

static void skip(struct reader *r)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
}

static bool take(struct reader *r, const char *token)
{
    skip(r);
    size_t n = strlen(token);
    if (strncmp(r->at, token, n))
        return false;
    r->at += n;
    return true;
}

/* A name's length at the reader; 0: none. */
static size_t word(struct reader *r)
{
    skip(r);
    size_t n = 0;
    if (isalpha((unsigned char)*r->at) || *r->at == '_')
        while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')
            n++;
    return n;
}

static bool is(const char *at, size_t length, const char *name)
{
    return strlen(name) == length && !strncmp(at, name, length);
}

/* ---- types ---- */
static const struct {
    const char *name;
    uint8_t size;
} scalars[] = {
    {"char", 1},    {"bool", 1},           {"int8_t", 1},  {"uint8_t", 1},   {"uchar", 1},    {"short", 2},
    {"int16_t", 2}, {"uint16_t", 2},       {"ushort", 2},  {"half", 2},      {"__half", 2},   {"__nv_bfloat16", 2},
    {"int", 4},     {"uint", 4},           {"int32_t", 4}, {"uint32_t", 4},  {"float", 4},    {"half2", 4},
    {"__half2", 4}, {"__nv_bfloat162", 4}, {"long", 8},    {"ulong", 8},     {"longlong", 8}, {"ulonglong", 8},
    {"int64_t", 8}, {"uint64_t", 8},       {"size_t", 8},  {"ptrdiff_t", 8}, {"double", 8},
};

/* "float4": four of 4 bytes. False: no type of CUDA's. */
static bool find_type(const char *at, size_t length, uint32_t *element, uint32_t *component)
{
    size_t bare = length > 1 && at[length - 1] >= '1' && at[length - 1] <= '4' ? length - 1 : 0;
    for (size_t i = 0; i < MG_COUNT(scalars); i++) {
        if (is(at, length, scalars[i].name)) {
            *element = *component = scalars[i].size;
            return true;
        }
    }
    static const char *const vectors[] = {"char", "uchar", "short",    "ushort",    "int",   "uint",
                                          "long", "ulong", "longlong", "ulonglong", "float", "double"};
    for (size_t i = 0; bare && i < MG_COUNT(vectors); i++)
        if (is(at, bare, vectors[i]) && find_type(at, bare, element, component)) {
            *element *= (uint32_t)(at[length - 1] - '0');
            return true;
        }
    return false;
}

/* "unsigned long long", "const volatile float4". False: no type stands here, and nothing was read. */
static bool read_type(struct reader *r, char name[MG_EXPR_NAME], uint32_t *element, uint32_t *component)
{
    static const char *const ignored[] = {"__shared__", "extern", "static",  "const",
                                          "volatile",   "signed", "alignas", "struct"};
    const char *begin = r->at;
    bool is_unsigned = false, any = false;
    unsigned longs = 0;
    *element = 0;
    for (size_t n; (n = word(r)) != 0; r->at += n) {
        bool ignore = false;
        for (size_t i = 0; i < MG_COUNT(ignored); i++)
            ignore |= is(r->at, n, ignored[i]);
        if (ignore)
            continue;
        if (is(r->at, n, "unsigned")) {
            is_unsigned = true;
        } else if (is(r->at, n, "long")) {
            longs++;
        } else if (*element || !find_type(r->at, n, element, component)) {
            break;
        } else {
            snprintf(name, MG_EXPR_NAME, "%s%.*s", is_unsigned ? "unsigned " : "", (int)MG_MIN(n, 32), r->at);
        }
        any = true;
    }
    if (!any || (!*element && !is_unsigned && !longs)) {
        r->at = begin;
        return false;
    }
    if (longs && *element != 8) /* "long", "long int" */
        *element = 0;
    if (!*element) {
        *element = *component = longs ? 8 : 4;
        snprintf(name, MG_EXPR_NAME, "%s%s", is_unsigned ? "unsigned " : "",
                 longs > 1 ? "long long"
                 : longs   ? "long"
                           : "int");
    }
    return true;
}

/* ---- values ---- */
static int64_t ternary(struct reader *r);

static int64_t literal(struct reader *r)
{
    uint64_t value = 0;
    const char *begin = r->at;
    unsigned base = 10;
    if (*r->at == '0' && (r->at[1] | 32) == 'x')
        base = 16, r->at += 2;
    else if (*r->at == '0' && (r->at[1] | 32) == 'b')
        base = 2, r->at += 2;
    else if (*r->at == '0')
        base = 8;
    bool any = false, large = false;
    for (;; r->at++) {
        char c = *r->at;
        unsigned digit = c >= '0' && c <= '9'         ? (unsigned)(c - '0')
                         : isxdigit((unsigned char)c) ? (unsigned)((c | 32) - 'a') + 10
                                                      : 99;
        if (c == '\'' && any)
            continue;
        if (digit >= base)
            break;
        large |= value > (UINT64_MAX - digit) / base;
        value = value * base + digit;
        any = true;
    }
    while (*r->at == 'u' || *r->at == 'U' || *r->at == 'l' || *r->at == 'L')
        r->at++;
    if (!any || large || isalnum((unsigned char)*r->at) || *r->at == '.' || *r->at == '_')
        fail(r, begin, "is no whole number", begin, strcspn(begin, " \t+-*/%<>&|^()[]?:;,="));
    return (int64_t)value;
}

/* threadIdx and the like: .x, .y or .z must follow. */
static int64_t component_of(struct reader *r, struct mg_dim3 d, const char *name, size_t length)
{
    if (take(r, ".")) {
        size_t n = word(r);
        char c = n == 1 ? *r->at : 0;
        r->at += n;
        if (c == 'x' || c == 'y' || c == 'z')
            return c == 'x' ? d.x : c == 'y' ? d.y : d.z;
    }
    fail(r, name, "needs .x, .y or .z", name, length);
    return 0;
}

static int64_t variable(struct reader *r)
{
    const char *name = r->at;
    size_t n = word(r);
    r->at += n;
    for (unsigned i = 0; r->expr && i < r->expr->nlets; i++)
        if (is(name, n, r->expr->let[i].name))
            return r->expr->let[i].value;
    const struct mg_expr_thread *t = r->thread;
    if (!t) {
        fail(r, name, "has no value here: a number is needed", name, n);
        return 0;
    }
    const int64_t linear =
        t->thread.x + (int64_t)t->block_dim.x * (t->thread.y + (int64_t)t->block_dim.y * t->thread.z);
    const struct {
        const char *name;
        struct mg_dim3 d;
    } built_in[] = {
        {"threadIdx", t->thread}, {"blockIdx", t->block}, {"blockDim", t->block_dim}, {"gridDim", t->grid_dim}};
    const struct {
        const char *name;
        int64_t value;
    } usual[] = {{"tx", t->thread.x},      {"ty", t->thread.y},     {"tz", t->thread.z},   {"bx", t->block.x},
                 {"by", t->block.y},       {"bz", t->block.z},      {"tid", linear},       {"lane", linear % 32},
                 {"lane_id", linear % 32}, {"laneId", linear % 32}, {"warp", linear / 32}, {"warp_id", linear / 32},
                 {"warpId", linear / 32},  {"warpSize", 32}};
    for (size_t i = 0; i < MG_COUNT(built_in); i++)
        if (is(name, n, built_in[i].name))
            return component_of(r, built_in[i].d, name, n);
    for (size_t i = 0; i < MG_COUNT(usual); i++)
        if (is(name, n, usual[i].name))
            return usual[i].value;
    fail(r, name, "is not known", name, n);
    mg__diag_hint(r->diag, "give it a value: --let %.*s=0", (int)MG_MIN(n, 40), name);
    return 0;
}

static int64_t unary(struct reader *r)
{
    int64_t v = 0;
    skip(r);
    const char *begin = r->at;
    if (++r->depth > MOST_DEPTH) {
        fail(r, begin, "nested too deeply", NULL, 0);
    } else if (isdigit((unsigned char)*r->at)) {
        v = literal(r);
    } else if (word(r)) {
        v = variable(r);
    } else if (take(r, "(")) {
        char name[MG_EXPR_NAME];
        uint32_t element, component;
        bool cast = read_type(r, name, &element, &component);
        v = cast ? 0 : ternary(r);
        if (!take(r, ")"))
            fail(r, r->at, "a ) is missing", NULL, 0);
        if (cast && !r->status)
            v = unary(r);
    } else if (take(r, "-")) {
        v = (int64_t)(0 - (uint64_t)unary(r));
    } else if (take(r, "+")) {
        v = unary(r);
    } else if (take(r, "~")) {
        v = ~unary(r);
    } else if (take(r, "!")) {
        v = !unary(r);
    } else {
        fail(r, r->at, *r->at ? "a value is needed here" : "a value is missing at the end", NULL, 0);
    }
    r->depth--;
    return r->status ? 0 : v;
}

static const struct {
    const char *token;
    uint8_t binds;          /* more tightly the larger it is */
    const char *not_before; /* characters that make it another operator */
} operators[] = {{"||", 1, ""},  {"&&", 2, ""},  {"|", 3, "|="}, {"^", 4, "="},  {"&", 5, "&="}, {"==", 6, ""},
                 {"!=", 6, ""},  {"<=", 7, ""},  {">=", 7, ""},  {"<<", 8, "="}, {">>", 8, "="}, {"<", 7, "<="},
                 {">", 7, ">="}, {"+", 9, "+="}, {"-", 9, "-="}, {"*", 10, "="}, {"/", 10, "="}, {"%", 10, "="}};
enum { TIGHTEST = 10 };

/* The operator that stands here; -1: none. */
static int operator_at(struct reader *r)
{
    skip(r);
    for (size_t i = 0; i < MG_COUNT(operators); i++) {
        size_t n = strlen(operators[i].token);
        if (!strncmp(r->at, operators[i].token, n) && !(r->at[n] && strchr(operators[i].not_before, r->at[n])))
            return (int)i;
    }
    return -1;
}

static int64_t shift(struct reader *r, const char *at, int64_t a, int64_t b, bool left)
{
    if (b < 0 || b > 63) {
        if (!r->unused)
            fail(r, at, "shifts by less than 0 or more than 63 bits", NULL, 0);
        return 0;
    }
    return left ? (int64_t)((uint64_t)a << b) : a >> b;
}

static int64_t divide(struct reader *r, const char *at, int64_t a, int64_t b, bool rest)
{
    if (!b || (a == INT64_MIN && b == -1)) {
        if (!r->unused)
            fail(r, at, b ? "has no quotient" : "divides by zero", NULL, 0);
        return 0;
    }
    return rest ? a % b : a / b;
}

static int64_t apply(struct reader *r, const char *at, const char *op, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op[0]) {
    case '|':
        return op[1] ? a || b : a | b;
    case '&':
        return op[1] ? a && b : a & b;
    case '^':
        return a ^ b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '<':
        return op[1] == '<' ? shift(r, at, a, b, true) : op[1] ? a <= b : a < b;
    case '>':
        return op[1] == '>' ? shift(r, at, a, b, false) : op[1] ? a >= b : a > b;
    case '+':
        return (int64_t)(x + y);
    case '-':
        return (int64_t)(x - y);
    case '*':
        return (int64_t)(x * y);
    default:
        return divide(r, at, a, b, op[0] == '%');
    }
}

/* All that binds at least so tightly. */
static int64_t binary(struct reader *r, unsigned binds)
{
    if (binds > TIGHTEST)
        return unary(r);
    int64_t v = binary(r, binds + 1);
    for (int k; !r->status && (k = operator_at(r)) >= 0 && operators[k].binds == binds;) {
        const char *op = operators[k].token, *at = r->at;
        bool decided = (k == 0 && v) || (k == 1 && !v);
        r->at += strlen(op);
        r->unused += decided;
        int64_t other = binary(r, binds + 1);
        r->unused -= decided;
        v = apply(r, at, op, v, other);
    }
    return v;
}

static int64_t ternary(struct reader *r)
{
    if (++r->depth > MOST_DEPTH)
        fail(r, r->at, "nested too deeply", NULL, 0);
    int64_t v = r->status ? 0 : binary(r, 1);
    if (!r->status && take(r, "?")) {
        r->unused += !v;
        int64_t yes = ternary(r);
        r->unused -= !v;
        if (!take(r, ":"))
            fail(r, r->at, "a : is missing", NULL, 0);
        r->unused += !!v;
        int64_t no = r->status ? 0 : ternary(r);
        r->unused -= !!v;
        v = v ? yes : no;
    }
    r->depth--;
    return r->status ? 0 : v;
}

/* ---- the declaration, values of variables, the access ---- */
static struct reader open_reader(const char *text, const char *option, struct mg_diag *diag)
{
    struct reader r = {.text = text, .at = text, .option = option, .diag = diag};
    if (diag)
        memset(diag, 0, sizeof(*diag));
    if (strlen(text) > MG_EXPR_TEXT) {
        r.text = r.at = "";
        fail(&r, r.text, "the text is too long", NULL, 0);
    }
    return r;
}

static void name_to(struct reader *r, char name[MG_EXPR_NAME])
{
    size_t n = word(r);
    if (!n || n >= MG_EXPR_NAME)
        fail(r, r->at, n ? "the name is too long" : "a name is needed here", NULL, 0);
    snprintf(name, MG_EXPR_NAME, "%.*s", (int)MG_MIN(n, (size_t)MG_EXPR_NAME - 1), r->at);
    r->at += n;
}

enum mg_status mg__expr_declare(const char *decl, struct mg_expr *expr, struct mg_diag *diag)
{
    struct reader r = open_reader(decl, "--decl", diag);
    struct mg_expr_array *a = &expr->array;
    uint64_t size = 0;
    memset(a, 0, sizeof(*a));
    if (!r.status && !read_type(&r, a->type, &a->element, &a->component)) {
        size_t n = word(&r);
        fail(&r, r.at, n ? "is no type that is known here" : "a type is needed: float tile[32][33]", n ? r.at : NULL,
             n);
    }
    if (!r.status)
        name_to(&r, a->name);
    for (size = a->element; !r.status && take(&r, "[");) {
        const char *at = r.at;
        int64_t n = ternary(&r);
        if (!r.status && (n < 1 || n > MOST_BYTES || size * (uint64_t)n > MOST_BYTES))
            fail(&r, at, n < 1 ? "a dimension is at least 1" : "the array is larger than any shared memory", NULL, 0);
        if (!r.status && a->ndims == MG_EXPR_DIMS)
            fail(&r, at, "has too many dimensions", NULL, 0);
        if (!r.status && !take(&r, "]"))
            fail(&r, r.at, "a ] is missing", NULL, 0);
        if (r.status)
            break;
        a->dims[a->ndims++] = (uint32_t)n;
        size *= (uint64_t)n;
    }
    if (!r.status && !a->ndims)
        fail(&r, r.at, "an array is needed: float tile[32][33]", NULL, 0);
    if (!r.status) {
        take(&r, ";");
        skip(&r);
        if (*r.at)
            fail(&r, r.at, "nothing more may follow: one array is looked at", NULL, 0);
    }
    a->size = (uint32_t)size;
    return r.status;
}

enum mg_status mg__expr_let(const char *let, struct mg_expr *expr, struct mg_diag *diag)
{
    struct reader r = open_reader(let, "--let", diag);
    r.expr = expr; /* later ones may use earlier ones */
    while (!r.status) {
        struct mg_expr_let *one = &expr->let[expr->nlets];
        if (expr->nlets == MG_EXPR_LETS) {
            fail(&r, r.at, "too many variables", NULL, 0);
            break;
        }
        name_to(&r, one->name);
        if (!r.status && !take(&r, "="))
            fail(&r, r.at, "a value is needed: i=3", NULL, 0);
        if (!r.status)
            one->value = ternary(&r);
        expr->nlets += !r.status;
        skip(&r);
        if (!*r.at || r.status)
            break;
        if (!take(&r, ",") && !take(&r, ";"))
            fail(&r, r.at, "a comma is needed here", NULL, 0);
    }
    return r.status;
}

/* The component of a vector that is asked for: its offset. */
static void read_component(struct reader *r, const struct mg_expr_array *a, struct mg_expr_place *place)
{
    const char *at = r->at, *all = "xyzw";
    size_t n = word(r);
    const char *which = n == 1 ? strchr(all, *r->at) : NULL;
    uint32_t index = which ? (uint32_t)(which - all) : 4;
    r->at += n;
    if (a->element == a->component || index >= a->element / a->component) {
        fail(r, at, "is no component of the element", at, n);
        return;
    }
    place->offset += index * a->component;
    place->width = a->component;
}

enum mg_status mg__expr_place(const struct mg_expr *expr, const struct mg_expr_thread *thread,
                              struct mg_expr_place *place, struct mg_diag *diag)
{
    const struct mg_expr_array *a = &expr->array;
    struct reader r = open_reader(expr->text, "EXPRESSION", diag);
    uint64_t index = 0;
    r.expr = expr;
    r.thread = thread;
    *place = (struct mg_expr_place){.width = a->element};
    size_t n = word(&r);
    if (!r.status && !is(r.at, n, a->name)) {
        fail(&r, r.at, "the access must begin with the name of the array that --decl declares", NULL, 0);
        mg__diag_hint(diag, "%s[…], as in the program: neither a cast nor an address", a->name);
    }
    r.at += n;
    for (unsigned d = 0; !r.status && d < a->ndims; d++) {
        if (!take(&r, "[")) {
            fail(&r, r.at, "an index is missing: the array has more dimensions", NULL, 0);
            break;
        }
        index = index * a->dims[d] + (uint64_t)ternary(&r);
        if (!r.status && !take(&r, "]"))
            fail(&r, r.at, "a ] is missing", NULL, 0);
    }
    uint64_t elements = a->size / a->element;
    if (!r.status && index >= elements) {
        r.status = mg__diag_set(diag, MG_ERR_ADDRESS, "thread (%u,%u,%u) accesses element %lld of '%s', which has %llu",
                                thread->thread.x, thread->thread.y, thread->thread.z, (long long)index, a->name,
                                (unsigned long long)elements);
        mg__diag_at(diag, "EXPRESSION", 1, 1);
        mg__diag_excerpt(diag, expr->text, strlen(expr->text));
    }
    place->offset = r.status ? 0 : (uint32_t)(index * a->element);
    if (!r.status && take(&r, "."))
        read_component(&r, a, place);
    skip(&r);
    place->assigned = *r.at && (r.at[0] == '=' || (strchr("+-*/%&|^", r.at[0]) && r.at[1] == '='));
    if (!r.status && *r.at && !place->assigned && *r.at != ';')
        fail(&r, r.at, "nothing more may follow the access", NULL, 0);
    return r.status;
}
