/* device.c - what this machine's GPU answers: the lines of tests/isa/h200.txt, on standard output.
 *
 * From the repository's root, on a machine with NVIDIA's driver (a compiler and no toolkit):
 *     cc -O2 -I src -I tests -o /tmp/device tests/isa/device.c tests/isa/chain.c -ldl && /tmp/device >
 * tests/isa/h200.txt
 *
 * A line is "<hash> carry <seed>": FNV-1a over all results of the chain. Chains that differ from chain.c's expectation
 * are named on standard error; the exit status is then 1.
 */
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

int main(void)
{
    static uint64_t in[CHAIN_THREADS * CHAIN_SLOTS], out[CHAIN_THREADS * CHAIN_SLOTS];
    int device = 0, version = 0, wrong = 0;
    char name[256] = "";
    void *context, *module, *kernel;
    uint64_t d_in, d_out;
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
    CALL("cuMemAlloc_v2", &d_in, sizeof in);
    CALL("cuMemAlloc_v2", &d_out, sizeof out);
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
        CALL("cuModuleLoadData", &module, text);
        CALL("cuModuleGetFunction", &kernel, module, "run");
        CALL("cuMemcpyHtoD_v2", d_in, in, sizeof in);
        void *args[] = {&d_in, &d_out};
        CALL("cuLaunchKernel", kernel, CHAIN_THREADS / 64, 1, 1, 64, 1, 1, 0, (void *)0, args, (void *)0);
        CALL("cuMemcpyDtoH_v2", out, d_out, sizeof out);
        CALL("cuModuleUnload", module);
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
