/* find.c - occurrences become findings: added up, put in an order, and said in a sentence.
 *
 * While a launch runs an occurrence is counted by kind, instructions and variable. At its end instructions become
 * source lines, and what then is the same becomes one finding. Of two accesses that race, the one that comes later in
 * the program is the finding's line: the program's text tells which, not the order in which a run happened to execute
 * them.
 */
#include "check/check_priv.h"

static const struct {
    const char *check, *name, *advice;
    enum mg_severity severity;
} kinds[] = {
#define CHECK_KIND(id, check, name, severity, title, advice) {check, name, advice, MG_SEVERITY_##severity},
#include "check/kind.def"
#undef CHECK_KIND
};

/* ---- counting ---- */
static size_t slot_of(const struct occurrence *o, size_t n)
{
    uint64_t key = o->kind;
    key = key * 0x9e3779b97f4a7c15ull + o->insn;
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15ull + o->other;
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15ull + (uint32_t)o->object;
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15ull + o->place;
    return (size_t)(key ^ key >> 29) & (n - 1);
}

static bool same(const struct occurrence *a, const struct occurrence *b)
{
    return a->kind == b->kind && a->insn == b->insn && a->other == b->other && a->object == b->object &&
           a->place == b->place;
}

struct occurrence *mg__tally_note(struct tally *t, const struct occurrence *o)
{
    for (size_t h = t->nindex ? slot_of(o, t->nindex) : 0; t->nindex && t->index[h]; h = (h + 1) & (t->nindex - 1)) {
        struct occurrence *at = &t->at[t->index[h] - 1];
        if (!same(at, o))
            continue;
        uint64_t count = at->count + o->count;
        if (o->who.block < at->who.block) /* the first block's: the same for any number of workers */
            *at = *o;
        at->count = count;
        return at;
    }
    if (t->count == t->capacity) {
        uint32_t capacity = MG_MAX(t->capacity * 2, 32);
        struct occurrence *at = realloc(t->at, capacity * sizeof(*at));
        uint32_t *index = at ? calloc(capacity * 2, sizeof(*index)) : NULL;
        if (at)
            t->at = at;
        if (!index)
            return NULL;
        free(t->index);
        t->index = index;
        t->nindex = capacity * 2;
        t->capacity = capacity;
        for (uint32_t i = 0; i < t->count; i++) {
            size_t h = slot_of(&t->at[i], t->nindex);
            while (index[h])
                h = (h + 1) & (t->nindex - 1);
            index[h] = i + 1;
        }
    }
    size_t h = slot_of(o, t->nindex);
    while (t->index[h])
        h = (h + 1) & (t->nindex - 1);
    t->at[t->count] = *o;
    t->index[h] = ++t->count;
    return &t->at[t->count - 1];
}

void mg__tally_free(struct tally *t)
{
    free(t->at);
    free(t->index);
    *t = (struct tally){0};
}

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
            if (writes && !wrote)
                swap_actors(o);
        }
        break;
    case KIND_RACE_WRITE_READ:
        orient_read_write(info, o, KIND_RACE_READ_WRITE, false);
        break;
    case KIND_RACE_BLOCKS_WRITE_READ:
        orient_read_write(info, o, KIND_RACE_BLOCKS_READ_WRITE, true);
        break;
    case KIND_RACE_WRITE_WRITE:
    case KIND_RACE_SAME_VALUE:
    case KIND_RACE_BLOCKS_WRITE_WRITE:
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

/* ---- sentences ---- */
static bool say_line(const struct launch *l, const struct line *line, const struct line *other, struct mg_strbuf *out)
{
    (void)l;
    if (!other->line)
        return true;
    if (strcmp(line->file, other->file)) {
        const char *slash = strrchr(other->file, '/');
        return mg__strbuf_printf(out, " at %s:%u", slash ? slash + 1 : other->file, other->line);
    }
    return other->line == line->line ? mg__strbuf_printf(out, " in the same line")
                                     : mg__strbuf_printf(out, " in line %u", other->line);
}

/* Several threads read, one reads. */
static const char *verb(const char *one, const struct actor *who)
{
    if (who->lane != MG_ORDER_MANY)
        return one;
    return !strcmp(one, "reads")          ? "read"
           : !strcmp(one, "writes")       ? "write"
           : !strcmp(one, "changes")      ? "change"
           : !strcmp(one, "copies there") ? "copy there"
                                          : "copy it";
}

/* "thread (5,0,0) of block (0,0,0) reads tile[3], thread (3,0,0) writes it in line 12, and …" */
static bool say_race(const struct launch *l, const struct occurrence *o, const char *name, const struct line *line,
                     const struct line *other, struct mg_strbuf *out)
{
    bool between = o->who.block != o->with.block;
    const char *first = "reads", *second = "writes",
               *why = between ? "nothing orders the two blocks" : "no barrier lies between";
    switch (o->kind) {
    case KIND_RACE_READ_WRITE:
    case KIND_RACE_BLOCKS_READ_WRITE:
        first = "writes";
        second = "reads";
        break;
    case KIND_RACE_WRITE_WRITE:
    case KIND_RACE_BLOCKS_WRITE_WRITE:
        first = second = "writes";
        break;
    case KIND_RACE_SAME_VALUE:
        first = second = "writes";
        why = "the value is the same";
        break;
    case KIND_RACE_IN_STEP:
        first = o->value[0] ? "writes" : "reads";
        second = o->value[1] ? "writes" : "reads";
        why = "only running in step orders them";
        break;
    case KIND_RACE_ASYNC:
        first = o->value[0] ? "writes" : "reads";
        second = o->value[1] ? "copies there" : "copies it";
        why = "the copy has not been waited for";
        break;
    case KIND_RACE_SCOPE:
        first = l->code.sites[o->insn].writes ? "writes" : "reads";
        second = o->other != NO_INSN && l->code.sites[o->other].writes ? "writes" : "reads";
        why = "block scope orders nothing between blocks";
        break;
    case KIND_RACE_WIDTHS:
        first = second = "changes";
        why = "the two atomics have different widths";
        break;
    default:
        break;
    }
    bool copies = o->kind == KIND_RACE_ASYNC;
    return mg__name_thread(l, &o->who, true, out) &&
           mg__strbuf_printf(out, " %s %s, ", verb(first, &o->who), name[0] ? name : "it") &&
           mg__name_thread(l, &o->with, between, out) &&
           mg__strbuf_printf(out, copies ? " %s" : " %s it", verb(second, &o->with)) && say_line(l, line, other, out) &&
           mg__strbuf_printf(out, ", and %s", why);
}

static bool say_barrier(const struct launch *l, const struct occurrence *o, const struct line *line,
                        const struct line *other, struct mg_strbuf *out)
{
    const struct mg_insn_info *i = &l->info->insns[o->insn];
    const char *what = i->insn->sub == MG_SUB_WARP_SYNC ? "__syncwarp"
                       : i->insn->opcode == MG_OP_SHFL  ? "the shuffle"
                       : i->insn->opcode == MG_OP_VOTE  ? "the vote"
                                                        : "the warp operation";
    if (o->kind == KIND_BARRIER_NO_PROGRESS)
        return mg__strbuf_printf(out, "threads wait here for what does not happen, until the time limit");
    if (!mg__name_thread(l, &o->who, true, out))
        return false;
    switch (o->kind) {
    case KIND_BARRIER_LEFT:
    case KIND_BARRIER_NOT_REACHED:
        if (o->kind == KIND_BARRIER_NOT_REACHED && o->value[1] == 0)
            return mg__strbuf_printf(out, " waits here for threads that never come");
        if (!mg__strbuf_printf(out, " waits here, and ") || !mg__name_thread(l, &o->with, false, out))
            return false;
        if (i->insn->effects & MG_E_SYNCS && l->info->insns[o->insn].insn != NULL && o->value[1] == 1 &&
            o->other != NO_INSN)
            return mg__strbuf_printf(out, " waits elsewhere") && say_line(l, line, other, out);
        return mg__strbuf_printf(out, " ended") && say_line(l, line, other, out) &&
               mg__strbuf_printf(out, " without coming here");
    case KIND_BARRIER_DIFFERENT:
        return mg__strbuf_printf(out, " waits here while ") && mg__name_thread(l, &o->with, false, out) &&
               mg__strbuf_printf(out, " waits") && say_line(l, line, other, out);
    case KIND_BARRIER_SHARED:
        return mg__strbuf_printf(out, " comes to barrier %u, where ", o->value[0]) &&
               mg__name_thread(l, &o->with, false, out) &&
               mg__strbuf_printf(out, " and others have met, and nothing keeps the two groups apart");
    case KIND_BARRIER_MASK:
        if (o->value[0])
            return mg__strbuf_printf(out, " gives %s mask 0x%08x, and a lane that it names gives 0x%08x", what,
                                     o->value[0], o->value[1]);
        return mg__strbuf_printf(out, " is at %s, whose mask names lanes 0x%08x, which do not come", what, o->value[1]);
    case KIND_BARRIER_MASK_SELF:
        return mg__strbuf_printf(out, " executes %s with mask 0x%08x, which leaves it out", what, o->value[0]);
    case KIND_BARRIER_SHUFFLE_SOURCE:
        return mg__strbuf_printf(out, " reads from lane %u, which does not take part", o->value[0]);
    case KIND_BARRIER_COUNT:
        if (o->other == NO_INSN && o->value[1] >= 16)
            return mg__strbuf_printf(out, " names barrier %u; a block has 0 to 15", o->value[1]);
        if (o->other == NO_INSN)
            return mg__strbuf_printf(out, " names %u threads; the number must be a multiple of 32 up to 1024",
                                     o->value[0]);
        return mg__strbuf_printf(out, " names %u threads, and ", o->value[0]) &&
               mg__name_thread(l, &o->with, false, out) && mg__strbuf_printf(out, " %u", o->value[1]) &&
               say_line(l, line, other, out);
    default:
        return true;
    }
}

static bool writes(const struct launch *l, const struct occurrence *o)
{
    return l->code.sites[o->insn].writes && !(l->code.sites[o->insn].async && o->place == PLACE_GLOBAL);
}

/* What becomes of a value that nobody made. */
static bool say_use(const struct occurrence *o, const struct line *line, const struct line *other,
                    struct mg_strbuf *out)
{
    static const char *const uses[] = {[USE_BRANCH] = "and it decides a branch",
                                       [USE_ADDRESS] = "and it is part of an address",
                                       [USE_ATOMIC] = "and it is an operand of an atomic",
                                       [USE_RESULT] = "and what is computed from it is stored",
                                       [USE_COPY] = "and stores it"};
    return o->other == NO_INSN ||
           (mg__strbuf_printf(out, ", %s", uses[o->value[0]]) && say_line(NULL, line, other, out));
}

static bool say_access(const struct launch *l, const struct occurrence *o, const char *name, const struct line *line,
                       const struct line *other, struct mg_strbuf *out)
{
    const char *does = writes(l, o) ? "writes" : "reads";
    if (!mg__name_thread(l, &o->who, true, out))
        return false;
    switch (o->kind) {
    case KIND_INIT_SHARED:
    case KIND_INIT_LOCAL:
    case KIND_INIT_GLOBAL:
    case KIND_INIT_HEAP:
    case KIND_INIT_COPIED:
        return mg__strbuf_printf(out, " reads %s, which %s", name,
                                 o->place == PLACE_SHARED  ? "no thread of the block has written"
                                 : o->place == PLACE_LOCAL ? "it has not written"
                                                           : "nobody has written") &&
               say_use(o, line, other, out);
    case KIND_BOUNDS_HEAP:
        return mg__strbuf_printf(out, " %s %s, which is %s", does, name,
                                 o->value[0] ? "freed" : "beyond the end of what malloc gave") &&
               say_line(l, line, other, out);
    case KIND_BOUNDS_HEAP_FREE:
        return o->value[0]
                   ? mg__strbuf_printf(out, " frees %s, which %s", name,
                                       o->value[0] == 1 ? "was freed before" : "is not where malloc's piece begins") &&
                         say_line(l, line, other, out)
                   : mg__strbuf_printf(out, " frees a pointer that malloc has not given");
    case KIND_BOUNDS_MISALIGNED:
        return mg__strbuf_printf(out, " %s %s, which is not aligned to the %s's size", does, name,
                                 writes(l, o) ? "store" : "load");
    case KIND_BOUNDS_NULL:
        return mg__strbuf_printf(out, " %s through a null pointer (0x%llx)", does, (unsigned long long)o->offset);
    case KIND_BOUNDS_CONSTANT:
        return mg__strbuf_printf(out, " writes to %s, which is constant memory", name);
    case KIND_BOUNDS_HOST_POINTER:
        return mg__strbuf_printf(out, " %s through a pointer to memory of the host", does);
    case KIND_BOUNDS_FREED:
        return mg__strbuf_printf(out, " %s %s", does, name);
    default:
        if (o->place == PLACE_SHARED && o->object >= 0)
            return mg__strbuf_printf(out, " %s %s, beyond its %u bytes", does, name,
                                     l->info->shared_vars[o->object].size);
        if (o->place == PLACE_GLOBAL)
            return mg__strbuf_printf(out, " %s %s: %lld bytes %s", does, name,
                                     (int64_t)o->offset < 0 ? (long long)-(int64_t)o->offset
                                                            : (long long)(o->offset + o->width) -
                                                                  (long long)l->info->allocations[o->object].size,
                                     (int64_t)o->offset < 0 ? "before its start" : "past its end");
        if (o->place == PLACE_LOCAL)
            return mg__strbuf_printf(out, " %s %s, outside the thread's own arrays", does, name);
        return mg__strbuf_printf(out, " %s through a pointer that is in no live allocation", does);
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
    return !strcmp(kinds[kind].check, "init");
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
    struct mg_strbuf name = {0}, message = {0};
    const struct occurrence *o = &m->o;
    if (!mg__name_object(l, o, &name) || !mg__strbuf_append(&name, "", 0))
        goto done;
    bool good = !strcmp(kinds[o->kind].check, "race")      ? say_race(l, o, name.at, &m->line, &m->other, &message)
                : !strcmp(kinds[o->kind].check, "barrier") ? say_barrier(l, o, &m->line, &m->other, &message)
                                                           : say_access(l, o, name.at, &m->line, &m->other, &message);
    if (good && !m->line.line) { /* no source line: the instruction itself */
        const struct mg_insn_info *i = &l->info->insns[o->insn];
        good = mg__strbuf_printf(&message, " (%s, PTX line %u)", i->insn->text, i->insn->ptx_line);
    }
    char *kernel = mg__report_demangle(l->info->kernel);
    if (good) {
        struct mg_report_finding f = {.check = kinds[o->kind].check,
                                      .kind = kinds[o->kind].name,
                                      .severity = kinds[o->kind].severity,
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
                                      .advice = kinds[o->kind].advice};
        const struct region *to = o->kind == KIND_INIT_COPIED ? l->regions[o->value[1]] : NULL;
        if (to)
            mg__copied_keep(l->check, to, (enum place_kind)o->place, &f);
        else
            l->check->found(l->check->arg, &f);
    }
    free(kernel);
done:
    mg__strbuf_free(&name);
    mg__strbuf_free(&message);
}

static bool is_race(uint8_t kind)
{
    return !strcmp(kinds[kind].check, "race");
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
            if (is_race(list[k].o.kind) && list[k].o.place == list[i].o.place && list[k].o.object == list[i].o.object &&
                (list[k].o.insn == list[i].o.insn || list[k].o.other == list[i].o.insn))
                list[i].drop = true;
        if (list[i].drop || (init && lost_stores(l, list, n, &list[i].o)))
            continue;
        for (uint32_t k = i + 1; k < n; k++)
            if (!list[k].drop && one_finding(&list[i], &list[k])) {
                list[i].o.count += list[k].o.count;
                list[k].drop = true;
            }
        send(l, &list[i]);
    }
    free(list);
}

static void tell(struct mg_check *check, enum check_kind kind, const char *kernel, struct mg_report_finding f,
                 const char *format, va_list args)
{
    char text[512];
    vsnprintf(text, sizeof(text), format, args);
    char *name = kernel ? mg__report_demangle(kernel) : NULL;
    f.check = kinds[kind].check;
    f.kind = kinds[kind].name;
    f.severity = kinds[kind].severity;
    f.kernel = name;
    f.mangled = kernel;
    f.count = 1;
    f.message = text;
    f.advice = kinds[kind].advice;
    check->found(check->arg, &f);
    free(name);
}

/* What a kernel copied, and now the host copies out: the read that it began with. */
void mg__find_copied(struct mg_check *check, enum place_kind place, struct mg_report_finding f)
{
    enum check_kind kind = mg__define_kind(place);
    struct mg_strbuf message = {0};
    f.kind = kinds[kind].name;
    f.severity = kinds[kind].severity;
    f.advice = kinds[kind].advice;
    if (mg__strbuf_printf(&message, "%s, and the host copies it out", f.message)) {
        f.message = message.at;
        check->found(check->arg, &f);
    }
    mg__strbuf_free(&message);
}

void mg__find_host(struct mg_check *check, enum check_kind kind, const char *kernel, const char *variable,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(check, kind, kernel, (struct mg_report_finding){.variable = variable}, format, args);
    va_end(args);
}

void mg__find_place(struct mg_check *check, enum check_kind kind, const char *kernel, const char *file, uint32_t line,
                    uint32_t column, const char *variable, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(check, kind, kernel,
         (struct mg_report_finding){.file = file, .line = line, .column = column, .variable = variable}, format, args);
    va_end(args);
}

void mg__find_streams(struct mg_check *check, const char *kernel, const char *file, uint32_t line, uint32_t column,
                      const char *other_file, uint32_t other_line, uint32_t other_column, const char *variable,
                      const char *format, ...)
{
    struct mg_report_finding f = {.file = file,
                                  .line = line,
                                  .column = column,
                                  .other_file = other_file,
                                  .other_line = other_line,
                                  .other_column = other_column,
                                  .variable = variable};
    va_list args;
    va_start(args, format);
    tell(check, KIND_RACE_STREAMS, kernel, f, format, args);
    va_end(args);
}
