/* find.c - occurrences become findings: added up, put in an order, and said in a sentence.
 *
 * While a launch runs an occurrence is counted by kind, instructions and variable. At its end instructions become
 * source lines, and what then is the same becomes one finding. Of two accesses that race, the one that comes later in
 * the program is the finding's line: the program's text tells which, not the order in which a run happened to execute
 * them.
 */
#include "check/check_priv.h"

/* ---- which is the later of two accesses ---- */
static void swap_actors(struct occurrence *o)
{
    struct actor who = o->who;
    uint32_t insn = o->insn;
    o->who = o->with;
    o->with = who;
    o->insn = o->other;
    o->other = insn;
}

/* A read (insn) and a write (other) that race: `between` says that barriers of the block do
 * not help, blocks being two. */
static void orient_read_write(const struct mg_launch_info *info, struct occurrence *o, enum check_kind read_write,
                              bool between)
{
    if (o->insn == NO_INSN || o->other == NO_INSN)
        return;
    bool write_first = mg__code_leads(info, o->other, o->insn, !between, false);
    bool read_first = mg__code_leads(info, o->insn, o->other, !between, false);
    if (between && write_first && read_first) { /* in a loop: as it stands in the text */
        write_first = o->other < o->insn;
        read_first = !write_first;
    }
    if (read_first && !write_first) {
        o->kind = (uint8_t)read_write;
        swap_actors(o);
    }
}

static void orient_writes(const struct mg_launch_info *info, struct occurrence *o)
{
    if (o->insn == NO_INSN || o->other == NO_INSN || o->insn == o->other)
        return;
    bool forth = mg__code_leads(info, o->other, o->insn, false, false),
         back = mg__code_leads(info, o->insn, o->other, false, false);
    if (forth != back ? back : o->insn < o->other)
        swap_actors(o);
}

static void settle(const struct launch *l, struct occurrence *o)
{
    const struct mg_launch_info *info = l->info;
    switch (o->kind) {
    case KIND_RACE_IN_STEP: /* on two branches nothing keeps lanes in step */
        if (o->insn != NO_INSN && o->other != NO_INSN && o->insn != o->other &&
            !mg__code_leads(info, o->other, o->insn, false, false) &&
            !mg__code_leads(info, o->insn, o->other, false, false)) {
            bool writes = o->value[0], wrote = o->value[1];
            o->kind = writes && wrote ? KIND_RACE_WRITE_WRITE : KIND_RACE_WRITE_READ;
            o->value[2] = 1; /* of one warp, if all that are one finding with it are: fix.c */
            if (writes && !wrote)
                swap_actors(o);
        }
        break;
    case KIND_RACE_WRITE_READ:
        orient_read_write(info, o, KIND_RACE_READ_WRITE, false);
        break;
    case KIND_RACE_BLOCKS_WRITE_READ:
        if (!o->value[0]) /* else a flag tells which came first */
            orient_read_write(info, o, KIND_RACE_BLOCKS_READ_WRITE, true);
        break;
    case KIND_RACE_WRITE_WRITE:
    case KIND_RACE_SAME_VALUE:
    case KIND_RACE_BLOCKS_WRITE_WRITE:
    case KIND_RACE_CLUSTER:
        orient_writes(info, o);
        break;
    case KIND_BARRIER_DIFFERENT: { /* in the order of the text, whoever came first */
        struct line a = mg__name_line(info, o->insn), b = mg__name_line(info, o->other);
        if (strcmp(a.file, b.file) ? o->other < o->insn : b.line < a.line)
            swap_actors(o);
        break;
    }
    case KIND_BARRIER_LEFT:
        if (mg__code_goes_around(info, o->insn))
            o->kind = KIND_BARRIER_NOT_REACHED;
        break;
    default:
        break;
    }
}

/* ---- findings ---- */
struct made {
    struct occurrence o;
    struct line line, other;
    bool drop;
};

static int compare_text(const char *a, const char *b)
{
    return strcmp(a, b);
}

static int in_order(const void *a, const void *b)
{
    const struct made *x = a, *y = b;
    int c = compare_text(x->line.file, y->line.file);
    if (c)
        return c;
#define BY(field)             \
    if (x->field != y->field) \
    return x->field < y->field ? -1 : 1
    BY(line.line);
    BY(o.kind);
    if ((c = compare_text(x->other.file, y->other.file)))
        return c;
    BY(other.line);
    BY(o.place);
    BY(o.object);
    BY(o.who.block);
    BY(o.insn);
    BY(o.other);
    BY(o.offset); /* what merge_values brought together may be alike up to here */
#undef BY
    return 0;
}

static bool is_init(uint8_t kind)
{
    return !strcmp(mg__kinds[kind].check, "init");
}

static bool one_finding(const struct made *a, const struct made *b)
{
    bool init = is_init(a->o.kind); /* the first use of a value stands for all */
    return a->o.kind == b->o.kind && a->line.line == b->line.line && a->o.place == b->o.place &&
           a->o.object == b->o.object && !strcmp(a->line.file, b->line.file) &&
           (init || (a->other.line == b->other.line && !strcmp(a->other.file, b->other.file))) &&
           (a->line.line || a->o.insn == b->o.insn);
}

static void send(struct launch *l, const struct made *m)
{
    struct mg_strbuf name = {0}, message = {0}, fix = {0};
    const struct occurrence *o = &m->o;
    if (!mg__name_object(l, o, &name) || !mg__strbuf_append(&name, "", 0))
        goto done;
    bool good = mg__say(l, o, name.at, &m->line, &m->other, &message);
    struct line call = mg__name_call(l->info, o->insn);
    if (good && call.line) {
        const char *slash = strrchr(call.file, '/');
        good = strcmp(call.file, m->line.file)
                   ? mg__strbuf_printf(&message, "; called at %s:%u", slash ? slash + 1 : call.file, call.line)
                   : mg__strbuf_printf(&message, "; called in line %u", call.line);
    }
    if (good && !m->line.line) { /* no source line: the instruction itself */
        const struct mg_insn_info *i = &l->info->insns[o->insn];
        good = mg__strbuf_printf(&message, " (%s, PTX line %u)", i->insn->text, i->insn->ptx_line);
    }
    char *kernel = mg__report_demangle(l->info->kernel);
    if (good) {
        struct mg_report_finding f = {.check = mg__kinds[o->kind].check,
                                      .kind = mg__kinds[o->kind].name,
                                      .severity = mg__kinds[o->kind].severity,
                                      .kernel = kernel ? kernel : l->info->kernel,
                                      .mangled = l->info->kernel,
                                      .file = m->line.file,
                                      .other_file = m->other.file,
                                      .line = m->line.line,
                                      .column = m->line.column,
                                      .other_line = m->other.line,
                                      .other_column = m->other.column,
                                      .variable = name.at,
                                      .count = o->count,
                                      .message = message.at,
                                      .advice = mg__fix(l, o, &m->line, &m->other, &fix)};
        const struct region *to = o->kind == KIND_INIT_COPIED ? l->regions[o->value[1]] : NULL;
        if (to)
            mg__copied_keep(l->check, to, (enum place_kind)o->place, &f);
        else
            l->check->found(l->check->arg, &f);
    }
    free(kernel);
done:
    mg__strbuf_free(&fix);
    mg__strbuf_free(&name);
    mg__strbuf_free(&message);
}

static bool is_race(uint8_t kind)
{
    return !strcmp(mg__kinds[kind].check, "race");
}

/* Where different values were written, the same ones were chance: what is written may itself depend on the race. */
static void merge_values(struct made *list, uint32_t n, struct made *same)
{
    const struct occurrence *o = &same->o;
    bool between = o->who.block != o->with.block;
    if (o->kind != KIND_RACE_SAME_VALUE || same->drop)
        return;
    for (uint32_t k = 0; k < n; k++) {
        struct occurrence *d = &list[k].o;
        if (d->kind != (between ? KIND_RACE_BLOCKS_WRITE_WRITE : KIND_RACE_WRITE_WRITE) || d->insn != o->insn ||
            d->other != o->other || d->place != o->place || d->object != o->object)
            continue;
        uint64_t count = d->count + o->count;
        uint8_t kind = d->kind;
        if (o->who.block < d->who.block || (o->who.block == d->who.block && o->offset < d->offset))
            *d = *o;
        d->kind = kind;
        d->count = count;
        same->drop = true;
        return;
    }
}

/* Whether what only running in step orders is the same pair of lines that a race is told of: one cause, one finding. */
static bool told_as_race(const struct made *list, uint32_t n, const struct made *m)
{
    for (uint32_t k = 0; m->o.kind == KIND_RACE_IN_STEP && m->line.line && k < n; k++) {
        const struct made *r = &list[k];
        bool race = mg__kind_in_block(r->o.kind);
        bool same = r->line.line == m->line.line && r->other.line == m->other.line &&
                    !strcmp(r->line.file, m->line.file) && !strcmp(r->other.file, m->other.file);
        bool turned = r->line.line == m->other.line && r->other.line == m->line.line &&
                      !strcmp(r->line.file, m->other.file) && !strcmp(r->other.file, m->line.file);
        if (race && (same || turned) && r->o.place == m->o.place && r->o.object == m->o.object)
            return true;
    }
    return false;
}

/* Whether a copy that comes too soon is what becomes of a wait that did not wait for it. */
static bool told_as_parity(const struct made *list, uint32_t n, const struct made *m)
{
    for (uint32_t k = 0; m->o.kind == KIND_RACE_FILLED && k < n; k++)
        if (list[k].o.kind == KIND_RACE_ASYNC && list[k].o.value[3] && list[k].o.place == m->o.place &&
            list[k].o.object == m->o.object)
            return true;
    return false;
}

/* Whether one line reads, changes and writes back: that the read comes too soon is told, and is what the writes'
 * meeting comes of. */
static bool told_as_update(const struct made *list, uint32_t n, const struct made *m)
{
    bool between = m->o.kind == KIND_RACE_BLOCKS_WRITE_WRITE;
    if ((!between && m->o.kind != KIND_RACE_WRITE_WRITE) || !m->line.line || m->line.line != m->other.line ||
        strcmp(m->line.file, m->other.file))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        const struct made *r = &list[k];
        bool read = between ? r->o.kind == KIND_RACE_BLOCKS_READ_WRITE || r->o.kind == KIND_RACE_BLOCKS_WRITE_READ
                            : r->o.kind == KIND_RACE_READ_WRITE || r->o.kind == KIND_RACE_WRITE_READ;
        if (read && r->line.line == m->line.line && r->other.line == m->line.line &&
            !strcmp(r->line.file, m->line.file) && !strcmp(r->other.file, m->line.file) && r->o.place == m->o.place &&
            r->o.object == m->o.object)
            return true;
    }
    return false;
}

/* Whether stores to the object were left out, because they were out of bounds or
 * misaligned: then what lacks is told. */
static bool lost_stores(const struct launch *l, const struct made *list, uint32_t n, const struct occurrence *o)
{
    for (uint32_t k = 0; k < n; k++)
        if (list[k].o.kind == KIND_BOUNDS_MISALIGNED && list[k].o.place == o->place && list[k].o.object == o->object &&
            l->code.sites[list[k].o.insn].writes)
            return true;
    return false;
}

/* A race knows the heap as an allocation, a read of what nobody wrote as a piece. */
static bool same_memory(const struct occurrence *race, const struct occurrence *init)
{
    return init->place == PLACE_HEAP || (race->place == init->place && race->object == init->object);
}

void mg__find_report(struct launch *l)
{
    uint32_t n = l->tally.count;
    struct made *list = n ? calloc(n, sizeof(*list)) : NULL;
    if (!list)
        return;
    for (uint32_t i = 0; i < n; i++) {
        list[i].o = l->tally.at[i];
        if (list[i].o.insn == NO_INSN && list[i].o.other != NO_INSN)
            swap_actors(&list[i].o);
        list[i].drop = list[i].o.insn == NO_INSN;
        if (list[i].drop)
            continue;
        settle(l, &list[i].o);
        list[i].line = mg__name_line(l->info, list[i].o.insn);
        list[i].other = mg__name_line(l->info, list[i].o.other);
    }
    for (uint32_t i = 0; i < n; i++)
        merge_values(list, n, &list[i]);
    qsort(list, n, sizeof(*list), in_order);
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].drop)
            continue;
        /* Whether another thread's write was already there is chance: the race between the two says it all. */
        bool init = is_init(list[i].o.kind) && list[i].o.place != PLACE_LOCAL;
        for (uint32_t k = 0; list[i].o.kind == KIND_INIT_COPIED && k < n; k++)
            if (is_init(list[k].o.kind) && list[k].o.kind != KIND_INIT_COPIED && list[k].o.insn == list[i].o.insn)
                list[i].drop = true; /* the use is told */
        for (uint32_t k = 0; init && k < n; k++)
            if (is_race(list[k].o.kind) && same_memory(&list[k].o, &list[i].o) &&
                (list[k].o.insn == list[i].o.insn || list[k].o.other == list[i].o.insn))
                list[i].drop = true;
        if (list[i].drop || (init && lost_stores(l, list, n, &list[i].o)) || told_as_race(list, n, &list[i]) ||
            told_as_update(list, n, &list[i]) || told_as_parity(list, n, &list[i]))
            continue;
        for (uint32_t k = i + 1; k < n; k++)
            if (!list[k].drop && one_finding(&list[i], &list[k])) {
                list[i].o.count += list[k].o.count;
                list[i].o.value[2] &= mg__kind_in_block(list[i].o.kind) ? list[k].o.value[2] : ~0u;
                list[k].drop = true;
            }
        send(l, &list[i]);
    }
    free(list);
}
