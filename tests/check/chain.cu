/* chain.cu - kernels that may begin before the one in front of them has ended (programmatic dependent launch). cases.cuh says
 * how to read it. */
#include "cases.cuh"

template <bool fault> __global__ void first(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = i;
    cudaTriggerProgrammaticLaunchCompletion();
}

template <typename... Parameters, typename... Arguments>
static void launch_early(void (*kernel)(Parameters...), int blocks, int threads, Arguments... arguments)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = blocks;
    config.blockDim = threads;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

/* The wait is missing. */
template <bool fault> __global__ void second(const int *p, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!fault)
        cudaGridDependencySynchronize();
    out[i] = p[i] + 1; // EXPECT: race/dependent-launch
}
CASE(second, 0)
{
    int *p = zeros(256), *out = zeros(256);
    first<fault><<<2, 128>>>(p, 256);
    launch_early(second<fault>, 2, 128, p, out);
}

/* It comes behind the first use. */
template <bool fault> __global__ void waits_late(const int *p, const int *table, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int offset = fault ? p[0] : table[0]; // EXPECT: race/dependent-launch
    cudaGridDependencySynchronize();
    out[i] = p[i] + offset;
}
CASE(waits_late, 0)
{
    int *p = zeros(256), *out = zeros(256), *table = zeros(1);
    cudaDeviceSynchronize();
    first<fault><<<2, 128>>>(p, 256);
    launch_early(waits_late<fault>, 2, 128, p, table, out);
}

/* One thread waits for its block; what was written by others than the kernel in front needs no wait. */
template <bool fault> __global__ void one_waits(const int *p, const int *before, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = before[i];
    if (threadIdx.x == 0 && !fault)
        cudaGridDependencySynchronize();
    __syncthreads();
    out[i] = sum + p[i]; // EXPECT: race/dependent-launch
}
CASE(one_waits, 0)
{
    int *p = zeros(512), *out = zeros(256);
    first<fault><<<2, 128>>>(p + 256, 256);
    cudaDeviceSynchronize();
    first<fault><<<2, 128>>>(p, 256);
    launch_early(one_waits<fault>, 2, 128, p, p + 256, out);
}

/* In place: the next step writes what the one in front still writes, too. */
template <bool fault> __global__ void clear(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!fault)
        cudaGridDependencySynchronize();
    p[i] = 0; // EXPECT: race/dependent-launch
}
CASE(clear, 0)
{
    int *p = zeros(256);
    first<fault><<<2, 128>>>(p, 256);
    launch_early(clear<fault>, 2, 128, p);
}

/* Without the attribute, or with a copy in between, the stream keeps the order. */
template <bool fault> __global__ void plain(const int *p, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = p[i] + 1; // EXPECT: race/dependent-launch
}
CASE(plain, 0)
{
    int *p = zeros(256), *out = zeros(256);
    first<fault><<<2, 128>>>(p, 256);
    if (fault) {
        launch_early(plain<fault>, 2, 128, p, out);
    } else {
        plain<fault><<<2, 128>>>(p, out);
        first<fault><<<2, 128>>>(p, 256);
        fetch(p, 256);
        launch_early(plain<fault>, 2, 128, p, out);
    }
}

/* What is read ahead of the wait is there if the kernel in front lets none begin before it ends, as CUB relies on. */
template <bool lets> __global__ void counts(int *p)
{
    p[threadIdx.x] = 7;
    if (lets)
        cudaTriggerProgrammaticLaunchCompletion();
}
template <bool fault> __global__ void ahead(const int *p, int *out)
{
    int n = p[threadIdx.x]; // EXPECT: race/dependent-launch
    cudaGridDependencySynchronize();
    out[threadIdx.x] = n;
}
CASE(ahead, 0)
{
    int *p = zeros(64), *out = zeros(64);
    counts<fault><<<1, 64>>>(p);
    launch_early(ahead<fault>, 1, 64, p, out);
}
