/* registers.c - registers of a program whose kernels are PTX for the simulated device: `nvcc` without -arch puts
 * machine code for the oldest devices beside it, whose registers are others. A driver would compile the PTX; so ptxas
 * is asked before the program runs, and the runtime told, as far as there is a ptxas. Of very long texts, as libraries
 * hold them, it would take longer than the run: those are left out. What it said is kept by the texts' content.
 */
#include "device_cmd.h"
#include "guard.h"

#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TEXT = 2 << 20 }; /* all together */

/* All that the answer depends on: the texts, the device, and which ptxas. */
static bool key_of(const struct mg_program *program, unsigned cc, struct mg_strbuf *key)
{
    char ptxas[4096];
    struct stat st;
    size_t all = 0;
    if (!program->ntexts || !mg__find_tool("ptxas", ptxas, sizeof(ptxas)) || stat(ptxas, &st) != 0)
        return false;
    bool ok = mg__strbuf_printf(key, "%u %s %lld %lld\n", cc, ptxas, (long long)st.st_size, (long long)st.st_mtime);
    for (size_t i = 0; ok && i < program->ntexts; i++) {
        all += program->texts[i].length;
        ok = all <= MOST_TEXT && mg__strbuf_append(key, program->texts[i].at, program->texts[i].length);
    }
    return ok;
}

static bool assemble(const struct mg_program *program, unsigned cc, struct mg_arena *arena, struct mg_strbuf *out)
{
    struct mg_program made;
    struct mg_diag diag;
    bool ok = true;
    memset(&diag, 0, sizeof(diag));
    for (size_t i = 0; ok && i < program->ntexts; i++) {
        if (mg__ptxas(program->texts[i].at, program->texts[i].length, cc, arena, &made, &diag) != MG_OK)
            return false;
        for (size_t k = 0; ok && k < made.nkernels; k++)
            ok = mg__strbuf_printf(out, "%s %u\n", made.kernels[k].kernel.name, made.kernels[k].kernel.regs);
        mg__program_free_texts(&made);
    }
    return ok && out->count;
}

static bool collect(const struct mg_cli_options *o, const char *path, struct mg_strbuf *out)
{
    struct mg_program program;
    struct mg_arena arena;
    struct mg_diag diag;
    struct mg_strbuf key = {0};
    struct mg_kept kept;
    bool ok = false;
    mg__arena_init(&arena);
    memset(&diag, 0, sizeof(diag));
    if (mg__program_read(path, o->arch->cc, &arena, &program, &diag) == MG_OK) {
        if (key_of(&program, o->arch->cc, &key)) {
            bool keeps = mg__kept_text_name(key.at, key.count, &kept);
            ok = keeps && mg__kept_text_take(&kept, out);
            if (!ok) {
                ok = assemble(&program, o->arch->cc, &arena, out);
                if (ok && keeps)
                    mg__kept_text_put(&kept, out);
            }
        }
        mg__program_free_texts(&program);
    }
    mg__strbuf_free(&key);
    mg__arena_free(&arena);
    return ok;
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
