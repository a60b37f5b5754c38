/* cmd_limits.c - `margay limits`: the table of a compute capability, or of all, or beside what a GPU answers.
 *
 * What the table and the device have otherwise is marked, and is the exit status: a limit that is wrong here would make
 * every other answer about that device wrong.
 */
#include "device_cmd.h"

/* A value with its unit, in as few columns as may be. */
static void format(const struct mg_limit *limit, uint64_t value, bool narrow, char text[48])
{
    struct mg_strbuf b = {0};
    double v = (double)value;
    const char *unit = limit->unit;
    text[0] = 0;
    if (!value && strcmp(limit->key, "shared_memory_reserved_per_block")) {
        snprintf(text, 48, "-");
    } else if (!strcmp(unit, "B") && value >= (UINT64_C(1) << 30)) {
        snprintf(text, 48, "%.1f GiB", v / (1 << 30));
    } else if (!strcmp(unit, "B") && value >= 1048576 && value % 65536 == 0) {
        snprintf(text, 48, "%.4g MiB", v / 1048576);
    } else if (!strcmp(unit, "B")) {
        mg__layout_bytes(&b, value);
    } else if (!strcmp(unit, "kHz")) {
        snprintf(text, 48, "%.0f MHz", v / 1e3);
    } else if (!strcmp(unit, "B/s") || !strcmp(unit, "FLOP/s")) {
        snprintf(text, 48, v >= 1e12 ? "%.2f T%s" : "%.0f G%s", v / (v >= 1e12 ? 1e12 : 1e9), unit);
    } else if (narrow && value == 2147483647) {
        snprintf(text, 48, "2^31-1");
    } else {
        if (value == 2147483647)
            mg__strbuf_printf(&b, "2,147,483,647");
        else
            mg__layout_number(&b, value, 0);
        if (!narrow && unit[0])
            mg__strbuf_printf(&b, " %s", unit);
    }
    if (b.at)
        snprintf(text, 48, "%s", b.at + strspn(b.at, " "));
    mg__strbuf_free(&b);
}

static bool put_carveouts(struct mg_strbuf *out, const struct mg_arch *a, const char *between)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < a->ncarveouts; i++)
        ok = mg__strbuf_printf(out, "%s%u", i ? between : "", a->carveouts_kib[i]);
    return ok;
}

/* What a driver says of the row; false: nothing. */
static bool asked(const struct mg_driver_device *d, const struct mg_limit *limit, uint64_t *value)
{
    if (!d)
        return false;
    if (!strcmp(limit->key, "memory")) {
        *value = d->memory;
        return true;
    }
    if (!limit->attribute || !d->known[limit->attribute])
        return false;
    *value = (uint64_t)(int64_t)d->attribute[limit->attribute];
    return true;
}

/* What the table has of the row; 0 of a board that it does not know. */
static uint64_t value_of(size_t row, const struct mg_arch *a, const struct mg_board *b)
{
    return mg_limit_at(row)->of_board && !b ? 0 : mg_limit_value(row, a, b);
}

/* Memory is what the firmware leaves of it: boards of one name differ by some megabytes. */
static bool equal(const struct mg_limit *limit, const struct mg_board *b, uint64_t table, uint64_t device)
{
    if (limit->of_board && !b)
        return true;
    if (strcmp(limit->key, "memory"))
        return table == device;
    uint64_t more = MG_MAX(table, device), less = MG_MIN(table, device);
    return more - less <= more / 10;
}

static bool put_boards(struct mg_strbuf *out, const struct mg_arch *a, const struct mg_board *shown)
{
    const struct mg_board *b;
    const char *title = "\nOther boards of this capability (--board):\n   ";
    unsigned at = 0;
    bool ok = true;
    for (size_t i = 0; ok && (b = mg_board_at(i)) != NULL; i++) {
        if (b->cc != a->cc || b == shown)
            continue;
        bool fits = at && at + 2 + strlen(b->name) < 80;
        ok = mg__strbuf_printf(out, "%s%s %s", !at ? title : ",", at && !fits ? "\n   " : "", b->name);
        at = (fits ? at + 2 : 4) + (unsigned)strlen(b->name);
    }
    return ok && mg__strbuf_append(out, "\n", 1); /* which ends the line before when there are none */
}

static bool show_one(const struct mg_device_options *o, const struct mg_arch *a, const struct mg_board *b,
                     const struct mg_driver_device *d, unsigned *differ, struct mg_strbuf *out)
{
    const struct mg_limit *limit;
    const char *group = "";
    bool ok = mg__layout_tone(out, &o->style, MG_TONE_BOLD, true) &&
              mg__strbuf_printf(out, "Compute capability %u.%u (%s), %s", a->cc / 10, a->cc % 10, a->family,
                                b ? b->name : "without a board") &&
              mg__layout_tone(out, &o->style, MG_TONE_BOLD, false) && mg__strbuf_append(out, "\n", 1);
    if (ok && d)
        ok = mg__strbuf_printf(out, "beside GPU %u of this machine, %s\n", o->device, d->name);
    for (size_t i = 0; ok && (limit = mg_limit_at(i)) != NULL; i++) {
        uint64_t value = value_of(i, a, b), theirs;
        char text[48], other[48] = "";
        if (strcmp(group, limit->group)) {
            group = limit->group;
            ok = mg__strbuf_printf(out, "\n%s", group) &&
                 (!d || mg__strbuf_printf(out, "%*s%22s", (int)(58 - strlen(group)), "table", "device")) &&
                 mg__strbuf_append(out, "\n", 1);
        }
        format(limit, value, false, text);
        bool told = asked(d, limit, &theirs), same = !told || equal(limit, b, value, theirs);
        *differ += !same;
        if (told)
            format(limit, theirs, false, other);
        ok = ok && (same || mg__layout_tone(out, &o->style, MG_TONE_RED, true)) &&
             mg__strbuf_printf(out, "%s %-36s%20s", same ? " " : "!", limit->text, text) &&
             (!told || mg__strbuf_printf(out, "%22s", other)) &&
             (same || mg__layout_tone(out, &o->style, MG_TONE_RED, false)) && mg__strbuf_append(out, "\n", 1);
        if (ok && !strcmp(limit->key, "shared_memory_per_sm")) {
            struct mg_strbuf sizes = {0};
            ok = put_carveouts(&sizes, a, ", ") && mg__strbuf_printf(out, "  one of%*s KiB\n", 46, sizes.at);
            mg__strbuf_free(&sizes);
        }
    }
    if (ok && d && *differ)
        ok = mg__strbuf_printf(out, "\n%u row%s (!) differ%s from the device.\n", *differ, *differ == 1 ? "" : "s",
                               *differ == 1 ? "s" : "");
    else if (ok && d)
        ok = mg__strbuf_printf(out, "\nEvery row that the driver tells is equal.\n");
    if (ok && d && !b)
        ok = mg__strbuf_printf(out, "The table has no row for this board.\n");
    if (ok && !d)
        ok = mg__strbuf_printf(out, "\nThe board's figures: %s.", b->source) && put_boards(out, a, b);
    return ok;
}

/* What the known boards have, in a row each. */
static bool show_boards(struct mg_strbuf *out)
{
    const struct mg_board *b;
    const struct mg_limit bytes = {.key = "", .unit = "B"};
    bool ok =
        mg__strbuf_printf(out, "\n%-32s%4s%5s%10s%11s%9s%8s\n", "Boards", "", "SMs", "L2", "memory", "GB/s", "TFLOP/s");
    for (size_t i = 0; ok && (b = mg_board_at(i)) != NULL; i++) {
        const char *name = strncmp(b->name, "NVIDIA ", 7) ? b->name : b->name + 7;
        char cc[16], l2[48], memory[48];
        snprintf(cc, sizeof(cc), "%u.%u", b->cc / 10, b->cc % 10);
        format(&bytes, b->l2_bytes, true, l2);
        format(&bytes, b->memory, true, memory);
        ok = mg__strbuf_printf(out, "  %-30s%4s%5u%10s%11s%9.0f%8.1f\n", name, cc, b->sm_count, l2, memory,
                               mg_board_memory_peak(b) / 1e9, mg_board_fp32_peak(b) / 1e12);
    }
    return ok;
}

static bool show_all(const struct mg_device_options *o, struct mg_strbuf *out)
{
    enum { LABEL = 36, COLUMN = 11 };
    const struct mg_limit *limit;
    size_t count = 0;
    unsigned columns = MG_MAX((o->style.width - LABEL) / COLUMN, 2u);
    bool ok = true;
    while (mg_arch_at(count))
        count++;
    for (size_t first = 0; ok && first < count; first += columns) {
        size_t last = MG_MIN(first + columns, count);
        ok = mg__strbuf_printf(out, "%s%-*s", first ? "\n" : "", LABEL, "Compute capability");
        for (size_t k = first; ok && k < last; k++) {
            char cc[16];
            snprintf(cc, sizeof(cc), "%u.%u", mg_arch_at(k)->cc / 10, mg_arch_at(k)->cc % 10);
            ok = mg__strbuf_printf(out, "%*s", COLUMN, cc);
        }
        const char *group = "";
        for (size_t i = 0; ok && (limit = mg_limit_at(i)) != NULL; i++) {
            if (limit->of_board)
                continue;
            ok = strcmp(group, limit->group) ? mg__strbuf_printf(out, "\n%s\n", limit->group)
                                             : mg__strbuf_append(out, "\n", 1);
            group = limit->group;
            ok = ok && mg__strbuf_printf(out, "  %-*.*s", LABEL - 2, LABEL - 3, limit->text);
            for (size_t k = first; ok && k < last; k++) {
                char text[48];
                format(limit, mg_limit_value(i, mg_arch_at(k), NULL), true, text);
                ok = mg__strbuf_printf(out, "%*s", COLUMN, text);
            }
        }
        ok = ok && mg__strbuf_append(out, "\n", 1);
    }
    ok = ok && mg__strbuf_printf(out, "\nShared memory that an SM can be set to (KiB)\n");
    for (size_t i = 0; ok && i < count; i++)
        ok = mg__strbuf_printf(out, "  %u.%u%*s", mg_arch_at(i)->cc / 10, mg_arch_at(i)->cc % 10,
                               mg_arch_at(i)->cc < 100 ? 4 : 3, "") &&
             put_carveouts(out, mg_arch_at(i), ", ") && mg__strbuf_append(out, "\n", 1);
    return ok && show_boards(out);
}

static bool json_board(const struct mg_board *b, struct mg_strbuf *out)
{
    const struct mg_limit *limit;
    bool ok = mg__strbuf_printf(out, "{\"name\": ") && mg__json_string(out, b->name) &&
              mg__strbuf_printf(out, ", \"compute_capability\": \"%u.%u\"", b->cc / 10, b->cc % 10);
    for (size_t i = 0; ok && (limit = mg_limit_at(i)) != NULL; i++)
        ok = !limit->of_board || mg__strbuf_printf(out, ", \"%s\": %llu", limit->key,
                                                   (unsigned long long)mg_limit_value(i, mg_arch_find(b->cc), b));
    return ok && mg__strbuf_append(out, "}", 1);
}

static bool json_one(const struct mg_arch *a, const struct mg_board *b, const struct mg_driver_device *d,
                     unsigned *differ, struct mg_strbuf *out)
{
    const struct mg_limit *limit;
    const char *comma = "";
    struct mg_strbuf theirs = {0}, bad = {0};
    bool ok = mg__strbuf_printf(out, "{\"compute_capability\": \"%u.%u\", \"family\": \"%s\", \"board\": ", a->cc / 10,
                                a->cc % 10, a->family) &&
              (b ? mg__json_string(out, b->name) : mg__strbuf_printf(out, "null")) &&
              mg__strbuf_printf(out, ",\n  \"limits\": {");
    for (size_t i = 0; ok && (limit = mg_limit_at(i)) != NULL; i++) {
        uint64_t value = value_of(i, a, b), other;
        bool unknown = !value && strcmp(limit->key, "shared_memory_reserved_per_block");
        ok = unknown ? mg__strbuf_printf(out, "%s\"%s\": null", comma, limit->key)
                     : mg__strbuf_printf(out, "%s\"%s\": %llu", comma, limit->key, (unsigned long long)value);
        if (ok && asked(d, limit, &other)) {
            ok = mg__strbuf_printf(&theirs, "%s\"%s\": %llu", theirs.count ? ", " : "", limit->key,
                                   (unsigned long long)other);
            if (!equal(limit, b, value, other)) {
                (*differ)++;
                ok = ok && mg__strbuf_printf(&bad, "%s\"%s\"", bad.count ? ", " : "", limit->key);
            }
        }
        comma = ",\n    ";
    }
    ok = ok && mg__strbuf_printf(out, "},\n  \"shared_memory_carveouts_kib\": [") && put_carveouts(out, a, ", ") &&
         mg__strbuf_printf(out, "]");
    if (ok && d)
        ok = mg__strbuf_printf(out, ",\n  \"device\": {\"name\": ") && mg__json_string(out, d->name) &&
             mg__strbuf_printf(out, ", \"values\": {%s}, \"differs\": [%s]}", theirs.at ? theirs.at : "",
                               bad.at ? bad.at : "");
    mg__strbuf_free(&theirs);
    mg__strbuf_free(&bad);
    return ok && mg__strbuf_append(out, "}", 1);
}

static bool json(const struct mg_device_options *o, const struct mg_driver_device *d, unsigned *differ,
                 struct mg_strbuf *out)
{
    bool ok = mg__strbuf_printf(out, "{\"margay\": {\"version\": \"%s\"}, \"devices\": [\n", MG_VERSION_STRING);
    const struct mg_arch *a;
    if (!o->all)
        ok = ok && json_one(o->arch, o->board, d, differ, out);
    for (size_t i = 0; ok && o->all && (a = mg_arch_at(i)) != NULL; i++)
        ok = mg__strbuf_printf(out, "%s", i ? ",\n" : "") && json_one(a, a->board, NULL, differ, out);
    ok = ok && mg__strbuf_printf(out, "\n]%s", o->all ? ", \"boards\": [" : "");
    const struct mg_board *b;
    for (size_t i = 0; ok && o->all && (b = mg_board_at(i)) != NULL; i++)
        ok = mg__strbuf_printf(out, "%s", i ? ",\n" : "\n") && json_board(b, out);
    return ok && mg__strbuf_printf(out, "%s}\n", o->all ? "\n]" : "");
}

/* NULL: none of that very name. An RTX 4070 Ti is no RTX 4070. */
static const struct mg_board *board_of(const struct mg_arch *arch, const char *name)
{
    const struct mg_board *b;
    for (size_t i = 0; (b = mg_board_at(i)) != NULL; i++)
        if (b->cc == arch->cc && !strcmp(b->name, name))
            return b;
    return NULL;
}

int mg__cmd_limits(int argc, char **argv)
{
    struct mg_device_options o;
    struct mg_driver_device device, *d = NULL;
    struct mg_strbuf out = {0};
    struct mg_diag diag;
    unsigned differ = 0;
    int result = mg__device_parse(MG_DEVCMD_LIMITS, argc, argv, &o);
    if (result >= 0)
        return result;
    if (o.has_device) {
        d = &device;
        memset(&diag, 0, sizeof(diag));
        if (mg__driver_ask(o.device, d, &diag))
            return mg__cli_complain(NULL, "--device %u: %s", o.device, diag.message);
        o.arch = mg_arch_find(d->cc);
        if (!o.arch)
            return mg__cli_complain(NULL, "--device %u: %s has compute capability %u.%u, which is not in the table",
                                    o.device, d->name, d->cc / 10, d->cc % 10);
        o.board = board_of(o.arch, d->name);
    }
    bool ok = o.json ? json(&o, d, &differ, &out)
              : o.all ? show_all(&o, &out)
                      : show_one(&o, o.arch, o.board, d, &differ, &out);
    if (!ok) {
        mg__strbuf_free(&out);
        return mg__device_out_of_memory();
    }
    result = mg__device_print(&out);
    return result ? result : differ ? MG_EXIT_FINDINGS : 0;
}
