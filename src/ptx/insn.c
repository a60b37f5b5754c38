/* insn.c - one instruction: its dotted opcode, its operands, and whether they are what the opcode's rule wants.
 *
 * Operands are collected in a small list first: elements of vectors go to the function's list as they come, the
 * instruction's own operands behind them, so that both are contiguous. Labels are put down as uses to be resolved.
 */
#include "ptx/ptx_priv.h"

struct operands {
    unsigned count;
    struct mg_ptx_opnd at[MG_PTX_MAX_OPERANDS];
    uint64_t mark_set[4]; /* operands whose label, table or prototype is still to be found, as a bit set */
    struct tok mark[3];   /* … and their tokens: the last of an instruction at most */
    unsigned nmarks;
};

static int shown(const struct tok *tok)
{
    return (int)MG_MIN(tok->length, 200u);
}

static bool is_name(const struct tok *tok, const char *name)
{
    return tok->kind == TOK_IDENT && tok->length == strlen(name) && memcmp(tok->at, name, tok->length) == 0;
}

bool mg__ptx_predicate(struct parser *p, uint32_t *index)
{
    if (p->tok.kind != TOK_IDENT)
        return mg__ptx_fail(p, "a predicate register is expected, not '%.*s'", shown(&p->tok), p->tok.at);
    const struct sym *sym = mg__ptx_lookup(p, p->tok.at, p->tok.length);
    if (!sym || sym->kind == SYM_VECREG || (sym->kind == SYM_VAR && sym->var->space != MG_SPACE_REG))
        return mg__ptx_fail(p, "'%.*s' is no register", shown(&p->tok), p->tok.at);
    if (p->regs.at[sym->index].type != MG_T_PRED)
        return mg__ptx_fail(p, "'%.*s' is no predicate register", shown(&p->tok), p->tok.at);
    *index = sym->index;
    return mg__ptx_next(p);
}

static bool constant(struct parser *p, struct mg_ptx_opnd *out)
{
    struct value value;
    MG_TRY(mg__ptx_expr(p, &value));
    out->kind = MG_OPND_IMM;
    out->imm = (int64_t)value.bits;
    out->is_float = value.is_float;
    out->wide_float = value.is_float && value.wide;
    return true;
}

static bool push_elem(struct parser *p, const struct mg_ptx_opnd *elem)
{
    return mg__vec_push(&p->elems, *elem) ? true : mg__ptx_nomem(p);
}

/* Elements p->elems[from …] become a run of the function's operands. */
static bool flush_elems(struct parser *p, size_t from, struct mg_ptx_opnd *out)
{
    out->first = (uint32_t)p->operands.count;
    out->count = (uint32_t)(p->elems.count - from);
    for (size_t i = from; i < p->elems.count; i++) {
        if (!mg__vec_push(&p->operands, p->elems.at[i]))
            return mg__ptx_nomem(p);
    }
    p->elems.count = from;
    return true;
}

/* The .x of %v.x, or .b0 of a video instruction's operand; 0 … 3, or 16 + selector. */
static int element_suffix(const struct tok *tok)
{
    static const char *const names[] = {".x", ".y", ".z", ".w", ".r", ".g", ".b", ".a"};
    static const char *const parts[] = {".h0", ".h1", ".b0", ".b1", ".b2", ".b3"};
    for (unsigned i = 0; i < MG_COUNT(names); i++) {
        if (mg__ptx_dot(tok, names[i]))
            return (int)(i % 4);
    }
    for (unsigned i = 0; i < MG_COUNT(parts); i++) {
        if (mg__ptx_dot(tok, parts[i]))
            return (int)(17 + i);
    }
    return -1;
}

static bool special_register(struct parser *p, const struct tok *name, struct mg_ptx_opnd *out)
{
    char full[64];
    size_t length = name->length;
    const struct sreg_entry *entry = mg__strtab_get(&p->sregs, name->at, length);
    if (!entry && p->tok.kind == TOK_DOT && length + p->tok.length < sizeof(full)) {
        memcpy(full, name->at, length);
        memcpy(full + length, p->tok.at, p->tok.length);
        entry = mg__strtab_get(&p->sregs, full, length + p->tok.length);
        if (entry)
            MG_TRY(mg__ptx_next(p));
    }
    if (!entry) {
        mg__ptx_fail_at(p, name, "'%.*s' is not declared", shown(name), name->at);
        return name->at[0] == '%' ? mg__ptx_hint(p, "It is neither a declared register nor a special register.")
                                  : mg__ptx_hint(p, "Names must be declared before they are used.");
    }
    out->kind = MG_OPND_SREG;
    out->index = entry->sreg;
    out->dim = entry->dim;
    return true;
}

static bool register_operand(struct parser *p, const struct tok *name, const struct sym *sym, struct mg_ptx_opnd *out)
{
    out->kind = MG_OPND_REG;
    out->index = sym->index;
    int part = p->tok.kind == TOK_DOT ? element_suffix(&p->tok) : -1;
    if (sym->kind != SYM_VECREG) {
        if (part >= 16) {
            out->dim = (uint8_t)(part - 16);
            return mg__ptx_next(p);
        }
        return true;
    }
    if (part >= 0 && part < sym->width) {
        out->index += (uint32_t)part;
        return mg__ptx_next(p);
    }
    if (part >= 0 || p->tok.kind == TOK_DOT)
        return mg__ptx_fail_at(p, name, "the vector '%.*s' has no such element", shown(name), name->at);
    size_t from = p->elems.count;
    for (unsigned i = 0; i < sym->width; i++) {
        struct mg_ptx_opnd elem = {.kind = MG_OPND_REG, .index = sym->index + i};
        MG_TRY(push_elem(p, &elem));
    }
    memset(out, 0, sizeof(*out));
    out->kind = MG_OPND_VEC;
    return flush_elems(p, from, out);
}

/* The element in brackets behind an array's name, in bytes (PTX ISA, "Arrays as Operands"). */
static bool element(struct parser *p, const struct mg_ptx_var *var, int64_t *offset)
{
    struct value index;
    MG_TRY(mg__ptx_next(p));
    struct tok start = p->tok;
    if (start.kind == TOK_IDENT && !is_name(&start, "WARP_SZ"))
        return mg__ptx_fail_at(p, &start, "an index that is a register is not supported: add it to the address");
    MG_TRY(mg__ptx_expr(p, &index));
    if (index.is_float)
        return mg__ptx_fail_at(p, &start, "a floating-point index");
    uint64_t each = (uint64_t)mg__ptx_type_size((enum mg_ptx_type)var->type) * MG_MAX(var->vec, 1u);
    *offset = (int64_t)(index.bits * each);
    return mg__ptx_expect(p, ']', "behind the index");
}

/* A register, special register, variable, function, or `_`. */
static bool named(struct parser *p, struct mg_ptx_opnd *out)
{
    struct tok name = p->tok;
    MG_TRY(mg__ptx_next(p));
    if (is_name(&name, "_")) {
        out->kind = MG_OPND_SINK;
        return true;
    }
    const struct sym *sym = mg__ptx_lookup(p, name.at, name.length);
    if (p->status != MG_OK)
        return false;
    if (sym && (sym->kind != SYM_VAR || sym->var->space == MG_SPACE_REG))
        return register_operand(p, &name, sym, out);
    const struct module_name *global = sym ? NULL : mg__ptx_module_name(p, name.at, name.length);
    if (!sym && !global)
        return special_register(p, &name, out);
    out->kind = MG_OPND_SYMBOL;
    out->var = sym ? sym->var : global->var;
    out->func = sym ? NULL : global->func;
    if (out->var && mg__ptx_punct(&p->tok, '[')) {
        out->indexed = true;
        return element(p, out->var, &out->imm);
    }
    struct value offset;
    MG_TRY(mg__ptx_expr_after(p, &offset));
    out->imm = (int64_t)offset.bits;
    return true;
}

static bool simple(struct parser *p, struct mg_ptx_opnd *out)
{
    memset(out, 0, sizeof(*out));
    if (p->tok.kind == TOK_IDENT && !is_name(&p->tok, "WARP_SZ"))
        return named(p, out);
    if (mg__ptx_punct(&p->tok, '!')) {
        const char *at = p->at;
        while (at < p->end && (*at == ' ' || *at == '\t'))
            at++;
        if (at < p->end && !(*at >= '0' && *at <= '9') && *at != '(') {
            out->kind = MG_OPND_REG;
            out->negate = true;
            MG_TRY(mg__ptx_next(p));
            return mg__ptx_predicate(p, &out->index);
        }
    }
    if (p->tok.kind == TOK_END)
        return mg__ptx_fail(p, "an operand is expected, but the text ends");
    if (mg__ptx_punct(&p->tok, ';') || mg__ptx_punct(&p->tok, ',') || mg__ptx_punct(&p->tok, '}'))
        return mg__ptx_fail(p, "an operand is expected before '%.*s'", shown(&p->tok), p->tok.at);
    return constant(p, out);
}

/* { a, b, c } behind its brace: elements that are not vectors themselves. */
static bool vector(struct parser *p, struct mg_ptx_opnd *out)
{
    size_t from = p->elems.count;
    memset(out, 0, sizeof(*out));
    out->kind = MG_OPND_VEC;
    MG_TRY(mg__ptx_next(p));
    bool more = !mg__ptx_punct(&p->tok, '}');
    while (more) {
        struct mg_ptx_opnd elem;
        struct tok start = p->tok;
        MG_TRY(simple(p, &elem));
        if (elem.kind == MG_OPND_VEC)
            return mg__ptx_fail_at(p, &start, "a vector inside a vector");
        MG_TRY(push_elem(p, &elem));
        if (p->elems.count - from > MG_PTX_MAX_VECTOR)
            return mg__ptx_fail(p, "a vector of more than %d elements", MG_PTX_MAX_VECTOR);
        MG_TRY(mg__ptx_accept(p, ',', &more));
    }
    MG_TRY(mg__ptx_expect(p, '}', "at the end of the vector"));
    return flush_elems(p, from, out);
}

/* [base + offset], and for instructions that are not executed more operands inside the brackets. */
static bool address(struct parser *p, bool later, struct mg_ptx_opnd *out)
{
    memset(out, 0, sizeof(*out));
    MG_TRY(mg__ptx_next(p));
    struct tok start = p->tok;
    struct mg_ptx_opnd base;
    MG_TRY(simple(p, &base));
    out->kind = MG_OPND_ADDR;
    if (base.kind == MG_OPND_REG && !base.negate && !base.dim) {
        struct value offset;
        out->has_reg = true;
        out->index = base.index;
        MG_TRY(mg__ptx_expr_after(p, &offset));
        if (offset.is_float)
            return mg__ptx_fail_at(p, &start, "a floating-point offset");
        out->imm = (int64_t)offset.bits;
    } else if (base.kind == MG_OPND_SYMBOL) {
        if (base.func)
            return mg__ptx_fail_at(p, &start, "a function is no memory to load from or store to");
        out->var = base.var;
        out->imm = base.imm;
    } else if (base.kind == MG_OPND_IMM && !base.is_float) {
        out->imm = base.imm;
    } else {
        return mg__ptx_fail_at(p, &start, "a register, a variable or a number is expected as an address");
    }
    bool more = false;
    size_t from = p->elems.count;
    if (later)
        MG_TRY(mg__ptx_accept(p, ',', &more));
    while (more) {
        struct mg_ptx_opnd part;
        if (mg__ptx_punct(&p->tok, '{'))
            MG_TRY(vector(p, &part));
        else
            MG_TRY(simple(p, &part));
        MG_TRY(push_elem(p, &part));
        if (p->elems.count - from > MG_PTX_MAX_VECTOR)
            return mg__ptx_fail(p, "more than %d operands in brackets", MG_PTX_MAX_VECTOR);
        MG_TRY(mg__ptx_accept(p, ',', &more));
    }
    MG_TRY(flush_elems(p, from, out));
    MG_TRY(mg__ptx_expect(p, ']', "at the end of the address"));
    if (mg__ptx_dot(&p->tok, ".unified"))
        return mg__ptx_next(p);
    return true;
}

static bool add(struct parser *p, struct operands *ops, const struct mg_ptx_opnd *operand)
{
    if (ops->count >= MG_PTX_MAX_OPERANDS)
        return mg__ptx_fail(p, "more than %d operands", MG_PTX_MAX_OPERANDS);
    ops->at[ops->count++] = *operand;
    return true;
}

/* A label or the name of a table or prototype: to be resolved at the function's end. */
static bool mark_use(struct parser *p, struct operands *ops, enum mg_ptx_opnd_kind kind)
{
    if (p->tok.kind != TOK_IDENT)
        return mg__ptx_fail(p, "a label is expected, not '%.*s'", shown(&p->tok), p->tok.at);
    struct mg_ptx_opnd operand = {.kind = (uint8_t)kind};
    ops->mark[ops->nmarks++] = p->tok;
    ops->mark_set[ops->count / 64] |= UINT64_C(1) << ops->count % 64;
    MG_TRY(add(p, ops, &operand));
    return mg__ptx_next(p);
}

/* ( a, b ) of a call; an absent list is an empty vector. */
static bool call_list(struct parser *p, struct operands *ops)
{
    size_t from = p->elems.count;
    struct mg_ptx_opnd list = {.kind = MG_OPND_VEC};
    if (mg__ptx_punct(&p->tok, '(')) {
        MG_TRY(mg__ptx_next(p));
        bool more = !mg__ptx_punct(&p->tok, ')');
        while (more) {
            struct mg_ptx_opnd elem;
            struct tok start = p->tok;
            MG_TRY(simple(p, &elem));
            if (elem.kind == MG_OPND_VEC || elem.func)
                return mg__ptx_fail_at(p, &start, "a parameter, a register or a constant is expected");
            MG_TRY(push_elem(p, &elem));
            if (p->elems.count - from > MG_PTX_MAX_VECTOR)
                return mg__ptx_fail(p, "more than %d parameters", MG_PTX_MAX_VECTOR);
            MG_TRY(mg__ptx_accept(p, ',', &more));
        }
        MG_TRY(mg__ptx_expect(p, ')', "at the end of the list"));
    }
    MG_TRY(flush_elems(p, from, &list));
    return add(p, ops, &list);
}

/* call (rets), target, (params), prototype; all but the target may be absent. */
static bool call_operands(struct parser *p, struct operands *ops)
{
    bool more;
    bool has_rets = mg__ptx_punct(&p->tok, '(');
    MG_TRY(call_list(p, ops));
    if (has_rets)
        MG_TRY(mg__ptx_expect(p, ',', "behind the list of results"));
    struct tok start = p->tok;
    if (start.kind != TOK_IDENT)
        return mg__ptx_fail(p, "the function to call is expected, not '%.*s'", shown(&p->tok), p->tok.at);
    struct mg_ptx_opnd target;
    MG_TRY(simple(p, &target));
    if (target.kind == MG_OPND_SYMBOL && target.func && target.imm == 0)
        target.kind = MG_OPND_FUNC;
    else if (target.kind != MG_OPND_REG)
        return mg__ptx_fail_at(p, &start, "'%.*s' is neither a function nor a register", shown(&start), start.at);
    MG_TRY(add(p, ops, &target));
    MG_TRY(mg__ptx_accept(p, ',', &more));
    bool has_params = more && mg__ptx_punct(&p->tok, '(');
    MG_TRY(call_list(p, ops));
    if (has_params)
        MG_TRY(mg__ptx_accept(p, ',', &more));
    return more ? mark_use(p, ops, MG_OPND_TABLE) : true;
}

static bool plain_operands(struct parser *p, struct mg_ptx_insn *insn, struct operands *ops)
{
    const char *letters = mg__ptx_operands(insn);
    bool later = (insn->flags & MG_F_LATER) != 0, more = !mg__ptx_punct(&p->tok, ';');
    while (more) {
        struct mg_ptx_opnd operand;
        char letter = letters ? letters[MG_MIN(ops->count, strlen(letters))] : 0;
        if (letter == 'l' || letter == 't') {
            MG_TRY(mark_use(p, ops, letter == 'l' ? MG_OPND_LABEL : MG_OPND_TABLE));
        } else {
            if (mg__ptx_punct(&p->tok, '['))
                MG_TRY(address(p, later || (letters && strchr(letters, 'T')), &operand));
            else if (mg__ptx_punct(&p->tok, '{'))
                MG_TRY(vector(p, &operand));
            else
                MG_TRY(simple(p, &operand));
            struct mg_ptx_opnd with = {0};
            if (!later && operand.kind == MG_OPND_ADDR && operand.count == 1) { /* [map, {coordinates}]: two operands */
                with = p->operands.at[operand.first];
                operand.first = operand.count = 0;
            }
            MG_TRY(add(p, ops, &operand));
            if (with.kind)
                MG_TRY(add(p, ops, &with));
        }
        bool dual = false;
        if (ops->count == 1)
            MG_TRY(mg__ptx_accept(p, '|', &dual));
        if (dual) {
            insn->flags |= MG_F_DUAL;
            continue;
        }
        MG_TRY(mg__ptx_accept(p, ',', &more));
    }
    return true;
}

/* ---- the rule's view of the operands ---- */
static bool vector_fits(const struct parser *p, const struct mg_ptx_insn *insn, const struct mg_ptx_opnd *op, bool dest)
{
    if (op->count == 0 || (insn->opcode == MG_OP_CVT && !(insn->flags & MG_F_LATER)))
        return false;
    if (insn->opcode == MG_OP_MOV || insn->opcode == MG_OP_CVT) {
        if (op->count != 2 && op->count != 4 && op->count != 8)
            return false;
    } else if (op->count != insn->vec && mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->group != MG_G_MATRIX) {
        return false;
    }
    for (uint32_t i = 0; i < op->count; i++) {
        const struct mg_ptx_opnd *elem = &p->operands.at[op->first + i];
        bool ok = elem->kind == MG_OPND_REG || elem->kind == MG_OPND_SINK;
        if (!dest && elem->kind != MG_OPND_SINK)
            ok = true;
        if (!ok || (dest && elem->negate))
            return false;
    }
    return true;
}

static const char *wants(char code)
{
    switch (code) {
    case 'd':
        return "a register to write";
    case 'v':
        return "a register to write, or a vector of as many as .v2, .v4, .v8 say";
    case 's':
        return "a register or a constant";
    case 'w':
        return "a register, a constant, or a vector of as many as .v2, .v4, .v8 say";
    case 'i':
        return "a constant";
    case 'p':
        return "a predicate";
    case 'm':
    case 'M':
    case 'A':
    case 'a':
        return "an address in brackets";
    case 'T':
        return "a tensor map's address and coordinates, [a, {x, y}]";
    case 'c':
        return "coordinates in braces";
    default:
        return "a label";
    }
}

static bool fits(const struct parser *p, const struct mg_ptx_insn *insn, char code, const struct mg_ptx_opnd *op)
{
    bool source =
        op->kind == MG_OPND_REG || op->kind == MG_OPND_IMM || op->kind == MG_OPND_SREG || op->kind == MG_OPND_SYMBOL;
    bool dest = (op->kind == MG_OPND_REG && !op->negate) || op->kind == MG_OPND_SINK;
    bool packs = insn->opcode == MG_OP_MOV || insn->opcode == MG_OP_CVT ||
                 mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->group == MG_G_MATRIX;
    switch (code) {
    case 'd':
        return dest;
    case 's':
        return source;
    case 'p':
        return source && (op->kind != MG_OPND_REG || p->regs.at[op->index].type == MG_T_PRED);
    case 'v':
    case 'w':
        if (op->kind == MG_OPND_VEC)
            return vector_fits(p, insn, op, code == 'v');
        if (insn->vec > 1 && !packs)
            return false;
        return code == 'v' ? dest : source;
    case 'i':
        return op->kind == MG_OPND_IMM && !op->is_float;
    case 'm':
    case 'M':
    case 'A':
    case 'a':
        return op->kind == MG_OPND_ADDR;
    case 'T':
        return op->kind == MG_OPND_ADDR;
    case 'c':
        return op->kind == MG_OPND_VEC && op->count > 0 && op->count <= 5;
    case 'l':
        return op->kind == MG_OPND_LABEL;
    default:
        return op->kind == MG_OPND_TABLE;
    }
}

static bool wrong_count(struct parser *p, const struct tok *start, const struct mg_ptx_insn *insn)
{
    return mg__ptx_fail_at(p, start, "'%.200s' does not take %u operand%s", insn->text, insn->nops,
                           insn->nops == 1 ? "" : "s");
}

static bool check_signature(struct parser *p, const struct tok *start, const struct mg_ptx_insn *insn,
                            struct operands *ops, const char *signature)
{
    unsigned at = 0;
    bool optional = false;
    for (const char *code = signature; *code; code++) {
        if (*code == '*')
            return true;
        if (*code == '?') {
            optional = true;
            continue;
        }
        if (at >= ops->count)
            return optional ? true : wrong_count(p, start, insn);
        struct mg_ptx_opnd *op = &ops->at[at++];
        if (strchr("mMAa", *code) && op->kind == MG_OPND_SYMBOL && op->indexed)
            op->kind = MG_OPND_ADDR;
        bool ok = fits(p, insn, *code, op);
        if (code == signature && insn->flags & MG_F_DUAL) { /* p|q */
            ok = ok && (*code == 'd' || *code == 'v') && op->kind != MG_OPND_VEC && at < ops->count &&
                 fits(p, insn, 'd', &ops->at[at]);
            at++;
        }
        if (!ok)
            return mg__ptx_fail_at(p, start, "operand %u of '%.200s' must be %s", at, insn->text, wants(*code));
    }
    return at == ops->count ? true : wrong_count(p, start, insn);
}

/* ---- roles ---- */
static uint8_t role_of(char letter)
{
    switch (letter) {
    case 'd':
    case 'v':
        return MG_ROLE_WRITE;
    case 'p':
        return MG_ROLE_READ | MG_ROLE_PREDICATE;
    case 'm':
        return MG_ROLE_ADDRESS | MG_ROLE_READ;
    case 'M':
        return MG_ROLE_ADDRESS | MG_ROLE_WRITE;
    case 'A':
        return MG_ROLE_ADDRESS | MG_ROLE_READ | MG_ROLE_WRITE;
    case 'a':
    case 'T':
        return MG_ROLE_ADDRESS;
    case 'l':
    case 't':
        return MG_ROLE_LABEL;
    default:
        return MG_ROLE_READ;
    }
}

/* Each operand gets its role, and the instruction what follows from them. Of an instruction that is not executed all is
 * read and its first operand written, too: nothing relies on more. */
static void assign_roles(struct parser *p, struct mg_ptx_insn *insn, struct operands *ops)
{
    const char *letter = mg__ptx_operands(insn);
    bool known = letter != NULL, dual = insn->flags & MG_F_DUAL, has_address = false;
    letter = known ? letter : "d*";
    insn->nresults = 0;
    for (unsigned n = 0; n < ops->count; n++) {
        struct mg_ptx_opnd *op = &ops->at[n];
        while (*letter == '?')
            letter++;
        op->role = n == 1 && dual ? (uint8_t)MG_ROLE_WRITE : role_of(*letter);
        if (*letter && *letter != '*' && !(n == 0 && dual))
            letter++;
        if (!known && op->kind == MG_OPND_ADDR)
            op->role = MG_ROLE_ADDRESS | MG_ROLE_READ | MG_ROLE_WRITE;
        else if (!known)
            op->role |= MG_ROLE_READ;
        if (op->role & MG_ROLE_WRITE && !(op->role & MG_ROLE_ADDRESS))
            insn->nresults = (uint8_t)(n + 1);
        if (op->role & MG_ROLE_ADDRESS && op->role & (MG_ROLE_READ | MG_ROLE_WRITE) && !has_address) {
            has_address = true;
            insn->address = (uint8_t)n;
        }
        for (uint32_t k = 0; op->kind == MG_OPND_VEC && k < op->count; k++)
            p->operands.at[op->first + k].role = op->role;
    }
    if (!has_address)
        insn->access = MG_ACCESSES_NONE;
}

static bool check(struct parser *p, const struct tok *start, struct mg_ptx_insn *insn, struct operands *ops)
{
    const char *letters = mg__ptx_operands(insn);
    if (!letters || insn->effects & MG_E_CALLS)
        return true;
    for (const char *at = strchr(letters, 'T'); at;
         at = NULL) { /* it stands first or second, and no letter is optional */
        unsigned n = (unsigned)(at - letters);
        if (mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->group != MG_G_TEXTURE && insn->dims && n + 1 < ops->count &&
            ops->at[n + 1].kind == MG_OPND_VEC && ops->at[n + 1].count != insn->dims)
            return mg__ptx_fail_at(p, start, "'%.200s' takes %u coordinates", insn->text, insn->dims);
    }
    if (insn->opcode == MG_OP_CP_ASYNC && insn->sub == MG_SUB_NONE &&
        (insn->space != MG_SPACE_SHARED || insn->space2 != MG_SPACE_GLOBAL))
        return mg__ptx_fail_at(p, start, "'%.200s' copies .shared.global only", insn->text);
    if ((insn->opcode == MG_OP_MIN || insn->opcode == MG_OP_MAX) && insn->nops > 3)
        insn->flags |= MG_F_LATER; /* three inputs: PTX ISA 8.8, sm_100 */
    if (insn->opcode == MG_OP_LOP3 && (insn->boolop != MG_BOOL_NONE) != ((insn->flags & MG_F_DUAL) != 0))
        return mg__ptx_fail_at(p, start, "'%.200s' %s", insn->text,
                               insn->boolop ? "gives a predicate too: d|p" : "gives a predicate with .and or .or only");
    if (insn->opcode == MG_OP_LOP3 && insn->boolop && ops->count > 1 && ops->at[1].kind != MG_OPND_REG)
        return mg__ptx_fail_at(p, start, "operand 2 of '%.200s' must be a predicate register", insn->text);
    return check_signature(p, start, insn, ops, letters);
}

/* The opcode with its dots: one run of characters as a rule, pieces with blanks between them if need be. */
static bool opcode_text(struct parser *p, struct mg_strbuf *joined, const char **text, size_t *length)
{
    struct tok first = p->tok;
    MG_TRY(mg__ptx_next(p));
    *text = first.at;
    *length = first.length;
    while (p->tok.kind == TOK_DOT) {
        if (!joined->at && p->tok.at == *text + *length) {
            *length += p->tok.length;
        } else {
            if ((!joined->at && !mg__strbuf_append(joined, *text, *length)) ||
                !mg__strbuf_append(joined, p->tok.at, p->tok.length))
                return mg__ptx_nomem(p);
        }
        if (*length + joined->count > MG_PTX_MAX_TOKEN)
            return mg__ptx_fail_at(p, &first, "an opcode of more than %d characters", MG_PTX_MAX_TOKEN);
        MG_TRY(mg__ptx_next(p));
    }
    if (joined->at) {
        *text = joined->at;
        *length = joined->count;
    }
    return true;
}

static bool store(struct parser *p, struct mg_ptx_insn *insn, const struct operands *ops)
{
    unsigned nmarks = 0;
    insn->first_op = (uint32_t)p->operands.count;
    for (unsigned i = 0; i < ops->count; i++) {
        if (ops->mark_set[i / 64] >> i % 64 & 1) {
            struct pending use = {.scope = p->scopes.at[p->scopes.count - 1].id,
                                  .operand = (uint32_t)p->operands.count,
                                  .slot = UINT32_MAX,
                                  .other = ops->at[i].kind != MG_OPND_LABEL,
                                  .tok = ops->mark[nmarks++]};
            if (!mg__vec_push(&p->pending, use))
                return mg__ptx_nomem(p);
        }
        if (!mg__vec_push(&p->operands, ops->at[i]))
            return mg__ptx_nomem(p);
    }
    return mg__vec_push(&p->code, *insn) ? true : mg__ptx_nomem(p);
}

bool mg__ptx_insn(struct parser *p, int32_t guard, bool guard_negate)
{
    if (p->tok.kind != TOK_IDENT)
        return mg__ptx_fail(p, "an instruction is expected, not '%.*s'", shown(&p->tok), p->tok.at);
    struct tok start = p->tok;
    struct mg_strbuf joined = {0};
    const char *text;
    size_t length;
    const struct mg_ptx_insn *decoded;
    bool ok = opcode_text(p, &joined, &text, &length);
    struct tok next = p->tok;
    p->tok = start; /* messages about the opcode point at it */
    ok = ok && mg__ptx_decode(p, text, length, &decoded);
    p->tok = next;
    mg__strbuf_free(&joined);
    MG_TRY(ok);
    struct mg_ptx_insn insn = *decoded;
    struct operands ops;
    ops.count = ops.nmarks = 0;
    memset(ops.mark_set, 0, sizeof(ops.mark_set));
    insn.guard = guard;
    insn.guard_negate = guard_negate;
    insn.loc = p->loc;
    insn.ptx_line = start.line;
    p->elems.count = 0;
    if (insn.effects & MG_E_CALLS)
        MG_TRY(call_operands(p, &ops));
    else
        MG_TRY(plain_operands(p, &insn, &ops));
    insn.nops = (uint8_t)ops.count;
    if (!mg__ptx_punct(&p->tok, ';'))
        return mg__ptx_expect(p, ';', "at the end of the instruction");
    MG_TRY(check(p, &start, &insn, &ops));
    assign_roles(p, &insn, &ops);
    MG_TRY(store(p, &insn, &ops));
    return mg__ptx_next(p);
}
