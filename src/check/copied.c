/* copied.c - what kernels copied to device memory although nobody had made it.
 *
 * That is no error as long as nobody uses it, and kept until something is known: the host copies it out, and then the
 * read is told that it began with; or the program ends, and it is a note. The host gets the padding of structures, too,
 * which is never more than 15 bytes in a row: less is told only if it is all that the host copies.
 */
#include "check/check_priv.h"

enum { PADDING = 15, KEPT_MOST = 256 };

static char *copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void free_copied(struct copied *c)
{
    const char *const texts[] = {c->finding.kernel,     c->finding.mangled,  c->finding.file,
                                 c->finding.other_file, c->finding.variable, c->finding.message};
    for (size_t k = 0; k < MG_COUNT(texts); k++)
        free((void *)(uintptr_t)texts[k]);
}

static bool alike(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

void mg__copied_keep(struct mg_check *c, const struct region *to, enum place_kind place,
                     const struct mg_report_finding *f)
{
    for (size_t k = 0; k < c->copied.count; k++) {
        struct copied *old = &c->copied.at[k];
        if (old->serial == to->serial && old->finding.line == f->line && alike(old->finding.mangled, f->mangled) &&
            alike(old->finding.file, f->file) && alike(old->finding.variable, f->variable)) {
            old->finding.count += f->count;
            return;
        }
    }
    struct copied new = {.serial = to->serial, .place = (uint8_t)place, .finding = *f};
    new.finding.kernel = copy_of(f->kernel);
    new.finding.mangled = copy_of(f->mangled);
    new.finding.file = copy_of(f->file);
    new.finding.other_file = copy_of(f->other_file);
    new.finding.variable = copy_of(f->variable);
    new.finding.message = copy_of(f->message);
    if (c->copied.count == KEPT_MOST || !mg__vec_push(&c->copied, new))
        free_copied(&new);
}

void mg__copied_ended(struct mg_check *c, bool tell)
{
    for (size_t k = 0; k < c->copied.count; k++) {
        if (tell && !c->copied.at[k].used)
            c->found(c->arg, &c->copied.at[k].finding);
        free_copied(&c->copied.at[k]);
    }
    mg__vec_free(&c->copied);
}

const struct mg_report_finding *mg__copied_there(struct mg_check *c, const struct region *r, uint64_t at)
{
    if (!mg__region_is_hole(r, at))
        return NULL;
    for (size_t k = 0; k < c->copied.count; k++)
        if (c->copied.at[k].serial == r->serial) {
            c->copied.at[k].used = true;
            return &c->copied.at[k].finding;
        }
    return NULL;
}

bool mg__copied_made(const struct region *r, uint64_t at)
{
    return mg__region_written(r, at, at + 1) && !mg__region_is_hole(r, at);
}

static bool tell_reads(struct mg_check *c, const struct region *r)
{
    size_t left = 0;
    for (size_t k = 0; k < c->copied.count; k++) {
        struct copied *at = &c->copied.at[k];
        if (at->serial == r->serial) {
            mg__find_copied(c, (enum place_kind)at->place, at->finding);
            free_copied(at);
        } else {
            c->copied.at[left++] = *at;
        }
    }
    bool told = left < c->copied.count;
    c->copied.count = left;
    return told;
}

void mg__copied_out(struct mg_check *c, const char *call, const struct region *r, uint64_t from, uint64_t size)
{
    uint64_t first = 0, unmade = 0;
    for (uint64_t at = 0, n; at < size; at += n) {
        bool made = mg__copied_made(r, from + at), hole = false;
        for (n = 1; at + n < size && mg__copied_made(r, from + at + n) == made; n++)
            ;
        if (made || (n <= PADDING && n < size))
            continue;
        for (uint64_t k = 0; k < n && !hole; k++)
            hole = mg__region_is_hole(r, from + at + k);
        if (hole && tell_reads(c, r))
            return;
        first = unmade ? first : from + at;
        unmade += n;
    }
    if (!unmade)
        return;
    char name[96], reads[96];
    snprintf(reads, sizeof(reads), "%s reads", call ? call : "");
    snprintf(name, sizeof(name), "%s of %llu bytes, byte %llu", r->name ? r->name : "allocation",
             (unsigned long long)r->size, (unsigned long long)first);
    mg__find_host(c, KIND_INIT_COPIED_OUT, NULL, name,
                  "%s %llu bytes of device memory, of which nobody has written %llu", call ? reads : "the host copies",
                  (unsigned long long)size, (unsigned long long)unmade);
}
