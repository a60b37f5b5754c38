/* gemm.cu - shapes of the pipeline of rungs 11 and 12, beside cuBLAS. All sizes are multiples of every shape's. */
#include "tune.h"

#include "gemm/pipeline.cuh"

#include <stdio.h>

enum { CASES = 5 };
static const char *const columns[] = {"4096x4096x4096", "2048x512x1024", "2048x2048x2048", "1024x1024x1024",
                                      "512x512x512"};
static const int64_t sizes[CASES][3] = {
    {4096, 4096, 4096}, {2048, 512, 1024}, {2048, 2048, 2048}, {1024, 1024, 1024}, {512, 512, 512}};
static struct gemm_args cases[CASES];

static double work(const struct gemm_args &g)
{
    return 2e-12 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
}

template <int BM, int BN, int BK, int TM, int TN, int SPLIT, int STAGES, int BLOCKS> static void shape(void)
{
    char name[120];
    snprintf(name, sizeof name, "%dx%d, steps of %d, %dx%d a thread, k in %d, %d buffers, %d blocks", BM, BN, BK, TM,
             TN, SPLIT, STAGES, BLOCKS);
    tune_row(name);
    for (int i = 0; i < CASES; i++)
        tune_cell(i, cases[i].c, static_cast<size_t>(cases[i].m * cases[i].n), work(cases[i]), [=] {
            return gemm_launch<gemm_shape<BM, BN, BK, TM, TN, SPLIT, STAGES, BLOCKS>, true>(nullptr, &cases[i]);
        });
}

/* cuBLAS is column major: C' = B' A'. */
static int cublas(const struct gemm_args &g)
{
    enum { PEDANTIC = 2, NOT_TRANSPOSED = 0 };
    typedef int set_mode(void *, int);
    typedef int sgemm(void *, int, int, int, int, int, const float *, const float *, int, const float *, int,
                      const float *, float *, int);
    void *handle = bench_cublas();
    set_mode *mode = reinterpret_cast<set_mode *>(bench_cublas_symbol("cublasSetMathMode"));
    sgemm *product = reinterpret_cast<sgemm *>(bench_cublas_symbol("cublasSgemm_v2"));
    int m = static_cast<int>(g.m), n = static_cast<int>(g.n), k = static_cast<int>(g.k);
    if (!handle || !mode || !product || mode(handle, PEDANTIC))
        return 1;
    return product(handle, NOT_TRANSPOSED, NOT_TRANSPOSED, n, m, k, &g.alpha, g.b, n, g.a, k, &g.beta, g.c, n);
}

extern "C" void tune_gemm(void)
{
    tune_table("C = A B", "TFLOP/s", 1e-3f, columns, CASES);
    int64_t most = 0;
    for (int i = 0; i < CASES; i++) {
        const int64_t *s = sizes[i];
        int64_t shrink = bench_on_simulator() ? (s[0] == 4096 ? 16 : s[0] == 512 ? 4 : 8) : 1;
        cases[i] = {s[0] / shrink,
                    s[1] / shrink < 64 ? 64 : s[1] / shrink,
                    s[2] / shrink,
                    1.0f,
                    nullptr,
                    0,
                    nullptr,
                    0,
                    0.0f,
                    nullptr,
                    0};
        struct gemm_args &g = cases[i];
        g.lda = g.k, g.ldb = g.ldc = g.n;
        most = g.m * g.k > most ? g.m * g.k : most;
        most = g.k * g.n > most ? g.k * g.n : most;
        most = g.m * g.n > most ? g.m * g.n : most;
    }
    const float *a = tune_random_f32(most, 1), *b = tune_random_f32(most, 2);
    float *c = static_cast<float *>(tune_alloc(static_cast<size_t>(most) * 4));
    for (int i = 0; i < CASES; i++)
        cases[i].a = a, cases[i].b = b, cases[i].c = c;
    tune_row("the rung warp-tiled");
    for (int i = 0; i < CASES; i++)
        tune_cell(i, c, static_cast<size_t>(cases[i].m * cases[i].n), work(cases[i]),
                  [=] { return mg__gemm_warp(nullptr, &cases[i]); });
    tune_row("cuBLAS, pedantic");
    for (int i = 0; i < CASES; i++)
        tune_cell(i, c, static_cast<size_t>(cases[i].m * cases[i].n), work(cases[i]), [=] { return cublas(cases[i]); });
    tune_row("the rung best");
    for (int i = 0; i < CASES; i++)
        tune_cell(i, c, static_cast<size_t>(cases[i].m * cases[i].n), work(cases[i]),
                  [=] { return mg__gemm_best(nullptr, &cases[i]); });
    shape<128, 256, 8, 8, 16, 1, 4, 1>();
    shape<128, 256, 16, 8, 16, 1, 4, 1>();
    shape<256, 128, 8, 16, 8, 1, 4, 1>();
    shape<128, 128, 8, 8, 8, 1, 4, 2>();
    shape<128, 128, 16, 8, 8, 1, 3, 2>();
    shape<128, 128, 32, 8, 8, 1, 3, 2>();
    shape<64, 128, 32, 8, 8, 4, 4, 1>();
    shape<64, 128, 32, 8, 8, 2, 4, 1>();
    shape<64, 128, 16, 8, 8, 1, 4, 3>();
    shape<64, 64, 32, 8, 8, 4, 3, 2>();
    shape<64, 64, 16, 8, 8, 1, 4, 6>();
}
