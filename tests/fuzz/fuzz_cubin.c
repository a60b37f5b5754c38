/* The readers of machine code and of programs on any bytes: what they accept holds together. */
#include "fatbin/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mg_arena arena;
    struct mg_cubin cubin;
    struct mg_program program;
    struct mg_diag diag = {0};
    mg__arena_init(&arena);
    if (mg__cubin_read(data, size, &arena, &cubin, &diag) == MG_OK)
        for (size_t i = 0; i < cubin.nkernels; i++)
            if (mg__cubin_find(&cubin, cubin.kernels[i].name) == NULL || !mg__cubin_is(data, size))
                __builtin_trap();
    if (mg__program_read_bytes(data, size, 90, &arena, &program, &diag) == MG_OK) {
        for (size_t i = 0; i < program.nkernels; i++)
            if (!program.kernels[i].kernel.name[0])
                __builtin_trap();
        for (size_t i = 0; i < program.ntexts; i++)
            if (program.texts[i].at[program.texts[i].length])
                __builtin_trap();
        mg__program_free_texts(&program);
    } else if (!diag.message[0] || program.texts) {
        __builtin_trap();
    }
    mg__arena_free(&arena);
    return 0;
}
