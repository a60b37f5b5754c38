/* check.h - IS(call, code): the call must return that error code; the codes were read off an H200 with driver 580.159
 * and CUDA 13.0, 2026-11-21. TRUE(condition). DONE() ends main: "ok" and 0, or 1. */
#ifndef CHECK_H
#define CHECK_H
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int bad;
#define IS(call, code)                                                                                                 \
    do {                                                                                                               \
        int got_ = (int)(call);                                                                                        \
        if (got_ != (code)) {                                                                                          \
            printf("%s:%d: %s is %d %s, not %d\n", __FILE__, __LINE__, #call, got_,                                    \
                   cudaGetErrorName((cudaError_t)got_), code);                                                         \
            bad++;                                                                                                     \
        }                                                                                                              \
    } while (0)
#define TRUE(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                           \
            bad++;                                                                                                     \
        }                                                                                                              \
    } while (0)
#define OK(call) IS(call, 0)
/* The launch itself, then what the next synchronisation says. */
#define LAUNCH(code, ...)                                                                                              \
    do {                                                                                                               \
        __VA_ARGS__;                                                                                                   \
        IS(cudaPeekAtLastError(), code);                                                                               \
        IS(cudaGetLastError(), code);                                                                                  \
        IS(cudaDeviceSynchronize(), 0);                                                                                \
        IS(cudaGetLastError(), 0);                                                                                     \
    } while (0)
#define DONE()                                                                                                         \
    do {                                                                                                               \
        if (!bad)                                                                                                      \
            printf("ok\n");                                                                                            \
        return bad != 0;                                                                                               \
    } while (0)
#endif
