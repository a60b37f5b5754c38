/* dot.c - the bench's drivers of dot. Plain C is the first row; the peer is cuBLAS's dot. See sums.h for what a result
 * is held to. */
#include "sums.h"

#include <math.h>

static int call(struct sums *s, int variant, struct CUstream_st *stream, void *work, size_t *bytes)
{
    if (s->type == SUMS_F32)
        return (int)mg_dot_f32(stream, variant, s->n, s->x, s->y, s->result, work, bytes);
    return (int)mg_dot_f64(stream, variant, s->n, s->x, s->y, s->result, work, bytes);
}

static void plain(void *p)
{
    struct sums *s = p;
    s->want = s->type == SUMS_F32 ? (double)mg_ref_dot_f32(s->n, s->host_x, s->host_y)
                                  : mg_ref_dot_f64(s->n, s->host_x, s->host_y);
}

static void *make(enum sums_type type, int64_t n)
{
    struct sums *s = sums_make(type, n, 2);
    if (!s || !sums_workspace(s, mg_dot_variants, call)) {
        if (s)
            sums_free(s);
        return NULL;
    }
    plain(s);
    for (int64_t i = 0; i < n; i++)
        s->magnitude += type == SUMS_F32 ? fabs((double)((float *)s->host_x)[i] * (double)((float *)s->host_y)[i])
                                         : fabs(((double *)s->host_x)[i] * ((double *)s->host_y)[i]);
    return s;
}

static void *make_f32(const struct bench_size *size)
{
    return make(SUMS_F32, size->d[0]);
}

static void *make_f64(const struct bench_size *size)
{
    return make(SUMS_F64, size->d[0]);
}

static struct bench_work work_f32(const struct bench_size *size)
{
    return (struct bench_work){.bytes = 8 * (double)size->d[0], .flops = 2 * (double)size->d[0]};
}

static struct bench_work work_f64(const struct bench_size *size)
{
    return (struct bench_work){.bytes = 16 * (double)size->d[0], .flops = 2 * (double)size->d[0]};
}

static int run(void *p, int variant, struct CUstream_st *stream)
{
    struct sums *s = p;
    s->loose = variant == 0;
    return call(s, variant, stream, s->work, &s->work_bytes);
}

static int peer_run(void *p, int peer, struct CUstream_st *stream)
{
    typedef int dot(void *, int, const void *, int, const void *, int, void *);
    struct sums *s = p;
    (void)peer;
    sums_routine *found;
    void *handle = sums_cublas(s, s->type == SUMS_F32 ? "cublasSdot_v2" : "cublasDdot_v2", stream, &found);
    if (!handle)
        return 1;
    s->loose = false;
    return sums_cublas_end(handle, ((dot *)found)(handle, (int)s->n, s->x, 1, s->y, 1, s->result));
}

static const char *const peers[] = {"cuBLAS dot", NULL};

const struct bench_op bench_dot_f32 = {
    .name = "dot",
    .type = "f32",
    .dims = 1,
    .sizes_gpu = "2^20,2^28",
    .sizes_sim = "2^16",
    .variants = mg_dot_variants,
    .limit = "copy",
    .make = make_f32,
    .free = sums_free,
    .work = work_f32,
    .run = run,
    .verify = sums_verify,
    .peers = peers,
    .peer_run = peer_run,
    .plain = plain,
    .skip = sums_skip_atomics,
};
const struct bench_op bench_dot_f64 = {
    .name = "dot",
    .type = "f64",
    .dims = 1,
    .sizes_gpu = "2^20,2^27",
    .sizes_sim = "2^15",
    .variants = mg_dot_variants,
    .limit = "copy",
    .make = make_f64,
    .free = sums_free,
    .work = work_f64,
    .run = run,
    .verify = sums_verify,
    .peers = peers,
    .peer_run = peer_run,
    .plain = plain,
    .skip = sums_skip_atomics,
};
