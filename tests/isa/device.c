/* device.c - what this machine's GPU answers: the lines of tests/isa/h200.txt, on standard output, or, with the first
 * letters of an instruction's name, those of tests/sem/h100.txt.
 *
 * From the repository's root, on a machine with NVIDIA's driver (a compiler and no toolkit):
 *     cc -O2 -I src -I tests -o /tmp/device tests/isa/device.c tests/isa/chain.c tests/isa/alu.c src/sem/sem.c -ldl -lm
 *     /tmp/device >tests/isa/h200.txt
 *     /tmp/device vabsdiff4
 *
 * A line is "<hash> carry <seed>": FNV-1a over all results of the chain, or "<hash> <instruction>". Chains that differ
 * from chain.c's expectation are named on standard error; the exit status is then 1.
 */
#include "isa/alu.h"
#include "isa/chain.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *driver;
#define CALL(name, ...)                                  \
    do {                                                 \
        int (*call_)() = (int (*)())dlsym(driver, name); \
        int error_ = call_ ? call_(__VA_ARGS__) : -1;    \
        if (error_) {                                    \
            fprintf(stderr, "%s: %d\n", name, error_);   \
            exit(2);                                     \
        }                                                \
    } while (0)

static uint64_t hash(const uint64_t *at, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < 8 * n; i++)
        h = (h ^ (at[i / 8] >> (8 * (i % 8)) & 0xff)) * 0x100000001b3u;
    return h;
}

static uint64_t d_in, d_out;

/* Threads from `in` to `out`, by the module's kernel of that name. */
static void answer(const char *text, const char *name, uint32_t threads, const void *in, size_t in_bytes, void *out,
                   size_t out_bytes)
{
    void *module, *kernel, *args[] = {&d_in, &d_out};
    CALL("cuModuleLoadData", &module, text);
    CALL("cuModuleGetFunction", &kernel, module, name);
    CALL("cuMemcpyHtoD_v2", d_in, in, in_bytes);
    CALL("cuLaunchKernel", kernel, threads / 64, 1, 1, 64, 1, 1, 0, (void *)0, args, (void *)0);
    CALL("cuMemcpyDtoH_v2", out, d_out, out_bytes);
    CALL("cuModuleUnload", module);
}

/* The lines of tests/sem/h100.txt for the cases whose name begins so. */
static int answer_alu(const char *prefix)
{
    static uint64_t in[4 * ALU_H100_INPUTS], out[ALU_H100_INPUTS];
    struct alu_list list;
    char wrong[96];
    if (!alu_cases(&list, wrong)) {
        fprintf(stderr, "%s\n", wrong);
        return 2;
    }
    for (size_t k = 0; k < list.count; k++) {
        if (strncmp(list.at[k].text, prefix, strlen(prefix)) != 0)
            continue;
        char *text, name[32];
        size_t length;
        FILE *file = open_memstream(&text, &length);
        alu_module(file, list.at, k, 1);
        fclose(file);
        for (uint32_t i = 0; i < ALU_H100_INPUTS; i++)
            alu_input(&list.at[k], i, ALU_H100_INPUTS, in + 4 * i);
        snprintf(name, sizeof name, "k%zu", k);
        answer(text, name, ALU_H100_INPUTS, in, sizeof in, out, sizeof out);
        free(text);
        uint64_t h = ALU_HASH_START;
        for (uint32_t i = 0; i < ALU_H100_INPUTS; i++)
            h = alu_hash(h, out[i]);
        printf("%016llx %s\n", (unsigned long long)h, list.at[k].text);
    }
    alu_free(&list);
    return 0;
}

int main(int argc, char **argv)
{
    static uint64_t in[CHAIN_THREADS * CHAIN_SLOTS], out[CHAIN_THREADS * CHAIN_SLOTS];
    int device = 0, version = 0, wrong = 0;
    char name[256] = "";
    void *context;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    CALL("cuInit", 0);
    CALL("cuDeviceGet", &device, 0);
    CALL("cuDeviceGetName", name, (int)sizeof name, device);
    CALL("cuDriverGetVersion", &version);
    CALL("cuDevicePrimaryCtxRetain", &context, device);
    CALL("cuCtxSetCurrent", context);
    CALL("cuMemAlloc_v2", &d_in, (size_t)1 << 20);
    CALL("cuMemAlloc_v2", &d_out, (size_t)1 << 20);
    if (argc > 1)
        return answer_alu(argv[1]);
    printf("# What a GPU answered to the chains of tests/isa/chain.c: %s, driver's CUDA %d.%d.\n", name, version / 1000,
           version % 1000 / 10);
    for (uint32_t seed = 0; seed < CHAIN_COUNT; seed++) {
        struct chain chain;
        char *text;
        size_t length;
        chain_make(seed, &chain);
        FILE *file = open_memstream(&text, &length);
        chain_ptx(file, &chain);
        fclose(file);
        for (uint32_t i = 0; i < CHAIN_THREADS; i++)
            chain_input(seed, i, in + CHAIN_SLOTS * i);
        answer(text, "run", CHAIN_THREADS, in, sizeof in, out, sizeof out);
        free(text);
        printf("%016llx carry %u\n", (unsigned long long)hash(out, CHAIN_THREADS * CHAIN_SLOTS), seed);
        for (uint32_t i = 0; i < CHAIN_THREADS; i++) {
            uint64_t want[CHAIN_SLOTS];
            chain_expect(&chain, i, in + CHAIN_SLOTS * i, want);
            if (memcmp(want, out + CHAIN_SLOTS * i, sizeof want) != 0) {
                fprintf(stderr, "carry %u: thread %u differs from chain.c\n", seed, i);
                wrong++;
                break;
            }
        }
    }
    return wrong != 0;
}
