/* multiply.c - a C program that uses the collection: one matrix product with every rung, each held to the reference.
 *
 * Built outside Margay's tree, against an installed library, by either of
 *
 *     cmake -S . -B build -DCMAKE_PREFIX_PATH=PREFIX && cmake --build build
 *     cc multiply.c -o multiply $(pkg-config --cflags --libs margay-kernels) -lm
 *
 * On a GPU it runs as it is; without one: margay run ./multiply
 */
#include <cuda_runtime_api.h>
#include <margay/kernels.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 50, N = 70, K = 33 };

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "multiply: %s: %s\n", what, why);
    return 1;
}

int main(void)
{
    static float a[M * K], b[K * N], c[M * N], expected[M * N];
    float *da, *db, *dc;
    int wrong = 0;
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i % 17 - 8);
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i % 13 - 6);
    mg_ref_gemm_f32(M, N, K, 1, a, K, b, N, 0, expected, N);
    if (cudaMalloc((void **)&da, sizeof a) || cudaMalloc((void **)&db, sizeof b) ||
        cudaMalloc((void **)&dc, sizeof c) || cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice) ||
        cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice))
        return fail("device memory", cudaGetErrorString(cudaGetLastError()));

    size_t rungs;
    const struct mg_variant *rung = mg_gemm_variants(&rungs);
    for (int v = MG_BEST; v < (int)rungs; v++) {
        enum mg_kernels_status status = mg_gemm_f32(NULL, v, M, N, K, 1, da, K, db, N, 0, dc, N);
        if (status != MG_KERNELS_OK)
            return fail(v < 0 ? "best" : rung[v].name, mg_kernels_status_text(status));
        if (cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost))
            return fail(v < 0 ? "best" : rung[v].name, cudaGetErrorString(cudaGetLastError()));
        int off = 0;
        for (int i = 0; i < M * N; i++)
            off += c[i] != expected[i]; /* small integers: exact in any order */
        printf("%-20s %s\n", v < 0 ? "best" : rung[v].name, off ? "wrong" : "ok");
        wrong += off != 0;
    }
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    return wrong != 0;
}
