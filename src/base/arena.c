/* arena.c - zeroed memory that is freed all at once.
 *
 * An arena is a list of chunks, newest first; allocation bumps a pointer in the newest. Chunks double from 4 KiB to
 * 1 MiB, so that a small arena is cheap and a large one makes few calls to the host. A request that is large against
 * the chunk size gets a chunk of its own, placed behind the newest, so that it does not strand that chunk's free space.
 * Memory comes from calloc: for large chunks the host hands out fresh zero pages, which costs nothing until touched.
 * Nothing is ever freed singly.
 */
#include "base/base.h"

#define FIRST_CHUNK ((size_t)4096)
#define LARGEST_CHUNK ((size_t)1 << 20)
#define ARENA_ALIGN ((size_t)16)

struct mg_arena_chunk {
    struct mg_arena_chunk *next;
    size_t used, size; /* of the bytes that follow this header */
    size_t pad;
};
_Static_assert(sizeof(struct mg_arena_chunk) % 16 == 0, "the bytes behind the header must be 16-byte aligned");

void mg__arena_init(struct mg_arena *arena)
{
    memset(arena, 0, sizeof(*arena));
}

void mg__arena_free(struct mg_arena *arena)
{
    struct mg_arena_chunk *chunk = arena->head;
    while (chunk) {
        struct mg_arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    mg__arena_init(arena);
}

/* Bytes to skip in `chunk` before its next free byte is aligned. */
static size_t gap_for(const struct mg_arena_chunk *chunk, size_t align)
{
    uintptr_t at = (uintptr_t)(chunk + 1) + chunk->used;
    return (size_t)(-at & (align - 1));
}

static struct mg_arena_chunk *chunk_new(struct mg_arena *arena, size_t size)
{
    if (size > SIZE_MAX - sizeof(struct mg_arena_chunk))
        return NULL;
    struct mg_arena_chunk *chunk = calloc(1, sizeof(*chunk) + size);
    if (!chunk)
        return NULL;
    chunk->size = size;
    arena->total += sizeof(*chunk) + size;
    return chunk;
}

void *mg__arena_alloc_aligned(struct mg_arena *arena, size_t size, size_t align)
{
    if (align < ARENA_ALIGN)
        align = ARENA_ALIGN;
    if (size == 0)
        size = 1; /* so that distinct allocations have distinct addresses */
    struct mg_arena_chunk *chunk = arena->head;
    if (chunk) {
        size_t gap = gap_for(chunk, align);
        size_t left = chunk->size - chunk->used;
        if (gap <= left && size <= left - gap) {
            void *at = (char *)(chunk + 1) + chunk->used + gap;
            chunk->used += gap + size;
            return at;
        }
    }
    if (size > SIZE_MAX / 2 || align > SIZE_MAX / 4)
        return NULL;
    size_t need = size + align;
    size_t next_size = arena->next_size ? arena->next_size : FIRST_CHUNK;
    bool own = need > next_size / 4 && need > FIRST_CHUNK / 2;
    struct mg_arena_chunk *fresh = chunk_new(arena, own ? need : next_size);
    if (!fresh)
        return NULL;
    if (own && chunk) {
        fresh->next = chunk->next;
        chunk->next = fresh;
    } else {
        fresh->next = chunk;
        arena->head = fresh;
    }
    if (!own)
        arena->next_size = MG_MIN(next_size * 2, LARGEST_CHUNK);
    size_t gap = gap_for(fresh, align);
    fresh->used = gap + size;
    return (char *)(fresh + 1) + gap;
}

void *mg__arena_alloc(struct mg_arena *arena, size_t size)
{
    return mg__arena_alloc_aligned(arena, size, ARENA_ALIGN);
}

void *mg__arena_array(struct mg_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return mg__arena_alloc(arena, bytes);
}

char *mg__arena_strndup(struct mg_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = mg__arena_alloc(arena, length + 1);
    if (copy && length)
        memcpy(copy, text, length); /* the NUL is there already: arena memory is zeroed */
    return copy;
}

char *mg__arena_strdup(struct mg_arena *arena, const char *text)
{
    return mg__arena_strndup(arena, text, strlen(text));
}

char *mg__arena_printf(struct mg_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : mg__arena_alloc(arena, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
