/* source.c - source text that came with a kernel (ptx/source.h): under which name reports tell it.
 *
 * The name is the program's own, "/home/ada/k.cu". But two programs of one name may have different texts: NVRTC calls
 * every program without a name "default_program", and a program may compile a text that it has changed since it read it
 * from /home/ada/k.cu. Lines of the one must never be shown, or counted, as those of the other. So the first text keeps
 * the name, unless a file of that name says something else, and others become "/home/ada/k.cu#2" and so on; the same
 * text again has the name that it had. In another process the numbers may differ: what reads records of several
 * processes leaves a text out where it has two of one name (given.c).
 */
#include "report/report_priv.h"

enum { MOST_NAMES = 100000 };
#define MOST_FILE ((size_t)16 << 20)

struct source {
    const char *name, *text; /* as told */
    size_t size;
};

struct mg_source_names {
    struct mg_arena arena;
    struct mg_strtab by_name;
};

struct mg_source_names *mg__source_names_create(void)
{
    struct mg_source_names *names = calloc(1, sizeof(*names));
    if (names) {
        mg__arena_init(&names->arena);
        mg__strtab_init(&names->by_name, &names->arena);
    }
    return names;
}

void mg__source_names_destroy(struct mg_source_names *names)
{
    if (names)
        mg__arena_free(&names->arena);
    free(names);
}

static bool same(const char *a, size_t size, const char *b, size_t other)
{
    return size == other && !memcmp(a, b, size);
}

/* Whether there is a file of that name, and it has another text. */
static bool file_differs(const char *name, const char *text, size_t size)
{
    struct mg_diag ignored;
    char *there = NULL;
    size_t length = 0;
    if (mg__file_read(name, MOST_FILE, &there, &length, &ignored) != MG_OK)
        return false;
    bool differs = !same(text, size, there, length);
    free(there);
    return differs;
}

const char *mg__source_name(struct mg_source_names *names, const char *file, const char *text, size_t size, bool *fresh)
{
    struct mg_strbuf told = {0};
    const char *result = NULL;
    *fresh = false;
    for (unsigned n = 1; n < MOST_NAMES; n++) {
        told.count = 0;
        if (!(n == 1 ? mg__strbuf_printf(&told, "%s", file) : mg__strbuf_printf(&told, "%s#%u", file, n)))
            break;
        struct source *s = mg__strtab_get(&names->by_name, told.at, told.count);
        if (s && !same(s->text, s->size, text, size))
            continue;
        if (!s && file_differs(told.at, text, size))
            continue;
        if (!s) {
            s = mg__arena_alloc(&names->arena, sizeof(*s));
            if (!s)
                break;
            s->name = mg__arena_strndup(&names->arena, told.at, told.count);
            s->text = mg__arena_strndup(&names->arena, text, size);
            s->size = size;
            if (!s->name || !s->text || !mg__strtab_put(&names->by_name, s->name, told.count, s))
                break;
            *fresh = true;
        }
        result = s->name;
        break;
    }
    mg__strbuf_free(&told);
    return result;
}
