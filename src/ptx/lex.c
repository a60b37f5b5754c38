/* lex.c - characters to tokens, and failures with their place in the text.
 *
 * PTX ISA chapter 4 (Syntax). Blanks, line ends and both kinds of comments separate tokens. A word behind a dot is one
 * token, with its `::` parts: ".global", ".L2::128B", ".1d"; an opcode's dots are put together again in insn.c.
 * Nothing is copied: tokens point into the text, which ends at p->end and need not end in a NUL.
 */
#define _GNU_SOURCE
#include "ptx/ptx_priv.h"

#include <locale.h>

enum { C_WORD = 1, C_START = 2, C_DIGIT = 4, C_HEX = 8 };

static unsigned char_class(char c)
{
    if (c >= '0' && c <= '9')
        return C_WORD | C_DIGIT | C_HEX;
    if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
        return C_WORD | C_START | C_HEX;
    if ((c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z') || c == '_' || c == '$')
        return C_WORD | C_START;
    return 0;
}

static bool is(char c, unsigned class)
{
    return (char_class(c) & class) != 0;
}

bool mg__ptx_fail_at(struct parser *p, const struct tok *tok, const char *format, ...)
{
    if (p->status != MG_OK)
        return false; /* the first failure is the one to tell */
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    p->status = mg__diag_set(p->diag, MG_ERR_SYNTAX, "%s", message);
    const char *start = tok->line_start;
    const char *stop = memchr(start, '\n', (size_t)(p->end - start));
    size_t column = (size_t)(tok->at - start);
    mg__diag_at(p->diag, "<ptx>", tok->line, (unsigned)MG_MIN(column, (size_t)UINT32_MAX - 1) + 1);
    if (column > 120)
        start = tok->at - 40; /* a very long line: show where it goes wrong */
    mg__diag_excerpt(p->diag, start, (size_t)((stop ? stop : p->end) - start));
    return false;
}

bool mg__ptx_fail(struct parser *p, const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return mg__ptx_fail_at(p, &p->tok, "%s", message);
}

bool mg__ptx_hint(struct parser *p, const char *format, ...)
{
    if (p->diag && p->diag->hint[0] == '\0') {
        char hint[sizeof(p->diag->hint)];
        va_list args;
        va_start(args, format);
        vsnprintf(hint, sizeof(hint), format, args);
        va_end(args);
        mg__diag_hint(p->diag, "%s", hint);
    }
    return false;
}

bool mg__ptx_nomem(struct parser *p)
{
    if (p->status == MG_OK)
        p->status = mg__diag_set(p->diag, MG_ERR_NOMEM, "out of memory while reading PTX");
    return false;
}

static void newline(struct parser *p)
{
    p->line++;
    p->line_start = p->at;
}

/* Skips blanks and comments; false for a comment without an end. */
static bool skip_blanks(struct parser *p)
{
    while (p->at < p->end) {
        char c = *p->at;
        if (c == '\n') {
            p->at++;
            newline(p);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            p->at++;
        } else if (c == '/' && p->end - p->at > 1 && p->at[1] == '/') {
            const char *stop = memchr(p->at, '\n', (size_t)(p->end - p->at));
            p->at = stop ? stop : p->end;
        } else if (c == '/' && p->end - p->at > 1 && p->at[1] == '*') {
            struct tok open = {.at = p->at, .line = p->line, .line_start = p->line_start};
            p->at += 2;
            for (;; p->at++) {
                if (p->end - p->at < 2)
                    return mg__ptx_fail_at(p, &open, "the comment that begins here has no end");
                if (p->at[0] == '*' && p->at[1] == '/')
                    break;
                if (*p->at == '\n') {
                    p->at++;
                    newline(p);
                    p->at--;
                }
            }
            p->at += 2;
        } else {
            break;
        }
    }
    return true;
}

static int hex_digit(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* A run of digits of `base`, all of which must fit into 64 bits. */
static bool digits(struct parser *p, unsigned base)
{
    uint64_t value = 0;
    const char *start = p->at;
    while (p->at < p->end && is(*p->at, C_HEX)) {
        unsigned digit = (unsigned)hex_digit(*p->at);
        if (digit >= base)
            break;
        if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return mg__ptx_fail(p, "the number does not fit into 64 bits");
        p->at++;
    }
    if (p->at == start)
        return mg__ptx_fail(p, "a number needs digits here");
    p->tok.ival = value;
    if (p->at < p->end && *p->at == 'U') {
        p->at++;
        p->tok.is_unsigned = true;
    }
    if (value > INT64_MAX)
        p->tok.is_unsigned = true;
    return true;
}

/* 0f and eight, 0d and sixteen hexadecimal digits: the bits of the value. */
static bool float_bits(struct parser *p, unsigned count)
{
    uint64_t bits = 0;
    p->at += 2;
    for (unsigned i = 0; i < count; i++, p->at++) {
        if (p->at >= p->end || !is(*p->at, C_HEX))
            return mg__ptx_fail(p, "a floating-point constant of %u hexadecimal digits is expected", count);
        bits = bits << 4 | (unsigned)hex_digit(*p->at);
    }
    p->tok.kind = TOK_FLOAT;
    p->tok.wide = count == 16;
    p->tok.ival = bits;
    return true;
}

/* The length of a decimal float at p->at, or 0 if it is an integer. */
static size_t decimal_float(const struct parser *p)
{
    const char *at = p->at;
    bool is_float = false;
    while (at < p->end && is(*at, C_DIGIT))
        at++;
    if (p->end - at > 1 && *at == '.' && is(at[1], C_DIGIT)) {
        is_float = true;
        at++;
        while (at < p->end && is(*at, C_DIGIT))
            at++;
    } else if (at < p->end && *at == '.' && (p->end - at == 1 || !is(at[1], C_WORD))) {
        is_float = true;
        at++;
    }
    if (p->end - at > 1 && (*at == 'e' || *at == 'E')) {
        const char *exponent = at + 1;
        if (p->end - exponent > 1 && (*exponent == '+' || *exponent == '-'))
            exponent++;
        if (is(*exponent, C_DIGIT)) {
            is_float = true;
            at = exponent;
            while (at < p->end && is(*at, C_DIGIT))
                at++;
        }
    }
    return is_float ? (size_t)(at - p->at) : 0;
}

static bool number(struct parser *p)
{
    const char *at = p->at;
    char next = p->end - at > 1 ? at[1] : '\0';
    p->tok.kind = TOK_INT;
    if (*at == '0' && (next == 'f' || next == 'F')) {
        MG_TRY(float_bits(p, 8));
    } else if (*at == '0' && (next == 'd' || next == 'D')) {
        MG_TRY(float_bits(p, 16));
    } else if (*at == '0' && (next == 'x' || next == 'X')) {
        p->at += 2;
        MG_TRY(digits(p, 16));
    } else if (*at == '0' && (next == 'b' || next == 'B')) {
        p->at += 2;
        MG_TRY(digits(p, 2));
    } else {
        size_t length = decimal_float(p);
        if (length) {
            char copy[128];
            if (length >= sizeof(copy))
                return mg__ptx_fail(p, "a decimal constant of more than %zu characters", sizeof(copy) - 1);
            memcpy(copy, at, length);
            copy[length] = '\0';
            /* the program that we run inside may have set a locale whose decimal point is a comma */
            locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
            if (!c_locale)
                return mg__ptx_nomem(p);
            double value = strtod_l(copy, NULL, c_locale);
            freelocale(c_locale);
            memcpy(&p->tok.ival, &value, sizeof(value));
            p->tok.kind = TOK_FLOAT;
            p->tok.wide = true;
            p->at += length;
        } else {
            MG_TRY(digits(p, *at == '0' && is(next, C_DIGIT) ? 8 : 10));
        }
    }
    if (p->at < p->end && is(*p->at, C_WORD)) {
        p->tok.length = (uint32_t)MG_MIN(p->at - at + 1, MG_PTX_MAX_TOKEN);
        return mg__ptx_fail(p, "the number has a wrong digit: '%c'", *p->at);
    }
    return true;
}

static bool word(struct parser *p)
{
    while (p->at < p->end && is(*p->at, C_WORD))
        p->at++;
    if (p->at - p->tok.at > MG_PTX_MAX_TOKEN)
        return mg__ptx_fail(p, "a name of more than %d characters", MG_PTX_MAX_TOKEN);
    return true;
}

static bool string(struct parser *p)
{
    const char *start = ++p->at;
    while (p->at < p->end && *p->at != '"' && *p->at != '\n') {
        if (*p->at == '\\' && p->end - p->at > 1 && p->at[1] != '\n')
            p->at++; /* the escaped character is not the end */
        p->at++;
    }
    if (p->at >= p->end || *p->at == '\n')
        return mg__ptx_fail(p, "the string that begins here has no end");
    if (p->at - start > MG_PTX_MAX_TOKEN)
        return mg__ptx_fail(p, "a string of more than %d characters", MG_PTX_MAX_TOKEN);
    p->tok.kind = TOK_STRING;
    p->tok.at = start;
    p->tok.length = (uint32_t)(p->at - start);
    p->at++;
    return true;
}

bool mg__ptx_next(struct parser *p)
{
    MG_TRY(skip_blanks(p));
    struct tok *tok = &p->tok;
    memset(tok, 0, sizeof(*tok));
    tok->at = p->at;
    tok->line = p->line;
    tok->line_start = p->line_start;
    if (p->at >= p->end) {
        tok->kind = TOK_END;
        return true;
    }
    char c = *p->at, next = p->end - p->at > 1 ? p->at[1] : '\0';
    tok->length = 1; /* for a message on the way */
    if (is(c, C_START) || (c == '%' && is(next, C_START))) {
        p->at++;
        MG_TRY(word(p));
        tok->kind = TOK_IDENT;
    } else if (is(c, C_DIGIT)) {
        MG_TRY(number(p));
    } else if (c == '.' && is(next, C_WORD)) {
        p->at++;
        MG_TRY(word(p));
        while (p->end - p->at > 2 && p->at[0] == ':' && p->at[1] == ':' && is(p->at[2], C_WORD)) {
            p->at += 2;
            MG_TRY(word(p));
        }
        tok->kind = TOK_DOT;
    } else if (c == '"') {
        return string(p);
    } else if (c >= 0x20 && c < 0x7F) {
        p->at++;
        tok->kind = TOK_PUNCT;
        tok->punct = (uint32_t)c;
        bool twice = next == c && (c == '<' || c == '>' || c == '=' || c == '&' || c == '|' || c == '@');
        if (twice || (next == '=' && (c == '<' || c == '>' || c == '!'))) {
            p->at++;
            tok->punct = P2(c, next);
        }
    } else {
        return mg__ptx_fail(p, "a character that is no part of PTX (code %u)", (unsigned)(unsigned char)c);
    }
    tok->length = (uint32_t)(p->at - tok->at);
    return true;
}

bool mg__ptx_dot(const struct tok *tok, const char *text)
{
    return tok->kind == TOK_DOT && tok->length == strlen(text) && memcmp(tok->at, text, tok->length) == 0;
}

bool mg__ptx_punct(const struct tok *tok, uint32_t punct)
{
    return tok->kind == TOK_PUNCT && tok->punct == punct;
}

bool mg__ptx_accept(struct parser *p, uint32_t punct, bool *found)
{
    *found = mg__ptx_punct(&p->tok, punct);
    return *found ? mg__ptx_next(p) : true;
}

bool mg__ptx_expect(struct parser *p, uint32_t punct, const char *where)
{
    if (mg__ptx_punct(&p->tok, punct))
        return mg__ptx_next(p);
    if (p->tok.kind == TOK_END) {
        mg__ptx_fail(p, "'%c' is expected %s, but the text ends", (char)punct, where);
        return mg__ptx_hint(p, "The PTX text seems to be cut short.");
    }
    return mg__ptx_fail(p, "'%c' is expected %s, not '%.*s'", (char)punct, where, (int)MG_MIN(p->tok.length, 60u),
                        p->tok.at);
}

/* Raw, for .section: its contents (DWARF) are not PTX. */
bool mg__ptx_skip_braces(struct parser *p)
{
    struct tok open = p->tok;
    for (unsigned depth = 1; depth;) {
        MG_TRY(skip_blanks(p));
        if (p->at >= p->end)
            return mg__ptx_fail_at(p, &open, "the block that begins here has no '}'");
        char c = *p->at;
        if (c == '"') {
            p->tok.line = p->line;
            p->tok.line_start = p->line_start;
            p->tok.at = p->at;
            MG_TRY(string(p));
            continue;
        }
        p->at++;
        if (c == '{')
            depth++;
        else if (c == '}')
            depth--;
    }
    return mg__ptx_next(p);
}

bool mg__ptx_skip_line(struct parser *p)
{
    const char *stop = memchr(p->tok.at, '\n', (size_t)(p->end - p->tok.at));
    p->at = stop ? stop : p->end;
    return mg__ptx_next(p);
}
