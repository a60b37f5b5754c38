/* callers.cu - four threads of the host at once, each with its stream and its memory, and all of it right: what a launch wrote
 * is known when the copy behind it is looked at, whichever thread ran the launch. Said nothing of, by check_callers. */
#include <cstdio>
#include <cuda_runtime.h>
#include <pthread.h>

enum { WORDS = 64, ROUNDS = 400, LAUNCHES = 8 };

__global__ void by_shuffles(const unsigned *in, unsigned *out)
{
    unsigned sum = in[threadIdx.x] + in[threadIdx.x + 32];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0)
        *out = sum;
}
__global__ void by_tile(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[WORDS];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    unsigned sum = 0;
    for (int i = 0; threadIdx.x == 0 && i < WORDS; i++)
        sum += tile[i];
    if (threadIdx.x == 0)
        *out = sum;
}

static void *caller(void *argument)
{
    const unsigned own = *(unsigned *)argument;
    unsigned words[WORDS], sum = 0, got = 0, *in, *out;
    cudaStream_t stream;
    for (unsigned i = 0; i < WORDS; i++)
        sum += words[i] = own + i;
    for (int round = 0; round < ROUNDS; round++) {
        bool good = !cudaStreamCreate(&stream) && !cudaMalloc(&in, sizeof words) && !cudaMalloc(&out, 12) &&
                    !cudaMemcpy(in, words, sizeof words, cudaMemcpyHostToDevice);
        for (int k = 0; good && k < LAUNCHES; k++) {
            if (k % 2)
                by_tile<<<1, WORDS, 0, stream>>>(in, out);
            else
                by_shuffles<<<1, 32, 0, stream>>>(in, out);
            good = !cudaMemcpyAsync(&got, out, sizeof got, cudaMemcpyDeviceToHost, stream) &&
                   !cudaStreamSynchronize(stream) && got == sum;
        }
        if (!good || cudaFree(in) || cudaFree(out) || cudaStreamDestroy(stream))
            return argument;
    }
    return NULL;
}

int main()
{
    pthread_t thread[4];
    unsigned own[4] = {1, 2, 3, 4}, wrong = 0;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, caller, &own[i]))
            return 1;
    for (int i = 0; i < 4; i++) {
        void *bad;
        wrong += pthread_join(thread[i], &bad) || bad;
    }
    if (wrong)
        printf("%u of 4 threads got something else\n", wrong);
    return wrong != 0;
}
