/* print.c - a module back to PTX text that parses to the same module.
 *
 * Everything a function declares is printed in its outermost scope, so a name that inner scopes reused, or that hides a
 * name of the module, gets a number behind it. Labels, tables and prototypes are numbered. The order of functions and
 * variables is one that the parser would give them again, and every function is declared before the first body, so
 * that printing what was printed changes nothing.
 */
#include "ptx/ptx_priv.h"

struct printer {
    const struct mg_ptx_module *module;
    struct mg_strbuf *out;
    bool ok; /* false once the buffer or the arena ran out of memory */
    struct mg_arena arena;
    const char **var_names;  /* by variable id */
    const char **reg_names;  /* of the current function */
    struct mg_strtab taken;  /* names in it */
    struct mg_strtab loc_at; /* position -> newest location there, index + 1: see mg__ptx_directive_loc */
    bool inlined;            /* some location has a call site */
};

static void put(struct printer *pr, const char *format, ...) MG_PRINTF(2, 3);

static void put(struct printer *pr, const char *format, ...)
{
    char small[512], *text = small;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(small, sizeof(small), format, args);
    va_end(args);
    if (length >= (int)sizeof(small)) {
        text = malloc((size_t)length + 1);
        if (text)
            vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    if (length < 0 || !text || !mg__strbuf_append(pr->out, text, (size_t)length))
        pr->ok = false;
    if (text != small)
        free(text);
}

/* ---- names ---- */
static const char *unique(struct printer *pr, const char *name)
{
    const char *candidate = name;
    for (unsigned n = 1;; n++) {
        size_t length = strlen(candidate);
        if (!mg__strtab_get(&pr->module->names, candidate, length) && !mg__strtab_get(&pr->taken, candidate, length)) {
            if (!mg__strtab_put(&pr->taken, candidate, length, pr))
                pr->ok = false;
            return candidate;
        }
        /* how far this name was counted already, so that a name used n times costs n steps */
        const char *counter = mg__arena_printf(&pr->arena, "%s$$", name);
        if (!counter) {
            pr->ok = false;
            return name;
        }
        uintptr_t last = (uintptr_t)mg__strtab_get(&pr->taken, counter, strlen(counter));
        n = (unsigned)MG_MAX((uintptr_t)n, last + 1);
        candidate = mg__arena_printf(&pr->arena, "%s$%u", name, n);
        if (!candidate || !mg__strtab_put(&pr->taken, counter, strlen(counter), (void *)(uintptr_t)n)) {
            pr->ok = false;
            return name;
        }
    }
}

static void name_list(struct printer *pr, struct mg_ptx_var *const *vars, size_t count)
{
    for (size_t i = 0; i < count && pr->ok; i++)
        pr->var_names[vars[i]->id] = strcmp(vars[i]->name, "_") == 0 ? "_" : unique(pr, vars[i]->name);
}

static void name_function(struct printer *pr, const struct mg_ptx_func *func)
{
    mg__strtab_init(&pr->taken, &pr->arena);
    name_list(pr, func->rets, func->nrets);
    name_list(pr, func->params, func->nparams);
    name_list(pr, func->vars, func->nvars);
    pr->reg_names = mg__arena_array(&pr->arena, func->nregs ? func->nregs : 1, sizeof(*pr->reg_names));
    if (!pr->reg_names)
        pr->ok = false;
    for (size_t i = 0; i < func->nregs && pr->ok; i++) {
        const char *name = func->regs[i].name;
        const struct mg_ptx_var *formal = NULL; /* a formal parameter in a register has its name already */
        for (size_t k = 0; k < func->nrets + func->nparams && i < func->nrets + func->nparams && !formal; k++) {
            const struct mg_ptx_var *var = k < func->nrets ? func->rets[k] : func->params[k - func->nrets];
            if (var->space == MG_SPACE_REG && strcmp(var->name, name) == 0)
                formal = var;
        }
        pr->reg_names[i] = formal ? pr->var_names[formal->id] : unique(pr, name);
    }
}

static const char *var_name(const struct printer *pr, const struct mg_ptx_var *var)
{
    const char *name = pr->var_names ? pr->var_names[var->id] : NULL;
    return name ? name : var->name;
}

static const char *reg_name(const struct printer *pr, const struct mg_ptx_func *func, uint32_t index)
{
    return pr->reg_names ? pr->reg_names[index] : func->regs[index].name;
}

/* ---- operands ---- */
static void number(struct printer *pr, const struct mg_ptx_opnd *op)
{
    if (!op->is_float)
        put(pr, "%lld", (long long)op->imm);
    else if (op->wide_float)
        put(pr, "0d%016llX", (unsigned long long)op->imm);
    else
        put(pr, "0f%08X", (unsigned)op->imm);
}

static void offset(struct printer *pr, int64_t imm)
{
    if (imm)
        put(pr, "+%lld", (long long)imm);
}

static void operand(struct printer *pr, const struct mg_ptx_func *func, const struct mg_ptx_opnd *op)
{
    static const char *const parts[] = {"", ".h0", ".h1", ".b0", ".b1", ".b2", ".b3"};
    switch (op->kind) {
    case MG_OPND_REG:
        put(pr, "%s%s%s", op->negate ? "!" : "", reg_name(pr, func, op->index), parts[op->dim]);
        break;
    case MG_OPND_IMM:
        number(pr, op);
        break;
    case MG_OPND_SREG:
        put(pr, "%s", mg__ptx_sreg_name((enum mg_ptx_sreg)op->index, op->dim));
        break;
    case MG_OPND_FUNC:
    case MG_OPND_SYMBOL:
        put(pr, "%s", op->func ? op->func->name : var_name(pr, op->var));
        offset(pr, op->imm);
        break;
    case MG_OPND_ADDR:
        put(pr, "[");
        if (op->has_reg || op->var) {
            put(pr, "%s", op->var ? var_name(pr, op->var) : reg_name(pr, func, op->index));
            offset(pr, op->imm);
        } else {
            put(pr, "%lld", (long long)op->imm);
        }
        for (uint32_t i = 0; i < op->count; i++) { /* parts are never addresses, nor vectors of vectors */
            put(pr, ", ");
            operand(pr, func, &func->operands[op->first + i]);
        }
        put(pr, "]");
        break;
    case MG_OPND_VEC:
        put(pr, "{");
        for (uint32_t i = 0; i < op->count; i++) {
            put(pr, "%s", i ? ", " : "");
            operand(pr, func, &func->operands[op->first + i]);
        }
        put(pr, "}");
        break;
    case MG_OPND_LABEL:
        put(pr, "$L_%u", op->index);
        break;
    case MG_OPND_TABLE:
        put(pr, "$T_%u", op->index);
        break;
    case MG_OPND_PROTO:
        put(pr, "$P_%u", op->index);
        break;
    default:
        put(pr, "_");
    }
}

static void call_list(struct printer *pr, const struct mg_ptx_func *func, const struct mg_ptx_opnd *list)
{
    put(pr, "(");
    for (uint32_t i = 0; i < list->count; i++) {
        put(pr, "%s", i ? ", " : "");
        operand(pr, func, &func->operands[list->first + i]);
    }
    put(pr, ")");
}

static void instruction(struct printer *pr, const struct mg_ptx_func *func, const struct mg_ptx_insn *insn)
{
    put(pr, "%s", insn->text);
    const struct mg_ptx_opnd *ops = mg__ptx_op(func, insn, 0);
    if (insn->effects & MG_E_CALLS) {
        put(pr, " ");
        if (ops[0].count) {
            call_list(pr, func, &ops[0]);
            put(pr, ", ");
        }
        operand(pr, func, &ops[1]);
        if (ops[2].count || insn->nops > 3) {
            put(pr, ", ");
            call_list(pr, func, &ops[2]);
        }
        if (insn->nops > 3) {
            put(pr, ", ");
            operand(pr, func, &ops[3]);
        }
        return;
    }
    const char *letters = mg__ptx_operands(insn);
    const char *map = letters && !(insn->flags & MG_F_LATER) ? strchr(letters, 'T') : NULL;
    for (unsigned i = 0; i < insn->nops; i++) {
        put(pr, "%s", i == 0 ? " " : i == 1 && insn->flags & MG_F_DUAL ? "|" : ", ");
        struct mg_ptx_opnd op = ops[i];
        if (map && i == (unsigned)(map - letters)) { /* [map, {coordinates}]: the next operand stands in the brackets */
            op.first = insn->first_op + ++i;
            op.count = 1;
        }
        operand(pr, func, &op);
    }
}

/* ---- declarations ---- */
static void linkage(struct printer *pr, unsigned value)
{
    static const char *const words[] = {"", ".extern ", ".visible ", ".weak ", ".common "};
    put(pr, "%s", value < MG_COUNT(words) ? words[value] : "");
}

static void address_of(struct printer *pr, const struct mg_ptx_reloc *reloc)
{
    const char *name = reloc->func ? reloc->func->name : var_name(pr, reloc->var);
    if (reloc->mask != UINT64_MAX)
        put(pr, "0x%llX(", (unsigned long long)reloc->mask);
    put(pr, reloc->generic ? "generic(%s)" : "%s", name);
    offset(pr, reloc->addend);
    if (reloc->mask != UINT64_MAX)
        put(pr, ")");
}

static void element(struct printer *pr, const struct mg_ptx_var *var, uint64_t at, unsigned size)
{
    uint64_t bits = 0;
    memcpy(&bits, var->init + at, MG_MIN(size, 8u));
    if (var->type == MG_T_F32)
        put(pr, "0f%08X", (unsigned)bits);
    else if (var->type == MG_T_F64)
        put(pr, "0d%016llX", (unsigned long long)bits);
    else if (size == 16 && var->init[at + 15])
        put(pr, "%lld", (long long)bits); /* sign-extended: constants have 64 bits */
    else
        put(pr, size == 16 ? "%lluU" : "%llu", (unsigned long long)bits);
}

/* Elements up to the last that is not zero. */
static void initialiser(struct printer *pr, const struct mg_ptx_var *var)
{
    unsigned size = mg__ptx_type_size((enum mg_ptx_type)var->type);
    size = size ? size : 1; /* a predicate */
    uint64_t used = var->size;
    while (used && !var->init[used - 1])
        used--;
    if (var->nrelocs)
        used = MG_MAX(used, var->relocs[var->nrelocs - 1].offset + 1);
    bool scalar = var->ndims == 0 && var->vec == 1;
    put(pr, " = %s", scalar ? "" : "{");
    size_t reloc = 0;
    for (uint64_t at = 0; pr->ok && at < MG_MAX(used, (uint64_t)(var->size >= size)); at += size) {
        put(pr, "%s", at ? ", " : "");
        while (reloc < var->nrelocs && var->relocs[reloc].offset < at)
            reloc++;
        if (reloc < var->nrelocs && var->relocs[reloc].offset == at)
            address_of(pr, &var->relocs[reloc]);
        else
            element(pr, var, at, size);
    }
    put(pr, "%s", scalar ? "" : "}");
}

static void declaration(struct printer *pr, const struct mg_ptx_var *var, const char *name)
{
    put(pr, ".%s", mg__ptx_space_name((enum mg_ptx_space)var->space));
    if (var->space != MG_SPACE_REG)
        put(pr, " .align %u", var->align);
    if (var->vec > 1)
        put(pr, " .v%u", var->vec);
    put(pr, " .%s %s", var->type == MG_T_OTHER ? "texref" : mg__ptx_type_name((enum mg_ptx_type)var->type), name);
    for (unsigned i = 0; i < var->ndims; i++) {
        if (i == 0 && var->unsized)
            put(pr, "[]");
        else
            put(pr, "[%u]", var->dims[i]);
    }
}

static void formals(struct printer *pr, struct mg_ptx_var *const *vars, size_t count)
{
    put(pr, "(");
    for (size_t i = 0; i < count; i++) {
        put(pr, "%s", i ? ", " : "");
        declaration(pr, vars[i], var_name(pr, vars[i]));
    }
    put(pr, ")");
}

static void limits(struct printer *pr, const char *word, const uint32_t value[3])
{
    if (value[0] | value[1] | value[2])
        put(pr, "\n.%s %u, %u, %u", word, value[0], value[1], value[2]);
}

static void header(struct printer *pr, const struct mg_ptx_func *func)
{
    linkage(pr, func->linkage);
    put(pr, func->is_entry ? ".entry" : ".func");
    if (func->nrets) {
        put(pr, " ");
        formals(pr, func->rets, func->nrets);
    }
    put(pr, " %s", func->name);
    formals(pr, func->params, func->nparams);
    limits(pr, "maxntid", func->maxntid);
    limits(pr, "reqntid", func->reqntid);
    limits(pr, "reqnctapercluster", func->reqnctapercluster);
    if (func->maxclusterrank)
        put(pr, "\n.maxclusterrank %u", func->maxclusterrank);
    if (func->explicitcluster)
        put(pr, "\n.explicitcluster");
    if (func->blocksareclusters)
        put(pr, "\n.blocksareclusters");
    if (func->minnctapersm)
        put(pr, "\n.minnctapersm %u", func->minnctapersm);
    if (func->maxnreg)
        put(pr, "\n.maxnreg %u", func->maxnreg);
    if (func->noreturn)
        put(pr, "\n.noreturn");
}

/* ---- locations ---- */
static void one_loc(struct printer *pr, uint32_t index)
{
    const struct mg_ptx_loc *loc = &pr->module->locs[index], *site = &pr->module->locs[loc->inlined_at];
    put(pr, "    .loc %u %u %u", loc->file, loc->line, loc->column);
    if (loc->inlined_at) {
        put(pr, ", function_name $margay_inlined, inlined_at %u %u %u", site->file, site->line, site->column);
        pr->inlined = true;
    }
    put(pr, "\n");
    if (!mg__strtab_put(&pr->loc_at, (const char *)loc, 12, (void *)(uintptr_t)(index + 1)))
        pr->ok = false;
}

/* A location, with those of its call sites before it that the parser would not find otherwise, outermost first. */
static void location(struct printer *pr, uint32_t index)
{
    uint32_t sites[MG_PTX_MAX_INLINED + 1];
    unsigned count = 0;
    for (uint32_t i = pr->module->locs[index].inlined_at; i && count < MG_COUNT(sites);
         i = pr->module->locs[i].inlined_at)
        sites[count++] = i;
    while (count--) {
        const struct mg_ptx_loc *site = &pr->module->locs[sites[count]];
        if ((uintptr_t)mg__strtab_get(&pr->loc_at, (const char *)site, 12) != (uintptr_t)sites[count] + 1)
            one_loc(pr, sites[count]);
    }
    one_loc(pr, index);
}

/* ---- functions ---- */
static void tables(struct printer *pr, const struct mg_ptx_func *func)
{
    for (size_t i = 0; i < func->ntables; i++) {
        const struct mg_ptx_table *table = &func->tables[i];
        put(pr, "$T_%zu: %s", i, table->labels ? ".branchtargets" : ".calltargets");
        for (size_t k = 0; k < table->count; k++) {
            if (table->labels)
                put(pr, "%s $L_%u", k ? "," : "", table->labels[k]);
            else
                put(pr, "%s %s", k ? "," : "", table->funcs[k]->name);
        }
        put(pr, ";\n");
    }
    for (size_t i = 0; i < func->nprotos; i++) {
        const struct mg_ptx_proto *proto = &func->protos[i];
        put(pr, "$P_%zu: .callprototype ", i);
        if (proto->nrets)
            formals(pr, proto->rets, proto->nrets);
        put(pr, " _ ");
        formals(pr, proto->params, proto->nparams);
        put(pr, ";\n");
    }
}

static bool *label_set(struct printer *pr, const struct mg_ptx_func *func)
{
    bool *is_label = mg__arena_alloc(&pr->arena, func->ninsns + 1);
    if (!is_label) {
        pr->ok = false;
        return NULL;
    }
    for (size_t i = 0; i < func->noperands; i++) {
        if (func->operands[i].kind == MG_OPND_LABEL)
            is_label[func->operands[i].index] = true;
    }
    for (size_t i = 0; i < func->ntables; i++) {
        for (size_t k = 0; func->tables[i].labels && k < func->tables[i].count; k++)
            is_label[func->tables[i].labels[k]] = true;
    }
    return is_label;
}

static bool is_formal(const struct mg_ptx_func *func, const char *name)
{
    for (size_t i = 0; i < func->nrets + func->nparams; i++) {
        const struct mg_ptx_var *var = i < func->nrets ? func->rets[i] : func->params[i - func->nrets];
        if (var->space == MG_SPACE_REG && strcmp(var->name, name) == 0)
            return true;
    }
    return false;
}

static void function(struct printer *pr, const struct mg_ptx_func *func)
{
    put(pr, "\n");
    name_function(pr, func);
    const bool *is_label = label_set(pr, func);
    if (!pr->ok)
        return;
    header(pr, func);
    put(pr, "\n{\n");
    for (size_t i = 0; i < func->nregs; i++) {
        if (i >= func->nrets + func->nparams || !is_formal(func, func->regs[i].name))
            put(pr, "    .reg .%s %s;\n", mg__ptx_type_name((enum mg_ptx_type)func->regs[i].type), pr->reg_names[i]);
    }
    for (size_t i = 0; i < func->nvars; i++) {
        const struct mg_ptx_var *var = func->vars[i];
        put(pr, "    ");
        linkage(pr, var->linkage);
        declaration(pr, var, var_name(pr, var));
        if (var->init)
            initialiser(pr, var);
        put(pr, ";\n");
    }
    tables(pr, func);
    uint32_t loc = 0;
    for (size_t i = 0; i <= func->ninsns && pr->ok; i++) {
        if (is_label[i])
            put(pr, "$L_%zu:\n", i);
        if (i == func->ninsns)
            break;
        const struct mg_ptx_insn *insn = &func->insns[i];
        if (insn->loc != loc)
            location(pr, loc = insn->loc);
        put(pr, "    ");
        if (insn->guard >= 0)
            put(pr, "@%s%s ", insn->guard_negate ? "!" : "", pr->reg_names[insn->guard]);
        instruction(pr, func, insn);
        put(pr, ";\n");
    }
    put(pr, "}\n");
    pr->reg_names = NULL;
}

/* ---- the module ---- */
static const struct mg_ptx_func *own(const struct mg_ptx_func *func)
{
    return func->copy_of ? func->copy_of : func;
}

/* Kernels that code or data names must be declared before it. */
static bool *named_entries(struct printer *pr)
{
    const struct mg_ptx_module *module = pr->module;
    bool *named = mg__arena_alloc(&pr->arena, module->nfuncs + 1);
    if (!named) {
        pr->ok = false;
        return NULL;
    }
    for (size_t i = 0; i < module->nfuncs; i++) {
        const struct mg_ptx_func *func = module->funcs[i];
        for (size_t k = 0; k < func->noperands; k++) {
            if (func->operands[k].func)
                named[own(func->operands[k].func)->id] = true;
        }
        for (size_t k = 0; k < func->ntables; k++) {
            for (size_t n = 0; func->tables[k].funcs && n < func->tables[k].count; n++)
                named[func->tables[k].funcs[n]->id] = true;
        }
    }
    for (size_t i = 0; i < module->nvars; i++) {
        for (size_t k = 0; k < module->vars[i]->nrelocs; k++) {
            if (module->vars[i]->relocs[k].func)
                named[module->vars[i]->relocs[k].func->id] = true;
        }
    }
    for (size_t i = 0; i < module->naliases; i++)
        named[module->aliases[i].alias->id] = named[module->aliases[i].target->id] = true;
    return named;
}

static void module_var(struct printer *pr, const struct mg_ptx_var *var, bool forward)
{
    linkage(pr, forward ? MG_LINK_EXTERN : var->linkage);
    declaration(pr, var, var->name);
    if (var->init && !forward)
        initialiser(pr, var);
    put(pr, ";\n");
}

/* Variables that initialisers name come first; those that name one another in a ring are declared before. */
static void module_vars(struct printer *pr)
{
    const struct mg_ptx_module *module = pr->module;
    bool *named = mg__arena_alloc(&pr->arena, module->nvars + 1);
    if (!named) {
        pr->ok = false;
        return;
    }
    bool forward = false;
    for (size_t i = 0; i < module->nvars; i++) {
        for (size_t k = 0; k < module->vars[i]->nrelocs; k++) {
            if (module->vars[i]->relocs[k].var)
                named[module->vars[i]->relocs[k].var->id] = true;
        }
    }
    for (size_t i = 0; i < module->nvars; i++) {
        for (size_t k = 0; named[i] && k < module->vars[i]->nrelocs; k++) {
            const struct mg_ptx_var *to = module->vars[i]->relocs[k].var;
            forward = forward || (to && to->id >= i);
        }
    }
    for (unsigned pass = forward ? 0 : 1; pass < 3; pass++) {
        for (size_t i = 0; i < module->nvars; i++) {
            if (!module->vars[i]->owner && named[i] == (pass < 2))
                module_var(pr, module->vars[i], pass == 0);
        }
    }
}

/* As nvcc writes it: printable ASCII, and octal digits for every other byte. */
static void file(struct printer *pr, size_t index, const char *name)
{
    put(pr, ".file %zu \"", index);
    for (; *name; name++) {
        if (*name < ' ' || *name > '~')
            put(pr, "\\%03o", (unsigned)(unsigned char)*name);
        else
            put(pr, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
    }
    put(pr, "\"\n");
}

static void whole(struct printer *pr)
{
    const struct mg_ptx_module *module = pr->module;
    put(pr, ".version %u.%u\n", module->version_major, module->version_minor);
    if (module->target_sm)
        put(pr, ".target sm_%u%s\n", module->target_sm, module->target_arch_specific ? "a" : "");
    put(pr, ".address_size 64\n");
    for (size_t i = 1; i < module->nfiles; i++) {
        if (module->files[i][0])
            file(pr, i, module->files[i]);
    }
    const bool *named = named_entries(pr);
    if (!pr->ok)
        return;
    for (unsigned pass = 0; pass < 3; pass++) { /* functions, kernels that are named, other kernels without a body */
        for (size_t i = 0; i < module->nfuncs; i++) {
            const struct mg_ptx_func *func = module->funcs[i];
            unsigned when = !func->is_entry ? 0 : named[i] ? 1 : 2;
            if (when != pass || func->copy_of || (pass == 2 && func->defined))
                continue;
            name_function(pr, func);
            header(pr, func);
            put(pr, ";\n");
        }
    }
    pr->reg_names = NULL;
    for (size_t i = 0; i < module->naliases; i++)
        put(pr, ".alias %s, %s;\n", module->aliases[i].alias->name, module->aliases[i].target->name);
    module_vars(pr);
    for (unsigned pass = 0; pass < 3 && pr->ok; pass++) {
        for (size_t i = 0; i < module->nfuncs && pr->ok; i++) {
            const struct mg_ptx_func *func = module->funcs[i];
            unsigned when = !func->is_entry ? 0 : named[i] ? 1 : 2;
            if (when == pass && func->defined && !func->copy_of)
                function(pr, func);
        }
    }
    if (pr->inlined)
        put(pr, ".section .debug_str\n{\n$margay_inlined:\n.b8 0\n}\n");
}

bool mg__ptx_print(const struct mg_ptx_module *module, struct mg_strbuf *out)
{
    struct printer pr = {.module = module, .out = out, .ok = true};
    mg__strtab_init(&pr.loc_at, &pr.arena);
    pr.var_names = mg__arena_array(&pr.arena, module->nvars ? module->nvars : 1, sizeof(*pr.var_names));
    pr.ok = pr.var_names != NULL;
    if (pr.ok)
        whole(&pr);
    mg__arena_free(&pr.arena);
    return pr.ok;
}

bool mg__ptx_print_insn(const struct mg_ptx_module *module, const struct mg_ptx_func *func,
                        const struct mg_ptx_insn *insn, struct mg_strbuf *out)
{
    struct printer pr = {.module = module, .out = out, .ok = true};
    instruction(&pr, func, insn);
    return pr.ok;
}
