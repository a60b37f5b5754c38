/* The fatbin reader on containers made here byte by byte, and on every damage of them. */
#include "fatbin/fatbin.h"

#include <lz4.h>
#include <setjmp.h>
#include <stdint.h>
#include <zstd.h>
#include <cmocka.h>

static const char ptx[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"
    "// spaces to pack:                                                                        \n";

struct blob {
    uint8_t bytes[8192];
    size_t size;
};

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void begin(struct blob *b)
{
    memset(b, 0, sizeof(*b));
    put(b->bytes, 0xba55ed50, 4);
    put(b->bytes + 4, 1, 2);
    put(b->bytes + 6, 16, 2);
    b->size = 16;
}

/* An entry of `kind` for `sm` with `flags`, packed as the flags say. Returns its offset. */
static size_t add(struct blob *b, unsigned kind, unsigned sm, uint64_t flags, const char *text, const char *name)
{
    uint8_t *e = b->bytes + b->size;
    size_t n = strlen(text), at = b->size, packed = n;
    size_t header = 64 + (strlen(name) + 7) / 8 * 8;
    uint8_t *payload = e + header;
    if (flags & 0x8000) {
        packed = ZSTD_compress(payload, 2048, text, n, 3);
        assert_false(ZSTD_isError(packed));
    } else if (flags & 0x2000) {
        int got = LZ4_compress_default(text, (char *)payload, (int)n, 2048);
        assert_true(got > 0);
        packed = (size_t)got;
    } else {
        memcpy(payload, text, n);
    }
    size_t padded = (packed + 7) / 8 * 8;
    put(e, kind, 2);
    put(e + 2, 0x0101, 2);
    put(e + 4, header, 4);
    put(e + 8, padded, 8);
    put(e + 16, flags & 0xa000 ? packed : 0, 4);
    put(e + 24, 0, 2);
    put(e + 26, 9, 2);
    put(e + 28, sm, 4);
    put(e + 32, 64, 4);
    put(e + 36, strlen(name), 4);
    memcpy(e + 64, name, strlen(name));
    put(e + 40, flags | 0x11, 8);
    put(e + 56, flags & 0xa000 ? n : 0, 8);
    b->size += header + padded;
    put(b->bytes + 8, b->size - 16, 8);
    return at;
}

/* Chooses and unpacks; the text must be `want`. */
static void expect(const struct blob *b, unsigned cc, const char *want)
{
    struct mg_fatbin_entry entry;
    struct mg_diag diag = {0};
    char *text;
    size_t length;
    assert_int_equal(mg__fatbin_choose(b->bytes, b->size, cc, &entry, &diag), MG_OK);
    assert_int_equal(mg__fatbin_text(&entry, &text, &length, &diag), MG_OK);
    assert_int_equal(length, strlen(want));
    assert_string_equal(text, want);
    free(text);
}

static void every_packing(void **state)
{
    static const uint64_t flags[] = {0, 0x2000, 0x8000};
    (void)state;
    for (size_t i = 0; i < MG_COUNT(flags); i++) {
        struct blob b;
        begin(&b);
        add(&b, 1, 90, flags[i], ptx, "k.cu");
        expect(&b, 90, ptx);
        struct mg_fatbin f;
        struct mg_fatbin_entry e;
        assert_int_equal(mg__fatbin_open(b.bytes, b.size, &f, NULL), MG_OK);
        assert_int_equal(mg__fatbin_next(&f, &e, NULL), MG_OK);
        assert_int_equal(e.sm, 90);
        assert_int_equal(e.isa_major, 9);
        assert_int_equal(e.name_length, 4);
        assert_memory_equal(e.name, "k.cu", 4);
        assert_int_equal(mg__fatbin_next(&f, &e, NULL), MG_ERR_NOT_FOUND);
    }
}

/* What the entry's only words are: which spellings keep products and sums apart. */
static bool apart(const char *options, size_t place, size_t at, size_t length)
{
    struct blob b;
    begin(&b);
    char name[96] = {0}; /* the name's room in the header holds the options and their place as well */
    memset(name, 'x', sizeof name - 1);
    add(&b, 1, 90, 0, ptx, name);
    unsigned char *e = b.bytes + 16;
    put(e + 20, place, 4);
    put(e + 64, at, 4);
    put(e + 68, length, 4);
    memcpy(e + 72, options, strlen(options));
    struct mg_fatbin_entry entry;
    struct mg_diag diag = {0};
    assert_int_equal(mg__fatbin_choose(b.bytes, b.size, 90, &entry, &diag), MG_OK);
    return mg__fatbin_apart(&entry);
}

static void options_of_the_assembler(void **state)
{
    static const char *const yes[] = {" --fmad false ",
                                      "-fmad=false",
                                      "--fmad=false ",
                                      "-O0  ",
                                      "-v -O 0",
                                      "--opt-level=0",
                                      " -g --dont-merge-basicblocks ",
                                      "-fmad=true  --fmad false "};
    static const char *const no[] = {" ",          "-O1 -v",     "--fmad true",
                                     "-fmad=true", "-O0 -O3",    "--fmad",
                                     "-O",         "fmad false", "-maxrregcount=32 -Xfmad=false"};
    (void)state;
    for (size_t i = 0; i < MG_COUNT(yes); i++)
        if (!apart(yes[i], 64, 72, strlen(yes[i])))
            fail_msg("%s", yes[i]);
    for (size_t i = 0; i < MG_COUNT(no); i++)
        if (apart(no[i], 64, 72, strlen(no[i])))
            fail_msg("%s", no[i]);
    const char *text = "-O0";
    assert_false(apart(text, 0, 72, 3)); /* no place for them; places and lengths that lead out of the header */
    assert_false(apart(text, 8, 72, 3));
    assert_false(apart(text, UINT32_MAX, 72, 3));
    assert_false(apart(text, 64, UINT32_MAX, 3));
    assert_false(apart(text, 64, 72, UINT32_MAX));
    assert_false(apart(text, 64, 8, 3));
    assert_false(apart(text, 64, 72, 0));
}

static void best_for_the_device(void **state)
{
    struct blob b;
    (void)state;
    begin(&b);
    add(&b, 2, 90, 0, "code", "");
    add(&b, 1, 75, 0, "75", "");
    add(&b, 1, 80, 0x8000, "80", "");
    add(&b, 1, 90, 0x100000, "90a", "");
    add(&b, 1, 100, 0x200000, "100f", "");
    add(&b, 1, 100, 0x102000, "100a", "");
    expect(&b, 75, "75");
    expect(&b, 79, "75");
    expect(&b, 80, "80");
    expect(&b, 89, "80");
    expect(&b, 90, "90a");
    expect(&b, 100, "100f"); /* the family's comes before the device's own */
    expect(&b, 103, "100f");
    expect(&b, 120, "80");
    add(&b, 1, 90, 0, "90", "");
    expect(&b, 90, "90"); /* plain before "a" */
    expect(&b, 120, "90");
}

static void no_text_for_the_device(void **state)
{
    struct mg_fatbin_entry e;
    struct mg_diag diag;
    struct blob b;
    (void)state;
    begin(&b);
    memset(&diag, 0, sizeof(diag));
    assert_int_equal(mg__fatbin_choose(b.bytes, b.size, 90, &e, &diag), MG_ERR_NO_PTX);
    add(&b, 2, 90, 0, "code", "");
    assert_int_equal(mg__fatbin_choose(b.bytes, b.size, 90, &e, &diag), MG_ERR_NO_PTX);
    assert_non_null(strstr(diag.message, "machine code only"));
    assert_non_null(strstr(diag.hint, "-gencode arch=compute_90,code=compute_90"));
    assert_non_null(strstr(diag.hint, "-arch=sm_90"));
    add(&b, 1, 100, 0, "text", "");
    assert_int_equal(mg__fatbin_choose(b.bytes, b.size, 90, &e, &diag), MG_ERR_NO_PTX);
    assert_non_null(strstr(diag.message, "compute_100"));
}

/* Reads all of what may be a fatbin; the memory is exactly as long as said, so that ASan sees a step too far. */
static enum mg_status read_all(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct mg_fatbin f;
    struct mg_fatbin_entry e;
    struct mg_diag diag = {0};
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    enum mg_status status = mg__fatbin_open(copy, size, &f, &diag);
    while (!status && !(status = mg__fatbin_next(&f, &e, &diag))) {
        char *text;
        size_t length;
        if (e.kind != MG_FATBIN_PTX)
            continue;
        status = mg__fatbin_text(&e, &text, &length, &diag);
        free(text);
    }
    if (status && status != MG_ERR_NOT_FOUND)
        assert_true(diag.message[0] != '\0');
    free(copy);
    return status == MG_ERR_NOT_FOUND ? MG_OK : status;
}

static void cut_short(void **state)
{
    struct blob b;
    (void)state;
    begin(&b);
    add(&b, 1, 80, 0x8000, ptx, "first.cu");
    add(&b, 1, 90, 0x2000, ptx, "second.cu");
    assert_int_equal(read_all(b.bytes, b.size), MG_OK);
    for (size_t n = 0; n < b.size; n++)
        assert_int_not_equal(read_all(b.bytes, n), MG_OK);
}

static void wrong_sizes(void **state)
{
    static const uint64_t values[] = {0, 1, 63, 65, 0x7fffffff, 0xffffffff, 0x100000000, UINT64_MAX, UINT64_MAX - 15};
    static const struct {
        unsigned at, bytes;
    } fields[] = {{6, 2}, {8, 8}, {16 + 4, 4}, {16 + 8, 8}, {16 + 16, 4}, {16 + 32, 4}, {16 + 36, 4}, {16 + 56, 8}};
    static const uint64_t flags[] = {0, 0x2000, 0x8000, 0x1000};
    (void)state;
    for (size_t k = 0; k < MG_COUNT(flags); k++)
        for (size_t i = 0; i < MG_COUNT(fields); i++)
            for (size_t v = 0; v < MG_COUNT(values); v++) {
                struct blob b;
                begin(&b);
                add(&b, 1, 90, flags[k], ptx, "k.cu");
                put(b.bytes + fields[i].at, values[v], fields[i].bytes);
                read_all(b.bytes, b.size);
            }
}

static void flipped_bits(void **state)
{
    static const uint64_t flags[] = {0, 0x2000, 0x8000};
    (void)state;
    for (size_t k = 0; k < MG_COUNT(flags); k++) {
        struct blob b;
        begin(&b);
        add(&b, 1, 90, flags[k], ptx, "k.cu");
        for (size_t bit = 0; bit < b.size * 8; bit++) {
            b.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            read_all(b.bytes, b.size);
            b.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_int_equal(read_all(b.bytes, b.size), MG_OK);
    }
}

static void packed_size_is_held_to(void **state)
{
    struct blob b;
    struct mg_diag diag = {0};
    struct mg_fatbin_entry e;
    char *text;
    size_t length;
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        begin(&b);
        size_t at = add(&b, 1, 90, k ? 0x2000 : 0x8000, ptx, "");
        put(b.bytes + at + 56, sizeof(ptx) + 100, 8); /* more than it unpacks to */
        assert_int_equal(mg__fatbin_choose(b.bytes, b.size, 90, &e, &diag), MG_OK);
        assert_int_equal(mg__fatbin_text(&e, &text, &length, &diag), MG_ERR_SYNTAX);
        assert_null(text);
        put(b.bytes + at + 56, 10, 8); /* less */
        assert_int_equal(mg__fatbin_choose(b.bytes, b.size, 90, &e, &diag), MG_OK);
        assert_int_equal(mg__fatbin_text(&e, &text, &length, &diag), MG_ERR_SYNTAX);
        put(b.bytes + at + 56, MG_FATBIN_MAX_TEXT + 1, 8);
        assert_int_equal(mg__fatbin_choose(b.bytes, b.size, 90, &e, &diag), MG_OK);
        assert_int_equal(mg__fatbin_text(&e, &text, &length, &diag), MG_ERR_SYNTAX);
    }
}

/* test_fatbin FILE CC: prints the PTX that a file from nvcc holds for a device. */
static int print(const char *path, const char *cc)
{
    struct mg_diag diag = {0};
    struct mg_fatbin_entry e;
    char *data, *text;
    size_t size, length;
    if (mg__file_read(path, (size_t)1 << 30, &data, &size, &diag) ||
        mg__fatbin_choose(data, size, (unsigned)atoi(cc), &e, &diag) || mg__fatbin_text(&e, &text, &length, &diag)) {
        fprintf(stderr, "%s\n%s\n", diag.message, diag.hint);
        return (int)diag.status;
    }
    fwrite(text, 1, length, stdout);
    free(text);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packing),       cmocka_unit_test(options_of_the_assembler),
        cmocka_unit_test(best_for_the_device), cmocka_unit_test(no_text_for_the_device),
        cmocka_unit_test(cut_short),           cmocka_unit_test(wrong_sizes),
        cmocka_unit_test(flipped_bits),        cmocka_unit_test(packed_size_is_held_to),
    };
    if (argc == 3)
        return print(argv[1], argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
