// threads.cu - several host threads that allocate, launch and wait at once; the report holds what was asked for.
// RUN: -std=c++17
// ENV: MARGAY_REPORT=fd:2 MARGAY_KERNEL=^inc MARGAY_LAUNCHES=3
// EXPECT: ok
// STDERR: {"record": "header"
// STDERR: "kernel": "increment(int*)"
// STDERR: {"record": "end", "launches": 3}
#include "check.h"

#include <thread>
#include <vector>

__global__ void increment(int *p) { atomicAdd(p, 1); }
__global__ void other(int *p) { p[1] = 5; }

int main()
{
    std::vector<std::thread> threads;
    int *d, failed = 0;
    OK(cudaMallocManaged(&d, 64));
    d[0] = d[1] = 0;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([d, &failed] {
            cudaStream_t s;
            char *p;
            int mine = cudaStreamCreate(&s);
            for (int k = 0; k < 20; k++) {
                increment<<<4, 64, 0, s>>>(d);
                mine |= cudaMalloc(&p, 100 + k) | cudaMemsetAsync(p, k, 100, s) | cudaFree(p);
            }
            other<<<1, 1, 0, s>>>(d);
            mine |= cudaStreamSynchronize(s) | cudaStreamDestroy(s) | cudaGetLastError();
            __atomic_fetch_or(&failed, mine, __ATOMIC_SEQ_CST);
            cudaMalloc((void **)0, 1); // an error of this thread alone
        });
    for (auto &t : threads)
        t.join();
    OK(cudaGetLastError());
    OK(failed);
    TRUE(d[0] == 4 * 20 * 4 * 64 && d[1] == 5);
    DONE();
}
