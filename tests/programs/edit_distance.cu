// edit_distance.cu - by antidiagonals, three of them in shared memory
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static int finish(bool good)
{
    puts(good ? "PASS" : "FAIL");
    return !good;
}

const int N = 60, M = 75;

__global__ void distance(const char *a, const char *b, int *out)
{
    __shared__ int diagonal[3][N + 1];
    int i = threadIdx.x;
    for (int d = 0; d <= N + M; d++) {
        int j = d - i, *now = diagonal[d % 3], *one = diagonal[(d + 2) % 3], *two = diagonal[(d + 1) % 3];
        if (i <= N && j >= 0 && j <= M) {
            int v = i == 0 ? j : i;
            if (i && j)
                v = min(min(one[i - 1], one[i]) + 1, two[i - 1] + (a[i - 1] != b[j - 1]));
            now[i] = v;
        }
        __syncthreads();
    }
    if (i == N)
        *out = diagonal[(N + M) % 3][N];
}

int main()
{
    char a[N], b[M];
    for (int i = 0; i < N; i++)
        a[i] = 'a' + i * i % 5;
    for (int i = 0; i < M; i++)
        b[i] = 'a' + i * 3 % 7;
    int table[N + 1][M + 1], got, *out;
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= M; j++)
            table[i][j] = !i   ? j
                          : !j ? i
                               : std::min(std::min(table[i - 1][j], table[i][j - 1]) + 1,
                                          table[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
    char *d;
    CK(cudaMalloc(&d, N + M));
    CK(cudaMalloc(&out, sizeof(int)));
    CK(cudaMemcpy(d, a, N, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d + N, b, M, cudaMemcpyHostToDevice));
    distance<<<1, 64>>>(d, d + N, out);
    CK(cudaMemcpy(&got, out, sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    CK(cudaFree(out));
    return finish(got == table[N][M]);
}
