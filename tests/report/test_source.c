/* Names of source texts in reports: one name never has two texts, and what is told is what is shown. */
#include "report/render.h"

#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

static char folder[] = "/tmp/margay-source-XXXXXX", path[64];

static struct mg_report_writer *open_writer(const char *report)
{
    const struct mg_report_device device = {.name = "a device", .cc = 90, .sm_count = 132};
    struct mg_report_writer *w = NULL;
    assert_int_equal(mg__report_open(report, &device, &w), MG_OK);
    return w;
}

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void put_file(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void told(struct mg_report_writer *w, const char *file, const char *text, const char *want)
{
    const char *name = mg__report_source(w, file, text, strlen(text));
    assert_non_null(name);
    assert_string_equal(name, want);
}

/* What the records of a report say, taken in by a reader. */
static void read_back(const char *report, struct mg_given *given)
{
    char *text, *rest;
    size_t size;
    struct mg_diag diag;
    assert_int_equal(mg__file_read(report, 1 << 20, &text, &size, &diag), MG_OK);
    rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line;) {
        struct mg_arena arena;
        struct mg_record record;
        mg__arena_init(&arena);
        assert_int_equal(mg__record_parse(line, strlen(line), &arena, &record), MG_OK);
        if (record.kind == MG_RECORD_SOURCE)
            assert_int_equal(mg__given_add(given, record.file, record.text), MG_OK);
        mg__arena_free(&arena);
    }
    free(text);
}

static void shows(const struct mg_given *given, const char *file, unsigned line, const char *want)
{
    struct mg_sources sources;
    const char *text = NULL;
    size_t length = 0;
    mg__sources_init(&sources, given);
    bool found = mg__sources_line(&sources, file, line, &text, &length, NULL);
    assert_int_equal(found, want != NULL);
    if (want) {
        assert_int_equal(length, strlen(want));
        assert_memory_equal(text, want, length);
    }
    mg__sources_free(&sources);
}

static void clashes(void **state)
{
    char report[64], file[64];
    (void)state;
    snprintf(report, sizeof(report), "%s", in_folder("report"));
    struct mg_report_writer *w = open_writer(report);
    told(w, "/no/k.cu", "a\nb\n", "/no/k.cu");
    told(w, "/no/k.cu", "c\nd\n", "/no/k.cu#2");
    told(w, "/no/k.cu", "a\nb\n", "/no/k.cu"); /* again: the same name */
    told(w, "/no/k.cu", "c\nd\n", "/no/k.cu#2");
    told(w, "/no/k.cu", "a\nb", "/no/k.cu#3");
    told(w, "/no/k.cu#2", "x\n", "/no/k.cu#2#2"); /* a program that has the name that another was given */
    told(w, "/no/k.cu#2", "c\nd\n", "/no/k.cu#2");
    /* A file of that name that is the text, and one that is not. */
    put_file("same.cu", "same\n");
    put_file("other.cu", "on the disk\n");
    snprintf(file, sizeof(file), "%s", in_folder("same.cu"));
    told(w, file, "same\n", file);
    char want[80];
    snprintf(file, sizeof(file), "%s", in_folder("other.cu"));
    snprintf(want, sizeof(want), "%s#2", file);
    told(w, file, "in memory\n", want);
    assert_null(mg__report_source(NULL, "/no/k.cu", "a", 1));
    mg__report_close(w);

    struct mg_given given;
    mg__given_init(&given);
    read_back(report, &given);
    shows(&given, "/no/k.cu", 2, "b");
    shows(&given, "/no/k.cu#2", 1, "c");
    shows(&given, "/no/k.cu#2#2", 1, "x");
    shows(&given, "/no/k.cu#2#2", 2, NULL);
    shows(&given, "/no/k.cu#9", 1, NULL);
    shows(&given, want, 1, "in memory");
    shows(&given, file, 1, "on the disk");
    shows(NULL, "/no/k.cu", 1, NULL);

    /* As the report file has them, and back. */
    struct mg_strbuf json = {0};
    struct mg_given again;
    mg__given_init(&again);
    assert_true(mg__given_json(&given, &json));
    assert_int_equal(mg__given_load(&again, json.at), MG_OK);
    shows(&again, "/no/k.cu#2", 2, "d");
    assert_int_equal(mg__given_load(&again, "[{\"file\": \"x\"}]"), MG_ERR_SYNTAX);
    assert_int_equal(mg__given_load(&again, "{}"), MG_ERR_SYNTAX);
    assert_int_equal(mg__given_load(&again, "[1]"), MG_ERR_SYNTAX);
    assert_int_equal(mg__given_load(&again, ""), MG_ERR_SYNTAX);

    /* Another process has its own text of that name: neither is shown, nor the file. */
    assert_int_equal(mg__given_add(&given, "/no/k.cu", "other\n"), MG_OK);
    shows(&given, "/no/k.cu", 1, NULL);
    assert_int_equal(mg__given_add(&given, file, "one\n"), MG_OK);
    assert_int_equal(mg__given_add(&given, file, "two\n"), MG_OK);
    assert_int_equal(mg__given_add(&given, file, "one\n"), MG_OK);
    shows(&given, file, 1, NULL);
    mg__strbuf_free(&json);
    mg__given_free(&again);
    mg__given_free(&given);
    unlink(report);
    unlink(file);
    unlink(in_folder("same.cu"));
}

/* Any bytes: the record is valid JSON, and the lines are where they were. */
static void hostile(void **state)
{
    char report[64];
    const char *text = "\"}\n{\"record\": \"end\"}\n\xff\xfe\x01\x1b[31m\nlast\n";
    (void)state;
    snprintf(report, sizeof(report), "%s", in_folder("report"));
    struct mg_report_writer *w = open_writer(report);
    told(w, "a\"}\nb\xff", text, "a\"}\nb\xff");
    mg__report_close(w);
    struct mg_given given;
    mg__given_init(&given);
    read_back(report, &given);
    assert_int_equal(given.at.count, 1);
    shows(&given, "a\"}\nb\xef\xbf\xbd", 4, "last");
    shows(&given, "a\"}\nb\xef\xbf\xbd", 2, "{\"record\": \"end\"}");
    mg__given_free(&given);
    unlink(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clashes), cmocka_unit_test(hostile)};
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
