/* body.c - a function's body: scopes, registers, labels and statements (PTX ISA chapter 4 and 5.4).
 *
 * Names live in one hash table; an inner scope's name hides the outer one's entry and gives it back at the `}`.
 * A register range in the function's own scope is only remembered; its registers come to life when they are named.
 * Labels may be used before they are declared and belong to the scope they stand in, so uses are collected and
 * resolved at the end, from the scope of the use outwards. The scopes are a stack of our own: no recursion.
 */
#include "ptx/ptx_priv.h"

static bool push_scope(struct parser *p)
{
    if (p->scopes.count >= MG_PTX_MAX_DEPTH)
        return mg__ptx_fail(p, "scopes nested more than %d deep", MG_PTX_MAX_DEPTH);
    struct scope scope = {.id = (uint32_t)p->parents.count};
    uint32_t parent = p->scopes.count ? p->scopes.at[p->scopes.count - 1].id : UINT32_MAX;
    if (!mg__vec_push(&p->parents, parent) || !mg__vec_push(&p->scopes, scope))
        return mg__ptx_nomem(p);
    return true;
}

static bool pop_scope(struct parser *p)
{
    struct scope *scope = &p->scopes.at[--p->scopes.count];
    for (struct sym *sym = scope->syms; sym; sym = sym->next_in_scope) {
        if (!mg__strtab_put(&p->syms, sym->name, sym->length, sym->shadowed))
            return mg__ptx_nomem(p);
    }
    return true;
}

/* Splits "%r12" into "%r" and 12; false unless it ends in a number without leading zeros. */
static bool split_number(const char *name, size_t length, size_t *prefix, uint32_t *number)
{
    size_t n = length;
    while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    if (n == 0 || n == length || length - n > 9 || (name[n] == '0' && length - n > 1))
        return false;
    *number = 0;
    for (size_t i = n; i < length; i++)
        *number = *number * 10 + (uint32_t)(name[i] - '0');
    *prefix = n;
    return true;
}

static bool define_at(struct parser *p, const char *name, uint32_t length, size_t depth, struct sym **result)
{
    struct sym *outer = mg__strtab_get(&p->syms, name, length);
    if (outer && outer->depth == depth) {
        mg__ptx_fail(p, "'%.*s' is declared twice in one scope", (int)MG_MIN(length, 200u), name);
        return mg__ptx_hint(p, "An inner { } scope may declare the name again.");
    }
    struct sym *sym = mg__arena_alloc(&p->scratch, sizeof(*sym));
    char *copy = mg__arena_strndup(&p->module->arena, name, length);
    if (!sym || !copy || !mg__strtab_put(&p->syms, name, length, sym))
        return mg__ptx_nomem(p);
    sym->name = copy;
    sym->length = length;
    sym->depth = (uint32_t)depth;
    sym->shadowed = outer;
    sym->next_in_scope = p->scopes.at[depth - 1].syms;
    p->scopes.at[depth - 1].syms = sym;
    *result = sym;
    return true;
}

bool mg__ptx_define(struct parser *p, const struct tok *name, struct sym **sym)
{
    if (name->kind != TOK_IDENT)
        return mg__ptx_fail(p, "a name is expected, not '%.*s'", (int)MG_MIN(name->length, 60u), name->at);
    return define_at(p, name->at, name->length, p->scopes.count, sym);
}

/* The registers of a symbol: `width` of them, those of a vector named %v$x, %v$y, … */
static bool make_regs(struct parser *p, struct sym *sym, uint8_t type, unsigned width)
{
    static const char *const suffix[] = {"$x", "$y", "$z", "$w"};
    if (p->regs.count + width > MG_PTX_MAX_REGS)
        return mg__ptx_fail(p, "more than %d registers in one function", MG_PTX_MAX_REGS);
    sym->kind = width > 1 ? SYM_VECREG : SYM_REG;
    sym->width = (uint8_t)width;
    sym->index = (uint32_t)p->regs.count;
    for (unsigned i = 0; i < width; i++) {
        struct mg_ptx_reg reg = {.name = sym->name, .type = type};
        if (width > 1)
            reg.name = mg__arena_printf(&p->module->arena, "%s%s", sym->name, suffix[i]);
        if (!reg.name || !mg__vec_push(&p->regs, reg))
            return mg__ptx_nomem(p);
    }
    return true;
}

bool mg__ptx_define_reg(struct parser *p, const struct tok *name, uint8_t type, unsigned width, uint32_t *index)
{
    struct sym *sym;
    MG_TRY(mg__ptx_define(p, name, &sym));
    MG_TRY(make_regs(p, sym, type, width));
    *index = sym->index;
    return true;
}

/* What a name means here, or NULL: unknown, or out of memory (p->status tells). */
struct sym *mg__ptx_lookup(struct parser *p, const char *name, size_t length)
{
    struct sym *sym = mg__strtab_get(&p->syms, name, length);
    size_t prefix;
    uint32_t number;
    if (sym || !split_number(name, length, &prefix, &number))
        return sym;
    const struct range *range = mg__strtab_get(&p->ranges, name, prefix);
    if (!range || number >= range->count)
        return NULL;
    if (!define_at(p, name, (uint32_t)length, 1, &sym) || !make_regs(p, sym, range->type, range->width))
        return NULL;
    return sym;
}

static bool declare_range(struct parser *p, const struct tok *name, uint8_t type, unsigned width)
{
    uint32_t count;
    MG_TRY(mg__ptx_next(p));
    MG_TRY(mg__ptx_uint(p, 1u << 30, "register range", &count));
    MG_TRY(mg__ptx_expect(p, '>', "behind the number of registers"));
    if (p->scopes.count == 1) {
        struct range *range = mg__arena_alloc(&p->scratch, sizeof(*range));
        if (!range)
            return mg__ptx_nomem(p);
        *range = (struct range){count, type, (uint8_t)width};
        if (mg__strtab_get(&p->ranges, name->at, name->length))
            return mg__ptx_fail_at(p, name, "the register range '%.*s' is declared twice",
                                   (int)MG_MIN(name->length, 200u), name->at);
        return mg__strtab_put(&p->ranges, name->at, name->length, range) ? true : mg__ptx_nomem(p);
    }
    p->inner_regs += count;
    if (p->inner_regs > MG_PTX_MAX_INNER_REGS)
        return mg__ptx_fail_at(p, name, "more than %d registers declared by ranges in inner scopes",
                               MG_PTX_MAX_INNER_REGS);
    for (uint32_t i = 0; i < count; i++) {
        char *full = mg__arena_printf(&p->scratch, "%.*s%u", (int)name->length, name->at, i);
        struct sym *sym;
        if (!full)
            return mg__ptx_nomem(p);
        MG_TRY(define_at(p, full, (uint32_t)strlen(full), p->scopes.count, &sym));
        MG_TRY(make_regs(p, sym, type, width));
    }
    return true;
}

/* .reg [.v2|.v4] .type name | name<count> {, …} ; */
bool mg__ptx_declare_regs(struct parser *p)
{
    unsigned width = 1;
    enum mg_ptx_type type = MG_T_NONE;
    MG_TRY(mg__ptx_next(p));
    while (p->tok.kind == TOK_DOT) {
        if (mg__ptx_dot(&p->tok, ".v2")) {
            width = 2;
        } else if (mg__ptx_dot(&p->tok, ".v4")) {
            width = 4;
        } else if (mg__ptx_dot(&p->tok, ".align")) { /* old compilers write it; registers have no address */
            uint32_t ignored;
            MG_TRY(mg__ptx_next(p));
            MG_TRY(mg__ptx_uint(p, 128, ".align", &ignored));
            continue;
        } else if (!mg__ptx_type_word(p->tok.at + 1, p->tok.length - 1, false, &type)) {
            return mg__ptx_fail(p, "'%.*s' is no type of a register", (int)MG_MIN(p->tok.length, 60u), p->tok.at);
        }
        MG_TRY(mg__ptx_next(p));
    }
    if (type == MG_T_NONE)
        return mg__ptx_fail(p, "the register has no type");
    for (bool more = true; more;) {
        struct tok name = p->tok;
        uint32_t index;
        if (name.kind != TOK_IDENT)
            return mg__ptx_fail(p, "the name of a register is expected");
        MG_TRY(mg__ptx_next(p));
        if (mg__ptx_punct(&p->tok, '<'))
            MG_TRY(declare_range(p, &name, (uint8_t)type, width));
        else
            MG_TRY(mg__ptx_define_reg(p, &name, (uint8_t)type, width, &index));
        MG_TRY(mg__ptx_accept(p, ',', &more));
    }
    return mg__ptx_expect(p, ';', "at the end of the declaration");
}

/* ---- labels ---- */
static size_t mark_key(char *key, uint32_t scope, const struct tok *name)
{
    memcpy(key, &scope, 4);
    memcpy(key + 4, name->at, name->length);
    return 4 + (size_t)name->length;
}

static bool define_mark(struct parser *p, const struct tok *name, enum mark_kind kind, uint32_t index)
{
    char *key = mg__arena_alloc(&p->scratch, 4 + (size_t)name->length);
    struct mark *mark = mg__arena_alloc(&p->scratch, sizeof(*mark));
    if (!key || !mark)
        return mg__ptx_nomem(p);
    *mark = (struct mark){kind, index};
    size_t length = mark_key(key, p->scopes.at[p->scopes.count - 1].id, name);
    if (mg__strtab_get(&p->marks, key, length))
        return mg__ptx_fail_at(p, name, "the label '%.*s' is declared twice", (int)MG_MIN(name->length, 200u),
                               name->at);
    return mg__strtab_put(&p->marks, key, length, mark) ? true : mg__ptx_nomem(p);
}

static bool resolve(struct parser *p, const struct pending *use)
{
    char *key = mg__arena_alloc(&p->scratch, 4 + (size_t)use->tok.length);
    if (!key)
        return mg__ptx_nomem(p);
    const struct mark *mark = NULL;
    for (uint32_t scope = use->scope; scope != UINT32_MAX && !mark; scope = p->parents.at[scope])
        mark = mg__strtab_get(&p->marks, key, mark_key(key, scope, &use->tok));
    if (!mark)
        return mg__ptx_fail_at(p, &use->tok, "the label '%.*s' is not declared", (int)MG_MIN(use->tok.length, 200u),
                               use->tok.at);
    if ((mark->kind == MARK_LABEL) == use->other)
        return mg__ptx_fail_at(p, &use->tok, "'%.*s' is %s", (int)MG_MIN(use->tok.length, 200u), use->tok.at,
                               use->other ? "a label, not a list of targets or a prototype"
                                          : "a list of targets or a prototype, not a label");
    if (use->slot != UINT32_MAX) {
        p->tables.at[use->operand].labels[use->slot] = mark->index;
        return true;
    }
    struct mg_ptx_opnd *operand = &p->operands.at[use->operand];
    if (mark->kind != MARK_LABEL)
        operand->kind = mark->kind == MARK_TABLE ? MG_OPND_TABLE : MG_OPND_PROTO;
    operand->index = mark->index;
    return true;
}

/* name: .branchtargets L1, L2; or name: .calltargets f, g; */
static bool directive_targets(struct parser *p, const struct tok *name, bool calls)
{
    MG_VEC(struct tok) list = {0};
    bool ok = false, more = true;
    struct mg_ptx_table table = {0};
    uint32_t index = (uint32_t)p->tables.count;
    if (!mg__ptx_next(p))
        goto done;
    while (more) {
        if (p->tok.kind != TOK_IDENT) {
            mg__ptx_fail(p, calls ? "the name of a function is expected" : "a label is expected");
            goto done;
        }
        if (!mg__vec_push(&list, p->tok)) {
            mg__ptx_nomem(p);
            goto done;
        }
        if (!mg__ptx_next(p) || !mg__ptx_accept(p, ',', &more))
            goto done;
    }
    table.count = list.count;
    table.name = mg__arena_strndup(&p->module->arena, name->at, name->length);
    if (calls)
        table.funcs = mg__arena_array(&p->module->arena, list.count, sizeof(*table.funcs));
    else
        table.labels = mg__arena_array(&p->module->arena, list.count, sizeof(*table.labels));
    if (!table.name || (!table.funcs && !table.labels) || !mg__vec_push(&p->tables, table)) {
        mg__ptx_nomem(p);
        goto done;
    }
    for (size_t i = 0; i < list.count; i++) {
        if (calls) {
            const struct module_name *found = mg__ptx_module_name(p, list.at[i].at, list.at[i].length);
            if (!found || !found->func) {
                mg__ptx_fail_at(p, &list.at[i], "'%.*s' is no function", (int)MG_MIN(list.at[i].length, 200u),
                                list.at[i].at);
                goto done;
            }
            table.funcs[i] = found->func;
        } else {
            struct pending use = {.scope = p->scopes.at[p->scopes.count - 1].id,
                                  .operand = index,
                                  .slot = (uint32_t)i,
                                  .tok = list.at[i]};
            if (!mg__vec_push(&p->pending, use)) {
                mg__ptx_nomem(p);
                goto done;
            }
        }
    }
    ok = define_mark(p, name, MARK_TABLE, index) && mg__ptx_expect(p, ';', "at the end of the list");
done:
    mg__vec_free(&list);
    return ok;
}

/* name: .callprototype (rets) _ (params) [.noreturn]; */
static bool directive_prototype(struct parser *p, const struct tok *name)
{
    struct mg_ptx_proto proto = {0};
    MG_TRY(mg__ptx_next(p));
    if (mg__ptx_punct(&p->tok, '('))
        MG_TRY(mg__ptx_param_list(p, p->func, &proto.rets, &proto.nrets));
    if (p->tok.kind != TOK_IDENT)
        return mg__ptx_fail(p, "'_' is expected in a prototype");
    MG_TRY(mg__ptx_next(p));
    if (mg__ptx_punct(&p->tok, '('))
        MG_TRY(mg__ptx_param_list(p, p->func, &proto.params, &proto.nparams));
    while (p->tok.kind == TOK_DOT || p->tok.kind == TOK_INT) /* .noreturn, .abi_preserve n */
        MG_TRY(mg__ptx_next(p));
    proto.name = mg__arena_strndup(&p->module->arena, name->at, name->length);
    uint32_t index = (uint32_t)p->protos.count;
    if (!proto.name || !mg__vec_push(&p->protos, proto))
        return mg__ptx_nomem(p);
    MG_TRY(define_mark(p, name, MARK_PROTO, index));
    return mg__ptx_expect(p, ';', "at the end of the prototype");
}

static bool label(struct parser *p, const struct tok *name)
{
    MG_TRY(mg__ptx_next(p)); /* the colon */
    if (mg__ptx_dot(&p->tok, ".branchtargets"))
        return directive_targets(p, name, false);
    if (mg__ptx_dot(&p->tok, ".calltargets"))
        return directive_targets(p, name, true);
    if (mg__ptx_dot(&p->tok, ".callprototype"))
        return directive_prototype(p, name);
    return define_mark(p, name, MARK_LABEL, (uint32_t)p->code.count);
}

/* ---- statements ---- */
static bool directive(struct parser *p)
{
    enum mg_ptx_space space;
    if (mg__ptx_dot(&p->tok, ".loc"))
        return mg__ptx_directive_loc(p);
    if (mg__ptx_dot(&p->tok, ".reg"))
        return mg__ptx_declare_regs(p);
    if (mg__ptx_dot(&p->tok, ".pragma"))
        return mg__ptx_directive_pragma(p);
    if (mg__ptx_dot(&p->tok, ".file"))
        return mg__ptx_directive_file(p);
    if (mg__ptx_dot(&p->tok, ".extern")) {
        MG_TRY(mg__ptx_next(p));
        return mg__ptx_declare(p, MG_LINK_EXTERN);
    }
    if (mg__ptx_space_word(&p->tok, &space))
        return mg__ptx_declare(p, MG_LINK_NONE);
    return mg__ptx_fail(p, "'%.*s' is no directive of a function's body", (int)MG_MIN(p->tok.length, 60u), p->tok.at);
}

static bool statement(struct parser *p)
{
    if (p->tok.kind == TOK_IDENT) {
        const char *at = p->at; /* a look at the character behind: is it a label? */
        while (at < p->end && (*at == ' ' || *at == '\t'))
            at++;
        if (at < p->end && *at == ':') {
            struct tok name = p->tok;
            MG_TRY(mg__ptx_next(p));
            return label(p, &name);
        }
        return mg__ptx_insn(p, -1, false);
    }
    if (p->tok.kind == TOK_DOT)
        return directive(p);
    if (mg__ptx_punct(&p->tok, '@')) {
        bool negate;
        uint32_t guard;
        MG_TRY(mg__ptx_next(p));
        MG_TRY(mg__ptx_accept(p, '!', &negate));
        MG_TRY(mg__ptx_predicate(p, &guard));
        return mg__ptx_insn(p, (int32_t)guard, negate);
    }
    if (mg__ptx_punct(&p->tok, ';'))
        return mg__ptx_next(p);
    return mg__ptx_fail(p, "an instruction, a label or a directive is expected, not '%.*s'",
                        (int)MG_MIN(p->tok.length, 60u), p->tok.at);
}

/* Moves a growing list into the module's arena; never to NULL, so that an offset into an empty list is defined. */
static bool keep(struct parser *p, const void *from, size_t count, size_t size, void *result)
{
    void *copy = mg__arena_array(&p->module->arena, count, size);
    if (!copy)
        return mg__ptx_nomem(p);
    if (count)
        memcpy(copy, from, count * size);
    memcpy(result, &copy, sizeof(copy));
    return true;
}

void mg__ptx_body_free(struct parser *p)
{
    mg__arena_free(&p->scratch);
    p->scopes.count = p->parents.count = p->regs.count = p->func_vars.count = p->code.count = 0;
    p->operands.count = p->tables.count = p->protos.count = p->pending.count = 0;
}

/* Registers that asynchronous instructions write, each once. */
static bool note_flying(struct parser *p, struct mg_ptx_func *func)
{
    bool *seen = NULL;
    MG_VEC(uint32_t) all = {0};
    bool good = true;
    for (size_t i = 0; good && i < func->ninsns; i++) {
        const struct mg_ptx_insn *insn = &func->insns[i];
        if (!(insn->effects & MG_E_FLIES) || !insn->nresults)
            continue;
        if (!seen)
            good = (seen = mg__arena_alloc(&p->scratch, func->nregs * sizeof *seen)) != NULL;
        const struct mg_ptx_opnd *d = mg__ptx_op(func, insn, 0);
        for (uint32_t k = 0; good && d->kind == MG_OPND_VEC && k < d->count; k++) {
            const struct mg_ptx_opnd *e = &func->operands[d->first + k];
            if (e->kind == MG_OPND_REG && !seen[e->index]) {
                seen[e->index] = true;
                good = mg__vec_push(&all, e->index);
            }
        }
    }
    good = good && keep(p, all.at, all.count, sizeof *all.at, &func->flying);
    func->nflying = all.count;
    mg__vec_free(&all);
    return good || mg__ptx_nomem(p);
}

bool mg__ptx_body(struct parser *p, struct mg_ptx_func *func)
{
    struct tok open = p->tok;
    p->loc = 0;
    mg__strtab_init(&p->syms, &p->scratch);
    mg__strtab_init(&p->ranges, &p->scratch);
    mg__strtab_init(&p->marks, &p->scratch);
    MG_TRY(mg__ptx_next(p));
    MG_TRY(push_scope(p));
    for (unsigned list = 0; list < 2; list++) { /* formal parameters are names of the function's own scope */
        for (size_t i = 0; i < (list ? func->nparams : func->nrets); i++) {
            const struct mg_ptx_var *var = list ? func->params[i] : func->rets[i];
            struct sym *sym;
            if (strcmp(var->name, "_") == 0)
                continue;
            MG_TRY(define_at(p, var->name, (uint32_t)strlen(var->name), 1, &sym));
            sym->kind = SYM_VAR;
            sym->var = var;
            if (var->space == MG_SPACE_REG)
                MG_TRY(make_regs(p, sym, var->type, 1));
        }
    }
    while (p->scopes.count) {
        if (mg__ptx_punct(&p->tok, '{')) {
            MG_TRY(mg__ptx_next(p));
            MG_TRY(push_scope(p));
        } else if (mg__ptx_punct(&p->tok, '}')) {
            MG_TRY(mg__ptx_next(p));
            MG_TRY(pop_scope(p));
        } else if (p->tok.kind == TOK_END) {
            mg__ptx_fail_at(p, &open, "the body that begins here has no '}'");
            return mg__ptx_hint(p, "The PTX text seems to be cut short.");
        } else {
            MG_TRY(statement(p));
        }
    }
    for (size_t i = 0; i < p->pending.count; i++)
        MG_TRY(resolve(p, &p->pending.at[i]));
    MG_TRY(keep(p, p->regs.at, p->regs.count, sizeof(*p->regs.at), &func->regs));
    MG_TRY(keep(p, p->func_vars.at, p->func_vars.count, sizeof(*p->func_vars.at), &func->vars));
    MG_TRY(keep(p, p->code.at, p->code.count, sizeof(*p->code.at), &func->insns));
    MG_TRY(keep(p, p->operands.at, p->operands.count, sizeof(*p->operands.at), &func->operands));
    MG_TRY(keep(p, p->tables.at, p->tables.count, sizeof(*p->tables.at), &func->tables));
    MG_TRY(keep(p, p->protos.at, p->protos.count, sizeof(*p->protos.at), &func->protos));
    func->nregs = p->regs.count;
    func->nvars = p->func_vars.count;
    func->ninsns = p->code.count;
    func->noperands = p->operands.count;
    func->ntables = p->tables.count;
    func->nprotos = p->protos.count;
    MG_TRY(note_flying(p, func));
    func->defined = true;
    mg__ptx_body_free(p);
    return true;
}
