/* banks_text.c - where the lanes of an access to shared memory go, as text: each lane's bank, in the lanes' order,
 * those that are served together in one group; and below a group what it costs, and which banks hold it up.
 *
 * Costs are the record's. Worked out here are places alone: a word's bank, and how many different words a bank is asked
 * for.
 */
#include "report/render.h"

#include <jansson.h>

enum { NARROW = 16, WIDE = 8, MOST_BANKS = 32 };

/* ---- records read back; nothing in them is trusted ---- */
static uint64_t whole(const json_t *object, const char *key, uint64_t most)
{
    json_int_t n = json_integer_value(json_object_get(object, key));
    return n > 0 ? MG_MIN((uint64_t)n, most) : 0;
}

static const char *text(struct mg_arena *arena, const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    value = mg__arena_strdup(arena, value ? value : "");
    return value ? value : "";
}

static void read_cost(const json_t *object, const char *unit, struct mg_report_cost *c)
{
    char ideal[32];
    const json_t *phases = json_object_get(object, "phases");
    snprintf(ideal, sizeof(ideal), "%s_ideal", unit);
    *c = (struct mg_report_cost){.taken = (uint32_t)whole(object, unit, UINT32_MAX),
                                 .ideal = (uint32_t)whole(object, ideal, UINT32_MAX)};
    for (size_t i = 0; i < json_array_size(phases) && c->nphases < MG_PICTURE_PHASES; i++) {
        const json_t *one = json_array_get(phases, i);
        json_int_t from = json_integer_value(json_array_get(one, 0)),
                   lanes = json_integer_value(json_array_get(one, 1));
        if (from < 0 || from > 31 || lanes < 1 || lanes > 32 - from)
            continue;
        c->phases[c->nphases].from = (uint8_t)from;
        c->phases[c->nphases].lanes = (uint8_t)lanes;
        json_int_t taken = json_integer_value(json_array_get(one, 2));
        c->phases[c->nphases++].wavefronts = taken > 0 && taken <= UINT32_MAX ? (uint32_t)taken : 0;
    }
}

static uint32_t read_lanes(const json_t *object, uint64_t lanes[32])
{
    const json_t *list = json_object_get(object, "lanes");
    uint32_t mask = 0;
    for (size_t i = 0; i < 32; i++) {
        const json_t *at = json_array_get(list, i);
        json_int_t n = json_integer_value(at);
        bool takes_part = json_is_integer(at) && n >= 0;
        mask |= (uint32_t)takes_part << i;
        lanes[i] = takes_part ? (uint64_t)n : 0;
    }
    return mask;
}

static void read_layouts(const json_t *access, struct mg_arena *arena, struct mg_report_access *a)
{
    const json_t *list = json_object_get(access, "layouts");
    for (size_t i = 0; i < json_array_size(list) && a->nlayouts < MG_COUNT(a->layouts); i++) {
        const json_t *one = json_array_get(list, i);
        struct mg_report_layout *l = &a->layouts[a->nlayouts++];
        *l = (struct mg_report_layout){.kind = text(arena, one, "kind"),
                                       .element = (uint32_t)whole(one, "element", UINT32_MAX),
                                       .row = (uint32_t)whole(one, "row", UINT32_MAX),
                                       .pad = (uint32_t)whole(one, "pad", UINT32_MAX),
                                       .xor_mask = (uint32_t)whole(one, "xor_mask", UINT32_MAX),
                                       .xor_shift = (uint32_t)whole(one, "xor_shift", UINT32_MAX),
                                       .xor_times = (uint32_t)whole(one, "xor_times", UINT32_MAX),
                                       .added = (uint32_t)whole(one, "added", UINT32_MAX)};
        read_lanes(one, l->lanes);
        read_cost(one, "wavefronts", &l->cost);
    }
}

static void read_access(const json_t *object, const json_t *files, struct mg_arena *arena, struct mg_report_access *a)
{
    const char *file = json_string_value(json_array_get(files, (size_t)whole(object, "file", UINT32_MAX)));
    memset(a, 0, sizeof(*a));
    file = mg__arena_strdup(arena, file ? file : "");
    a->file = file ? file : "";
    a->line = (uint32_t)whole(object, "line", UINT32_MAX);
    a->space = text(arena, object, "space");
    a->operation = text(arena, object, "operation");
    a->variable = text(arena, object, "variable");
    a->offset = (uint32_t)whole(object, "offset", UINT32_MAX);
    a->size = (uint32_t)whole(object, "size", UINT32_MAX);
    a->count = whole(object, "count", UINT64_MAX);
    a->taken = whole(object, "total", UINT64_MAX);
    a->ideal = whole(object, "total_ideal", UINT64_MAX);
    a->width = (uint32_t)whole(object, "width", 1024);
    a->mask = read_lanes(object, a->lanes);
    read_cost(object, strcmp(a->space, "global") ? "wavefronts" : "sectors", &a->cost);
    read_layouts(object, arena, a);
}

enum mg_status mg__picture_read(const struct mg_picture_row *row, struct mg_arena *arena, struct mg_report_picture *p)
{
    json_t *root = json_loads(row->json, 0, NULL);
    const json_t *list = json_object_get(root, "accesses"), *files = json_object_get(root, "files");
    memset(p, 0, sizeof(*p));
    p->naccesses = json_array_size(list);
    p->accesses = mg__arena_array(arena, p->naccesses + 1, sizeof(*p->accesses));
    p->kernel = text(arena, root, "kernel");
    p->mangled = text(arena, root, "mangled");
    p->grid = row->grid;
    p->block = row->block;
    p->banks = (uint32_t)whole(root, "banks", MOST_BANKS);
    p->bank_bytes = (uint32_t)whole(root, "bank_bytes", 1024);
    for (size_t i = 0; p->accesses && i < p->naccesses; i++)
        read_access(json_array_get(list, i), files, arena, &p->accesses[i]);
    json_decref(root);
    return !p->accesses ? MG_ERR_NOMEM : p->banks && p->bank_bytes ? MG_OK : MG_ERR_SYNTAX;
}

/* ---- text ---- */
struct view { /* of some lanes of an access, in some layout */
    const struct mg_report_picture *p;
    const struct mg_report_access *a;
    const uint64_t *lanes;
    uint32_t mask; /* of those that are served together */
    unsigned words[MOST_BANKS], lanes_of[MOST_BANKS],
        most;       /* different words asked of each bank; its lanes, a bit each */
    unsigned each;  /* banks of a lane */
    bool conflicts; /* of any group so far */
    bool by_lane;   /* an atomic operation: lanes go one after the other, and `words` counts them */
};

static unsigned bank_of(const struct view *v, unsigned lane, unsigned i)
{
    return (unsigned)((v->lanes[lane] / v->p->bank_bytes + i) % v->p->banks);
}

static void count_words(struct view *v)
{
    memset(v->words, 0, sizeof(v->words));
    memset(v->lanes_of, 0, sizeof(v->lanes_of));
    v->most = 0;
    v->each = MG_MAX((v->a->width + v->p->bank_bytes - 1) / v->p->bank_bytes, 1u);
    v->each = MG_MIN(v->each, v->p->banks);
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; (v->mask >> lane & 1) && i < v->each; i++) {
            unsigned bank = bank_of(v, lane, i);
            uint64_t word = v->lanes[lane] / v->p->bank_bytes + i;
            bool is_new = true;
            for (unsigned other = 0; other < lane; other++) /* a lane asks a bank for one word */
                for (unsigned k = 0; (v->mask >> other & 1) && k < v->each; k++)
                    is_new &= v->lanes[other] / v->p->bank_bytes + k != word;
            v->words[bank] += is_new;
            v->lanes_of[bank] |= 1u << lane;
            v->most = MG_MAX(v->most, v->words[bank]);
        }
    }
}

/* Of an atomic operation lanes wait for one another, on whichever words. */
static void count_lanes(struct view *v, uint32_t wavefronts)
{
    unsigned most = 0;
    for (unsigned b = 0; b < v->p->banks; b++)
        most = MG_MAX(most, (unsigned)__builtin_popcount(v->lanes_of[b]));
    v->by_lane = v->most != wavefronts && most == wavefronts;
    for (unsigned b = 0; v->by_lane && b < v->p->banks; b++)
        v->words[b] = (unsigned)__builtin_popcount(v->lanes_of[b]);
    v->most = v->by_lane ? most : v->most;
}

/* "0-7 9 11-15" */
static bool ranges(struct mg_strbuf *out, uint32_t bits)
{
    bool ok = true;
    const char *blank = "";
    for (unsigned i = 0, last; ok && i < 32; i = last + 1) {
        last = i;
        if (!(bits >> i & 1))
            continue;
        while (last < 31 && (bits >> (last + 1) & 1))
            last++;
        ok = last > i ? mg__strbuf_printf(out, "%s%u-%u", blank, i, last) : mg__strbuf_printf(out, "%s%u", blank, i);
        blank = " ";
    }
    return ok;
}

static bool put_lane(struct mg_strbuf *out, const struct mg_style *style, const struct view *v, unsigned lane,
                     bool banks)
{
    char cell[24] = "";
    unsigned bank = bank_of(v, lane, 0), last = bank_of(v, lane, v->each - 1), width = v->each > 1 ? 7 : 4;
    bool conflict = false, here = v->mask >> lane & 1;
    for (unsigned i = 0; i < v->each; i++)
        conflict |= here && v->words[bank_of(v, lane, i)] > 1;
    if (!banks)
        snprintf(cell, sizeof(cell), "%u", lane);
    else if (here && v->each > 1)
        snprintf(cell, sizeof(cell), "%u-%u%s", bank, last, conflict ? "*" : "");
    else
        snprintf(cell, sizeof(cell), here ? "%u%s" : "-", bank, conflict ? "*" : "");
    bool red = banks && conflict;
    return mg__strbuf_printf(out, "%*s", (int)(width - MG_MIN(strlen(cell), (size_t)width)), "") &&
           mg__layout_tone(out, style, MG_TONE_RED, red) && mg__strbuf_append(out, cell, strlen(cell)) &&
           mg__layout_tone(out, style, MG_TONE_RED, false);
}

/* Which banks hold them up: the first, and how many more. */
static bool put_worst(struct mg_strbuf *out, const struct view *v)
{
    unsigned first = 0, worst = 0;
    for (unsigned b = v->p->banks; b-- > 0;) {
        worst += v->words[b] == v->most;
        first = v->words[b] == v->most ? b : first;
    }
    if (v->most <= 1)
        return true;
    bool ok = mg__strbuf_printf(out, ": bank %u has %u %s", first, v->most, v->by_lane ? "lanes (" : "words (lanes ") &&
              ranges(out, v->lanes_of[first]) && mg__strbuf_append(out, ")", 1);
    return ok && (worst == 1 || mg__strbuf_printf(out, ", and %u more bank%s", worst - 1, worst > 2 ? "s" : ""));
}

static bool group(struct mg_strbuf *out, const struct mg_style *style, struct view *v, unsigned from, unsigned lanes,
                  bool several, const uint32_t *wavefronts)
{
    uint32_t all = lanes == 32 ? UINT32_MAX : ((1u << lanes) - 1) << from;
    v->mask = v->a->mask & all;
    if (!v->mask)
        return true;
    count_words(v);
    if (wavefronts)
        count_lanes(v, *wavefronts);
    unsigned columns = v->each > 1 ? WIDE : NARROW;
    bool ok = true;
    for (unsigned i = from; ok && i < from + lanes; i += columns) {
        unsigned to = MG_MIN(i + columns, from + lanes);
        ok = mg__strbuf_printf(out, "  lane ") && mg__layout_tone(out, style, MG_TONE_DIM, true);
        for (unsigned lane = i; ok && lane < to; lane++)
            ok = put_lane(out, style, v, lane, false);
        ok = ok && mg__layout_tone(out, style, MG_TONE_DIM, false) && mg__strbuf_printf(out, "\n  bank ");
        for (unsigned lane = i; ok && lane < to; lane++)
            ok = put_lane(out, style, v, lane, true);
        ok = ok && mg__strbuf_append(out, "\n", 1);
    }
    ok = ok && mg__strbuf_printf(out, "  ");
    if (ok && several)
        ok = mg__strbuf_printf(out, "lanes %u-%u: ", from, from + lanes - 1);
    if (ok && wavefronts)
        ok = mg__strbuf_printf(out, "%u wavefront%s", *wavefronts, *wavefronts == 1 ? "" : "s");
    else
        ok = ok && mg__strbuf_printf(out, strcmp(v->a->operation, "copy") ? "in several rounds" : "counted by sectors");
    v->conflicts |= v->most > 1;
    return ok && put_worst(out, v) && mg__strbuf_append(out, "\n", 1);
}

static bool drawing(struct mg_strbuf *out, const struct mg_style *style, const struct mg_report_picture *p,
                    const struct mg_report_access *a, const uint64_t lanes[32], const struct mg_report_cost *cost)
{
    struct view v = {.p = p, .a = a, .lanes = lanes};
    bool ok =
        mg__strbuf_printf(out, ": %u wavefront%s, ideal %u\n", cost->taken, cost->taken == 1 ? "" : "s", cost->ideal);
    if (!cost->nphases)
        ok = ok && group(out, style, &v, 0, 32, false, NULL);
    for (unsigned i = 0; ok && i < cost->nphases; i++)
        ok = group(out, style, &v, cost->phases[i].from, cost->phases[i].lanes, cost->nphases > 1,
                   &cost->phases[i].wavefronts);
    return ok &&
           (!v.conflicts || mg__strbuf_printf(out, "  * more than one %s in that bank\n", v.by_lane ? "lane" : "word"));
}

static bool layout_name(struct mg_strbuf *out, const struct mg_report_layout *l)
{
    if (l->pad)
        return mg__strbuf_printf(out, "Rows of %u elements padded by %u (%u bytes each, %u bytes more)", l->row, l->pad,
                                 l->element, l->added);
    bool ok = mg__strbuf_printf(out, "Swizzled, in rows of %u elements of %u bytes: column ^ (row", l->row, l->element);
    if (ok && l->xor_shift)
        ok = mg__strbuf_printf(out, " >> %u", l->xor_shift);
    ok = ok && mg__strbuf_printf(out, " & %u)", l->xor_mask);
    return ok && (l->xor_times <= 1 || mg__strbuf_printf(out, " * %u", l->xor_times));
}

bool mg__render_banks(const struct mg_report_picture *p, const struct mg_report_access *a, const struct mg_style *style,
                      struct mg_strbuf *out)
{
    bool ok = mg__layout_tone(out, style, MG_TONE_BOLD, true) && mg__strbuf_printf(out, "As it is") &&
              mg__layout_tone(out, style, MG_TONE_BOLD, false) && drawing(out, style, p, a, a->lanes, &a->cost);
    for (unsigned i = 0; ok && i < a->nlayouts; i++)
        ok = mg__strbuf_append(out, "\n", 1) && mg__layout_tone(out, style, MG_TONE_BOLD, true) &&
             layout_name(out, &a->layouts[i]) && mg__layout_tone(out, style, MG_TONE_BOLD, false) &&
             drawing(out, style, p, a, a->layouts[i].lanes, &a->layouts[i].cost);
    if (ok && !a->nlayouts)
        ok =
            mg__strbuf_printf(out, a->cost.taken > a->cost.ideal ? "\nNo padding or swizzle that was tried helps.\n"
                                                                 : "\nNo bank conflicts: no other layout is needed.\n");
    return ok;
}
