/* vec.c - growth of vectors and string buffers: by doubling, with every size checked for overflow. */
#include "base/base.h"

bool mg__vec_grow(void **at, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return true;
    size_t wanted = *capacity ? *capacity : 8, bytes;
    while (wanted < need) {
        if (wanted > SIZE_MAX / 2)
            return false;
        wanted *= 2;
    }
    if (__builtin_mul_overflow(wanted, size, &bytes) || bytes > PTRDIFF_MAX)
        return false;
    void *grown = realloc(*at, bytes);
    if (!grown)
        return false;
    *at = grown;
    *capacity = wanted;
    return true;
}

/* Room for `length` more characters and the NUL. */
static bool reserve(struct mg_strbuf *buf, size_t length)
{
    size_t need;
    if (__builtin_add_overflow(buf->count, length, &need) || __builtin_add_overflow(need, (size_t)1, &need))
        return false;
    return mg__vec_grow((void **)&buf->at, &buf->capacity, need, 1);
}

bool mg__strbuf_append(struct mg_strbuf *buf, const char *text, size_t length)
{
    if (!reserve(buf, length))
        return false;
    if (length)
        memcpy(buf->at + buf->count, text, length);
    buf->count += length;
    buf->at[buf->count] = '\0';
    return true;
}

bool mg__strbuf_printf(struct mg_strbuf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t room = buf->capacity - buf->count;
    int length = vsnprintf(room ? buf->at + buf->count : NULL, room, format, args);
    va_end(args);
    bool ok = length >= 0;
    if (ok && (size_t)length >= room) {
        ok = reserve(buf, (size_t)length);
        if (ok)
            vsnprintf(buf->at + buf->count, (size_t)length + 1, format, again);
        else if (room)
            buf->at[buf->count] = '\0'; /* drop what the first attempt wrote of it */
    }
    va_end(again);
    if (ok)
        buf->count += (size_t)length;
    return ok;
}

void mg__strbuf_free(struct mg_strbuf *buf)
{
    free(buf->at);
    memset(buf, 0, sizeof(*buf));
}
