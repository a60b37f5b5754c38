// streams.cu - streams, events, callbacks, limits, the device's properties; everything but kernels.
// ENV: MARGAY_DEVICE=90
// EXPECT: ok
// STDERR: the program calls cudaImportExternalSemaphore, which is not simulated
#include "check.h"

static int called;
static void CUDART_CB on_host(void *arg) { called += *(int *)arg; }
static void CUDART_CB on_stream(cudaStream_t, cudaError_t e, void *arg) { called += *(int *)arg + e; }

int main()
{
    cudaStream_t s, t;
    cudaEvent_t a, b;
    unsigned flags;
    int n, least, greatest;
    float ms = -1;
    OK(cudaStreamCreate(&s));
    IS(cudaStreamCreateWithFlags(&t, 7), 1);
    OK(cudaStreamGetFlags(0, &flags));
    TRUE(flags == 0);
    OK(cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, -99));
    OK(cudaStreamGetPriority(t, &n));
    TRUE(n == -5);
    OK(cudaStreamGetFlags(t, &flags));
    TRUE(flags == 1);
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    TRUE(least == 0 && greatest == -5);
    OK(cudaEventCreate(&a));
    OK(cudaEventCreate(&b));
    IS(cudaEventElapsedTime(&ms, a, b), 400);
    OK(cudaEventQuery(a));
    OK(cudaEventSynchronize(a));
    OK(cudaEventRecord(a, 0));
    OK(cudaEventRecord(b, s));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&ms, a, b));
    TRUE(ms >= 0 && ms < 1000);
    OK(cudaEventDestroy(a));
    IS(cudaEventDestroy(a), 400);
    OK(cudaEventCreateWithFlags(&a, cudaEventDisableTiming));
    OK(cudaEventRecord(a, 0));
    IS(cudaEventElapsedTime(&ms, a, b), 400);
    IS(cudaEventCreateWithFlags(&a, 64), 1);
    IS(cudaEventCreateWithFlags(&a, cudaEventInterprocess), 1);
    IS(cudaEventRecord(0, 0), 400);
    IS(cudaEventDestroy(0), 400);
    IS(cudaStreamDestroy(0), 400);
    OK(cudaStreamSynchronize(cudaStreamLegacy));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(cudaStreamQuery(0));
    OK(cudaStreamWaitEvent(0, b, 0));
    n = 3;
    OK(cudaLaunchHostFunc(s, on_host, &n));
    OK(cudaStreamAddCallback(s, on_stream, &n, 0));
    OK(cudaStreamSynchronize(s));
    TRUE(called == 6);
    IS(cudaStreamAddCallback(0, 0, 0, 0), 1);
    IS(cudaLaunchHostFunc(0, 0, 0), 1);
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));

    size_t v;
    OK(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    TRUE(v == 1024);
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    OK(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    TRUE(v == 4096);
    IS(cudaDeviceSetLimit((cudaLimit)99, 1), 1);
    IS(cudaDeviceGetLimit(&v, cudaLimitDevRuntimeSyncDepth), 215);
    OK(cudaSetDeviceFlags(cudaDeviceMapHost));
    IS(cudaSetDeviceFlags(1024), 1);

    OK(cudaGetDeviceCount(&n));
    TRUE(n == 1);
    OK(cudaSetDevice(0));
    IS(cudaSetDevice(1), 101);
    IS(cudaSetDevice(-1), 101);
    OK(cudaDeviceCanAccessPeer(&n, 0, 0));
    TRUE(n == 0);
    IS(cudaDeviceCanAccessPeer(&n, 0, 1), 101);
    IS(cudaDeviceEnablePeerAccess(0, 0), 217);
    IS(cudaDeviceDisablePeerAccess(0), 705);
    cudaGetLastError();
    cudaDeviceProp p;
    OK(cudaGetDeviceProperties(&p, 0));
    TRUE(!strcmp(p.name, "NVIDIA H100 80GB HBM3") && p.major == 9 && p.minor == 0 && p.multiProcessorCount == 132);
    TRUE(p.sharedMemPerBlock == 49152 && p.sharedMemPerBlockOptin == 232448 && p.sharedMemPerMultiprocessor == 233472);
    TRUE(p.regsPerBlock == 65536 && p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.maxGridSize[1] == 65535);
    TRUE(p.maxThreadsPerMultiProcessor == 2048 && p.maxBlocksPerMultiProcessor == 32 && p.unifiedAddressing == 1);
    TRUE(p.reservedSharedMemPerBlock == 1024 && p.memoryBusWidth == 5120 && p.totalConstMem == 65536);
    OK(cudaDeviceGetAttribute(&n, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    TRUE(n == 232448);
    OK(cudaDeviceGetAttribute(&n, cudaDevAttrComputeCapabilityMajor, 0));
    TRUE(n == 9);
    IS(cudaDeviceGetAttribute(&n, (cudaDeviceAttr)148, 0), 1);
    int runtime, driver;
    OK(cudaRuntimeGetVersion(&runtime));
    OK(cudaDriverGetVersion(&driver));
    TRUE(runtime / 1000 == CUDART_VERSION / 1000 && driver / 1000 == runtime / 1000);
    TRUE(!strcmp(cudaGetErrorName(cudaErrorInvalidPitchValue), "cudaErrorInvalidPitchValue"));
    TRUE(!strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered"));
    TRUE(!strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"));
    cudaChannelFormatDesc c = cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindFloat);
    TRUE(c.x == 8 && c.y == 16 && c.f == cudaChannelFormatKindFloat);

    cudaGraph_t g;
    cudaExternalSemaphore_t semaphore;
    cudaExternalSemaphoreHandleDesc from = {};
    OK(cudaGraphCreate(&g, 0));
    IS(cudaImportExternalSemaphore(&semaphore, &from), 801);
    IS(cudaGetLastError(), 801);
    OK(cudaDeviceReset());
    IS(cudaEventRecord(b, 0), 400);
    OK(cudaMalloc((void **)&g, 16));
    DONE();
}
