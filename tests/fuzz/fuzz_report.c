/* Reports, whatever the bytes: lines of the stream from a simulated program, each read as it comes and once more as the
 * line of a launch that comes again, and a whole as a file that --json might have written. What is taken of them is
 * added up and made into text and JSON as the command does. A line that is read again must say the same.
 */
#define _GNU_SOURCE /* memfd_create */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_line(struct mg_repeats *repeats, const char *line, size_t length)
{
    struct mg_arena plain, again;
    struct mg_record a, b;
    mg__arena_init(&plain);
    mg__arena_init(&again);
    enum mg_status one = mg__record_parse(line, length, &plain, &a);
    enum mg_status two = mg__record_repeat(repeats, line, length, &again, &b);
    if (one != two || (!one && a.kind != b.kind))
        __builtin_trap();
    if (!one && a.kind == MG_RECORD_LAUNCH) {
        struct mg_strbuf first = {0}, second = {0};
        if (!mg__report_launch_json(&a.launch, false, &first) || !mg__report_launch_json(&b.launch, false, &second) ||
            strcmp(first.at, second.at) || memcmp(&a.launch.seconds, &b.launch.seconds, sizeof(double)))
            __builtin_trap();
        mg__strbuf_free(&first);
        mg__strbuf_free(&second);
    }
    mg__arena_free(&plain);
    mg__arena_free(&again);
}

static void render(struct mg_report_file *file)
{
    const struct mg_style style = {.width = 80, .utf8 = true};
    const struct mg_report_device device = {"device", 90, 132};
    struct mg_strbuf out = {0};
    mg__tally_sort(&file->tally);
    (void)mg__render_profile(&file->tally, &device, &style, &out);
    (void)mg__render_summary(&file->tally, &style, &out);
    for (size_t i = 0; i < out.count; i++) /* nothing that a terminal takes as a command */
        if ((unsigned char)out.at[i] < ' ' && out.at[i] != '\n' && out.at[i] != '\t')
            __builtin_trap();
    mg__strbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mg_repeats repeats = {0};
    struct mg_report_file file;
    struct mg_diag diag;
    char path[64];
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t n = end ? (size_t)(end - data) - at : size - at;
        read_line(&repeats, (const char *)data + at, n);
        read_line(&repeats, (const char *)data + at, n);
        at += n + 1;
    }
    mg__repeats_free(&repeats);
    int fd = memfd_create("report", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        __builtin_trap();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    memset(&diag, 0, sizeof(diag));
    mg__report_file_init(&file, false);
    enum mg_status status = mg__report_load(&file, path, &diag);
    if (status && !diag.message[0])
        __builtin_trap();
    if (!status)
        render(&file);
    mg__report_file_free(&file);
    close(fd);
    return 0;
}
