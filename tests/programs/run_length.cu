// run_length.cu - heads flagged, places by a scan in the block, runs written out
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

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

const int N = 256;

__global__ void encode(const int *in, int *value, int *length, int *runs)
{
    __shared__ int sum[N], start[N + 1];
    int t = threadIdx.x, head = t == 0 || in[t] != in[t - 1];
    sum[t] = head;
    for (int d = 1; d < N; d *= 2) {
        __syncthreads();
        int add = t >= d ? sum[t - d] : 0;
        __syncthreads();
        sum[t] += add;
    }
    __syncthreads();
    int n = sum[N - 1];
    if (head) {
        value[sum[t] - 1] = in[t];
        start[sum[t] - 1] = t;
    }
    if (t == 0) {
        start[n] = N;
        *runs = n;
    }
    __syncthreads();
    if (t < n)
        length[t] = start[t + 1] - start[t];
}

int main()
{
    std::vector<int> in(N), value, length, got(2 * N);
    for (int i = 0; i < N; i++)
        in[i] = i * i / 700;
    for (int i = 0; i < N; i++)
        if (i && in[i] == in[i - 1]) {
            length.back()++;
        } else {
            value.push_back(in[i]);
            length.push_back(1);
        }
    int *d, runs;
    CK(cudaMalloc(&d, (3 * N + 1) * sizeof(int)));
    CK(cudaMemcpy(d, in.data(), N * sizeof(int), cudaMemcpyHostToDevice));
    encode<<<1, N>>>(d, d + N, d + 2 * N, d + 3 * N);
    CK(cudaMemcpy(&runs, d + 3 * N, sizeof(int), cudaMemcpyDeviceToHost));
    bool good = runs == value.size();
    CK(cudaMemcpy(got.data(), d + N, runs * sizeof(int), cudaMemcpyDeviceToHost));
    good &= std::equal(value.begin(), value.end(), got.begin());
    CK(cudaMemcpy(got.data(), d + 2 * N, runs * sizeof(int), cudaMemcpyDeviceToHost));
    good &= std::equal(length.begin(), length.end(), got.begin());
    CK(cudaFree(d));
    return finish(good);
}
