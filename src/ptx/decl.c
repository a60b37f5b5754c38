/* decl.c - declarations of variables and parameters, with their initialisers (PTX ISA 5.4).
 *
 *     .global .attribute(.managed) .align 8 .v2 .f32 a[4][2] = {{1.0, 2.0}, …};
 *
 * An initialiser is written into bytes as it is read; what is an address there becomes a relocation. The element under
 * the cursor is counted flat; a nested brace must begin at a multiple of its row, and what a row leaves out is zero.
 */
#include "ptx/ptx_priv.h"

bool mg__ptx_space_word(const struct tok *tok, enum mg_ptx_space *space)
{
    static const struct {
        const char *word;
        enum mg_ptx_space space;
    } words[] = {{".global", MG_SPACE_GLOBAL}, {".const", MG_SPACE_CONST}, {".shared", MG_SPACE_SHARED},
                 {".local", MG_SPACE_LOCAL},   {".param", MG_SPACE_PARAM}, {".reg", MG_SPACE_REG},
                 {".tex", MG_SPACE_GLOBAL}};
    for (size_t i = 0; i < MG_COUNT(words); i++) {
        if (mg__ptx_dot(tok, words[i].word)) {
            *space = words[i].space;
            return true;
        }
    }
    return false;
}

struct mg_ptx_var *mg__ptx_new_var(struct parser *p)
{
    struct mg_ptx_var *var = mg__arena_alloc(&p->module->arena, sizeof(*var));
    if (!var || p->vars.count >= UINT32_MAX || !mg__vec_push(&p->vars, var)) {
        mg__ptx_nomem(p);
        return NULL;
    }
    var->id = (uint32_t)(p->vars.count - 1);
    var->ptx_line = p->tok.line;
    var->owner = p->func;
    var->vec = 1;
    return var;
}

static bool skip_parens(struct parser *p)
{
    MG_TRY(mg__ptx_next(p));
    while (!mg__ptx_punct(&p->tok, ')')) {
        if (p->tok.kind == TOK_END || mg__ptx_punct(&p->tok, ';'))
            return mg__ptx_fail(p, "')' is expected");
        MG_TRY(mg__ptx_next(p));
    }
    return mg__ptx_next(p);
}

static bool alignment(struct parser *p, uint32_t *align)
{
    MG_TRY(mg__ptx_next(p));
    struct tok number = p->tok;
    MG_TRY(mg__ptx_uint(p, 1u << 30, "alignment", align));
    if (*align == 0 || (*align & (*align - 1)) != 0)
        return mg__ptx_fail_at(p, &number, "an alignment must be a power of two");
    return true;
}

/* What stands between the state space and the name: into `var`, but *align only if written. */
static bool qualifiers(struct parser *p, struct mg_ptx_var *var, uint32_t *align, bool *opaque)
{
    enum mg_ptx_type type;
    enum mg_ptx_space ignored;
    bool pointer = false;
    *align = 0;
    *opaque = false;
    while (p->tok.kind == TOK_DOT) {
        const struct tok *t = &p->tok;
        if (mg__ptx_dot(t, ".align")) {
            uint32_t value;
            MG_TRY(alignment(p, &value));
            if (!pointer) /* .ptr .align speaks of what the parameter points to */
                *align = value;
            continue;
        }
        if (mg__ptx_dot(t, ".attribute")) {
            MG_TRY(mg__ptx_next(p));
            if (!mg__ptx_punct(&p->tok, '('))
                return mg__ptx_fail(p, "'(' is expected behind .attribute");
            MG_TRY(skip_parens(p));
            continue;
        }
        if (mg__ptx_dot(t, ".ptr")) {
            pointer = true;
        } else if (mg__ptx_dot(t, ".v2") || mg__ptx_dot(t, ".v4") || mg__ptx_dot(t, ".v8")) {
            var->vec = (uint8_t)(t->at[2] - '0');
        } else if (mg__ptx_dot(t, ".texref") || mg__ptx_dot(t, ".samplerref") || mg__ptx_dot(t, ".surfref")) {
            var->type = MG_T_OTHER;
            *opaque = true;
        } else if (pointer && mg__ptx_space_word(t, &ignored)) {
            ; /* where the parameter points to: a hint */
        } else if (mg__ptx_type_word(t->at + 1, t->length - 1, false, &type)) {
            var->type = (uint8_t)type;
        } else {
            return mg__ptx_fail(p, "'%.*s' does not belong in a declaration", (int)MG_MIN(t->length, 60u), t->at);
        }
        MG_TRY(mg__ptx_next(p));
    }
    if (var->type == MG_T_NONE)
        return mg__ptx_fail(p, "the variable has no type");
    return true;
}

/* [4][2], [] first only. */
static bool dimensions(struct parser *p, struct mg_ptx_var *var)
{
    while (mg__ptx_punct(&p->tok, '[')) {
        if (var->ndims == MG_COUNT(var->dims))
            return mg__ptx_fail(p, "an array of more than %zu dimensions", MG_COUNT(var->dims));
        MG_TRY(mg__ptx_next(p));
        if (mg__ptx_punct(&p->tok, ']')) {
            if (var->ndims)
                return mg__ptx_fail(p, "only the first dimension may be left open");
            var->unsized = true;
        } else {
            struct value value;
            struct tok start = p->tok;
            MG_TRY(mg__ptx_expr(p, &value));
            if (value.is_float || (!value.is_unsigned && (int64_t)value.bits < 0))
                return mg__ptx_fail_at(p, &start, "an array dimension must be a number of elements");
            if (value.bits > UINT32_MAX)
                return mg__ptx_fail_at(p, &start, "an array dimension of more than 2^32 - 1");
            var->dims[var->ndims] = (uint32_t)value.bits;
        }
        var->ndims++;
        MG_TRY(mg__ptx_expect(p, ']', "at the end of the dimension"));
    }
    return true;
}

static unsigned element_size(const struct mg_ptx_var *var)
{
    if (var->type == MG_T_OTHER)
        return 8; /* a reference to a texture, sampler or surface */
    return var->type == MG_T_PRED ? 1 : mg__ptx_type_size((enum mg_ptx_type)var->type);
}

/* Bytes of one entry of the first dimension (of the whole for a scalar). */
static bool row_size(struct parser *p, const struct mg_ptx_var *var, unsigned from, uint64_t *size)
{
    *size = (uint64_t)element_size(var) * var->vec;
    for (unsigned i = from; i < var->ndims; i++) {
        if (__builtin_mul_overflow(*size, (uint64_t)var->dims[i], size) || *size > MG_PTX_MAX_VAR)
            return mg__ptx_fail(p, "the variable '%.200s' is too large", var->name);
    }
    return true;
}

static bool lay_out(struct parser *p, struct mg_ptx_var *var, uint32_t align)
{
    uint64_t natural = (uint64_t)element_size(var) * var->vec;
    MG_TRY(row_size(p, var, var->unsized ? 1 : 0, &var->size));
    if (var->unsized)
        var->size = 0;
    var->align = align ? align : (uint32_t)MG_MAX(natural, (uint64_t)1);
    return true;
}

/* ---- initialisers ---- */
struct init {
    struct mg_ptx_var *var;
    MG_VEC(uint8_t) bytes; /* of an array whose length the initialiser decides */
    MG_VEC(struct mg_ptx_reloc) relocs;
    uint64_t at, high; /* the cursor; the end of what was written */
};

static bool put_bytes(struct parser *p, struct init *init, uint64_t bits, unsigned size)
{
    struct mg_ptx_var *var = init->var;
    uint8_t *to;
    if (var->unsized) {
        if (init->at + size > MG_PTX_MAX_INIT || p->init_bytes + init->at + size > MG_PTX_MAX_INIT)
            return mg__ptx_fail(p, "more than %llu bytes of initialised variables",
                                (unsigned long long)MG_PTX_MAX_INIT);
        size_t old = init->bytes.count;
        if (init->at + size > old) {
            if (!mg__vec_grow((void **)&init->bytes.at, &init->bytes.capacity, (size_t)init->at + size, 1))
                return mg__ptx_nomem(p);
            init->bytes.count = (size_t)init->at + size;
            memset(init->bytes.at + old, 0, init->bytes.count - old);
        }
        to = init->bytes.at;
    } else {
        if (init->at + size > var->size)
            return mg__ptx_fail(p, "more initial values than '%.200s' has elements", var->name);
        to = var->init;
    }
    for (unsigned i = 0; i < size; i++)
        to[init->at + i] = (uint8_t)(i < 8 ? bits >> 8 * i : 0);
    init->at += size;
    init->high = MG_MAX(init->high, init->at);
    return true;
}

static double as_double(const struct value *value)
{
    double wide;
    float narrow;
    uint32_t half = (uint32_t)value->bits;
    if (!value->is_float)
        return value->is_unsigned ? (double)value->bits : (double)(int64_t)value->bits;
    if (value->wide) {
        memcpy(&wide, &value->bits, sizeof(wide));
        return wide;
    }
    memcpy(&narrow, &half, sizeof(narrow));
    return (double)narrow;
}

static bool put_constant(struct parser *p, struct init *init, const struct value *value)
{
    const struct mg_ptx_var *var = init->var;
    unsigned size = element_size(var);
    uint64_t bits = value->bits;
    if (var->type == MG_T_F32 && !(value->is_float && !value->wide)) {
        float narrow = (float)as_double(value);
        uint32_t half;
        memcpy(&half, &narrow, sizeof(half));
        bits = half;
    } else if (var->type == MG_T_F64 && !(value->is_float && value->wide)) {
        double wide = as_double(value);
        memcpy(&bits, &wide, sizeof(bits));
    }
    if (size == 16 && !value->is_float && !value->is_unsigned && (int64_t)bits < 0) {
        MG_TRY(put_bytes(p, init, bits, 8));
        return put_bytes(p, init, UINT64_MAX, 8);
    }
    return put_bytes(p, init, bits, size);
}

/* sym, sym+4, generic(sym)+4, and with a mask in front 0xFF00(…); the current token is the name. */
static bool put_address(struct parser *p, struct init *init, uint64_t mask)
{
    struct mg_ptx_reloc reloc = {.mask = mask, .size = (uint8_t)element_size(init->var), .offset = init->at};
    struct tok name = p->tok;
    MG_TRY(mg__ptx_next(p));
    if (name.length == 7 && memcmp(name.at, "generic", 7) == 0 && mg__ptx_punct(&p->tok, '(')) {
        reloc.generic = true;
        MG_TRY(mg__ptx_next(p));
        name = p->tok;
        if (name.kind != TOK_IDENT)
            return mg__ptx_fail(p, "the name of a variable is expected");
        MG_TRY(mg__ptx_next(p));
        MG_TRY(mg__ptx_expect(p, ')', "behind the name"));
    }
    struct sym *sym = p->func && p->scopes.count ? mg__ptx_lookup(p, name.at, name.length) : NULL;
    const struct module_name *global = sym ? NULL : mg__ptx_module_name(p, name.at, name.length);
    if (sym && sym->kind == SYM_VAR) {
        reloc.var = sym->var;
    } else if (global) {
        reloc.var = global->var;
        reloc.func = global->func;
    } else {
        return mg__ptx_fail_at(p, &name, "'%.*s' is no variable and no function", (int)MG_MIN(name.length, 200u),
                               name.at);
    }
    struct value offset;
    MG_TRY(mg__ptx_expr_after(p, &offset));
    if (offset.is_float)
        return mg__ptx_fail_at(p, &name, "a floating-point offset");
    reloc.addend = (int64_t)offset.bits;
    if (!mg__vec_push(&init->relocs, reloc))
        return mg__ptx_nomem(p);
    return put_bytes(p, init, 0, reloc.size);
}

static bool put_element(struct parser *p, struct init *init)
{
    struct value value;
    bool names = p->tok.kind == TOK_IDENT && !(p->tok.length == 7 && memcmp(p->tok.at, "WARP_SZ", 7) == 0);
    if (names)
        return put_address(p, init, UINT64_MAX);
    struct tok start = p->tok;
    MG_TRY(mg__ptx_expr(p, &value));
    if (!mg__ptx_punct(&p->tok, '('))
        return put_constant(p, init, &value);
    unsigned low = value.bits ? (unsigned)__builtin_ctzll(value.bits) : 64; /* mask(address): one byte of it */
    if (value.is_float || low > 56 || low % 8 != 0 || value.bits >> low != 0xFF)
        return mg__ptx_fail_at(p, &start, "a mask must pick one byte, such as 0xFF00");
    MG_TRY(mg__ptx_next(p));
    if (p->tok.kind != TOK_IDENT)
        return mg__ptx_fail(p, "the name of a variable is expected behind the mask");
    MG_TRY(put_address(p, init, value.bits));
    return mg__ptx_expect(p, ')', "behind the masked address");
}

/* From `{` on. `level` is the dimension that the braces are; iterative over a stack of rows. */
static bool braces(struct parser *p, struct init *init)
{
    struct {
        uint64_t end, stride; /* of this row; of the rows in it, 0: elements only */
        bool open;            /* no end */
    } rows[MG_COUNT(init->var->dims) + 2];
    const struct mg_ptx_var *var = init->var;
    unsigned levels = var->ndims + (var->vec > 1), depth = 0;
    bool after_element = false;
    do {
        if (mg__ptx_punct(&p->tok, '{') && !after_element) {
            if (depth > 0 && depth >= levels)
                return mg__ptx_fail(p, "more braces than '%.200s' has dimensions", var->name);
            if (depth > 0 && rows[depth - 1].stride && init->at % rows[depth - 1].stride != 0)
                return mg__ptx_fail(p, "the braces do not begin where a row of '%.200s' begins", var->name);
            uint64_t size;
            rows[depth].stride = 0;
            if (depth + 1 < levels)
                MG_TRY(row_size(p, var, depth + 1, &rows[depth].stride));
            rows[depth].open = depth == 0 && var->unsized;
            if (depth == 0)
                size = var->size;
            else
                size = rows[depth - 1].stride;
            rows[depth].end = init->at + size;
            depth++;
            MG_TRY(mg__ptx_next(p));
        } else if (mg__ptx_punct(&p->tok, '}')) {
            depth--;
            if (!rows[depth].open)
                init->at = rows[depth].end;
            init->high = MG_MAX(init->high, init->at);
            after_element = true;
            MG_TRY(mg__ptx_next(p));
        } else if (mg__ptx_punct(&p->tok, ',') && after_element) {
            after_element = false;
            MG_TRY(mg__ptx_next(p));
        } else if (after_element) {
            return mg__ptx_fail(p, "',' or '}' is expected in the initialiser");
        } else {
            if (!rows[depth - 1].open && init->at >= rows[depth - 1].end)
                return mg__ptx_fail(p, "more initial values than '%.200s' has elements", var->name);
            MG_TRY(put_element(p, init));
            after_element = true;
        }
    } while (depth);
    return true;
}

static bool finish_init(struct parser *p, struct init *init)
{
    struct mg_ptx_var *var = init->var;
    if (var->unsized) { /* x[] = {…}: the initialiser gives the first dimension, whole rows */
        uint64_t row;
        MG_TRY(row_size(p, var, 1, &row));
        uint64_t count = row ? (init->high + row - 1) / row : 0;
        if (count > UINT32_MAX)
            return mg__ptx_fail(p, "an array dimension of more than 2^32 - 1");
        var->dims[0] = (uint32_t)count;
        var->unsized = false;
        var->size = count * row;
        p->init_bytes += var->size;
        if (p->init_bytes > MG_PTX_MAX_INIT)
            return mg__ptx_fail(p, "more than %llu bytes of initialised variables",
                                (unsigned long long)MG_PTX_MAX_INIT);
        var->init = mg__arena_alloc(&p->module->arena, (size_t)var->size);
        if (!var->init)
            return mg__ptx_nomem(p);
        if (init->bytes.count)
            memcpy(var->init, init->bytes.at, (size_t)MG_MIN(var->size, (uint64_t)init->bytes.count));
    }
    if (init->relocs.count) {
        var->relocs = mg__arena_array(&p->module->arena, init->relocs.count, sizeof(*var->relocs));
        if (!var->relocs)
            return mg__ptx_nomem(p);
        memcpy(var->relocs, init->relocs.at, init->relocs.count * sizeof(*var->relocs));
        var->nrelocs = init->relocs.count;
    }
    return true;
}

static bool initialiser(struct parser *p, struct mg_ptx_var *var)
{
    struct init init = {.var = var};
    if (var->type == MG_T_OTHER) {
        if (mg__ptx_punct(&p->tok, '{'))
            return mg__ptx_skip_braces(p);
        return mg__ptx_next(p);
    }
    if (!var->unsized) {
        p->init_bytes += var->size;
        if (p->init_bytes > MG_PTX_MAX_INIT)
            return mg__ptx_fail(p, "more than %llu bytes of initialised variables",
                                (unsigned long long)MG_PTX_MAX_INIT);
        var->init = mg__arena_alloc(&p->module->arena, (size_t)var->size);
        if (!var->init)
            return mg__ptx_nomem(p);
    }
    bool ok = mg__ptx_punct(&p->tok, '{') ? braces(p, &init) : put_element(p, &init);
    ok = ok && finish_init(p, &init);
    mg__vec_free(&init.bytes);
    mg__vec_free(&init.relocs);
    return ok;
}

/* ---- where a declaration goes ---- */
static bool same_shape(const struct mg_ptx_var *a, const struct mg_ptx_var *b)
{
    return a->space == b->space && a->type == b->type && a->vec == b->vec &&
           (a->size == b->size || a->unsized || b->unsized);
}

/* A second declaration of a module variable: allowed if one of the two is .extern. Keeps the identity of the first. */
static bool merge(struct parser *p, const struct tok *name, struct mg_ptx_var *old, struct mg_ptx_var *var)
{
    bool first = old->linkage == MG_LINK_EXTERN, second = var->linkage == MG_LINK_EXTERN;
    if (!(first || second || (old->linkage == MG_LINK_COMMON && var->linkage == MG_LINK_COMMON)))
        return mg__ptx_fail_at(p, name, "'%.*s' is defined twice", (int)MG_MIN(name->length, 200u), name->at);
    if (!same_shape(old, var))
        return mg__ptx_fail_at(p, name, "'%.*s' was declared with another type or size",
                               (int)MG_MIN(name->length, 200u), name->at);
    if (first && (!second || (old->unsized && !var->unsized))) {
        uint32_t id = old->id, align = MG_MAX(old->align, var->align);
        *old = *var;
        old->id = id;
        old->align = align;
    }
    p->vars.count--; /* the newest: `var` itself */
    return true;
}

static bool register_var(struct parser *p, const struct tok *name, struct mg_ptx_var **slot)
{
    struct mg_ptx_var *var = *slot;
    if (p->func) {
        struct sym *sym;
        MG_TRY(mg__ptx_define(p, name, &sym));
        sym->kind = SYM_VAR;
        sym->var = var;
        return mg__vec_push(&p->func_vars, var) ? true : mg__ptx_nomem(p);
    }
    struct module_name *found = mg__ptx_module_name(p, name->at, name->length);
    if (found && found->func)
        return mg__ptx_fail_at(p, name, "'%.*s' is a function already", (int)MG_MIN(name->length, 200u), name->at);
    if (found) {
        *slot = found->var;
        return merge(p, name, found->var, var);
    }
    found = mg__arena_alloc(&p->module->arena, sizeof(*found));
    if (!found || !mg__strtab_put(&p->module->names, name->at, name->length, found))
        return mg__ptx_nomem(p);
    found->var = var;
    return true;
}

bool mg__ptx_declare(struct parser *p, enum mg_ptx_linkage linkage)
{
    enum mg_ptx_space space;
    struct mg_ptx_var shape = {.vec = 1};
    uint32_t align;
    bool opaque;
    if (!mg__ptx_space_word(&p->tok, &space))
        return mg__ptx_fail(p, "a state space, .func or .entry is expected, not '%.*s'",
                            (int)MG_MIN(p->tok.length, 60u), p->tok.at);
    if (space == MG_SPACE_REG)
        return p->func ? mg__ptx_declare_regs(p) : mg__ptx_fail(p, "a register outside a function");
    MG_TRY(mg__ptx_next(p));
    MG_TRY(qualifiers(p, &shape, &align, &opaque));
    for (bool more = true; more;) {
        struct tok name = p->tok;
        struct mg_ptx_var *var = mg__ptx_new_var(p);
        if (!var)
            return false;
        if (name.kind != TOK_IDENT)
            return mg__ptx_fail(p, "the name of a variable is expected");
        var->name = mg__arena_strndup(&p->module->arena, name.at, name.length);
        if (!var->name)
            return mg__ptx_nomem(p);
        var->space = (uint8_t)space;
        var->type = shape.type;
        var->vec = shape.vec;
        var->linkage = (uint8_t)linkage;
        var->is_param = space == MG_SPACE_PARAM;
        MG_TRY(mg__ptx_next(p));
        if (mg__ptx_punct(&p->tok, '<'))
            return mg__ptx_fail(p, "only registers are declared in ranges");
        MG_TRY(dimensions(p, var));
        MG_TRY(lay_out(p, var, align));
        bool has_init;
        MG_TRY(mg__ptx_accept(p, '=', &has_init));
        if (has_init) { /* read before the name is known: it may not refer to itself */
            if (space != MG_SPACE_GLOBAL && space != MG_SPACE_CONST)
                return mg__ptx_fail_at(p, &name, "only .global and .const variables have an initial value");
            MG_TRY(initialiser(p, var));
        } else if (var->unsized && linkage != MG_LINK_EXTERN && space != MG_SPACE_PARAM) {
            mg__ptx_fail_at(p, &name, "'%.*s' has no size", (int)MG_MIN(name.length, 200u), name.at);
            return mg__ptx_hint(p, "Only an .extern variable, or one with an initial value, may leave it open.");
        }
        MG_TRY(register_var(p, &name, &var));
        MG_TRY(mg__ptx_accept(p, ',', &more));
    }
    return mg__ptx_expect(p, ';', "at the end of the declaration");
}

bool mg__ptx_formal(struct parser *p, struct mg_ptx_func *func, struct mg_ptx_var **result)
{
    enum mg_ptx_space space;
    struct mg_ptx_var *var = mg__ptx_new_var(p);
    uint32_t align;
    bool opaque;
    if (!var)
        return false;
    var->owner = func;
    if (!mg__ptx_space_word(&p->tok, &space) || (space != MG_SPACE_PARAM && space != MG_SPACE_REG))
        return mg__ptx_fail(p, "a .param is expected, not '%.*s'", (int)MG_MIN(p->tok.length, 60u), p->tok.at);
    var->space = (uint8_t)space;
    var->is_param = true;
    MG_TRY(mg__ptx_next(p));
    MG_TRY(qualifiers(p, var, &align, &opaque));
    if (p->tok.kind != TOK_IDENT)
        return mg__ptx_fail(p, "the name of a parameter is expected");
    var->name = mg__arena_strndup(&p->module->arena, p->tok.at, p->tok.length);
    if (!var->name)
        return mg__ptx_nomem(p);
    MG_TRY(mg__ptx_next(p));
    MG_TRY(dimensions(p, var));
    MG_TRY(lay_out(p, var, align));
    *result = var;
    return true;
}
