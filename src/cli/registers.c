/* registers.c - registers of a program whose kernels are PTX for the simulated device: `nvcc` without -arch puts
 * machine code for the oldest devices beside it, whose registers are others. A driver would compile the PTX; so ptxas
 * is asked before the program runs, and the runtime told, as far as there is a ptxas. Of very long texts, as libraries
 * hold them, it would take longer than the run: those are left out.
 */
#include "device_cmd.h"

#include <unistd.h>

enum { MOST_TEXT = 2 << 20 }; /* all together */

static bool collect(const struct mg_cli_options *o, const char *path, struct mg_strbuf *out)
{
    struct mg_program program, made;
    struct mg_arena arena;
    struct mg_diag diag;
    size_t left = MOST_TEXT;
    bool ok = true;
    mg__arena_init(&arena);
    memset(&diag, 0, sizeof(diag));
    if (mg__program_read(path, o->arch->cc, &arena, &program, &diag) == MG_OK) {
        for (size_t i = 0; ok && i < program.ntexts && program.texts[i].length <= left; i++) {
            left -= program.texts[i].length;
            if (mg__ptxas(program.texts[i].at, program.texts[i].length, o->arch->cc, &arena, &made, &diag) != MG_OK)
                break;
            for (size_t k = 0; ok && k < made.nkernels; k++)
                ok = mg__strbuf_printf(out, "%s %u\n", made.kernels[k].kernel.name, made.kernels[k].kernel.regs);
            mg__program_free_texts(&made);
        }
        mg__program_free_texts(&program);
    }
    mg__arena_free(&arena);
    return ok && out->count;
}

void mg__registers_write(const struct mg_cli_options *o, const char *path, char *file, size_t size)
{
    const char *tmp = getenv("TMPDIR");
    struct mg_strbuf text = {0};
    int fd = -1;
    file[0] = 0;
    if (collect(o, path, &text) &&
        snprintf(file, size, "%s/margay-regs-XXXXXX", tmp && tmp[0] ? tmp : "/tmp") < (int)size)
        fd = mkstemp(file);
    if (fd < 0) {
        file[0] = 0;
    } else {
        bool written = write(fd, text.at, text.count) == (ssize_t)text.count;
        if (close(fd) < 0 || !written) {
            unlink(file);
            file[0] = 0;
        }
    }
    mg__strbuf_free(&text);
}
