/* parse.c - module scope: versions, files, functions and their parameter lists (PTX ISA chapter 11).
 *
 * Declarations and definitions of one function are one struct mg_ptx_func; the definition's parameters win. A module's
 * growing lists are vectors of the parser, moved into the module's arena at the end.
 */
#include "ptx/ptx_priv.h"
#include "ptx/source.h"

struct module_name *mg__ptx_module_name(struct parser *p, const char *name, size_t length)
{
    return mg__strtab_get(&p->module->names, name, length);
}

/* ---- .file and .loc ---- */

bool mg__ptx_directive_file(struct parser *p)
{
    uint32_t index;
    MG_TRY(mg__ptx_next(p));
    MG_TRY(mg__ptx_uint(p, MG_PTX_MAX_FILE, ".file", &index));
    if (p->tok.kind != TOK_STRING)
        return mg__ptx_fail(p, ".file: the name of the file is expected in quotes");
    while (p->files.count <= index) {
        if (!mg__vec_push(&p->files, ""))
            return mg__ptx_nomem(p);
    }
    char *name = mg__arena_strndup(&p->module->arena, p->tok.at, p->tok.length);
    if (!name)
        return mg__ptx_nomem(p);
    if (!mg__ptx_unescape(name))
        return mg__ptx_fail(p, ".file: a name with a zero byte");
    if (index)
        p->files.at[index] = name;
    MG_TRY(mg__ptx_next(p));
    for (unsigned i = 0; i < 2 && mg__ptx_punct(&p->tok, ','); i++) { /* time stamp and size */
        MG_TRY(mg__ptx_next(p));
        if (p->tok.kind != TOK_INT)
            return mg__ptx_fail(p, ".file: a number is expected");
        MG_TRY(mg__ptx_next(p));
    }
    return true;
}

static bool position(struct parser *p, struct mg_ptx_loc *loc)
{
    MG_TRY(mg__ptx_uint(p, MG_PTX_MAX_FILE, ".loc", &loc->file));
    MG_TRY(mg__ptx_uint(p, UINT32_MAX, ".loc", &loc->line));
    return mg__ptx_uint(p, UINT32_MAX, ".loc", &loc->column);
}

bool mg__ptx_intern_loc(struct parser *p, const struct mg_ptx_loc *loc, uint32_t *index)
{
    uintptr_t found = (uintptr_t)mg__strtab_get(&p->loc_of, (const char *)loc, sizeof(*loc));
    if (!found) {
        if (p->locs.count >= UINT32_MAX || !mg__vec_push(&p->locs, *loc))
            return mg__ptx_nomem(p);
        found = p->locs.count; /* index + 1 */
        if (!mg__strtab_put(&p->loc_of, (const char *)loc, sizeof(*loc), (void *)found))
            return mg__ptx_nomem(p);
    }
    *index = (uint32_t)(found - 1);
    return true;
}

/* .loc file line column [, function_name label [+ n], inlined_at file line column]
 * The call site is itself a location, and if it was the current one before, perhaps an inlined one: the newest location
 * at its position is meant. */
bool mg__ptx_directive_loc(struct parser *p)
{
    struct mg_ptx_loc loc = {0}, site = {0};
    uint32_t index;
    MG_TRY(mg__ptx_next(p));
    MG_TRY(position(p, &loc));
    while (mg__ptx_punct(&p->tok, ',')) {
        MG_TRY(mg__ptx_next(p));
        bool inlined = p->tok.kind == TOK_IDENT && p->tok.length == 10 && memcmp(p->tok.at, "inlined_at", 10) == 0;
        bool named = p->tok.kind == TOK_IDENT && p->tok.length == 13 && memcmp(p->tok.at, "function_name", 13) == 0;
        if (!inlined && !named)
            return mg__ptx_fail(p, ".loc: function_name or inlined_at is expected");
        MG_TRY(mg__ptx_next(p));
        if (named) {
            struct value offset;
            if (p->tok.kind != TOK_IDENT)
                return mg__ptx_fail(p, ".loc: a label is expected behind function_name");
            MG_TRY(mg__ptx_next(p));
            MG_TRY(mg__ptx_expr_after(p, &offset));
            continue;
        }
        MG_TRY(position(p, &site));
        uintptr_t at = (uintptr_t)mg__strtab_get(&p->loc_at, (const char *)&site, 12);
        if (at)
            loc.inlined_at = (uint32_t)(at - 1);
        else
            MG_TRY(mg__ptx_intern_loc(p, &site, &loc.inlined_at));
    }
    unsigned levels = 0;
    for (uint32_t i = loc.inlined_at; i; i = p->locs.at[i].inlined_at) { /* always an older one: no rings */
        if (++levels > MG_PTX_MAX_INLINED)
            return mg__ptx_fail(p, ".loc: code inlined more than %d deep", MG_PTX_MAX_INLINED);
    }
    MG_TRY(mg__ptx_intern_loc(p, &loc, &index));
    if (!mg__strtab_put(&p->loc_at, (const char *)&loc, 12, (void *)(uintptr_t)(index + 1)))
        return mg__ptx_nomem(p);
    p->loc = index;
    return true;
}
_Static_assert(offsetof(struct mg_ptx_loc, inlined_at) == 12, "the first 12 bytes of a location are its position");

/* ---- other directives ---- */
static bool directive_version(struct parser *p)
{
    /* "9.0" looks like a decimal number, whatever the lexer makes of it: read the text again */
    if ((p->tok.kind != TOK_FLOAT && p->tok.kind != TOK_INT) || p->tok.length > 20)
        return mg__ptx_fail(p, ".version: a number such as 9.0 is expected");
    unsigned numbers[2] = {0, 0}, part = 0;
    for (uint32_t i = 0; i < p->tok.length; i++) {
        char c = p->tok.at[i];
        if (c == '.' && part == 0)
            part = 1;
        else if (c >= '0' && c <= '9' && numbers[part] < 1000)
            numbers[part] = numbers[part] * 10 + (unsigned)(c - '0');
        else
            return mg__ptx_fail(p, ".version: a number such as 9.0 is expected");
    }
    p->module->version_major = numbers[0];
    p->module->version_minor = numbers[1];
    return mg__ptx_next(p);
}

static bool directive_target(struct parser *p)
{
    bool more;
    do {
        const struct tok *t = &p->tok;
        if (t->kind != TOK_IDENT)
            return mg__ptx_fail(p, ".target: a name such as sm_90 is expected");
        if (t->length > 3 && memcmp(t->at, "sm_", 3) == 0) {
            unsigned number = 0;
            uint32_t i = 3;
            for (; i < t->length && t->at[i] >= '0' && t->at[i] <= '9' && number < 10000; i++)
                number = number * 10 + (unsigned)(t->at[i] - '0');
            bool suffix = i + 1 == t->length && (t->at[i] == 'a' || t->at[i] == 'f');
            if (i == 3 || (i != t->length && !suffix))
                return mg__ptx_fail(p, ".target: '%.*s' is no target", (int)MG_MIN(t->length, 60u), t->at);
            p->module->target_sm = number;
            p->module->target_arch_specific = suffix;
        } else if (t->length == 5 && memcmp(t->at, "debug", 5) == 0) {
            p->module->apart = true;
        }
        MG_TRY(mg__ptx_next(p));
        MG_TRY(mg__ptx_accept(p, ',', &more));
    } while (more);
    return true;
}

static bool directive_address_size(struct parser *p)
{
    uint32_t size;
    struct tok number = p->tok;
    MG_TRY(mg__ptx_uint(p, 1024, ".address_size", &size));
    if (size == 64)
        return true;
    mg__ptx_fail_at(p, &number, "addresses of %u bits", size);
    return mg__ptx_hint(p, "Margay runs 64-bit programs only.");
}

bool mg__ptx_directive_pragma(struct parser *p)
{
    bool more;
    MG_TRY(mg__ptx_next(p));
    do {
        if (p->tok.kind != TOK_STRING)
            return mg__ptx_fail(p, ".pragma: a string is expected");
        MG_TRY(mg__ptx_next(p));
        MG_TRY(mg__ptx_accept(p, ',', &more));
    } while (more);
    return mg__ptx_expect(p, ';', "behind .pragma");
}

/* .section name { … } ; with its name in one or several words */
static bool directive_section(struct parser *p)
{
    while (p->tok.kind == TOK_DOT || p->tok.kind == TOK_IDENT || p->tok.kind == TOK_STRING ||
           mg__ptx_punct(&p->tok, ','))
        MG_TRY(mg__ptx_next(p));
    if (!mg__ptx_punct(&p->tok, '{'))
        return mg__ptx_fail(p, "'{' is expected behind .section");
    return mg__ptx_skip_braces(p);
}

static bool directive_alias(struct parser *p)
{
    struct mg_ptx_func *funcs[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct module_name *found =
            p->tok.kind == TOK_IDENT ? mg__ptx_module_name(p, p->tok.at, p->tok.length) : NULL;
        if (!found || !found->func)
            return mg__ptx_fail(p, ".alias: '%.*s' is no function", (int)MG_MIN(p->tok.length, 200u), p->tok.at);
        funcs[i] = found->func;
        if (i == 0 && found->func->defined)
            return mg__ptx_fail(p, ".alias: '%.200s' has a body of its own", found->func->name);
        MG_TRY(mg__ptx_next(p));
        MG_TRY(mg__ptx_expect(p, i == 0 ? ',' : ';', "in .alias"));
    }
    struct mg_ptx_alias alias = {funcs[0], funcs[1]};
    return mg__vec_push(&p->aliases, alias) ? true : mg__ptx_nomem(p);
}

/* ---- functions ---- */
bool mg__ptx_param_list(struct parser *p, struct mg_ptx_func *func, struct mg_ptx_var ***list, size_t *count)
{
    MG_VEC(struct mg_ptx_var *) vars = {0};
    bool ok = false, more;
    if (!mg__ptx_next(p))
        goto done;
    more = !mg__ptx_punct(&p->tok, ')');
    while (more) {
        struct mg_ptx_var *var;
        if (!mg__ptx_formal(p, func, &var) || !mg__ptx_accept(p, ',', &more))
            goto done;
        if (!mg__vec_push(&vars, var)) {
            mg__ptx_nomem(p);
            goto done;
        }
    }
    *list = NULL;
    *count = vars.count;
    if (vars.count) {
        *list = mg__arena_array(&p->module->arena, vars.count, sizeof(**list));
        if (!*list) {
            mg__ptx_nomem(p);
            goto done;
        }
        memcpy(*list, vars.at, vars.count * sizeof(**list));
    }
    ok = mg__ptx_expect(p, ')', "at the end of the parameters");
done:
    mg__vec_free(&vars);
    return ok;
}

/* Offsets in a kernel's parameter buffer: each at its own alignment (PTX ISA 5.1.6.1). */
static bool lay_out_params(struct parser *p, struct mg_ptx_func *func)
{
    uint64_t at = 0;
    for (size_t i = 0; i < func->nparams; i++) {
        struct mg_ptx_var *var = func->params[i];
        at = (at + var->align - 1) & ~((uint64_t)var->align - 1);
        var->offset = at;
        at += var->size;
        if (at > MG_PTX_MAX_VAR)
            return mg__ptx_fail(p, "the parameters of '%.200s' are too large", func->name);
    }
    func->param_size = at;
    return true;
}

static bool triple(struct parser *p, uint32_t out[3])
{
    uint32_t value[3] = {1, 1, 1};
    bool more = true;
    for (unsigned i = 0; i < 3 && more; i++) {
        MG_TRY(mg__ptx_uint(p, UINT32_MAX, "a limit of threads", &value[i]));
        if (i < 2)
            MG_TRY(mg__ptx_accept(p, ',', &more));
    }
    memcpy(out, value, sizeof(value));
    return true;
}

/* .maxntid 256, 1, 1 and its like, between the parameters and the body. */
static bool performance(struct parser *p, struct mg_ptx_func *func)
{
    uint32_t ignored;
    while (p->tok.kind == TOK_DOT) {
        struct tok word = p->tok;
        if (mg__ptx_dot(&word, ".pragma")) {
            MG_TRY(mg__ptx_directive_pragma(p));
            continue;
        }
        MG_TRY(mg__ptx_next(p));
        if (mg__ptx_dot(&word, ".maxntid")) {
            MG_TRY(triple(p, func->maxntid));
        } else if (mg__ptx_dot(&word, ".reqntid")) {
            MG_TRY(triple(p, func->reqntid));
        } else if (mg__ptx_dot(&word, ".minnctapersm")) {
            MG_TRY(mg__ptx_uint(p, UINT32_MAX, ".minnctapersm", &func->minnctapersm));
        } else if (mg__ptx_dot(&word, ".maxnreg")) {
            MG_TRY(mg__ptx_uint(p, UINT32_MAX, ".maxnreg", &func->maxnreg));
        } else if (mg__ptx_dot(&word, ".reqnctapercluster")) {
            MG_TRY(triple(p, func->reqnctapercluster));
        } else if (mg__ptx_dot(&word, ".maxclusterrank")) {
            MG_TRY(mg__ptx_uint(p, UINT32_MAX, ".maxclusterrank", &func->maxclusterrank));
        } else if (mg__ptx_dot(&word, ".explicitcluster")) {
            func->explicitcluster = true;
        } else if (mg__ptx_dot(&word, ".blocksareclusters")) {
            func->blocksareclusters = true;
        } else if (mg__ptx_dot(&word, ".noreturn")) {
            func->noreturn = true;
        } else if (mg__ptx_dot(&word, ".maxnctapersm") || mg__ptx_dot(&word, ".abi_preserve") ||
                   mg__ptx_dot(&word, ".abi_preserve_control")) {
            MG_TRY(mg__ptx_uint(p, UINT32_MAX, "a number", &ignored));
        } else {
            return mg__ptx_fail_at(p, &word, "'%.*s' is no directive of a function", (int)MG_MIN(word.length, 60u),
                                   word.at);
        }
    }
    return true;
}

/* The function of that name, new or declared before. */
static bool function_named(struct parser *p, const struct tok *name, bool is_entry, struct mg_ptx_func **result)
{
    struct module_name *found = mg__ptx_module_name(p, name->at, name->length);
    if (found && found->var)
        return mg__ptx_fail_at(p, name, "'%.*s' is a variable already", (int)MG_MIN(name->length, 200u), name->at);
    if (found) {
        if (found->func->is_entry != is_entry)
            return mg__ptx_fail_at(p, name, "'%.*s' is declared as .entry and as .func",
                                   (int)MG_MIN(name->length, 200u), name->at);
        *result = found->func;
        return true;
    }
    found = mg__arena_alloc(&p->module->arena, sizeof(*found));
    struct mg_ptx_func *func = mg__arena_alloc(&p->module->arena, sizeof(*func));
    if (!found || !func || p->funcs.count >= UINT32_MAX ||
        !mg__strtab_put(&p->module->names, name->at, name->length, found))
        return mg__ptx_nomem(p);
    func->name = mg__arena_strndup(&p->module->arena, name->at, name->length);
    func->id = (uint32_t)p->funcs.count;
    func->is_entry = is_entry;
    func->ptx_line = name->line;
    found->func = func;
    if (!func->name || !mg__vec_push(&p->funcs, func))
        return mg__ptx_nomem(p);
    *result = func;
    return true;
}

/* From .entry or .func on. */
static bool function(struct parser *p, enum mg_ptx_linkage linkage)
{
    bool is_entry = mg__ptx_dot(&p->tok, ".entry");
    struct mg_ptx_var **rets = NULL, **params = NULL;
    size_t nrets = 0, nparams = 0, first_var = p->vars.count;
    struct mg_ptx_func *func = NULL;
    MG_TRY(mg__ptx_next(p));
    if (mg__ptx_dot(&p->tok, ".attribute")) {
        while (!mg__ptx_punct(&p->tok, ')')) {
            if (p->tok.kind == TOK_END)
                return mg__ptx_fail(p, "')' is expected");
            MG_TRY(mg__ptx_next(p));
        }
        MG_TRY(mg__ptx_next(p));
    }
    if (mg__ptx_punct(&p->tok, '(')) {
        if (is_entry)
            return mg__ptx_fail(p, "a kernel returns nothing");
        MG_TRY(mg__ptx_param_list(p, NULL, &rets, &nrets));
    }
    struct tok name = p->tok;
    if (name.kind != TOK_IDENT)
        return mg__ptx_fail(p, "the name of a function is expected");
    MG_TRY(function_named(p, &name, is_entry, &func));
    MG_TRY(mg__ptx_next(p));
    if (mg__ptx_punct(&p->tok, '('))
        MG_TRY(mg__ptx_param_list(p, func, &params, &nparams));
    for (size_t i = first_var; i < p->vars.count; i++)
        p->vars.at[i]->owner = func;
    bool declared = func->ptx_line != name.line || func->defined;
    if (!func->defined) {
        func->rets = rets;
        func->nrets = nrets;
        func->params = params;
        func->nparams = nparams;
        if (!(declared && linkage == MG_LINK_NONE))
            func->linkage = (uint8_t)linkage;
        if (is_entry)
            MG_TRY(lay_out_params(p, func));
    }
    MG_TRY(performance(p, func));
    if (mg__ptx_punct(&p->tok, ';'))
        return mg__ptx_next(p);
    if (!mg__ptx_punct(&p->tok, '{'))
        return mg__ptx_expect(p, '{', "before the body of the function");
    if (func->defined)
        return mg__ptx_fail_at(p, &name, "'%.*s' has a body already", (int)MG_MIN(name.length, 200u), name.at);
    func->ptx_line = name.line;
    p->func = func;
    MG_TRY(mg__ptx_body(p, func));
    p->func = NULL;
    return true;
}

/* ---- the module ---- */
static bool linkage_word(const struct tok *tok, enum mg_ptx_linkage *linkage)
{
    static const struct {
        const char *word;
        enum mg_ptx_linkage linkage;
    } words[] = {{".visible", MG_LINK_VISIBLE},
                 {".extern", MG_LINK_EXTERN},
                 {".weak", MG_LINK_WEAK},
                 {".common", MG_LINK_COMMON}};
    for (size_t i = 0; i < MG_COUNT(words); i++) {
        if (mg__ptx_dot(tok, words[i].word)) {
            *linkage = words[i].linkage;
            return true;
        }
    }
    return false;
}

static bool top_level(struct parser *p)
{
    static const struct {
        const char *word;
        bool (*parse)(struct parser *p);
    } words[] = {{".version", directive_version},
                 {".target", directive_target},
                 {".address_size", directive_address_size},
                 {".section", directive_section},
                 {".alias", directive_alias}};
    enum mg_ptx_linkage linkage = MG_LINK_NONE;
    if (p->tok.kind == TOK_PUNCT) {
        if (p->tok.punct == ';')
            return mg__ptx_next(p);
        if (p->tok.punct == P2('@', '@')) /* @@DWARF lines of old compilers */
            return mg__ptx_skip_line(p);
    }
    if (p->tok.kind != TOK_DOT)
        return mg__ptx_fail(p, "a directive is expected, not '%.*s'", (int)MG_MIN(p->tok.length, 60u), p->tok.at);
    for (size_t i = 0; i < MG_COUNT(words); i++) {
        if (mg__ptx_dot(&p->tok, words[i].word)) {
            MG_TRY(mg__ptx_next(p));
            return words[i].parse(p);
        }
    }
    if (mg__ptx_dot(&p->tok, ".file"))
        return mg__ptx_directive_file(p);
    if (mg__ptx_dot(&p->tok, ".loc"))
        return mg__ptx_directive_loc(p);
    if (mg__ptx_dot(&p->tok, ".pragma"))
        return mg__ptx_directive_pragma(p);
    while (linkage_word(&p->tok, &linkage))
        MG_TRY(mg__ptx_next(p));
    if (mg__ptx_dot(&p->tok, ".entry") || mg__ptx_dot(&p->tok, ".func"))
        return function(p, linkage);
    return mg__ptx_declare(p, linkage);
}

/* An alias stands for its target everywhere: in code, in lists of targets, in initialisers, and when looked up. */
static bool apply_aliases(struct parser *p)
{
    if (!p->aliases.count)
        return true;
    const struct mg_ptx_func **target = mg__arena_array(&p->temp, p->funcs.count, sizeof(const struct mg_ptx_func *));
    if (!target)
        return mg__ptx_nomem(p);
    for (size_t i = 0; i < p->funcs.count; i++)
        target[i] = p->funcs.at[i];
    for (size_t i = 0; i < p->aliases.count; i++)
        target[p->aliases.at[i].alias->id] = p->aliases.at[i].target;
    for (size_t i = 0; i < p->aliases.count; i++) { /* chains; bounded, for they may form a ring */
        const struct mg_ptx_func **slot = &target[p->aliases.at[i].alias->id];
        for (unsigned step = 0; step < 64 && target[(*slot)->id] != *slot; step++)
            *slot = target[(*slot)->id];
    }
    for (size_t i = 0; i < p->funcs.count; i++) {
        struct mg_ptx_func *func = p->funcs.at[i];
        for (size_t k = 0; k < func->noperands; k++) {
            if (func->operands[k].func)
                func->operands[k].func = target[func->operands[k].func->id];
        }
        for (size_t k = 0; k < func->ntables; k++) {
            for (size_t n = 0; func->tables[k].funcs && n < func->tables[k].count; n++)
                func->tables[k].funcs[n] = target[func->tables[k].funcs[n]->id];
        }
    }
    for (size_t i = 0; i < p->vars.count; i++) {
        for (size_t k = 0; k < p->vars.at[i]->nrelocs; k++) {
            struct mg_ptx_reloc *reloc = &p->vars.at[i]->relocs[k];
            if (reloc->func)
                reloc->func = target[reloc->func->id];
        }
    }
    for (size_t i = 0; i < p->aliases.count; i++) {
        const char *name = p->aliases.at[i].alias->name;
        struct module_name *found = mg__ptx_module_name(p, name, strlen(name));
        found->func = p->funcs.at[target[p->aliases.at[i].alias->id]->id];
    }
    return true;
}

#define KEEP(p, list, field, count_field)                                     \
    do {                                                                      \
        (p)->module->count_field = (p)->list.count;                           \
        if ((p)->list.count) {                                                \
            size_t bytes = (p)->list.count * sizeof(*(p)->list.at);           \
            (p)->module->field = mg__arena_alloc(&(p)->module->arena, bytes); \
            if (!(p)->module->field)                                          \
                return mg__ptx_nomem(p);                                      \
            memcpy((p)->module->field, (p)->list.at, bytes);                  \
        }                                                                     \
    } while (0)

static bool module(struct parser *p)
{
    static const struct mg_ptx_loc nowhere;
    if (!mg__vec_push(&p->files, "") || !mg__vec_push(&p->locs, nowhere))
        return mg__ptx_nomem(p);
    for (size_t i = 0; i < mg__ptx_nsregs; i++) {
        const char *name = mg__ptx_sregs[i].name;
        if (!mg__strtab_put(&p->sregs, name, strlen(name), (void *)(uintptr_t)&mg__ptx_sregs[i]))
            return mg__ptx_nomem(p);
    }
    MG_TRY(mg__ptx_next(p));
    if (!mg__ptx_dot(&p->tok, ".version")) {
        mg__ptx_fail(p, "PTX text begins with .version");
        return mg__ptx_hint(p, "Is this PTX text at all? `nvcc -ptx` writes it.");
    }
    while (p->tok.kind != TOK_END)
        MG_TRY(top_level(p));
    MG_TRY(apply_aliases(p));
    MG_TRY(mg__ptx_copy_called(p));
    for (size_t i = 0; i < p->vars.count; i++)
        p->vars.at[i]->id = (uint32_t)i;
    KEEP(p, files, files, nfiles);
    KEEP(p, locs, locs, nlocs);
    KEEP(p, vars, vars, nvars);
    KEEP(p, funcs, funcs, nfuncs);
    KEEP(p, aliases, aliases, naliases);
    for (size_t i = 1; i < p->module->nlocs; i++) {
        if (p->module->locs[i].file >= p->module->nfiles)
            p->module->locs[i].file = 0; /* a .loc without its .file */
    }
    return true;
}

enum mg_status mg__ptx_parse(const char *text, size_t length, struct mg_ptx_module **result, struct mg_diag *diag)
{
    *result = NULL;
    if (diag)
        memset(diag, 0, sizeof(*diag));
    const char *nul = length ? memchr(text, '\0', length) : NULL;
    if (nul)
        length = (size_t)(nul - text);
    if (length > UINT32_MAX / 2)
        return mg__diag_set(diag, MG_ERR_SYNTAX, "PTX text of more than 2 GiB");
    struct mg_ptx_module *made = calloc(1, sizeof(*made));
    struct parser *p = calloc(1, sizeof(*p));
    if (!made || !p) {
        free(made);
        free(p);
        return mg__diag_set(diag, MG_ERR_NOMEM, "out of memory while reading PTX");
    }
    if (!length)
        text = "";
    p->text = p->at = p->line_start = text;
    p->end = text + length;
    p->line = 1;
    p->module = made;
    p->diag = diag;
    mg__strtab_init(&made->names, &made->arena);
    mg__strtab_init(&p->insns, &p->temp);
    mg__strtab_init(&p->sregs, &p->temp);
    mg__strtab_init(&p->loc_at, &p->temp);
    mg__strtab_init(&p->loc_of, &p->temp);

    bool ok = module(p);
    enum mg_status status = ok ? MG_OK : p->status;
    mg__ptx_body_free(p);
    mg__arena_free(&p->temp);
    mg__vec_free(&p->vars);
    mg__vec_free(&p->funcs);
    mg__vec_free(&p->locs);
    mg__vec_free(&p->files);
    mg__vec_free(&p->aliases);
    mg__vec_free(&p->scopes);
    mg__vec_free(&p->parents);
    mg__vec_free(&p->regs);
    mg__vec_free(&p->func_vars);
    mg__vec_free(&p->code);
    mg__vec_free(&p->operands);
    mg__vec_free(&p->tables);
    mg__vec_free(&p->protos);
    mg__vec_free(&p->pending);
    mg__vec_free(&p->elems);
    free(p);
    if (!ok) {
        mg__ptx_free(made);
        return status;
    }
    *result = made;
    return MG_OK;
}

void mg__ptx_free(struct mg_ptx_module *dead)
{
    if (!dead)
        return;
    mg__arena_free(&dead->arena);
    free(dead);
}

const struct mg_ptx_func *mg__ptx_find_func(const struct mg_ptx_module *module_, const char *name)
{
    const struct module_name *found = mg__strtab_get(&module_->names, name, strlen(name));
    return found ? found->func : NULL;
}

const struct mg_ptx_var *mg__ptx_find_var(const struct mg_ptx_module *module_, const char *name)
{
    const struct module_name *found = mg__strtab_get(&module_->names, name, strlen(name));
    return found ? found->var : NULL;
}
