/* plain_read.c - PTX text for plain.c: a reader of its own, which shares nothing with src/ptx. It takes the text that
 * program.c writes: one kernel, registers declared before they are used, labels whose names are unique. */
#include "plain_priv.h"

#include <ctype.h>

static const struct {
    const char *name;
    uint8_t op;
} names[] = {
    {"add", P_ADD},     {"addc", P_ADDC}, {"sub", P_SUB},   {"subc", P_SUBC},     {"mul", P_MUL},     {"mad", P_MAD},
    {"madc", P_MADC},   {"min", P_MIN},   {"max", P_MAX},   {"and", P_AND},       {"or", P_OR},       {"xor", P_XOR},
    {"not", P_NOT},     {"shl", P_SHL},   {"shr", P_SHR},   {"neg", P_NEG},       {"abs", P_ABS},     {"popc", P_POPC},
    {"clz", P_CLZ},     {"brev", P_BREV}, {"bfe", P_BFE},   {"bfi", P_BFI},       {"prmt", P_PRMT},   {"lop3", P_LOP3},
    {"shf", P_SHF},     {"sad", P_SAD},   {"div", P_DIV},   {"rem", P_REM},       {"selp", P_SELP},   {"slct", P_SLCT},
    {"mov", P_MOV},     {"cvt", P_CVT},   {"setp", P_SETP}, {"ld", P_LD},         {"st", P_ST},       {"red", P_RED},
    {"atom", P_ATOM},   {"bra", P_BRA},   {"brx", P_BRX},   {"ret", P_RET},       {"exit", P_RET},    {"bar", P_BAR},
    {"barrier", P_BAR}, {"shfl", P_SHFL}, {"vote", P_VOTE}, {"membar", P_MEMBAR}, {"redux", P_REDUX},
};
static const struct {
    const char *name;
    uint8_t bits;
    bool is_signed, is_float;
} types[] = {
    {"u8", 8, 0, 0},   {"u16", 16, 0, 0}, {"u32", 32, 0, 0}, {"u64", 64, 0, 0},   {"s8", 8, 1, 0},   {"s16", 16, 1, 0},
    {"s32", 32, 1, 0}, {"s64", 64, 1, 0}, {"b8", 8, 0, 0},   {"b16", 16, 0, 0},   {"b32", 32, 0, 0}, {"b64", 64, 0, 0},
    {"f32", 32, 0, 1}, {"f64", 64, 0, 1}, {"pred", 1, 0, 0}, {"b128", 128, 0, 0},
};
static const char *const words[P_WORDS] = {
    [W_LO] = "lo",
    [W_HI] = "hi",
    [W_WIDE] = "wide",
    [W_CC] = "cc",
    [W_EQ] = "eq",
    [W_NE] = "ne",
    [W_LT] = "lt",
    [W_LE] = "le",
    [W_GT] = "gt",
    [W_GE] = "ge",
    [W_LS] = "ls",
    [W_HS] = "hs",
    [W_AND] = "and",
    [W_OR] = "or",
    [W_XOR] = "xor",
    [W_POPC] = "popc",
    [W_L] = "l",
    [W_R] = "r",
    [W_WRAP] = "wrap",
    [W_CLAMP] = "clamp",
    [W_SYNC] = "sync",
    [W_BFLY] = "bfly",
    [W_UP] = "up",
    [W_DOWN] = "down",
    [W_IDX] = "idx",
    [W_ALL] = "all",
    [W_ANY] = "any",
    [W_BALLOT] = "ballot",
    [W_GLOBAL] = "global",
    [W_SHARED] = "shared",
    [W_CONST] = "const",
    [W_PARAM] = "param",
    [W_LOCAL] = "local",
    [W_VOLATILE] = "volatile",
    [W_NC] = "nc",
    [W_V2] = "v2",
    [W_V4] = "v4",
    [W_CTA] = "cta",
    [W_GL] = "gl",
    [W_ADD] = "add",
    [W_MAX] = "max",
    [W_MIN] = "min",
    [W_RED] = "red",
    [W_UNI] = "uni",
    [W_WARP] = "warp",
    [W_RN] = "rn",
    [W_RELAXED] = "relaxed",
    [W_ACQUIRE] = "acquire",
    [W_RELEASE] = "release",
    [W_GPU] = "gpu",
};

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '.' || c == '$';
}

static const char *skip(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* "add.cc.u32": its operation, types and words; false: not known. */
static bool read_name(const char *at, size_t length, struct p_insn *i)
{
    char name[64];
    if (length >= sizeof name)
        return false;
    memcpy(name, at, length);
    name[length] = 0;
    unsigned ntypes = 0;
    char *rest = NULL, *part = strtok_r(name, ".", &rest);
    i->op = P_NONE;
    for (unsigned k = 0; part && k < MG_COUNT(names); k++)
        if (!strcmp(part, names[k].name))
            i->op = names[k].op;
    if (!i->op)
        return false;
    while ((part = strtok_r(NULL, ".", &rest)) != NULL) {
        bool found = false;
        for (unsigned k = 0; k < MG_COUNT(types) && !found && ntypes < 2; k++)
            if ((found = !strcmp(part, types[k].name)))
                i->type[ntypes++] = (struct p_type){types[k].bits, types[k].is_signed, types[k].is_float};
        for (unsigned k = 0; k < P_WORDS && !found; k++)
            if ((found = words[k] && !strcmp(part, words[k])))
                i->words |= UINT64_C(1) << k;
        if (!found)
            return false;
    }
    if (ntypes == 1)
        i->type[1] = i->type[0];
    bool moves = i->op == P_LD || i->op == P_ST || i->op == P_SELP || i->op == P_MOV;
    if (i->type[0].bits == 128 && i->op != P_MOV)
        return false;
    if (i->op == P_CVT) /* whole numbers to floats, rounded to the nearest: as in C */
        return ntypes == 2 && !i->type[1].is_float && i->type[0].is_float == p_has(i, W_RN);
    return moves || (!i->type[0].is_float && !p_has(i, W_RN));
}

/* ---- operands ---- */
static int find_reg(const struct p_code *c, const char *at, size_t length)
{
    for (int r = 0; r < c->nregs; r++)
        if (strlen(c->regs[r].name) == length && !memcmp(c->regs[r].name, at, length))
            return r;
    return -1;
}

static bool read_special(const char *at, size_t length, struct p_opnd *o)
{
    static const char *const special[] = {"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid"};
    for (unsigned k = 0; k < MG_COUNT(special); k++) {
        size_t n = strlen(special[k]);
        bool dim = k < 4;
        if (length != n + (dim ? 2 : 0) || memcmp(at, special[k], n) != 0)
            continue;
        *o = (struct p_opnd){.kind = O_SPECIAL, .reg = (int)k, .imm = dim ? at[n + 1] - 'x' : 0};
        return true;
    }
    return false;
}

static const char *read_operand(struct p_code *c, const char *at, struct p_opnd *o);

static const char *read_list(struct p_code *c, const char *at, struct p_opnd *o, char end)
{
    *o = (struct p_opnd){.kind = O_VEC, .first = c->nparts};
    struct p_opnd part[4];
    unsigned n = 0;
    do {
        at = n < 4 ? read_operand(c, skip(at + 1), &part[n++]) : NULL;
        at = at ? skip(at) : NULL;
    } while (at && *at == ',');
    if (!at || *at != end || c->nparts + (int)n > P_MOST)
        return NULL;
    memcpy(&c->parts[c->nparts], part, n * sizeof *part);
    c->nparts += (int)n;
    o->count = (int)n;
    return at + 1;
}

static const char *read_address(struct p_code *c, const char *at, struct p_opnd *o)
{
    struct p_opnd base;
    at = read_operand(c, skip(at + 1), &base);
    if (!at || (base.kind != O_REG && base.kind != O_IMM))
        return NULL;
    *o = (struct p_opnd){.kind = O_ADDR, .reg = base.kind == O_REG ? base.reg : -1, .imm = base.imm};
    at = skip(at);
    if (*at == '+') {
        char *end;
        o->imm += strtoll(at + 1, &end, 0);
        at = skip(end);
    }
    return *at == ']' ? at + 1 : NULL;
}

static const char *read_operand(struct p_code *c, const char *at, struct p_opnd *o)
{
    bool negate = *at == '!';
    at += negate;
    if (*at == '{')
        return read_list(c, at, o, '}');
    if (*at == '[')
        return read_address(c, at, o);
    if (isdigit((unsigned char)*at) || *at == '-') {
        char *end;
        bool bits = at[0] == '0' && at[1] == 'f';
        *o = (struct p_opnd){.kind = O_IMM, .reg = -1};
        o->imm = bits ? (int64_t)strtoull(at + 2, &end, 16) : strtoll(at, &end, 0);
        return end;
    }
    const char *end = at;
    while (in_word(*end))
        end++;
    size_t length = (size_t)(end - at);
    int reg = find_reg(c, at, length);
    if (length == 1 && *at == '_')
        *o = (struct p_opnd){.kind = O_SINK};
    else if (reg >= 0)
        *o = (struct p_opnd){.kind = O_REG, .reg = reg, .negate = negate};
    else if (!read_special(at, length, o)) {
        *o = (struct p_opnd){.kind = O_LABEL, .reg = -1, .name = at, .count = (int)length};
        for (int v = 0; v < c->nvars; v++)
            if (strlen(c->vars[v].name) == length && !memcmp(c->vars[v].name, at, length))
                *o = (struct p_opnd){.kind = O_IMM, .reg = -1, .imm = c->vars[v].at};
        if (!length)
            return NULL;
    }
    if (*end == '|') { /* two results */
        struct p_opnd pair[2] = {*o};
        end = read_operand(c, end + 1, &pair[1]);
        if (!end || c->nparts + 2 > P_MOST)
            return NULL;
        *o = (struct p_opnd){.kind = O_PAIR, .first = c->nparts, .count = 2};
        memcpy(&c->parts[c->nparts], pair, sizeof pair);
        c->nparts += 2;
    }
    return end;
}

static const char *read_insn(struct p_code *c, const char *at)
{
    if (c->ninsns == P_MOST)
        return NULL;
    struct p_insn *i = &c->insns[c->ninsns++];
    *i = (struct p_insn){.guard = -1, .text = at};
    if (*at == '@') {
        i->guard_negate = at[1] == '!';
        const char *name = at + 1 + i->guard_negate, *end = name;
        while (in_word(*end))
            end++;
        i->guard = find_reg(c, name, (size_t)(end - name));
        at = skip(end);
        if (i->guard < 0)
            return NULL;
    }
    const char *end = at;
    while (in_word(*end))
        end++;
    if (!read_name(at, (size_t)(end - at), i))
        return NULL;
    for (at = skip(end); *at != ';'; at = skip(at)) {
        if (i->nops == 6)
            return NULL;
        at = read_operand(c, at, &i->ops[i->nops++]);
        if (!at)
            return NULL;
        at = skip(at);
        if (*at == ',')
            at++;
        else if (*at != ';')
            return NULL;
    }
    return at + 1;
}

/* ---- declarations ---- */
static bool declare_reg(struct p_code *c, const char *at, size_t length, unsigned bits)
{
    if (c->nregs == P_REGS || length >= sizeof c->regs[0].name)
        return false;
    memcpy(c->regs[c->nregs].name, at, length);
    c->regs[c->nregs].name[length] = 0;
    c->regs[c->nregs++].bits = (uint8_t)bits;
    return true;
}

/* ".b32 %r<16>, %tx;" */
static const char *read_regs(struct p_code *c, const char *at)
{
    unsigned bits = 0;
    at = skip(at);
    for (unsigned k = 0; k < MG_COUNT(types); k++)
        if (!strncmp(at + 1, types[k].name, strlen(types[k].name)) &&
            isspace((unsigned char)at[1 + strlen(types[k].name)]))
            bits = types[k].bits;
    while (*at && *at != '%')
        at++;
    while (bits && *at == '%') {
        const char *end = at;
        while (in_word(*end))
            end++;
        if (*end == '<') {
            unsigned long n = strtoul(end + 1, NULL, 10);
            for (unsigned k = 0; k < n; k++) {
                char name[32];
                int length = snprintf(name, sizeof name, "%.*s%u", (int)(end - at), at, k);
                if (!declare_reg(c, name, (size_t)length, bits))
                    return NULL;
            }
            end = strchr(end, '>') + 1;
        } else if (!declare_reg(c, at, (size_t)(end - at), bits)) {
            return NULL;
        }
        at = skip(end);
        at = *at == ',' ? skip(at + 1) : at;
    }
    return *at == ';' ? at + 1 : NULL;
}

/* ".align 16 .b8 tile[4608];", with or without numbers that it begins with. */
static const char *read_var(struct p_code *c, const char *at, uint32_t *top, uint8_t *init)
{
    const char *end = strchr(at, ';'), *bracket = strchr(at, '['), *name = bracket;
    if (!end || !bracket || bracket > end || c->nvars == P_VARS)
        return NULL;
    while (in_word(name[-1]))
        name--;
    unsigned unit = strstr(at, ".u32") && strstr(at, ".u32") < end ? 4 : 1;
    uint32_t size = (uint32_t)strtoul(bracket + 1, NULL, 10) * unit;
    *top = (*top + 15) & ~15u;
    struct p_var *v = &c->vars[c->nvars++];
    snprintf(v->name, sizeof v->name, "%.*s", (int)(bracket - name), name);
    v->at = *top;
    *top += size;
    if (*top > P_BYTES)
        return NULL;
    const char *value = strchr(bracket, '{');
    for (uint32_t k = 0; init && value && value < end && unit == 4 && k < size / 4; k++) {
        uint32_t word = (uint32_t)strtoul(value + 1, NULL, 0);
        memcpy(init + v->at + 4 * k, &word, 4);
        value = strpbrk(value + 1, ",}");
    }
    return end + 1;
}

static bool place_labels(struct p_code *c)
{
    for (int i = 0; i < c->ninsns; i++)
        for (int k = 0; k < c->insns[i].nops; k++) {
            struct p_opnd *o = &c->insns[i].ops[k];
            bool found = o->kind != O_LABEL;
            for (int l = 0; l < c->nlabels && !found; l++)
                if (c->labels[l].length == o->count && !memcmp(c->labels[l].name, o->name, (size_t)o->count)) {
                    found = true;
                    o->imm = c->labels[l].at;
                    o->name = c->labels[l].table;
                }
            if (!found)
                return false;
        }
    return true;
}

static const char *read_label(struct p_code *c, const char *at, const char *end)
{
    if (c->nlabels == P_MOST)
        return NULL;
    c->labels[c->nlabels++] = (struct p_label){at, (int)(end - at), c->ninsns, NULL};
    at = skip(end + 1);
    if (!strncmp(at, ".branchtargets", 14)) {
        c->labels[c->nlabels - 1].table = at + 14;
        at = strchr(at, ';');
        return at ? at + 1 : NULL;
    }
    return at;
}

int p_target(const struct p_code *c, const char *table, unsigned index)
{
    for (; index && *table != ';'; table++)
        index -= *table == ',';
    const char *at = skip(table), *end = at;
    while (in_word(*end))
        end++;
    for (int l = 0; l < c->nlabels; l++)
        if (c->labels[l].length == end - at && !memcmp(c->labels[l].name, at, (size_t)(end - at)))
            return c->labels[l].at;
    return -1;
}

bool p_read(struct p_code *c, const char *at)
{
    bool inside = false;
    while (*(at = skip(at))) {
        const char *end = at;
        while (in_word(*end))
            end++;
        c->where = at;
        if (!strncmp(at, ".version", 8) || !strncmp(at, ".target", 7) || !strncmp(at, ".address_size", 13))
            at = strchr(at, '\n');
        else if (!strncmp(at, ".shared", 7))
            at = read_var(c, at, &c->shared_bytes, NULL);
        else if (!strncmp(at, ".const", 6))
            at = read_var(c, at, &c->const_bytes, c->constants);
        else if (!strncmp(at, ".local", 6))
            at = read_var(c, at, &c->local_bytes, NULL);
        else if (!strncmp(at, ".visible", 8) && !inside) {
            inside = true;
            for (unsigned k = 0; k < 4; k++)
                c->vars[c->nvars] = (struct p_var){.at = 8 * k}, c->vars[c->nvars].name[0] = 'p',
                c->vars[c->nvars++].name[1] = (char)('0' + k);
            at = strchr(at, '{');
            at = at ? at + 1 : NULL;
        } else if (!strncmp(at, ".reg", 4))
            at = read_regs(c, at + 4);
        else if (*at == '{' || *at == '}')
            at++;
        else if (end > at && *end == ':')
            at = read_label(c, at, end);
        else
            at = inside ? read_insn(c, at) : NULL;
        if (!at)
            return false;
    }
    return inside && place_labels(c);
}

bool plain_knows(const char *line)
{
    for (const char *at = skip(line); *at; at = skip(at)) {
        const char *end = at;
        struct p_insn i = {0};
        if (*at == '@')
            at = skip(at + strcspn(at, " "));
        for (end = at; in_word(*end);)
            end++;
        if (*end == ':') {
            at = end + 1;
            continue;
        }
        if (*at == '{' || !read_name(at, (size_t)(end - at), &i) || i.type[0].bits == 128 || !strchr(at, ';'))
            return false;
        at = strchr(at, ';') + 1;
    }
    return true;
}
