/* test_base.c - arenas, vectors, buffers, the string table, diagnostics, the pool, files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <unistd.h>

#include "base/base.h"

static void arena_gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    struct mg_arena arena;
    mg__arena_init(&arena);
    unsigned char *last = NULL;
    for (size_t size = 0; size < 3000; size += 7) {
        unsigned char *at = mg__arena_alloc(&arena, size);
        assert_non_null(at);
        assert_int_equal((uintptr_t)at % 16, 0);
        assert_ptr_not_equal(at, last);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(at[i], 0);
        memset(at, 0xA5, size); /* the next one must still be zero */
        last = at;
    }
    for (size_t align = 1; align <= 65536; align *= 2) {
        char *at = mg__arena_alloc_aligned(&arena, 24, align);
        assert_int_equal((uintptr_t)at % align, 0);
        memset(at, 0xA5, 24);
    }
    char *large = mg__arena_alloc(&arena, 10 << 20);
    assert_non_null(large);
    assert_int_equal(large[(10 << 20) - 1], 0);
    assert_true(arena.total > 10 << 20);
    mg__arena_free(&arena);
    assert_int_equal(arena.total, 0);
    assert_non_null(mg__arena_alloc(&arena, 1)); /* as new */
    mg__arena_free(&arena);
}

static void arena_refuses_sizes_that_overflow(void **state)
{
    (void)state;
    struct mg_arena arena;
    mg__arena_init(&arena);
    assert_null(mg__arena_array(&arena, SIZE_MAX / 2, 4));
    assert_null(mg__arena_alloc(&arena, SIZE_MAX));
    assert_null(mg__arena_alloc(&arena, SIZE_MAX - 8));
    assert_null(mg__arena_strndup(&arena, "", SIZE_MAX));
    assert_string_equal(mg__arena_strndup(&arena, "margay", 3), "mar");
    assert_string_equal(mg__arena_strdup(&arena, ""), "");
    assert_string_equal(mg__arena_printf(&arena, "%s-%d", "a", 42), "a-42");
    mg__arena_free(&arena);
}

static void vectors_grow(void **state)
{
    (void)state;
    MG_VEC(uint64_t) v = {0};
    for (uint64_t i = 0; i < 10000; i++)
        assert_true(mg__vec_push(&v, i * i));
    assert_int_equal(v.count, 10000);
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(v.at[i], i * i);
    mg__vec_free(&v);
    assert_null(v.at);
    void *none = NULL;
    size_t capacity = 0;
    assert_false(mg__vec_grow(&none, &capacity, SIZE_MAX, 1));
    assert_false(mg__vec_grow(&none, &capacity, SIZE_MAX / 8, 16));
    assert_null(none);
}

static void buffers_append(void **state)
{
    (void)state;
    struct mg_strbuf buf = {0};
    char expected[4096] = "";
    assert_true(mg__strbuf_append(&buf, "", 0));
    assert_string_equal(buf.at, "");
    for (int i = 0; i < 300; i++) {
        assert_true(mg__strbuf_printf(&buf, "%d,", i));
        snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%d,", i);
        assert_int_equal(buf.count, strlen(buf.at));
    }
    assert_string_equal(buf.at, expected);
    assert_true(mg__strbuf_append(&buf, "xyz", 2));
    assert_string_equal(buf.at + buf.count - 3, ",xy");
    mg__strbuf_free(&buf);
    assert_null(buf.at);
}

static void table_finds_what_was_put(void **state)
{
    (void)state;
    struct mg_arena arena;
    struct mg_strtab table;
    char key[32];
    mg__arena_init(&arena);
    mg__strtab_init(&table, &arena);
    assert_null(mg__strtab_get(&table, "a", 1));
    for (uintptr_t i = 1; i <= 5000; i++) {
        int n = snprintf(key, sizeof(key), "key%zu", (size_t)i);
        assert_true(mg__strtab_put(&table, key, (size_t)n, (void *)i));
    }
    assert_int_equal(table.count, 5000);
    for (uintptr_t i = 1; i <= 5000; i++) {
        int n = snprintf(key, sizeof(key), "key%zu", (size_t)i);
        assert_ptr_equal(mg__strtab_get(&table, key, (size_t)n), (void *)i);
        key[n] = '!';
        assert_null(mg__strtab_get(&table, key, (size_t)n + 1));
    }
    assert_true(mg__strtab_put(&table, "key7", 4, key)); /* replaces */
    assert_ptr_equal(mg__strtab_get(&table, "key7", 4), key);
    assert_int_equal(table.count, 5000);
    assert_true(mg__strtab_put(&table, "a\0b", 3, key)); /* any bytes; the empty key too */
    assert_null(mg__strtab_get(&table, "a\0c", 3));
    assert_ptr_equal(mg__strtab_get(&table, "a\0b", 3), key);
    assert_true(mg__strtab_put(&table, "", 0, key));
    assert_ptr_equal(mg__strtab_get(&table, "", 0), key);
    mg__arena_free(&arena);
}

static void hash_depends_on_every_byte(void **state)
{
    (void)state;
    unsigned char data[40] = {0};
    for (size_t size = 1; size <= sizeof(data); size++) {
        uint64_t plain = mg__hash(data, size);
        assert_int_not_equal(plain, mg__hash(data, size - 1));
        for (size_t i = 0; i < size; i++) {
            data[i] = 1;
            assert_int_not_equal(mg__hash(data, size), plain);
            data[i] = 0;
        }
    }
}

static void diagnostics_are_records(void **state)
{
    (void)state;
    struct mg_diag diag;
    memset(&diag, 0x5A, sizeof(diag));
    assert_int_equal(mg__diag_set(&diag, MG_ERR_SYNTAX, "bad %s", "thing"), MG_ERR_SYNTAX);
    mg__diag_at(&diag, "a.cu", 3, 7);
    mg__diag_excerpt(&diag, "one\x1b[31m\ntwo", 12);
    mg__diag_hint(&diag, "try %d", 5);
    assert_int_equal(diag.status, MG_ERR_SYNTAX);
    assert_string_equal(diag.message, "bad thing");
    assert_string_equal(diag.file, "a.cu");
    assert_int_equal(diag.line, 3);
    assert_int_equal(diag.column, 7);
    assert_string_equal(diag.excerpt, "one [31m"); /* no escape reaches a terminal */
    assert_string_equal(diag.hint, "try 5");
    assert_int_equal(mg__diag_set(NULL, MG_ERR_IO, "x"), MG_ERR_IO);
    mg__diag_at(NULL, "a", 1, 1);
    mg__diag_excerpt(NULL, "a", 1);
    mg__diag_hint(NULL, "a");

    char text[2000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memcpy(text + sizeof(diag.message) - 2, "\xC3\xA4", 2); /* a letter of two bytes across the end of the field */
    mg__diag_set(&diag, MG_ERR_SYNTAX, "%s", text);
    assert_int_equal(strlen(diag.message), sizeof(diag.message) - 2);
}

struct shared {
    atomic_uint calls[64];
    atomic_uint total;
    unsigned expected;
};

/* The caller is at work until all others have begun: none may be left out. */
static void count_call(void *arg, unsigned worker)
{
    struct shared *shared = arg;
    atomic_fetch_add(&shared->calls[worker], 1);
    atomic_fetch_add(&shared->total, 1);
    while (worker == 0 && atomic_load(&shared->total) < shared->expected)
        usleep(1);
}

struct meeting {
    atomic_uint arrived;
    unsigned expected;
};

static void meet_others(void *arg, unsigned worker)
{
    struct meeting *meeting = arg;
    (void)worker;
    atomic_fetch_add(&meeting->arrived, 1);
    while (atomic_load(&meeting->arrived) < meeting->expected) /* ends only if all run at once */
        usleep(100);
}

/* A worker that has begun is waited for; one that has not does not begin later. */
static void take_time(void *arg, unsigned worker)
{
    struct shared *shared = arg;
    atomic_fetch_add(&shared->calls[worker], 1);
    if (worker)
        usleep(300);
    atomic_fetch_add(&shared->total, 1);
}

static void pool_runs_each_worker_once(void **state)
{
    (void)state;
    struct mg_pool *pool;
    assert_int_equal(mg__pool_create(5, &pool), MG_OK);
    assert_int_equal(mg__pool_workers(pool), 5);
    for (unsigned n = 0; n <= 7; n++) {
        struct shared shared = {0};
        unsigned used = MG_MIN(n, 5u);
        for (unsigned repeat = 0; repeat < 200; repeat++) {
            shared.expected += used;
            mg__pool_run(pool, n, count_call, &shared);
        }
        assert_int_equal(shared.total, used * 200);
        for (unsigned i = 0; i < 64; i++)
            assert_int_equal(shared.calls[i], i < used ? 200 : 0);
    }
    struct shared slow = {0};
    for (unsigned repeat = 1, calls = 0; repeat <= 200; repeat++, calls = 0) {
        mg__pool_run(pool, 5, take_time, &slow);
        for (unsigned i = 0; i < 5; i++)
            calls += slow.calls[i];
        assert_int_equal(slow.total, calls);
        assert_int_equal(slow.calls[0], repeat);
    }
    struct meeting meeting = {.expected = 5};
    mg__pool_run(pool, 5, meet_others, &meeting);
    assert_int_equal(meeting.arrived, 5);
    mg__pool_destroy(pool);
    assert_int_equal(mg__pool_create(0, &pool), MG_OK);
    assert_true(mg__pool_workers(pool) >= 1);
    mg__pool_destroy(pool);
    mg__pool_destroy(NULL);
}

static void files_are_read_whole(void **state)
{
    (void)state;
    char path[] = "/tmp/margay-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "wb");
    for (int i = 0; i < 100000; i++)
        fputc(i & 0xFF, file);
    fclose(file);
    char *data;
    size_t size;
    struct mg_diag diag;
    assert_int_equal(mg__file_read(path, 100000, &data, &size, &diag), MG_OK);
    assert_int_equal(size, 100000);
    for (size_t i = 0; i < size; i++)
        assert_int_equal((unsigned char)data[i], i & 0xFF);
    assert_int_equal(data[size], 0);
    free(data);
    assert_int_equal(mg__file_read(path, 99999, &data, &size, &diag), MG_ERR_IO);
    assert_null(data);
    assert_string_equal(diag.file, path);
    unlink(path);
    assert_int_equal(mg__file_read(path, 100, &data, &size, &diag), MG_ERR_NOT_FOUND);
    assert_int_equal(mg__file_read("/tmp", 100, &data, &size, &diag), MG_ERR_IO);
    assert_true(strlen(diag.message) > 10);
}

static void time_goes_on(void **state)
{
    (void)state;
    uint64_t before = mg__time_ns();
    usleep(2000);
    uint64_t took = mg__time_ns() - before;
    assert_true(took >= 2000000 && took < UINT64_C(60000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(arena_refuses_sizes_that_overflow),
        cmocka_unit_test(vectors_grow),
        cmocka_unit_test(buffers_append),
        cmocka_unit_test(table_finds_what_was_put),
        cmocka_unit_test(hash_depends_on_every_byte),
        cmocka_unit_test(diagnostics_are_records),
        cmocka_unit_test(pool_runs_each_worker_once),
        cmocka_unit_test(files_are_read_whole),
        cmocka_unit_test(time_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
