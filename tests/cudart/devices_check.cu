// devices_check.cu - several devices under check: what one does for another is no mistake, and each one's mistakes are found.
// RUN: -std=c++17
// EXPECT: ok
#include "check.h"

#include <string>
#include <unistd.h>

enum { N = 256 };

__managed__ int common[N];

__global__ void put(int *p, int value) { p[threadIdx.x] = value; }
__global__ void take(const int *p, int *q) { q[threadIdx.x] += p[threadIdx.x]; }
__global__ void count(void) { common[threadIdx.x]++; }

static std::string path;

static size_t findings(const char *what)
{
    std::string text;
    size_t n = 0;
    FILE *file = fopen(path.c_str(), "r");
    for (int c; file && (c = fgetc(file)) != EOF;)
        text += (char)c;
    if (file)
        fclose(file);
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at++)
        n++;
    return n;
}

// Device 0 fills memory of device 1, which works on with it in a stream that waits; copies go around.
static void right()
{
    cudaStream_t s0, s1;
    cudaEvent_t done, back;
    int *a, *b, *c, host[N];
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&b, N * sizeof(int)));
    OK(cudaMalloc(&c, N * sizeof(int)));
    OK(cudaStreamCreateWithFlags(&s1, cudaStreamNonBlocking));
    OK(cudaEventCreate(&back));
    OK(cudaMemsetAsync(c, 0, N * sizeof(int), s1));
    OK(cudaSetDevice(0));
    OK(cudaMalloc(&a, N * sizeof(int)));
    OK(cudaStreamCreateWithFlags(&s0, cudaStreamNonBlocking));
    OK(cudaEventCreate(&done));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    put<<<1, N, 0, s0>>>(b, 3);
    OK(cudaEventRecord(done, s0));
    OK(cudaSetDevice(1));
    OK(cudaStreamWaitEvent(s1, done, 0));
    take<<<1, N, 0, s1>>>(b, c);
    count<<<1, N, 0, s1>>>();
    OK(cudaEventRecord(back, s1));
    OK(cudaSetDevice(0));
    OK(cudaStreamWaitEvent(s0, back, 0));
    OK(cudaMemcpyPeerAsync(a, 0, c, 1, N * sizeof(int), s0));
    take<<<1, N, 0, s0>>>(b, a);
    count<<<1, N, 0, s0>>>();
    OK(cudaMemcpyAsync(host, a, sizeof(host), cudaMemcpyDeviceToHost, s0));
    OK(cudaStreamSynchronize(s0));
    for (int i = 0; i < N; i++)
        TRUE(host[i] == 6 && common[i] == 2);
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(c));
}

static void wrong()
{
    cudaStream_t s, t;
    int *a, *b;
    OK(cudaSetDevice(1)); // two streams of one device, and nothing that orders them
    OK(cudaMalloc(&a, N * sizeof(int)));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    put<<<1, N, 0, s>>>(a, 1);
    put<<<1, N, 0, t>>>(a, 2);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(a));
    OK(cudaSetDevice(2)); // memory that nobody wrote
    OK(cudaMalloc(&a, N * sizeof(int)));
    OK(cudaMalloc(&b, N * sizeof(int)));
    OK(cudaMemset(b, 0, N * sizeof(int)));
    take<<<1, N>>>(a, b);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(a));
    OK(cudaFree(b));
}

int main()
{
    path = "/tmp/margay-devices-" + std::to_string(getpid()); // the environment is read at the first call
    setenv("MARGAY_DEVICES", "3", 1);
    setenv("MARGAY_MODE", "check", 1);
    setenv("MARGAY_CHECK", "race,barrier,init,bounds,launch,leaks", 1);
    setenv("MARGAY_REPORT", path.c_str(), 1);
    right();
    TRUE(findings("\"record\": \"launch\"") == 5 && findings("\"record\": \"finding\"") == 0);
    TRUE(findings("\"device\": 1, ") == 2);
    wrong();
    TRUE(findings("\"kind\": \"streams\"") == 1 && findings("\"check\": \"init\"") == 1);
    TRUE(findings("\"record\": \"finding\"") == 2);
    if (bad) {
        std::string show = "grep finding " + path + " >&2";
        bad += system(show.c_str()) != 0;
    }
    unlink(path.c_str());
    DONE();
}
