/* test_kept.c - kept code: damaged files are refused, several processes share a folder, the folder stays bounded;
 * and what cannot be compiled runs interpreted and says why.
 */
#include "jit/jit.h"
#include "jit/jit_priv.h"
#include "simt/kit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] =
    KERNEL(".shared .align 4 .b8 s[256];",
           "mov.u32 %r1, 0; mov.u32 %r2, %t; shl.b32 %r5, %t, 2; mov.u32 %r6, s; add.u32 %r5, %r5, %r6;\n"
           "again: st.shared.u32 [%r5], %r2; bar.sync 0; ld.shared.u32 %r3, [%r5]; mad.lo.u32 %r2, %r3, 3, %r1;\n"
           "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra again;\n"
           "mul.wide.u32 %d1, %t, 4; add.u64 %d1, %a, %d1; st.global.u32 [%d1], %r2;");
enum { BLOCK = 64, MEGABYTE = 1 << 20 };

static char folder[] = "/tmp/margay-kept-XXXXXX";

/* The files in the folder: how many, their bytes, and the name of one. */
static unsigned files(uint64_t *bytes, char name[512])
{
    unsigned n = 0;
    struct stat st;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode)) {
            n++;
            *bytes += (uint64_t)st.st_size;
            snprintf(name, 512, "%s/%.255s", folder, e->d_name);
        }
    closedir(d);
    return n;
}

static void empty(void)
{
    char name[512];
    for (uint64_t bytes = 0; files(&bytes, name);)
        assert_int_equal(unlink(name), 0);
}

/* The kernel's result is right; what its engine did. */
static struct mg_jit_stats run(const char *text)
{
    struct kit k;
    struct mg_jit_stats stats = {0};
    setenv("MARGAY_CACHE", folder, 1);
    setenv("MARGAY_ENGINE", "quick", 1);
    kit_open(&k, 1, 60000, 0, NULL);
    uint64_t out = kit_alloc(&k, BLOCK * 4);
    struct kit_params params = {{out, out, out, 0}};
    kit_load(&k, text);
    kit_expect(&k, kit_launch(&k, 1, BLOCK, params));
    for (uint32_t t = 0; t < BLOCK; t++) {
        uint32_t want = t;
        for (uint32_t i = 0; i < 9; i++)
            want = want * 3 + i;
        assert_int_equal(((uint32_t *)(uintptr_t)out)[t], want);
    }
    mg__jit_stats(k.engine, &stats);
    kit_close(&k);
    return stats;
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    char name[512], *bytes;
    uint64_t total = 0;
    size_t size;
    struct mg_diag diag;
    empty();
    assert_int_equal(run(ptx).compiled[MG_ENGINE_QUICK], 1);
    assert_int_equal(run(ptx).loaded, 1);
    assert_int_equal(files(&total, name), 1);
    assert_int_equal(mg__file_read(name, MEGABYTE, &bytes, &size, &diag), MG_OK);
    struct mg_engine_code *code = mg__jit_load(bytes, size);
    assert_non_null(code);
    mg__jit_unload(code);
    for (size_t n = 0; n < size; n += n < 256 ? 1 : 37)
        assert_null(mg__jit_load(bytes, n));
    char *copy = malloc(size);
    struct mg_jit_header h;
    uint32_t x = 1;
    for (unsigned round = 0; round < 4000; round++) {
        memcpy(copy, bytes, size);
        for (unsigned k = 0; k <= round % 4; k++) {
            x = x * 1664525u + 1013904223u;
            copy[sizeof h + x % (size - sizeof h)] ^= (char)(1u << (x >> 29));
        }
        if (memcmp(copy, bytes, size) != 0)
            assert_null(mg__jit_load(copy, size));
        memcpy(&h, copy, sizeof h); /* with a checksum that fits, nothing beyond the bytes is touched */
        h.check = mg__hash(copy + sizeof h, size - sizeof h);
        memcpy(copy, &h, sizeof h);
        if ((code = mg__jit_load(copy, size)) != NULL)
            mg__jit_unload(code);
    }
    int fd = open(name, O_WRONLY);
    assert_int_equal(pwrite(fd, "?", 1, (off_t)size / 2), 1);
    close(fd);
    struct mg_jit_stats stats = run(ptx); /* made again, and kept in its place */
    assert_int_equal(stats.loaded, 0);
    assert_int_equal(stats.compiled[MG_ENGINE_QUICK], 1);
    assert_int_equal(run(ptx).loaded, 1);
    free(copy);
    free(bytes);
}

static void processes_share_a_folder(void **state)
{
    (void)state;
    enum { PROCESSES = 6 };
    char name[512];
    uint64_t bytes = 0;
    empty();
    for (unsigned k = 0; k < PROCESSES; k++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct mg_jit_stats stats = run(ptx);
            _exit(stats.compiled[MG_ENGINE_QUICK] + stats.loaded == 1 ? 0 : 1);
        }
    }
    for (unsigned k = 0; k < PROCESSES; k++) {
        int status = -1;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(files(&bytes, name), 1);
    assert_int_equal(run(ptx).loaded, 1);
}

/* Files of 10 MB without blocks of their own, used longer ago than the one that is put. */
static void folder_is_bounded(void **state)
{
    (void)state;
    char name[512];
    uint64_t bytes = 0, key[2] = {0xabcdef, 0};
    empty();
    for (unsigned k = 0; k < 40; k++) {
        struct timespec used[2] = {{.tv_sec = 1000 + k}, {.tv_sec = 1000 + k}};
        snprintf(name, sizeof name, "%s/%032x.mgk", folder, k);
        int fd = open(name, O_WRONLY | O_CREAT, 0600);
        assert_int_equal(ftruncate(fd, 10 * MEGABYTE), 0);
        assert_int_equal(futimens(fd, used), 0);
        close(fd);
    }
    mg__jit_cache_put(folder, key, "kept", 4);
    files(&bytes, name);
    assert_true(bytes <= 256u * MEGABYTE && bytes > 100u * MEGABYTE);
    snprintf(name, sizeof name, "%s/%032x.mgk", folder, 0); /* the oldest */
    assert_int_not_equal(access(name, F_OK), 0);
    snprintf(name, sizeof name, "%s/%032x.mgk", folder, 39);
    assert_int_equal(access(name, F_OK), 0);
    snprintf(name, sizeof name, "%s/%016llx%016llx.mgk", folder, (unsigned long long)key[0],
             (unsigned long long)key[1]);
    assert_int_equal(access(name, F_OK), 0);
}

static char said[256];

static void say(void *self, const char *kernel, const char *text)
{
    (void)self;
    snprintf(said, sizeof said, "%s: %s", kernel, text);
}

static void too_long(void **state)
{
    (void)state;
    struct kit k;
    struct mg_jit_stats stats = {0};
    struct mg_strbuf text = {0};
    empty();
    mg__strbuf_printf(&text, "%s%smov.u32 %%r1, %%t;\n", HEADER, ENTRY);
    for (unsigned i = 0; i < 7000; i++)
        mg__strbuf_printf(&text, "mad.lo.u32 %%r1, %%r1, 5, %%t;\n");
    mg__strbuf_printf(&text, "mul.wide.u32 %%d1, %%t, 4; add.u64 %%d1, %%a, %%d1;\n"
                             "st.global.u32 [%%d1], %%r1; ret; }\n");
    setenv("MARGAY_ENGINE", "jit", 1);
    kit_open(&k, 1, 60000, 0, NULL);
    k.engine->say = say;
    uint64_t out = kit_alloc(&k, BLOCK * 4);
    struct kit_params params = {{out, out, out, 0}};
    kit_load(&k, text.at);
    kit_expect(&k, kit_launch(&k, 1, BLOCK, params));
    uint32_t want = 3;
    for (unsigned i = 0; i < 7000; i++)
        want = want * 5 + 3;
    assert_int_equal(((uint32_t *)(uintptr_t)out)[3], want);
    mg__jit_stats(k.engine, &stats);
    assert_int_equal(stats.compiled[MG_ENGINE_QUICK] + stats.compiled[MG_ENGINE_THOROUGH], 0);
    assert_string_equal(said, "k: it is longer than what is worth compiling");
    kit_close(&k);
    mg__strbuf_free(&text);
}

int main(void)
{
    if (!kit_compiles())
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_files_are_refused),
                                       cmocka_unit_test(processes_share_a_folder), cmocka_unit_test(folder_is_bounded),
                                       cmocka_unit_test(too_long)};
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    empty();
    rmdir(folder);
    return failed;
}
