/* source.c - source text inside PTX (source.h). */
#define _GNU_SOURCE /* memmem */
#include "ptx/source.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPENS "//margay:source "
enum { PER_LINE = 96, MOST_DIGITS = 9 };
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *mg__ptx_unescape(char *name)
{
    static const char names[] = "bfnrt", bytes[] = "\b\f\n\r\t";
    char *out = name;
    for (const char *at = name; *at; out++) {
        if (*at != '\\' || !at[1]) {
            *out = *at++;
            continue;
        }
        unsigned octal = 0, digits = 0;
        for (at++; digits < 3 && *at >= '0' && *at <= '7'; digits++)
            octal = octal * 8 + (unsigned)(*at++ - '0');
        if (digits) {
            *out = (char)octal;
        } else {
            const char *letter = strchr(names, *at);
            *out = letter ? bytes[letter - names] : *at;
            at++;
        }
        if (!*out)
            return NULL;
    }
    *out = '\0';
    return name;
}

/* ---- reading ---- */
static bool number(const char **at, const char *end, char behind, size_t *value)
{
    const char *from = *at;
    *value = 0;
    while (*at < end && **at >= '0' && **at <= '9' && *at - from < MOST_DIGITS)
        *value = *value * 10 + (size_t)(*(*at)++ - '0');
    bool good = *at > from && *at < end && **at == behind;
    *at += good;
    return good;
}

static const char *line_end(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline ? newline : end;
}

bool mg__ptx_source_next(const char **at, const char *end, struct mg_ptx_source *source)
{
    const size_t opens = sizeof(OPENS) - 1;
    while (*at < end) {
        const char *found = memmem(*at, (size_t)(end - *at), "\n" OPENS, opens + 1);
        size_t file, size;
        if (!found)
            break;
        *at = found + 1 + opens;
        if (!number(at, end, ' ', &file) || !number(at, end, '\n', &size) || size > MG_PTX_SOURCE_MOST)
            continue;
        source->file = (unsigned)file;
        source->size = size;
        source->lines = *at;
        size_t left = (size + 2) / 3 * 4;
        while (left && end - *at > 2 && (*at)[0] == '/' && (*at)[1] == '/') {
            const char *stop = line_end(*at, end);
            size_t n = (size_t)(stop - *at) - 2;
            left = n && n <= left ? left - n : 0;
            *at = stop + (stop < end);
        }
        source->length = (size_t)(*at - source->lines);
        (*at)--; /* the newline there may open the next */
        return true;
    }
    *at = end;
    return false;
}

static int digit(char c)
{
    const char *at = c ? strchr(letters, c) : NULL;
    return at ? (int)(at - letters) : -1;
}

/* The digits alone, `count` of them; padding counts as zeros where it may stand. */
static bool gather(const struct mg_ptx_source *source, size_t count, uint8_t *digits)
{
    const char *end = source->lines + source->length;
    size_t n = 0, padding = (3 - source->size % 3) % 3;
    for (const char *at = source->lines; at < end;) {
        const char *stop = line_end(at, end);
        if (stop - at < 2)
            return false;
        for (at += 2; at < stop; at++, n++) {
            int value = digit(*at);
            if (n >= count || (n + padding >= count ? *at != '=' : value < 0))
                return false;
            digits[n] = value < 0 ? 0 : (uint8_t)value;
        }
        at = stop + 1;
    }
    return n == count;
}

char *mg__ptx_source_text(const struct mg_ptx_source *source)
{
    size_t count = (source->size + 2) / 3 * 4;
    uint8_t *digits = malloc(count + 1);
    char *text = malloc(source->size + 4);
    bool good = digits && text && gather(source, count, digits);
    for (size_t i = 0, out = 0; good && i < count; i += 4) {
        unsigned bits = (unsigned)digits[i] << 18 | (unsigned)digits[i + 1] << 12 | (unsigned)digits[i + 2] << 6 |
                        (unsigned)digits[i + 3];
        text[out++] = (char)(bits >> 16);
        text[out++] = (char)(bits >> 8);
        text[out++] = (char)bits;
    }
    free(digits);
    if (good && !memchr(text, '\0', source->size)) {
        text[source->size] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

/* ---- writing ---- */
char *mg__ptx_source_block(unsigned file, const char *text, size_t size, size_t *length)
{
    size_t count = (size + 2) / 3 * 4, lines = (count + PER_LINE - 1) / PER_LINE, n;
    char *block = size <= MG_PTX_SOURCE_MOST ? malloc(64 + count + lines * 3) : NULL;
    if (!block)
        return NULL;
    n = (size_t)sprintf(block, "\n" OPENS "%u %zu\n", file, size);
    for (size_t i = 0, column = 0; i < size; i += 3) {
        size_t have = size - i;
        unsigned bits = (unsigned)(uint8_t)text[i] << 16;
        bits |= have > 1 ? (unsigned)(uint8_t)text[i + 1] << 8 : 0;
        bits |= have > 2 ? (unsigned)(uint8_t)text[i + 2] : 0;
        if (!column) {
            block[n++] = '/';
            block[n++] = '/';
        }
        block[n++] = letters[bits >> 18];
        block[n++] = letters[bits >> 12 & 63];
        block[n++] = have > 1 ? letters[bits >> 6 & 63] : '=';
        block[n++] = have > 2 ? letters[bits & 63] : '=';
        column += 4;
        if (column == PER_LINE || i + 3 >= size) {
            block[n++] = '\n';
            column = 0;
        }
    }
    block[n] = '\0';
    *length = n;
    return block;
}
