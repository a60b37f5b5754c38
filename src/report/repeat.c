/* repeat.c - launch records that were read before: a kernel that is launched a thousand times writes the same line each
 * time, but for how long the host took. Such a line is compared with the latest ones, and only its number is read.
 */
#define _GNU_SOURCE /* memmem */
#include <jansson.h>

#include "report/render.h"

#define LONGEST ((size_t)1 << 20) /* bytes of a line that is kept */

static const char name[] = "\"seconds\": ";
static const char begins[] = "{\"record\": \"launch\"";

struct mg_repeat {
    char *line;
    size_t length, from, to; /* of the line, the number behind `name` */
    struct mg_arena arena;
    struct mg_record record;
    enum { UNASKED, PROVEN, ALONE } number; /* asked when there is a second line: most have none */
};

static size_t digits(const char *text, size_t length)
{
    size_t n = 0;
    while (n < length && ((text[n] >= '0' && text[n] <= '9') || text[n] == '.'))
        n++;
    return n;
}

/* The number behind `name`, of which there is one and no other. No string of JSON has a bare quote, so that this is no
 * part of one. */
static bool find_number(const char *text, size_t length, size_t *from, size_t *to)
{
    const char *at = memmem(text, length, name, sizeof(name) - 1);
    if (!at)
        return false;
    *from = (size_t)(at - text) + sizeof(name) - 1;
    *to = *from + digits(text + *from, length - *from);
    return *to > *from && !memmem(text + *to, length - *to, name, sizeof(name) - 1);
}

static void forget(struct mg_repeat *r)
{
    if (!r)
        return;
    free(r->line);
    mg__arena_free(&r->arena);
    free(r);
}

void mg__repeats_free(struct mg_repeats *repeats)
{
    for (unsigned i = 0; i < MG_REPEATS; i++) {
        forget(repeats->at[i]);
        repeats->at[i] = NULL;
    }
}

/* What a line of the same length or another has in place of the number; 0: it is another line. */
static size_t same(const struct mg_repeat *r, const char *line, size_t length)
{
    const size_t rest = r->length - r->to;
    if (length < r->from + rest || memcmp(r->line, line, r->from))
        return 0;
    const size_t n = digits(line + r->from, length - r->from);
    return length == r->from + n + rest && !memcmp(r->line + r->to, line + r->from + n, rest) ? n : 0;
}

/* False: it is none. */
static bool read_number(const char *text, size_t length, double *value)
{
    json_t *number = json_loadb(text, length, JSON_DECODE_ANY, NULL);
    const bool good = json_is_number(number);
    *value = json_number_value(number);
    json_decref(number);
    return good;
}

static bool once_more(const struct mg_repeat *r, const char *line, size_t digits, struct mg_record *record)
{
    double seconds;
    if (!read_number(line + r->from, digits, &seconds))
        return false;
    *record = r->record;
    record->launch.seconds = seconds;
    return true;
}

/* Whether the number is the launch's own: the line with another one, read whole, says what reading its number alone
 * does. */
static bool proven(struct mg_repeat *r)
{
    static const char other[] = "86399.25";
    struct mg_strbuf text = {0};
    struct mg_arena arena;
    struct mg_record whole, again;
    mg__arena_init(&arena);
    bool good = mg__strbuf_append(&text, r->line, r->from) && mg__strbuf_append(&text, other, sizeof(other) - 1) &&
                mg__strbuf_append(&text, r->line + r->to, r->length - r->to) &&
                mg__record_parse(text.at, text.count, &arena, &whole) == MG_OK &&
                once_more(r, text.at, sizeof(other) - 1, &again) && whole.kind == again.kind &&
                whole.launch.seconds == again.launch.seconds;
    mg__arena_free(&arena);
    mg__strbuf_free(&text);
    return good;
}

/* Reads the line and keeps what it is; NULL: it is read as any other. */
static struct mg_repeat *learn(const char *line, size_t length)
{
    struct mg_repeat *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    mg__arena_init(&r->arena);
    r->length = length;
    r->line = malloc(length);
    if (!r->line || !find_number(line, length, &r->from, &r->to) || r->to == length ||
        (line[r->to] != ',' && line[r->to] != '}') || /* an exponent: our writer makes none */
        mg__record_parse(line, length, &r->arena, &r->record) != MG_OK || r->record.kind != MG_RECORD_LAUNCH) {
        forget(r);
        return NULL;
    }
    memcpy(r->line, line, length);
    return r;
}

enum mg_status mg__record_repeat(struct mg_repeats *repeats, const char *line, size_t length, struct mg_arena *arena,
                                 struct mg_record *record)
{
    if (length < sizeof(begins) || length > LONGEST || memcmp(line, begins, sizeof(begins) - 1))
        return mg__record_parse(line, length, arena, record);
    for (unsigned i = 0; i < MG_REPEATS; i++) {
        struct mg_repeat *r = repeats->at[i];
        size_t n = r ? same(r, line, length) : 0;
        if (!n)
            continue;
        if (r->number == UNASKED)
            r->number = proven(r) ? PROVEN : ALONE;
        return r->number == PROVEN && once_more(r, line, n, record) ? MG_OK
                                                                    : mg__record_parse(line, length, arena, record);
    }
    struct mg_repeat *r = learn(line, length);
    if (!r)
        return mg__record_parse(line, length, arena, record);
    forget(repeats->at[repeats->next]);
    repeats->at[repeats->next] = r;
    repeats->next = (repeats->next + 1) % MG_REPEATS;
    *record = r->record;
    return MG_OK;
}
