/* name.c - source lines, variables and threads in words.
 *
 * PTX has no types for arrays: `float tile[20][20]` is 1600 bytes. The declaration is looked for in the source file,
 * for its element type and its dimensions; where they are numbers that fit the size, an element is named as the program
 * names it, and otherwise counted from the start.
 */
#include "check/check_priv.h"

#include <ctype.h>

static bool has_line(const struct mg_launch_info *info, uint32_t insn)
{
    const struct mg_ptx_insn *i = info->insns[insn].insn;
    return info->module && i && i->loc && mg__ptx_place(info->module, i->loc).line;
}

static bool uses_one(const struct mg_launch_info *info, uint32_t insn, const uint32_t *wanted, unsigned n)
{
    struct mg_flow_walk w = {info->insns[insn].func, info->insns[insn].insn, 0, 0};
    uint32_t reg;
    for (bool written; mg__flow_next(&w, &reg, &written);)
        for (unsigned k = 0; k < n && !written; k++)
            if (reg == wanted[k])
                return true;
    return false;
}

uint32_t mg__name_told(const struct mg_launch_info *info, uint32_t insn)
{
    enum { NEAR = 512, RESULTS = 8 };
    const struct mg_insn_info *i = &info->insns[insn];
    uint32_t results[RESULTS], reg;
    unsigned n = 0;
    if (!i->insn || !i->insn->loc || i->insn->access != MG_ACCESSES_LOAD || has_line(info, insn))
        return insn;
    struct mg_flow_walk w = {i->func, i->insn, 0, 0};
    for (bool written; n < RESULTS && mg__flow_next(&w, &reg, &written);)
        if (written)
            results[n++] = reg;
    for (uint32_t k = insn + 1; k < info->ninsns && k - insn < NEAR && info->insns[k].func == i->func; k++)
        if (has_line(info, k) && uses_one(info, k, results, n))
            return k;
    return insn;
}

struct line mg__name_line(const struct mg_launch_info *info, uint32_t insn)
{
    struct line line = {"", 0, 0};
    if (insn >= info->ninsns)
        return line;
    insn = mg__name_told(info, insn);
    const struct mg_insn_info *i = &info->insns[insn];
    line = (struct line){i->file, i->line, 0};
    if (info->module && i->insn && i->insn->loc) {
        struct mg_ptx_place place = mg__ptx_place(info->module, i->insn->loc);
        line = (struct line){place.file, place.line, place.column};
    }
    return line;
}

struct line mg__name_call(const struct mg_launch_info *info, uint32_t insn)
{
    if (insn >= info->ninsns || !info->module || !info->insns[insn].insn || !info->insns[insn].insn->loc)
        return (struct line){"", 0, 0};
    struct mg_ptx_place place = mg__ptx_place(info->module, info->insns[mg__name_told(info, insn)].insn->loc);
    return (struct line){place.call, place.call_line, 0};
}

/* ---- declarations ---- */
static size_t size_of_type(const char *word, size_t n)
{
    static const struct {
        const char *name;
        size_t size;
    } types[] = {{"float", 4},       {"double", 8},        {"int", 4},           {"unsigned", 4}, {"char", 1},
                 {"short", 2},       {"long", 8},          {"bool", 1},          {"float2", 8},   {"float3", 12},
                 {"float4", 16},     {"int2", 8},          {"int3", 12},         {"int4", 16},    {"double2", 16},
                 {"double3", 24},    {"half", 2},          {"__half", 2},        {"uint", 4},     {"uint3", 12},
                 {"uint4", 16},      {"uint8_t", 1},       {"int8_t", 1},        {"uint16_t", 2}, {"int16_t", 2},
                 {"uint32_t", 4},    {"int32_t", 4},       {"uint64_t", 8},      {"int64_t", 8},  {"size_t", 8},
                 {"uint2", 8},       {"__half2", 4},       {"half2", 4},         {"uchar", 1},    {"ushort", 2},
                 {"ulong", 8},       {"char2", 2},         {"char4", 4},         {"uchar2", 2},   {"uchar4", 4},
                 {"short2", 4},      {"short4", 8},        {"ushort2", 4},       {"ushort4", 8},  {"longlong2", 16},
                 {"ulonglong2", 16}, {"__nv_bfloat16", 2}, {"__nv_bfloat162", 4}};
    for (size_t i = 0; i < MG_COUNT(types); i++)
        if (strlen(types[i].name) == n && !memcmp(types[i].name, word, n))
            return types[i].size;
    return 0;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

struct declared {
    size_t dims[4]; /* a positive number each, 0 where it is no number */
    unsigned n;     /* 0: none */
    size_t element; /* bytes; 0: not known */
};

/* The words before the name, of which `int` and `unsigned` may stand beside others. */
static size_t declared_type(const char *from, const char *to)
{
    size_t size = 0;
    for (const char *q = from; q < to; q++) {
        if (!is_word(*q) || (q > from && is_word(q[-1])))
            continue;
        size_t length = 0;
        while (is_word(q[length]))
            length++;
        const bool beside = (length == 3 && !memcmp(q, "int", 3)) || (length == 8 && !memcmp(q, "unsigned", 8));
        const size_t s = size_of_type(q, length);
        size = s && !(beside && size) ? s : size;
        q += length - 1;
    }
    return size;
}

/* Of a variable of so many bytes; 0: a dimension is no number. */
static uint64_t elements_of(const struct declared *d, uint64_t size)
{
    uint64_t all = 1;
    for (unsigned k = 0; k < d->n; k++)
        all *= d->dims[k] <= size ? d->dims[k] : 0;
    return all;
}

/* How a variable of `size` bytes is declared in `text`: the nearest declaration before `limit` that may be its own, or
 * one behind it that is, as a function's that stands above the kernel. */
static struct declared find_declared(const char *text, const char *limit, const char *name, uint64_t size)
{
    const size_t n = strlen(name);
    struct declared found = {0};
    for (const char *p = text; n && (p = strstr(p, name)) && (p < limit || !found.n); p += n) {
        if ((p > text && is_word(p[-1])) || is_word(p[n]) || p[n] != '[')
            continue;
        const char *begin = p; /* of the declaration: behind the last ; { } */
        while (begin > text && !strchr(";{}", begin[-1]))
            begin--;
        const char *shared = strstr(begin, "__shared__"), *device = strstr(begin, "__device__");
        if (!(shared && shared < p) && !(device && device < p))
            continue;
        struct declared d = {.element = declared_type(begin, p)};
        for (const char *q = p + n; *q == '[' && d.n < MG_COUNT(d.dims);) {
            const char *close = strchr(q, ']');
            if (!close || close - q > 4096)
                break;
            char *end;
            unsigned long v = strtoul(q + 1, &end, 10);
            while (*end == ' ')
                end++;
            d.dims[d.n++] = *end == ']' ? v : 0;
            q = close + 1;
        }
        const uint64_t all = elements_of(&d, size);
        const bool fits = !all || (d.element ? all * d.element == size : size % all == 0);
        if (!d.element && all)
            d.element = size / all;
        if (d.n && fits && (p < limit || all))
            found = d;
    }
    return found;
}

/* "[3][7]" for byte `offset` of a variable of `size` bytes; false: not known, or outside. */
static bool element_name(const struct launch *l, uint32_t insn, const char *name, uint64_t size, uint64_t offset,
                         uint32_t width, struct mg_strbuf *out)
{
    struct declared d = {0};
    size_t length;
    char *text;
    struct line line = mg__name_line(l->info, insn);
    if (line.file[0] && mg__file_read(line.file, 4u << 20, &text, &length, NULL) == MG_OK) {
        const char *limit = text; /* the declaration that is nearest above the line */
        for (uint32_t k = 1; k < line.line && *limit; limit++)
            k += *limit == '\n';
        d = find_declared(text, limit, name, size);
        free(text);
    }
    const size_t *const dims = d.dims;
    const unsigned n = d.n;
    const size_t element = d.element;
    uint64_t inner = 1;
    bool whole = n > 0 && element;
    for (unsigned k = 1; k < n; k++) {
        whole &= dims[k] != 0 && dims[k] <= size;
        inner = whole ? inner * dims[k] : inner;
    }
    if (whole && size % (inner * element) == 0 && (!dims[0] || dims[0] * inner * element == size) && offset < size) {
        uint64_t index = offset / element;
        for (unsigned k = 0; k < n; k++) {
            if (!mg__strbuf_printf(out, "[%llu]", (unsigned long long)(index / inner)))
                return false;
            index %= inner;
            inner /= k + 1 < n ? dims[k + 1] : 1;
        }
        const unsigned within = (unsigned)(offset % element);
        return !within || mg__strbuf_printf(out, ", byte %u of it", within);
    }
    uint64_t step = element && !n ? element : element ? element : width;
    if (!step || (int64_t)offset < 0 || step == size)
        return (int64_t)offset < 0 && step
                   ? mg__strbuf_printf(out, "[%lld]", (long long)((int64_t)offset / (int64_t)step))
                   : true;
    return mg__strbuf_printf(out, "[%llu]", (unsigned long long)(offset / step));
}

bool mg__name_object(const struct launch *l, const struct occurrence *o, struct mg_strbuf *out)
{
    const struct mg_launch_info *info = l->info;
    if (o->place == PLACE_SHARED) {
        if (o->object < 0)
            return mg__strbuf_printf(out, "shared memory, byte %llu", (unsigned long long)o->offset);
        const struct mg_shared_var *v = &info->shared_vars[o->object];
        if (!v->var)
            return mg__strbuf_printf(out, "dynamic shared memory, byte %lld", (long long)o->offset);
        char *name = mg__report_variable_name(v->name);
        bool good = name && mg__strbuf_printf(out, "%s", name) &&
                    element_name(l, o->insn, name, v->size, o->offset, o->width, out);
        free(name);
        return good;
    }
    if (o->place == PLACE_GLOBAL && o->object >= 0) {
        const struct mg_allocation *a = &info->allocations[o->object];
        if (mg__heap_is(a))
            return mg__strbuf_printf(out, "heap memory");
        if (a->name) {
            char *name = mg__report_variable_name(a->name);
            bool good = name && mg__strbuf_printf(out, "%s", name) &&
                        element_name(l, o->insn, name, a->size, o->offset, o->width, out);
            free(name);
            return good;
        }
        return mg__strbuf_printf(out, "%s of %llu bytes, byte %lld", a->host ? "pinned memory" : "allocation",
                                 (unsigned long long)a->size, (long long)o->offset);
    }
    if (o->place == PLACE_LOCAL)
        return mg__strbuf_printf(out, "local memory, byte %llu", (unsigned long long)o->offset);
    if (o->place == PLACE_HEAP)
        return !o->object ||
               mg__strbuf_printf(out, "heap memory of %d bytes, byte %llu", o->object, (unsigned long long)o->offset);
    if (o->place == PLACE_FREED)
        return mg__strbuf_printf(out, "freed memory, byte %llu", (unsigned long long)o->offset);
    return true;
}

bool mg__name_thread(const struct launch *l, const struct actor *who, bool block, struct mg_strbuf *out)
{
    const struct mg_dim3 *b = &l->info->block, *g = &l->info->grid;
    bool good = true;
    if (who->lane == ACTOR_COPY)
        return mg__strbuf_printf(out, "a bulk copy");
    if (who->lane < 32) {
        uint32_t t = 32u * who->warp + who->lane;
        good = mg__strbuf_printf(out, "thread (%u,%u,%u)", t % b->x, t / b->x % b->y, t / b->x / b->y);
    } else if (who->lane == MG_ORDER_MANY) {
        good = mg__strbuf_printf(out, "a thread of warp %u", who->warp);
    }
    if (good && (block || who->lane == 0xff))
        good =
            mg__strbuf_printf(out, "%sblock (%u,%u,%u)", who->lane == 0xff ? "" : " of ", (uint32_t)(who->block % g->x),
                              (uint32_t)(who->block / g->x % g->y), (uint32_t)(who->block / g->x / g->y));
    return good;
}
