/* signature.c - the names of a kernel's parameters, read off its source text.
 *
 * PTX numbers parameters; what the programmer called them stands in the source alone. Looked for is the kernel's own
 * name with a parenthesis behind it, after a __global__ that nothing but a declaration separates from it. Comments are
 * passed over; of a parameter the last word before a default or brackets is its name. A signature that a macro writes
 * is not found, and then the number stays.
 */
#include "report/render.h"

#include <ctype.h>

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Past blanks and comments. */
static const char *skip(const char *at, const char *end)
{
    while (at < end) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (end - at > 1 && at[0] == '/' && (at[1] == '/' || at[1] == '*')) {
            bool line = at[1] == '/';
            for (at += 2; at < end && !(line ? *at == '\n' : at + 1 < end && at[0] == '*' && at[1] == '/'); at++)
                ;
            at = end - at > 2 ? at + (line ? 1 : 2) : end;
        } else {
            break;
        }
    }
    return at;
}

/* Just behind the parenthesis that opens the parameters of `name`, when they are those of a kernel; else NULL. */
static const char *open_parameters(const char *text, const char *end, const char *name, size_t length)
{
    bool kernel = false;
    for (const char *at = skip(text, end); at < end; at = skip(at, end)) {
        if (!in_word(*at)) {
            kernel &= *at != ';' && *at != '}' && *at != '{';
            at++;
            continue;
        }
        const char *word = at;
        while (at < end && in_word(*at))
            at++;
        size_t n = (size_t)(at - word);
        kernel |= n == 10 && !memcmp(word, "__global__", 10);
        const char *next = skip(at, end);
        if (kernel && n == length && !memcmp(word, name, n) && next < end && *next == '(')
            return next + 1;
    }
    return NULL;
}

/* Parameter `index`, from 0, of a list that begins at `at`. */
static bool nth(const char *at, const char *end, unsigned index, const char **name, size_t *length)
{
    int depth = 0;
    bool named = false; /* past the name: at its default or brackets */
    *length = 0;
    for (at = skip(at, end); at < end; at = skip(at, end)) {
        if (in_word(*at)) {
            const char *word = at;
            while (at < end && in_word(*at))
                at++;
            if (!index && !depth && !named) {
                *name = word;
                *length = (size_t)(at - word);
            }
            continue;
        }
        if (!depth && (*at == ',' || *at == ')')) {
            if (!index || *at == ')')
                return !index && *length > 0;
            index--;
            named = false;
        }
        named |= !depth && (*at == '=' || *at == '[');
        if (!named) /* in a default value they compare */
            depth += (*at == '<') - (*at == '>');
        depth += (*at == '(' || *at == '[' || *at == '{') - (*at == ')' || *at == ']' || *at == '}');
        at++;
    }
    return false;
}

bool mg__sources_parameter(struct mg_sources *sources, const char *file, const char *kernel, unsigned index,
                           const char **name, size_t *length)
{
    const char *text, *own = mg__kernel_own_name(kernel), *open;
    size_t size;
    if (!mg__sources_text(sources, file, &text, &size))
        return false;
    open = open_parameters(text, text + size, own, strcspn(own, "<("));
    return open && nth(open, text + size, index, name, length);
}

/* ---- advice: "parameter 2" becomes "b" ---- */
struct names {
    struct mg_arena *arena;
    struct mg_sources *sources;
    const struct mg_report_advice *advice;
};

/* The name of parameter `number`, from 1: the kernel is in one of the files that its accesses are in. */
static bool name_of(const struct names *n, unsigned number, const char **name, size_t *length)
{
    const struct mg_report_advice *a = n->advice;
    for (size_t i = 0; i < a->nsites; i++)
        if (a->sites[i].file[0] && (!i || strcmp(a->sites[i].file, a->sites[i - 1].file)) &&
            mg__sources_parameter(n->sources, a->sites[i].file, a->kernel, number - 1, name, length))
            return true;
    return false;
}

static void put_names(const struct names *n, const char **text)
{
    static const char word[] = "parameter ";
    const char *from = *text, *at, *name;
    struct mg_strbuf out = {0};
    bool ok = true, any = false;
    while (ok && (at = strstr(from, word)) != NULL) {
        char *end;
        unsigned long number = strtoul(at + sizeof(word) - 1, &end, 10);
        size_t length;
        bool known = number > 0 && number < 4096 && name_of(n, (unsigned)number, &name, &length);
        any |= known;
        ok = mg__strbuf_append(&out, from, (size_t)(at - from)) &&
             (known ? mg__strbuf_append(&out, name, length) : mg__strbuf_append(&out, at, (size_t)(end - at)));
        from = end;
    }
    if (ok && any && mg__strbuf_append(&out, from, strlen(from))) {
        const char *copy = mg__arena_strdup(n->arena, out.at);
        *text = copy ? copy : *text;
    }
    mg__strbuf_free(&out);
}

void mg__advice_name_parameters(struct mg_arena *arena, struct mg_sources *sources, struct mg_report_advice *a)
{
    struct names n = {arena, sources, a};
    for (size_t i = 0; i < a->nitems; i++) {
        put_names(&n, &a->items[i].title);
        put_names(&n, &a->items[i].why);
        put_names(&n, &a->items[i].how);
        put_names(&n, &a->items[i].variable);
    }
    for (size_t i = 0; i < a->nsites; i++)
        put_names(&n, &a->sites[i].array);
    for (size_t i = 0; i < a->nchart; i++)
        put_names(&n, &a->chart[i].counts);
    put_names(&n, &a->verdict);
}
