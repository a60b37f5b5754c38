/* diag.c - failures as records. Every text is cut to its field, at a character boundary of UTF-8, and ends in a NUL. */
#include "base/base.h"

/* Drops an incomplete UTF-8 sequence at the end of a text that was cut. */
static void trim_utf8(char *text)
{
    size_t n = strlen(text), back = 0;
    while (back < 3 && back < n && ((unsigned char)text[n - 1 - back] & 0xC0) == 0x80)
        back++;
    if (back >= n)
        return;
    unsigned char lead = (unsigned char)text[n - 1 - back];
    size_t need = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    if (need > back)
        text[n - 1 - back] = '\0';
}

static void set_text(char *field, size_t size, const char *format, va_list args) MG_PRINTF(3, 0);

static void set_text(char *field, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(field, size, format, args);
    if (length < 0)
        field[0] = '\0';
    else if ((size_t)length >= size)
        trim_utf8(field);
}

enum mg_status mg__diag_set(struct mg_diag *diag, enum mg_status status, const char *format, ...)
{
    if (diag) {
        memset(diag, 0, sizeof(*diag));
        diag->status = status;
        va_list args;
        va_start(args, format);
        set_text(diag->message, sizeof(diag->message), format, args);
        va_end(args);
    }
    return status;
}

static void set_file(char *field, size_t size, const char *file)
{
    if (snprintf(field, size, "%s", file ? file : "") >= (int)size)
        trim_utf8(field);
}

void mg__diag_at(struct mg_diag *diag, const char *file, unsigned line, unsigned column)
{
    if (!diag)
        return;
    set_file(diag->file, sizeof(diag->file), file);
    diag->line = line;
    diag->column = column;
}

void mg__diag_inlined(struct mg_diag *diag, const char *header, unsigned line)
{
    if (!diag)
        return;
    set_file(diag->inlined_file, sizeof(diag->inlined_file), header);
    diag->inlined_line = line;
}

void mg__diag_excerpt(struct mg_diag *diag, const char *text, size_t length)
{
    if (!diag)
        return;
    size_t n = 0;
    while (n < length && n < sizeof(diag->excerpt) - 1 && text[n] != '\n' && text[n] != '\r' && text[n] != '\0') {
        unsigned char c = (unsigned char)text[n];
        diag->excerpt[n++] = c < 0x20 || c == 0x7F ? ' ' : (char)c; /* a terminal must not obey it */
    }
    diag->excerpt[n] = '\0';
    if (n == sizeof(diag->excerpt) - 1)
        trim_utf8(diag->excerpt);
}

void mg__diag_hint(struct mg_diag *diag, const char *format, ...)
{
    if (!diag)
        return;
    va_list args;
    va_start(args, format);
    set_text(diag->hint, sizeof(diag->hint), format, args);
    va_end(args);
}
