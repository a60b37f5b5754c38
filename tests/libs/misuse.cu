/* misuse.cu CASE - what a call of cuBLAS does to memory, for the checks: reads what nobody wrote, reaches beyond an
 * allocation, takes memory of the host, writes in one stream what another reads; and a routine that is not there. */
#include <cstdio>
#include <cstring>

#include <cublas_v2.h>
#include <cublasXt.h>

__global__ void copy(float *to, const float *from) { to[threadIdx.x] = from[threadIdx.x]; }

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "right";
    const int n = 16, size = n * n * sizeof(float);
    float one = 1, zero = 0, *a, *b, *c, *host = new float[n * n]();
    cublasHandle_t h;
    cudaStream_t s[2];
    cudaMalloc(&a, size);
    cudaMalloc(&b, size);
    cudaMalloc(&c, size);
    cublasCreate(&h);
    for (cudaStream_t &t : s)
        cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaMemset(a, 0, size);
    if (strcmp(which, "unwritten"))
        cudaMemset(b, 0, size);
    cudaDeviceSynchronize();
    cublasSetStream(h, s[0]);
    if (!strcmp(which, "missing")) {
        cublasXtHandle_t xt;
        printf("%d\n", cublasXtCreate(&xt));
    }
    const float *from = strcmp(which, "host") ? b : host;
    int status = cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, strcmp(which, "beyond") ? n : n + 1, &one, a, n, from,
                             strcmp(which, "beyond") ? n : n + 1, &zero, c, n);
    copy<<<1, n * n, 0, s[strcmp(which, "race") ? 0 : 1]>>>(b, c); /* reads C: another stream does not wait for it */
    int error = cudaDeviceSynchronize();
    printf("%d %d\n", status, error);
    return 0;
}
