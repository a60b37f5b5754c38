/* pocl.c - the peer: the same kernels in OpenCL C on a CPU device, that of PoCL where it is installed.
 *
 * main.c sets two variables before the first call of OpenCL, unless the user has. POCL_DEVICES=basic picks the device
 * that runs everything on the calling thread, which is pinned. POCL_WORK_GROUP_METHOD=cbs picks how PoCL turns a
 * work-group into loops: of its three ways the fastest one for kernels with barriers (the reduction 10 ms, 19 and 46
 * with the other two), and no slower for the rest. The peer is measured at its best.
 *
 * Compiling is not timed: the first run of each kernel, which is when PoCL compiles it for the work-group size, belongs
 * to load. A run is the launches and clFinish.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BENCH_OPENCL
struct bench_peer *bench_opencl_open(const char *source, size_t length, char *error, size_t size)
{
    (void)source, (void)length;
    snprintf(error, size, "not built");
    return NULL;
}
#else
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

struct opencl {
    struct bench_peer peer;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernels[BENCH_STEPS]; /* one a launch, with its arguments */
    cl_mem buffers[BENCH_BUFFERS];
    void *result;
};

static bool failed(struct opencl *cl, const char *what, cl_int code)
{
    snprintf(cl->peer.error, sizeof cl->peer.error, "%s: OpenCL error %d", what, (int)code);
    return false;
}

static void drop(struct opencl *cl)
{
    for (int i = 0; i < BENCH_STEPS; i++)
        if (cl->kernels[i])
            clReleaseKernel(cl->kernels[i]);
    for (int i = 0; i < BENCH_BUFFERS; i++)
        if (cl->buffers[i])
            clReleaseMemObject(cl->buffers[i]);
    free(cl->result);
    memset(cl->kernels, 0, sizeof cl->kernels);
    memset(cl->buffers, 0, sizeof cl->buffers);
    cl->result = NULL;
}

static bool opencl_reset(struct bench_peer *peer)
{
    struct opencl *cl = (struct opencl *)peer;
    const struct bench_case *c = peer->current;
    const unsigned char zero = 0;
    cl_int code = CL_SUCCESS;
    for (int i = 0; i < BENCH_BUFFERS && code == CL_SUCCESS; i++)
        if (c->bytes[i] && c->data[i])
            code = clEnqueueWriteBuffer(cl->queue, cl->buffers[i], CL_TRUE, 0, c->bytes[i], c->data[i], 0, NULL, NULL);
        else if (c->bytes[i])
            code = clEnqueueFillBuffer(cl->queue, cl->buffers[i], &zero, 1, 0, c->bytes[i], 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clFinish(cl->queue);
    return code == CL_SUCCESS || failed(cl, "the buffers", code);
}

static bool opencl_run(struct bench_peer *peer)
{
    struct opencl *cl = (struct opencl *)peer;
    const struct bench_case *c = peer->current;
    for (int s = 0; s < c->nsteps; s++) {
        size_t local[2] = {c->block[0], c->block[1]};
        size_t global[2] = {local[0] * c->steps[s].grid[0], local[1] * c->steps[s].grid[1]};
        cl_int code = clEnqueueNDRangeKernel(cl->queue, cl->kernels[s], 2, NULL, global, local, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            return failed(cl, c->kernel, code);
    }
    cl_int code = clFinish(cl->queue);
    return code == CL_SUCCESS || failed(cl, c->kernel, code);
}

static bool opencl_load(struct bench_peer *peer, const struct bench_case *c)
{
    struct opencl *cl = (struct opencl *)peer;
    cl_int code;
    drop(cl);
    peer->current = c;
    if (!(cl->result = malloc(c->result_bytes)))
        return failed(cl, "memory", CL_OUT_OF_HOST_MEMORY);
    for (int i = 0; i < BENCH_BUFFERS; i++)
        if (c->bytes[i]) {
            cl->buffers[i] = clCreateBuffer(cl->context, CL_MEM_READ_WRITE, c->bytes[i], NULL, &code);
            if (code != CL_SUCCESS)
                return failed(cl, "clCreateBuffer", code);
        }
    for (int s = 0; s < c->nsteps; s++) {
        const struct bench_step *step = &c->steps[s];
        cl_int n = step->n;
        cl->kernels[s] = clCreateKernel(cl->program, c->kernel, &code);
        for (int i = 0; i < step->nargs && code == CL_SUCCESS; i++)
            code = clSetKernelArg(cl->kernels[s], (cl_uint)i, sizeof(cl_mem), &cl->buffers[step->args[i]]);
        if (code == CL_SUCCESS)
            code = clSetKernelArg(cl->kernels[s], (cl_uint)step->nargs, sizeof n, &n);
        if (code != CL_SUCCESS)
            return failed(cl, c->kernel, code);
    }
    return opencl_reset(peer) && opencl_run(peer);
}

static const void *opencl_result(struct bench_peer *peer)
{
    struct opencl *cl = (struct opencl *)peer;
    const struct bench_case *c = peer->current;
    cl_int code =
        clEnqueueReadBuffer(cl->queue, cl->buffers[c->result], CL_TRUE, 0, c->result_bytes, cl->result, 0, NULL, NULL);
    if (code != CL_SUCCESS) {
        failed(cl, "clEnqueueReadBuffer", code);
        return NULL;
    }
    return cl->result;
}

static void opencl_close(struct bench_peer *peer)
{
    struct opencl *cl = (struct opencl *)peer;
    drop(cl);
    if (cl->program)
        clReleaseProgram(cl->program);
    if (cl->queue)
        clReleaseCommandQueue(cl->queue);
    if (cl->context)
        clReleaseContext(cl->context);
    free(cl);
}

static bool find_device(cl_device_id *device)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        return false;
    for (cl_uint i = 0; i < count && i < 16; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, device, NULL) == CL_SUCCESS)
            return true;
    return false;
}

struct bench_peer *bench_opencl_open(const char *source, size_t length, char *error, size_t size)
{
    static const struct bench_peer_ops ops = {opencl_load, opencl_reset, opencl_run, opencl_result, opencl_close};
    cl_device_id device;
    cl_int code;
    struct opencl *cl = calloc(1, sizeof *cl);
    if (!cl) {
        snprintf(error, size, "out of memory");
        return NULL;
    }
    cl->peer.ops = &ops;
    if (!find_device(&device)) {
        snprintf(error, size, "no OpenCL device of type CPU (Debian: pocl-opencl-icd)");
        goto fail;
    }
    char name[128] = "", version[128] = "";
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version - 1, version, NULL);
    snprintf(cl->peer.description, sizeof cl->peer.description, "%.120s, driver %.100s", name, version);
    cl->context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        cl->queue = clCreateCommandQueue(cl->context, device, 0, &code);
    if (code == CL_SUCCESS)
        cl->program = clCreateProgramWithSource(cl->context, 1, &source, &length, &code);
    if (code == CL_SUCCESS)
        code = clBuildProgram(cl->program, 1, &device, "", NULL, NULL);
    if (code != CL_SUCCESS) {
        snprintf(error, size, "%s: OpenCL error %d", cl->peer.description, (int)code);
        goto fail;
    }
    return &cl->peer;
fail:
    opencl_close(&cl->peer);
    return NULL;
}
#endif
