/* base.h - what every room may use: arenas, vectors, strings, a string table, diagnostics, threads.
 *
 * Ownership is by arena: what an arena hands out lives until mg__arena_free. Nothing here prints.
 * Allocation failure is reported as NULL by the arena and as `false` by vectors and strings.
 */
#ifndef MG_BASE_H
#define MG_BASE_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "margay/margay.h"

#define MG_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MG_MIN(a, b) ((a) < (b) ? (a) : (b))
#define MG_MAX(a, b) ((a) > (b) ? (a) : (b))

#if defined(__GNUC__)
#define MG_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define MG_LIKELY(x) __builtin_expect(!!(x), 1)
#define MG_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MG_UNREACHABLE() __builtin_unreachable()
#else
#define MG_PRINTF(fmt, first)
#define MG_LIKELY(x) (x)
#define MG_UNLIKELY(x) (x)
#define MG_UNREACHABLE() abort()
#endif

/* A function that is compiled for AVX2 as well, for processors that have it: chosen when the library is loaded, before
 * a sanitizer is ready. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MG_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define MG_WIDE
#endif

/* ---- arena: zeroed memory that is freed all at once; 16-byte aligned ---- */
struct mg_arena {
    struct mg_arena_chunk *head;
    size_t next_size;
    size_t total; /* bytes taken from the host */
};
void mg__arena_init(struct mg_arena *arena);
void mg__arena_free(struct mg_arena *arena); /* leaves it as new */
void *mg__arena_alloc(struct mg_arena *arena, size_t size);
void *mg__arena_alloc_aligned(struct mg_arena *arena, size_t size, size_t align); /* align: a power of two */
void *mg__arena_array(struct mg_arena *arena, size_t count, size_t size);         /* NULL on overflow too */
char *mg__arena_strndup(struct mg_arena *arena, const char *text, size_t length);
char *mg__arena_strdup(struct mg_arena *arena, const char *text);
char *mg__arena_printf(struct mg_arena *arena, const char *format, ...) MG_PRINTF(2, 3);

/* ---- vector: `struct { T *at; size_t count, capacity; }`, declared by MG_VEC(T), grown by doubling ---- */
#define MG_VEC(T)                                                                                                      \
    struct {                                                                                                           \
        T *at;                                                                                                         \
        size_t count, capacity;                                                                                        \
    }
bool mg__vec_grow(void **at, size_t *capacity, size_t need, size_t size);
/* Appends `value`; false when out of memory. */
#define mg__vec_push(v, value)                                                                                         \
    (((v)->count < (v)->capacity ||                                                                                    \
      mg__vec_grow((void **)&(v)->at, &(v)->capacity, (v)->count + 1, sizeof(*(v)->at)))                               \
         ? ((v)->at[(v)->count++] = (value), true)                                                                     \
         : false)
#define mg__vec_free(v) (free((v)->at), (v)->at = NULL, (v)->count = (v)->capacity = 0)

/* ---- string buffer: always NUL-terminated once something was appended ---- */
struct mg_strbuf {
    char *at;
    size_t count, capacity;
};
bool mg__strbuf_append(struct mg_strbuf *buf, const char *text, size_t length);
bool mg__strbuf_printf(struct mg_strbuf *buf, const char *format, ...) MG_PRINTF(2, 3);
void mg__strbuf_free(struct mg_strbuf *buf);

/* ---- string table: text -> pointer, open addressing; keys are copied into the arena ---- */
struct mg_strtab {
    struct mg_arena *arena;
    struct mg_strtab_slot *slots;
    size_t count, capacity;
};
void mg__strtab_init(struct mg_strtab *table, struct mg_arena *arena);
bool mg__strtab_put(struct mg_strtab *table, const char *key, size_t length, void *value); /* replaces */
void *mg__strtab_get(const struct mg_strtab *table, const char *key, size_t length);      /* NULL: absent */
uint64_t mg__hash(const void *data, size_t size);

/* ---- diagnostics ---- */
/* Fills *diag (may be NULL) and returns `status`, so that a function can `return mg__diag_set(...)`. */
enum mg_status mg__diag_set(struct mg_diag *diag, enum mg_status status, const char *format, ...) MG_PRINTF(3, 4);
void mg__diag_at(struct mg_diag *diag, const char *file, unsigned line, unsigned column);
void mg__diag_inlined(struct mg_diag *diag, const char *header, unsigned line); /* whose code stands at that place */
void mg__diag_excerpt(struct mg_diag *diag, const char *text, size_t length); /* up to its first newline */
void mg__diag_hint(struct mg_diag *diag, const char *format, ...) MG_PRINTF(2, 3);

/* ---- threads: a pool that runs one function on several workers at once ---- */
struct mg_pool;
#define MG_POOL_THREAD_NAME "margay" /* of its threads, by which debuggers and crash handlers know them */
enum mg_status mg__pool_create(unsigned workers, struct mg_pool **pool); /* 0: one a processor allowed to us */
void mg__pool_destroy(struct mg_pool *pool);
unsigned mg__pool_workers(const struct mg_pool *pool);
/* Calls run(arg, 0) on the calling thread and run(arg, 1) … run(arg, n-1) in parallel to it, each once at most, n at
 * most the pool's workers; returns when all that began have ended. A worker whose thread has not woken up before
 * run(arg, 0) ends is left out: that takes up to a millisecond, and the work is then done. */
void mg__pool_run(struct mg_pool *pool, unsigned n, void (*run)(void *arg, unsigned worker), void *arg);

/* ---- files ---- */
/* Whether it comes with the toolkit or the system, as its path says: nobody is going to change it. */
bool mg__file_is_system(const char *path);
/* Reads a whole file, at most `limit` bytes; adds a NUL that `size` does not count. The caller frees *data. */
enum mg_status mg__file_read(const char *path, size_t limit, char **data, size_t *size, struct mg_diag *diag);
bool mg__write_whole(int fd, const char *bytes, size_t size);
uint64_t mg__time_ns(void);  /* monotonic */
uint64_t mg__clock_ns(void); /* since 1970 */

/* ---- isa.c: vectors ---- */
/* The level of x86-64 that code may use: 2, 3 (AVX2, FMA, BMI2) or 4 (AVX-512); 1 on another architecture. It is the
 * processor's, or a lower one that MARGAY_ISA=v2|v3|v4 asks for, by which tests hold the builds against each other and
 * one machine stands for another. All that is compiled more than once for vectors goes by it. */
unsigned mg__isa_processor(void);
unsigned mg__isa_now(void); /* reads the environment */
extern atomic_uint mg__isa_first;
static inline unsigned mg__isa(void) /* what it was when it was first asked for */
{
    unsigned isa = atomic_load_explicit(&mg__isa_first, memory_order_relaxed);
    if (MG_UNLIKELY(!isa))
        atomic_store_explicit(&mg__isa_first, isa = mg__isa_now(), memory_order_relaxed);
    return isa;
}

/* ---- cache.c: files that are kept between runs, named by a key. Any thread, any process. ---- */
#define MG_CACHE_PATH 4096u
#define MG_CACHE_LARGEST ((size_t)64 << 20) /* bytes of a file */
/* Where the key's file is, in the folder `given`, else MARGAY_CACHE, else margay in $XDG_CACHE_HOME or ~/.cache. False:
 * nothing is kept (MARGAY_CACHE is `off`, or there is no such folder), and the path is empty. */
bool mg__cache_path(const char *given, const uint64_t key[2], const char *suffix, char path[MG_CACHE_PATH]);
/* Reads a file that is the user's alone, for what it holds may be executed. *bytes is the caller's to free, with a zero
 * behind; NULL if it is not there. */
bool mg__cache_get(const char *path, char **bytes, size_t *size);
/* Why nothing can be kept in the folder of mg__cache_path, an errno; 0: it can, or nothing is to be kept. */
int mg__cache_trouble(char folder[MG_CACHE_PATH]);
/* Writes it, whole or not at all, and takes files of its suffix away where there are too many. */
void mg__cache_put(const char *path, const char *bytes, size_t size);

#endif
