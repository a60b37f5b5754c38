/* cmd_banks.c - `margay banks`: where the lanes of an access to shared memory go, before and after the best padding and
 * swizzle; of an expression, or of a source line in a report.
 *
 * An expression is worked out for the threads of a block (picture/expr.h), and each of its warps is an access: the
 * counts are those of `profile`, by the same rules, and the layouts are tried on all warps of all expressions together.
 * A report has what its program's accesses were.
 */
#include "cli.h"
#include "picture/expr.h"
#include "picture/picture.h"

#include <getopt.h>
#include <regex.h>
#include <unistd.h>

enum {
    OPT_DECL = 1000,
    OPT_BLOCK,
    OPT_LET,
    OPT_OP,
    OPT_WARP,
    OPT_DEVICE,
    OPT_BOARD,
    OPT_LINE,
    OPT_KERNEL,
    OPT_HELP,
    OPT_VERSION
};
static const struct mg_cli_option table[] = {
    {OPT_DECL, "decl", "DECLARATION", "the array: 'float tile[32][33]'", 1},
    {OPT_BLOCK, "block", "XxYxZ", "threads of the block, as 32x8; default: 32", 1},
    {OPT_LET, "let", "LIST", "variables of the expression: 'i=3, n=32'", 1},
    {OPT_OP, "op", "WHAT", "load (the default), store or atomic", 1},
    {OPT_WARP, "warp", "N", "the warp to show; default: the one that costs most", 1},
    {OPT_DEVICE, "device", "CC", "the compute capability, as 9.0 or 90; default: 9.0", 1},
    {OPT_LINE, "line", "[FILE:]LINE", "of a report: the source line", 1},
    {OPT_KERNEL, "kernel", "REGEX", "of a report: only kernels whose name matches (POSIX extended)", 1},
    {OPT_HELP, "help", NULL, "show this help", 1},
    {OPT_VERSION, "version", NULL, "show the version", 1},
};
enum { MOST_WARPS = 32, MOST_SHOWN = 8, MOST_EXPRESSIONS = 16 };

struct banks {
    const struct mg_arch *arch;
    struct mg_style style;
    struct mg_expr expr;
    bool declared;
    const char *operation; /* NULL: what the expression looks like */
    struct mg_dim3 block;
    int warp;         /* -1: the worst */
    const char *file; /* of --line; NULL: any */
    size_t file_length;
    uint32_t line;
    bool filtered;
    regex_t kernel;
    struct mg_strbuf out;
};

static int help(void)
{
    fputs("usage: margay banks [options] EXPRESSION... --decl DECLARATION\n"
          "       margay banks [options] REPORT.json --line [FILE:]LINE\n"
          "\n"
          "Shows which bank each lane of a warp accesses, how many wavefronts that takes, and the same after\n"
          "the best padding and the best swizzle: of an expression such as 'tile[tx][ty]', or of a line of a\n"
          "report that was written with --pictures or --html. Layouts are tried on all expressions together.\n"
          "\n"
          "An expression may use threadIdx, blockIdx, blockDim and gridDim, or tx, ty, tz, bx, by, bz; tid (the\n"
          "thread's number in its block), lane, warp, warpSize; and what --let gives.\n",
          stdout);
    mg__cli_help_rows(&(struct mg_cli_reader){.table = table, .count = MG_COUNT(table), .command = 1});
    fputs("\nExit status: 0; 2, with a message, when the expression or the report is wrong.\n", stdout);
    return 0;
}

/* ---- options ---- */
/* What is wrong with an expression, with the place in it. */
static int complain_of(const struct banks *b, const struct mg_diag *diag)
{
    struct mg_strbuf text = {0};
    unsigned column = diag->column ? diag->column - 1 : 0;
    mg__cli_complain(NULL, "%s: %s", diag->file[0] ? diag->file : "banks", diag->message);
    if (diag->excerpt[0] && mg__strbuf_printf(&text, "  ") &&
        mg__layout_text(&text, &b->style, diag->excerpt, strlen(diag->excerpt), b->style.width - 3, NULL) &&
        (column + 3 >= b->style.width || mg__strbuf_printf(&text, "\n  %*s^", (int)column, "")))
        fprintf(stderr, "%s\n", text.at);
    if (diag->hint[0])
        fprintf(stderr, "  %s\n", diag->hint);
    mg__strbuf_free(&text);
    return MG_EXIT_SETUP;
}

static int parse_block(struct banks *b, const char *text)
{
    uint32_t d[3] = {1, 1, 1};
    const char *at = text;
    unsigned n = 0;
    for (; n < 3; n++) {
        char *end;
        unsigned long v = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (v < 1 || v > b->arch->max_threads_block)
            break;
        d[n] = (uint32_t)v;
        at = end;
        if (*at != 'x' && *at != ',')
            break;
        at++;
    }
    b->block = (struct mg_dim3){d[0], d[1], d[2]};
    if (n == 3 || *at || (uint64_t)d[0] * d[1] * d[2] > b->arch->max_threads_block)
        return mg__cli_complain(NULL,
                                "--block %s: up to three numbers are needed, such as 32x8, together at most %u threads",
                                text, b->arch->max_threads_block);
    return -1;
}

static int parse_line(struct banks *b, const char *text)
{
    const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
    char *end;
    unsigned long line = *digits >= '0' && *digits <= '9' ? strtoul(digits, &end, 10) : 0;
    if (line < 1 || line > INT32_MAX || *end)
        return mg__cli_complain(NULL, "--line %s: a line is needed, such as kernel.cu:42 or 42", text);
    b->line = (uint32_t)line;
    b->file = colon && colon > text ? text : NULL;
    b->file_length = b->file ? (size_t)(colon - text) : 0;
    return -1;
}

static int parse_kernel(struct banks *b, const char *text)
{
    int error = b->filtered ? 0 : regcomp(&b->kernel, text, REG_EXTENDED | REG_NOSUB);
    char why[128];
    if (b->filtered)
        return mg__cli_complain(NULL, "--kernel is given twice");
    if (error) {
        regerror(error, &b->kernel, why, sizeof(why));
        return mg__cli_complain(NULL, "--kernel '%s': %s", text, why);
    }
    b->filtered = true;
    return -1;
}

static int parse_op(struct banks *b, const char *text)
{
    b->operation = text;
    return mg__picture_kind(text) >= 0 ? -1 : mg__cli_complain(NULL, "--op %s: load, store or atomic is needed", text);
}

static int apply(void *arg, int id, const char *value)
{
    struct banks *b = arg;
    struct mg_diag diag;
    char *end;
    switch (id) {
    case OPT_DECL:
        b->declared = true;
        return mg__expr_declare(value, &b->expr, &diag) == MG_OK ? -1 : complain_of(b, &diag);
    case OPT_LET:
        return mg__expr_let(value, &b->expr, &diag) == MG_OK ? -1 : complain_of(b, &diag);
    case OPT_BLOCK:
        return parse_block(b, value);
    case OPT_OP:
        return parse_op(b, value);
    case OPT_WARP:
        b->warp = *value >= '0' && *value <= '9' ? (int)strtoul(value, &end, 10) : -1;
        if (b->warp < 0 || b->warp >= MOST_WARPS || *end)
            return mg__cli_complain(NULL, "--warp %s: a number from 0 to %d is needed", value, MOST_WARPS - 1);
        return -1;
    case OPT_DEVICE:
        b->arch = mg_arch_parse(value);
        return b->arch ? -1 : mg__cli_bad_capability(NULL, "device", value);
    case OPT_LINE:
        return parse_line(b, value);
    case OPT_KERNEL:
        return parse_kernel(b, value);
    case OPT_VERSION:
        puts("margay " MG_VERSION_STRING);
        return 0;
    default:
        return help();
    }
}

/* ---- of an expression ---- */
/* The lanes of a warp. */
static enum mg_status place_warp(const struct banks *b, unsigned warp, struct mg_report_access *a, bool *assigned,
                                 struct mg_diag *diag)
{
    const struct mg_dim3 *d = &b->block;
    *a = (struct mg_report_access){
        .space = "shared", .variable = b->expr.array.name, .size = b->expr.array.size, .count = 1};
    for (unsigned lane = 0; lane < 32; lane++) {
        uint32_t n = warp * 32 + lane;
        if (n >= d->x * d->y * d->z)
            break;
        struct mg_expr_thread t = {
            .thread = {n % d->x, n / d->x % d->y, n / d->x / d->y}, .block_dim = *d, .grid_dim = {1, 1, 1}};
        struct mg_expr_place place;
        enum mg_status status = mg__expr_place(&b->expr, &t, &place, diag);
        if (status)
            return status;
        a->mask |= 1u << lane;
        a->lanes[lane] = place.offset;
        a->width = place.width;
        *assigned = place.assigned;
    }
    return MG_OK;
}

/* "float tile[32][33]", or the index of a swizzle, where rows are the array's own. */
static bool suggest(struct banks *b, const struct mg_report_access *a)
{
    const struct mg_expr_array *d = &b->expr.array;
    uint32_t inner = d->dims[d->ndims - 1];
    bool ok = true;
    for (unsigned i = 0; ok && i < a->nlayouts; i++) {
        const struct mg_report_layout *l = &a->layouts[i];
        if (l->row != inner || l->element != d->element || d->ndims < 2)
            continue;
        if (l->pad) {
            ok = mg__strbuf_printf(&b->out, "\nPadded: %s %s", d->type, d->name);
            for (unsigned k = 0; ok && k < d->ndims; k++)
                ok = mg__strbuf_printf(&b->out, "[%u]", d->dims[k] + (k + 1 == d->ndims ? l->pad : 0));
            ok = ok && mg__strbuf_append(&b->out, "\n", 1);
        } else if (d->ndims == 2) {
            const char *shift = l->xor_shift ? " >> " : "";
            char by[16] = "", times[24] = "";
            if (l->xor_shift)
                snprintf(by, sizeof(by), "%u", l->xor_shift);
            if (l->xor_times > 1)
                snprintf(times, sizeof(times), " * %u", l->xor_times);
            ok = mg__strbuf_printf(&b->out,
                                   "\nSwizzled, wherever it is used: %s[r][c ^ (r%s%s & %u)%s] in place of %s[r][c]\n",
                                   d->name, shift, by, l->xor_mask, times, d->name);
        }
    }
    return ok;
}

/* All warps of one expression; those of all expressions lie side by side. Returns -1 to go on. */
static int place_all(struct banks *b, const char *text, unsigned warps, struct mg_report_access *access,
                     struct mg_picture_lanes *as)
{
    struct mg_diag diag;
    bool assigned = false;
    b->expr.text = text;
    for (unsigned w = 0; w < warps; w++) {
        if (place_warp(b, w, &access[w], &assigned, &diag))
            return complain_of(b, &diag);
        if (access[w].width & (access[w].width - 1) || access[w].width > 16)
            return mg__cli_complain(NULL, "an element of %u bytes is accessed in parts: name one, such as %s.x",
                                    access[w].width, text);
        const char *operation = b->operation ? b->operation : assigned ? "store" : "load";
        as[w] = (struct mg_picture_lanes){mg__picture_kind(operation), NULL};
        access[w].operation = operation;
        mg__picture_cost(b->arch, &as[w], &access[w], access[w].lanes, &access[w].cost);
    }
    return -1;
}

static bool show_expression(struct banks *b, const char *text, unsigned warps, const struct mg_report_access *access)
{
    const struct mg_report_picture p = {.banks = b->arch->banks, .bank_bytes = b->arch->bank_bytes};
    unsigned shown = 0;
    uint64_t taken = 0, ideal = 0;
    for (unsigned w = 0; w < warps; w++) {
        const struct mg_report_cost *c = &access[w].cost, *most = &access[shown].cost;
        taken += c->taken;
        ideal += c->ideal;
        shown = c->taken + most->ideal > most->taken + c->ideal ? w : shown;
    }
    shown = b->warp >= 0 ? (unsigned)b->warp : shown;
    bool ok = (!b->out.count || mg__strbuf_append(&b->out, "\n", 1)) &&
              mg__layout_text(&b->out, &b->style, text, strlen(text), b->style.width, NULL) &&
              mg__strbuf_printf(&b->out, "\n%s of %u bytes a lane, warp %u of %u", access[shown].operation,
                                access[shown].width, shown, warps);
    if (warps > 1)
        ok = ok && mg__strbuf_printf(&b->out, "; all %u: %llu wavefronts, ideal %llu", warps, (unsigned long long)taken,
                                     (unsigned long long)ideal);
    return ok && mg__strbuf_append(&b->out, "\n\n", 2) && mg__render_banks(&p, &access[shown], &b->style, &b->out);
}

/* Several expressions share the array: a layout is good if it is for all of them. */
static int of_expressions(struct banks *b, char **texts, unsigned n)
{
    const uint32_t threads = b->block.x * b->block.y * b->block.z, warps = (threads + 31) / 32, all = n * warps;
    if (b->warp >= (int)warps)
        return mg__cli_complain(NULL, "--warp %d: the block has %u warps", b->warp, warps);
    if (n > MOST_EXPRESSIONS)
        return mg__cli_complain(NULL, "at most %d expressions", MOST_EXPRESSIONS);
    struct mg_report_access *access = calloc(all, sizeof(*access)),
                            **of = calloc(all, sizeof(struct mg_report_access *));
    struct mg_picture_lanes *as = calloc(all, sizeof(*as));
    int result = access && of && as ? -1 : mg__cli_complain(NULL, "out of memory");
    for (unsigned i = 0; i < n && result < 0; i++)
        result = place_all(b, texts[i], warps, access + i * warps, as + i * warps);
    if (result < 0) {
        uint64_t most = b->arch->shared_block_optin, size = b->expr.array.size;
        for (unsigned i = 0; i < all; i++)
            of[i] = &access[i];
        mg__picture_layouts(b->arch, of, as, all, most > size ? most - size : 0);
        bool ok = true;
        for (unsigned i = 0; i < n && ok; i++)
            ok = show_expression(b, texts[i], warps, access + i * warps);
        if (!ok || !suggest(b, access))
            result = mg__cli_complain(NULL, "out of memory");
    }
    free(access);
    free(of);
    free(as);
    return result;
}

/* ---- of a report ---- */
/* Whether the access is of that line: a file is named by its end, at a slash. */
static bool is_there(const struct banks *b, const struct mg_report_access *a)
{
    size_t n = strlen(a->file), m = b->file_length;
    if (a->line != b->line)
        return false;
    return !b->file || (n >= m && !strncmp(a->file + n - m, b->file, m) &&
                        (n == m || a->file[n - m - 1] == '/' || b->file[0] == '/'));
}

/* The same lanes, again: of an unrolled loop, or another shape of launch. */
static bool is_alike(const struct mg_report_access *a, const struct mg_report_access *b)
{
    uint64_t base = a->mask ? a->lanes[__builtin_ctz(a->mask)] : 0,
             other = b->mask ? b->lanes[__builtin_ctz(b->mask)] : 0;
    bool same = a->mask == b->mask && a->width == b->width && a->cost.taken == b->cost.taken &&
                !strcmp(a->operation, b->operation) && !strcmp(a->variable, b->variable) && !strcmp(a->space, b->space);
    for (unsigned i = 0; same && i < 32; i++)
        same = !(a->mask >> i & 1) || a->lanes[i] - base == b->lanes[i] - other;
    return same;
}

static bool show_access(struct banks *b, const struct mg_report_picture *p, const struct mg_report_access *a)
{
    struct mg_strbuf *out = &b->out;
    bool shared = !strcmp(a->space, "shared");
    const char *file = mg__layout_path(&b->style, a->file);
    bool ok = (!out->count || mg__strbuf_append(out, "\n", 1)) &&
              mg__layout_text(out, &b->style, file, strlen(file), b->style.width, NULL) &&
              mg__strbuf_printf(out, ":%u in ", a->line) &&
              mg__layout_text(out, &b->style, p->kernel, strlen(p->kernel), b->style.width, NULL) &&
              mg__strbuf_printf(out, "\n%s of %u bytes a lane, ", a->operation, a->width) &&
              mg__layout_text(out, &b->style, shared && a->variable[0] ? a->variable : a->space,
                              strlen(shared && a->variable[0] ? a->variable : a->space), 60, NULL) &&
              mg__strbuf_printf(out, ": %llu times, %llu %s, ideal %llu\n", (unsigned long long)a->count,
                                (unsigned long long)a->taken, shared ? "wavefronts" : "sectors",
                                (unsigned long long)a->ideal);
    if (!shared)
        return ok && mg__strbuf_printf(out, "The worst: %u sectors, ideal %u\n", a->cost.taken, a->cost.ideal);
    return ok && mg__strbuf_append(out, "\n", 1) && mg__render_banks(p, a, &b->style, out);
}

static int show_line(struct banks *b, const struct mg_report_file *report)
{
    struct mg_arena arena;
    const struct mg_report_access *seen[MOST_SHOWN];
    unsigned n = 0, more = 0;
    int result = -1;
    mg__arena_init(&arena);
    for (size_t i = 0; result < 0 && i < report->pictures.at.count; i++) {
        struct mg_report_picture p;
        enum mg_status status = mg__picture_read(&report->pictures.at.at[i], &arena, &p);
        if (status)
            result =
                mg__cli_complain(NULL, status == MG_ERR_NOMEM ? "out of memory" : "a picture in the report is damaged");
        for (size_t k = 0; result < 0 && k < p.naccesses; k++) {
            const struct mg_report_access *a = &p.accesses[k];
            bool alike = false;
            if (!is_there(b, a) || (b->filtered && regexec(&b->kernel, p.kernel, 0, NULL, 0)))
                continue;
            for (unsigned s = 0; s < n && !alike; s++)
                alike = is_alike(seen[s], a);
            more += !alike && n == MOST_SHOWN;
            if (alike || n == MOST_SHOWN)
                continue;
            seen[n++] = a;
            if (!show_access(b, &p, a))
                result = mg__cli_complain(NULL, "out of memory");
        }
    }
    if (result < 0 && more && !mg__strbuf_printf(&b->out, "\n%u different accesses more\n", more))
        result = mg__cli_complain(NULL, "out of memory");
    if (result < 0 && !n)
        result = mg__cli_complain(NULL, "no access to shared or global memory was recorded in line %u%s%.*s", b->line,
                                  b->file ? " of " : "", (int)b->file_length, b->file ? b->file : "");
    mg__arena_free(&arena);
    return result;
}

static int of_report(struct banks *b, const char *path)
{
    struct mg_report_file report;
    struct mg_diag diag;
    int result;
    mg__report_file_init(&report, false);
    if (mg__report_load(&report, path, &diag) != MG_OK)
        result = mg__cli_complain(NULL, "%s", diag.message);
    else if (!report.pictures.at.count)
        result = mg__cli_complain(NULL, "%s has no pictures of accesses: write it with --json FILE --pictures", path);
    else
        result = show_line(b, &report);
    mg__report_file_free(&report);
    return result;
}

int mg__cmd_banks(int argc, char **argv)
{
    struct banks *b = calloc(1, sizeof(*b));
    if (!b)
        return mg__cli_complain(NULL, "out of memory");
    char cwd[4096];
    b->arch = mg_arch_find(90);
    b->block = (struct mg_dim3){32, 1, 1};
    b->warp = -1;
    mg__cli_style(&b->style, STDOUT_FILENO);
    b->style.cwd = getcwd(cwd, sizeof(cwd)) ? cwd : NULL;
    int result = mg__cli_read(&(struct mg_cli_reader){.table = table,
                                                      .count = MG_COUNT(table),
                                                      .command = 1,
                                                      .mixed = true,
                                                      .help = OPT_HELP,
                                                      .apply = apply,
                                                      .arg = b},
                              argc, argv);
    bool report = b->line > 0;
    if (result < 0 && (argc == optind || (report && argc - optind != 1)))
        result = mg__cli_complain(NULL, "one expression or report is needed; usage: margay banks 'tile[tx][ty]' --decl "
                                        "'float tile[32][32]' --block 32x8");
    else if (result < 0 && report == b->declared)
        result = mg__cli_complain(
            NULL, report ? "--decl is for an expression, and --line for a report"
                         : "--decl is needed, the array of the expression: --decl 'float tile[32][32]'");
    else if (result < 0)
        result = report ? of_report(b, argv[optind]) : of_expressions(b, argv + optind, (unsigned)(argc - optind));
    if (result < 0) {
        bool written = fwrite(b->out.at, 1, b->out.count, stdout) == b->out.count && fflush(stdout) == 0;
        result = written ? 0 : mg__cli_complain(NULL, "standard output could not be written");
    }
    if (b->filtered)
        regfree(&b->kernel);
    mg__strbuf_free(&b->out);
    free(b);
    return result;
}
