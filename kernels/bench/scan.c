/* scan.c - the bench's drivers of scan: inclusive of floats, exclusive of integers, beside CUB.
 *
 * Every element is held to the library's plain C: integers to the last bit; element i of floats within the bound of
 * kernels.h, (64 + i / 1000) u sum|x[0..i]|, and as much as rounding may have moved the reference.
 */
#include "peer_cub.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct state {
    bool floats;
    int64_t n;
    void *x, *y; /* on the device */
    void *host_x, *want, *got;
    void *work, *peer_work;
    size_t work_bytes, peer_work_bytes;
};

static void release(void *p)
{
    struct state *s = p;
    bench_free(s->x);
    bench_free(s->y);
    bench_free(s->work);
    bench_free(s->peer_work);
    free(s->host_x);
    free(s->want);
    free(s->got);
    free(s);
}

static int call(struct state *s, int variant, struct CUstream_st *stream, void *work, size_t *bytes)
{
    if (s->floats)
        return (int)mg_scan_f32(stream, variant, MG_SCAN_INCLUSIVE, s->n, s->x, s->y, work, bytes);
    return (int)mg_scan_i32(stream, variant, MG_SCAN_EXCLUSIVE, s->n, s->x, s->y, work, bytes);
}

static int cub(struct state *s, void *work, size_t *bytes, struct CUstream_st *stream)
{
#ifdef MARGAY_KERNELS_PEERS
    return s->floats ? bench_cub_scan_f32(work, bytes, false, s->x, s->y, s->n, stream)
                     : bench_cub_scan_u32(work, bytes, true, s->x, s->y, s->n, stream);
#else
    (void)s, (void)work, (void)bytes, (void)stream;
    return 1;
#endif
}

static bool workspace(struct state *s)
{
    size_t count = 0;
    mg_scan_variants(&count);
    for (int v = 0; v < (int)count; v++) {
        size_t bytes = 0;
        if (call(s, v, NULL, NULL, &bytes))
            return false;
        s->work_bytes = bytes > s->work_bytes ? bytes : s->work_bytes;
    }
    if (cub(s, NULL, &s->peer_work_bytes, NULL) == 0)
        s->peer_work = bench_alloc(s->peer_work_bytes);
    return (s->work = bench_alloc(s->work_bytes)) != NULL;
}

static void *make(bool floats, int64_t n)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    size_t bytes = (size_t)n * 4;
    s->floats = floats;
    s->n = n;
    s->x = bench_alloc(bytes);
    s->y = bench_alloc(bytes);
    s->host_x = malloc(bytes + 1);
    s->want = malloc(bytes + 1);
    s->got = malloc(bytes + 1);
    if (!s->x || !s->y || !s->host_x || !s->want || !s->got || !workspace(s)) {
        release(s);
        return NULL;
    }
    if (floats)
        bench_fill_f32(s->x, n, 1);
    else
        bench_fill_u32(s->x, n, 1, 0xffffffffu);
    if (cudaMemcpy(s->host_x, s->x, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) {
        release(s);
        return NULL;
    }
    if (floats)
        mg_ref_scan_f32(MG_SCAN_INCLUSIVE, n, s->host_x, s->want);
    else
        mg_ref_scan_i32(MG_SCAN_EXCLUSIVE, n, s->host_x, s->want);
    cudaMemset(s->y, 0xff, bytes);
    return s;
}

static void *make_f32(const struct bench_size *size)
{
    return make(true, size->d[0]);
}

static void *make_i32(const struct bench_size *size)
{
    return make(false, size->d[0]);
}

static struct bench_work work(const struct bench_size *size)
{
    return (struct bench_work){.bytes = 8 * (double)size->d[0], .flops = (double)size->d[0]};
}

static int run(void *p, int variant, struct CUstream_st *stream)
{
    struct state *s = p;
    return call(s, variant, stream, s->work, &s->work_bytes);
}

static int peer_run(void *p, int peer, struct CUstream_st *stream)
{
    struct state *s = p;
    (void)peer;
    return s->peer_work ? cub(s, s->peer_work, &s->peer_work_bytes, stream) : 1;
}

static struct bench_error verify_i32(const struct state *s)
{
    double wrong = 0;
    if (memcmp(s->got, s->want, (size_t)s->n * 4) != 0)
        for (int64_t i = 0; i < s->n; i++)
            wrong += ((int32_t *)s->got)[i] != ((int32_t *)s->want)[i];
    return (struct bench_error){.worst = wrong, .ok = wrong == 0};
}

static struct bench_error verify_f32(const struct state *s)
{
    const float *x = s->host_x, *got = s->got, *want = s->want;
    struct bench_error e = {.worst = 0, .ok = true};
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        sum += (double)fabsf(x[i]);
        double bound = 0x1p-24 * ((64 + (double)i / 1000) * sum + fabs((double)want[i]));
        double error = fabs((double)got[i] - (double)want[i]);
        if (error <= e.worst * bound)
            continue;
        e.worst = isnan(error) ? INFINITY : error / bound;
        e.ok = e.ok && error <= bound;
    }
    return e;
}

static struct bench_error verify(void *p)
{
    struct state *s = p;
    if (cudaMemcpy(s->got, s->y, (size_t)s->n * 4, cudaMemcpyDeviceToHost) != cudaSuccess)
        return (struct bench_error){.worst = INFINITY};
    cudaMemset(s->y, 0xff, (size_t)s->n * 4);
    return s->floats ? verify_f32(s) : verify_i32(s);
}

static const char *const peers[] = {"CUB", NULL};

const struct bench_op bench_scan_f32 = {
    .name = "scan",
    .type = "inclusive f32",
    .dims = 1,
    .sizes_gpu = "2^20,2^28",
    .sizes_sim = "2^16",
    .variants = mg_scan_variants,
    .limit = "copy",
    .make = make_f32,
    .free = release,
    .work = work,
    .run = run,
    .verify = verify,
    .peers = peers,
    .peer_run = peer_run,
};
const struct bench_op bench_scan_i32 = {
    .name = "scan",
    .type = "exclusive i32",
    .dims = 1,
    .sizes_gpu = "2^20,2^28",
    .sizes_sim = "2^16",
    .variants = mg_scan_variants,
    .limit = "copy",
    .make = make_i32,
    .free = release,
    .work = work,
    .run = run,
    .verify = verify,
    .peers = peers,
    .peer_run = peer_run,
};
