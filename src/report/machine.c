/* machine.c - what ptxas made of the source lines of the launched kernels: the listing of a disassembler held against
 * the launches' own lines.
 *
 * The counts of a run are those of PTX, after the changes that src/model knows (docs/fidelity.md). ptxas makes others
 * that depend on its own judgement: it puts the accesses of a short arm under a predicate instead of behind a branch,
 * makes one store of two that end two arms, drops loads that it finds again, and copies the body of a loop. Where all
 * lanes of a warp go the same way this changes no access; where they diverge it does. So lines are told of kernels with
 * divergent branches alone, and only those that ran.
 *
 * The listing is what `nvdisasm -gi -c` prints:
 *
 *     	.section	.text.KERNEL,"ax",@progbits
 *     	//## File "FILE", line 12 …              the instructions that follow are of this line, or of where it was
 *     	//## File "OUTER", line 30               inlined, if it is the toolkit's (as src/ptx/place.c has it)
 *             (offset, as a comment)  @!P0 STG.E desc[UR4][R4.64], R7 ;
 *
 * Counted are the instructions that access global, shared or generic memory, by the names they begin with; what runs
 * under @!PT never runs. What a line does not say about itself is not guessed at: matrix and asynchronous instructions
 * are left out on both sides, and so are loads of lines with a compare-and-swap loop, which have one more for each
 * loop.
 */
#include "report/render.h"

enum { MOST_ROWS = 12 }; /* told on the terminal; the report file has all */

void mg__machine_init(struct mg_machine *machine)
{
    memset(machine, 0, sizeof(*machine));
    mg__arena_init(&machine->arena);
    mg__strtab_init(&machine->index, &machine->arena);
}

void mg__machine_free(struct mg_machine *machine)
{
    mg__vec_free(&machine->changes);
    mg__arena_free(&machine->arena);
}

/* ---- reading the listing ---- */

/* "KERNEL\nFILE" (every line of which is known when it is there) or "KERNEL\nFILE\nLINE". */
static bool key_of(struct mg_strbuf *key, const char *kernel, const char *file, uint32_t line)
{
    key->count = 0;
    return mg__strbuf_printf(key, "%s\n%s", kernel, file) && (!line || mg__strbuf_printf(key, "\n%u", line));
}

static const struct mg_machine_line *find(const struct mg_machine *machine, const char *kernel, const char *file,
                                          uint32_t line)
{
    struct mg_strbuf key = {0};
    const struct mg_machine_line *found =
        key_of(&key, kernel, file, line) ? mg__strtab_get(&machine->index, key.at, key.count) : NULL;
    mg__strbuf_free(&key);
    return found;
}

static struct mg_machine_line *add(struct mg_machine *machine, const char *kernel, const char *file, uint32_t line)
{
    struct mg_strbuf key = {0};
    struct mg_machine_line *l = NULL;
    if (!key_of(&key, kernel, file, line))
        goto done;
    l = mg__strtab_get(&machine->index, key.at, key.count);
    if (l)
        goto done;
    l = mg__arena_alloc(&machine->arena, sizeof(*l));
    if (l && !mg__strtab_put(&machine->index, key.at, key.count, l))
        l = NULL;
done:
    mg__strbuf_free(&key);
    return l;
}

static bool is_name(const char *at, size_t length, const char *name)
{
    return length == strlen(name) && !memcmp(at, name, length);
}

/* One instruction, from behind its address on. */
static void count(struct mg_machine_line *line, const char *at, const char *end)
{
    bool guarded = false;
    while (at < end && *at == ' ')
        at++;
    if (at < end && *at == '@') {
        const char *guard = at;
        while (at < end && *at != ' ')
            at++;
        if (is_name(guard, (size_t)(at - guard), "@!PT"))
            return;
        guarded = true;
        while (at < end && *at == ' ')
            at++;
    }
    const char *name = at;
    while (at < end && *at != ' ' && *at != '.' && *at != ';')
        at++;
    size_t n = (size_t)(at - name);
    struct mg_report_written *made = &line->made;
    if (is_name(name, n, "LDG") || is_name(name, n, "LDS") || is_name(name, n, "LD"))
        made->loads++;
    else if (is_name(name, n, "STG") || is_name(name, n, "STS") || is_name(name, n, "ST"))
        made->stores++;
    else if (is_name(name, n, "RED") || is_name(name, n, "REDG") || is_name(name, n, "ATOMG"))
        made->atomics++;
    else if (is_name(name, n, "ATOMS") || is_name(name, n, "ATOM"))
        line->swaps = true;
    else
        return;
    for (const char *p = name; p + 4 <= end && *p != ' '; p++)
        line->swaps |= !memcmp(p, ".CAS", 4);
    made->guarded += guarded;
}

/* The part of [at, end) between `before` and the next `close`; NULL: there is none. */
static char *between(struct mg_arena *arena, const char *at, const char *end, const char *before, char close,
                     const char **after)
{
    size_t n = strlen(before);
    while ((size_t)(end - at) > n && memcmp(at, before, n))
        at++;
    if ((size_t)(end - at) <= n)
        return NULL;
    at += n;
    const char *stop = memchr(at, close, (size_t)(end - at));
    char *text = stop ? mg__arena_alloc(arena, (size_t)(stop - at) + 1) : NULL;
    if (!text)
        return NULL;
    memcpy(text, at, (size_t)(stop - at));
    *after = stop + 1;
    return text;
}

/* The number of ", line 12…"; 0: it is none. */
static uint32_t line_number(const char *at, const char *end)
{
    static const char before[] = ", line ";
    size_t n = sizeof(before) - 1;
    uint32_t number = 0;
    if ((size_t)(end - at) < n || memcmp(at, before, n))
        return 0;
    for (at += n; at < end && *at >= '0' && *at <= '9' && number < 100000000; at++)
        number = 10 * number + (uint32_t)(*at - '0');
    return number;
}

bool mg__machine_read(struct mg_machine *machine, const char *text, size_t length)
{
    const char *end = text + length, *after = NULL;
    char *kernel = NULL, *file = NULL;
    struct mg_machine_line *line = NULL;
    bool place = false;   /* the line in front says where, */
    bool inlined = false; /* and that is the toolkit's: what it was inlined into counts */
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        const char *at = text;
        while (at < stop && (*at == ' ' || *at == '\t'))
            at++;
        size_t n = (size_t)(stop - at);
        const bool here = n > 9 && !memcmp(at, "//## File", 9);
        if (n > 9 && !memcmp(at, ".section\t", 9)) {
            kernel = between(&machine->arena, at, stop, ".text.", ',', &after);
            line = NULL;
        } else if (kernel && here) {
            if (!place || inlined) {
                file = between(&machine->arena, at, stop, "File \"", '"', &after);
                uint32_t number = file ? line_number(after, stop) : 0;
                line = file && number ? add(machine, kernel, file, number) : NULL;
                machine->known |= line != NULL;
                if (file && number && (!line || !add(machine, kernel, file, 0)))
                    return false;
                inlined = file && mg__file_is_system(file);
            }
        } else if (line && n > 2 && at[0] == '/' && at[1] == '*') {
            const char *close = memchr(at + 2, '/', n - 2);
            if (close)
                count(line, close + 1, stop);
        }
        place = here;
        text = stop + (stop < end);
    }
    return true;
}

/* ---- holding the launches' lines against it ---- */
static bool note(struct mg_machine *machine, const struct mg_tally_kernel *k, const struct mg_report_line *line,
                 const char *what, enum mg_machine_kind kind, uint32_t written, uint32_t made)
{
    struct mg_machine_change change = {.kernel = k,
                                       .file = line->file,
                                       .line = line->line,
                                       .kind = kind,
                                       .what = what,
                                       .written = written,
                                       .made = made};
    return mg__vec_push(&machine->changes, change);
}

static bool compare_line(struct mg_machine *machine, const struct mg_tally_kernel *k, const struct mg_report_line *line)
{
    static const struct mg_machine_line none;
    const struct mg_report_written *w = &line->written;
    if (!line->metrics.v[MG_METRIC_INST] || !line->line || !(w->loads + w->stores + w->atomics) ||
        !find(machine, k->mangled, line->file, 0))
        return true; /* it did not run, accesses nothing, or is of a file that the listing does not have */
    const struct mg_machine_line *have = find(machine, k->mangled, line->file, line->line);
    const struct mg_report_written *m = have ? &have->made : &none.made;
    bool swaps = have && have->swaps;
    const struct {
        const char *what;
        uint32_t written, made;
    } rows[] = {{"loads", w->loads, m->loads}, {"stores", w->stores, m->stores}, {"atomics", w->atomics, m->atomics}};
    bool same = true;
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        if (rows[i].written == rows[i].made || !rows[i].written || (swaps && i != 1))
            continue;
        same = false;
        enum mg_machine_kind kind = rows[i].made < rows[i].written ? MG_MACHINE_FEWER : MG_MACHINE_MORE;
        if (!note(machine, k, line, rows[i].what, kind, rows[i].written, rows[i].made))
            return false;
    }
    if (same && !swaps && m->guarded > w->guarded)
        return note(machine, k, line, "accesses", MG_MACHINE_PREDICATED, w->guarded, m->guarded);
    return true;
}

static bool diverges(const struct mg_tally *tally, const char *mangled)
{
    for (size_t i = 0; i < tally->kernels.count; i++)
        if (!strcmp(tally->kernels.at[i]->mangled, mangled) && tally->kernels.at[i]->metrics.v[MG_METRIC_DIVERGENT])
            return true;
    return false;
}

bool mg__machine_compare(struct mg_machine *machine, const struct mg_tally *tally)
{
    for (size_t i = 0; i < tally->kernels.count; i++) {
        const struct mg_tally_kernel *k = tally->kernels.at[i];
        bool before = false; /* the kernel in another shape */
        for (size_t j = 0; j < i && !before; j++)
            before = !strcmp(tally->kernels.at[j]->mangled, k->mangled);
        for (size_t j = 0; !before && diverges(tally, k->mangled) && j < k->lines.count; j++)
            if (!compare_line(machine, k, &k->lines.at[j]))
                return false;
    }
    return true;
}

/* ---- telling it ---- */
static const char *const kind_names[] = {
    [MG_MACHINE_FEWER] = "fewer", [MG_MACHINE_MORE] = "more", [MG_MACHINE_PREDICATED] = "predicated"};

static bool change_row(struct mg_strbuf *out, const struct mg_style *style, const struct mg_machine_change *c)
{
    const char *file = mg__layout_path(style, c->file);
    struct mg_strbuf text = {0};
    size_t size = strlen(file),
           room = style->width > 80 ? style->width - 66 : 14; /* what the longest sentence leaves */
    if (size > room) {                                        /* its end is what tells files apart */
        const char *slash = strchr(file + (size - room), '/');
        file = slash ? slash + 1 : file + (size - room);
    }
    bool ok = mg__strbuf_printf(&text, "%s:%u  ", file, c->line);
    if (c->kind == MG_MACHINE_PREDICATED)
        ok = ok && mg__strbuf_printf(&text, "under a predicate, no branch: its instructions differ alone");
    else
        ok = ok && mg__strbuf_printf(&text, "%s: %u in PTX, %u in machine code (%s)", c->what, c->written, c->made,
                                     c->kind == MG_MACHINE_MORE ? "copied" : "joined or dropped");
    ok = ok && mg__strbuf_append(out, "    ", 4) &&
         mg__layout_text(out, style, text.at, text.count, MG_MAX(style->width, 44u) - 4, NULL) &&
         mg__strbuf_append(out, "\n", 1);
    mg__strbuf_free(&text);
    return ok;
}

bool mg__machine_render(const struct mg_machine *machine, const struct mg_style *style, struct mg_strbuf *out)
{
    size_t n = machine->changes.count;
    if (!n)
        return true;
    bool ok = mg__strbuf_printf(out, "\n") && mg__layout_tone(out, style, MG_TONE_BOLD, true) &&
              mg__strbuf_printf(out, "Changed by ptxas") && mg__layout_tone(out, style, MG_TONE_BOLD, false) &&
              mg__strbuf_printf(out, ", in kernels that diverge: a device may count otherwise here\n");
    for (size_t i = 0; ok && i < n && i < MOST_ROWS; i++)
        ok = change_row(out, style, &machine->changes.at[i]);
    if (ok && n > MOST_ROWS)
        ok = mg__strbuf_printf(out, "and %zu more: --json FILE has them all\n", n - MOST_ROWS);
    return ok;
}

bool mg__machine_json(const struct mg_machine *machine, struct mg_strbuf *out)
{
    bool ok = mg__strbuf_append(out, "[", 1);
    for (size_t i = 0; ok && i < machine->changes.count; i++) {
        const struct mg_machine_change *c = &machine->changes.at[i];
        ok = mg__strbuf_printf(out, "%s{\"kernel\": ", i ? ",\n" : "\n") && mg__json_string(out, c->kernel->kernel) &&
             mg__strbuf_printf(out, ", \"mangled\": ") && mg__json_string(out, c->kernel->mangled) &&
             mg__strbuf_printf(out, ", \"file\": ") && mg__json_string(out, c->file) &&
             mg__strbuf_printf(out,
                               ", \"line\": %u, \"change\": \"%s\", \"what\": \"%s\", \"written\": %u, \"made\": %u}",
                               c->line, kind_names[c->kind], c->what, c->written, c->made);
    }
    return ok && mg__strbuf_append(out, "]", 1);
}
