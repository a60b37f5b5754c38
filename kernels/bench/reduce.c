/* reduce.c - the bench's drivers of reduce: sums of each type, and the smallest of floats, beside CUB. See sums.h for
 * what a result is held to. */
#include "peer_cub.h"

#include <math.h>

static int call_sum(struct sums *s, int variant, struct CUstream_st *stream, void *work, size_t *bytes)
{
    switch (s->type) {
    case SUMS_I32:
        return mg_reduce_i32(stream, variant, MG_REDUCE_SUM, s->n, s->x, s->result, work, bytes);
    case SUMS_F32:
        return mg_reduce_f32(stream, variant, MG_REDUCE_SUM, s->n, s->x, s->result, work, bytes);
    default:
        return mg_reduce_f64(stream, variant, MG_REDUCE_SUM, s->n, s->x, s->result, work, bytes);
    }
}

static int call_min(struct sums *s, int variant, struct CUstream_st *stream, void *work, size_t *bytes)
{
    return mg_reduce_f32(stream, variant, MG_REDUCE_MIN, s->n, s->x, s->result, work, bytes);
}

static int cub(struct sums *s, enum mg_reduce_op op, void *work, size_t *bytes, struct CUstream_st *stream)
{
#ifdef MARGAY_KERNELS_PEERS
    return bench_cub_reduce(work, bytes, s->type, op, s->x, s->n, s->result, stream);
#else
    (void)s, (void)op, (void)work, (void)bytes, (void)stream;
    return 1;
#endif
}

static struct sums *make(enum sums_type type, enum mg_reduce_op op, int64_t n)
{
    struct sums *s = sums_make(type, n, 1);
    if (!s || !sums_workspace(s, mg_reduce_variants, op == MG_REDUCE_SUM ? call_sum : call_min)) {
        if (s)
            sums_free(s);
        return NULL;
    }
    if (type == SUMS_I32)
        s->want = mg_ref_reduce_i32(op, n, s->host_x);
    else if (type == SUMS_F32)
        s->want = (double)mg_ref_reduce_f32(op, n, s->host_x);
    else
        s->want = mg_ref_reduce_f64(op, n, s->host_x);
    for (int64_t i = 0; op == MG_REDUCE_SUM && type != SUMS_I32 && i < n; i++)
        s->magnitude += type == SUMS_F32 ? (double)fabsf(((float *)s->host_x)[i]) : fabs(((double *)s->host_x)[i]);
    if (cub(s, op, NULL, &s->peer_work_bytes, NULL) == 0)
        s->peer_work = bench_alloc(s->peer_work_bytes);
    return s;
}

static void *make_f32(const struct bench_size *size)
{
    return make(SUMS_F32, MG_REDUCE_SUM, size->d[0]);
}

static void *make_i32(const struct bench_size *size)
{
    return make(SUMS_I32, MG_REDUCE_SUM, size->d[0]);
}

static void *make_f64(const struct bench_size *size)
{
    return make(SUMS_F64, MG_REDUCE_SUM, size->d[0]);
}

static void *make_min(const struct bench_size *size)
{
    return make(SUMS_F32, MG_REDUCE_MIN, size->d[0]);
}

static struct bench_work work_4(const struct bench_size *size)
{
    return (struct bench_work){.bytes = 4 * (double)size->d[0], .flops = (double)size->d[0]};
}

static struct bench_work work_8(const struct bench_size *size)
{
    return (struct bench_work){.bytes = 8 * (double)size->d[0], .flops = (double)size->d[0]};
}

static int run_sum(void *p, int variant, struct CUstream_st *stream)
{
    struct sums *s = p;
    s->loose = variant == 0;
    return call_sum(s, variant, stream, s->work, &s->work_bytes);
}

static int run_min(void *p, int variant, struct CUstream_st *stream)
{
    struct sums *s = p;
    return call_min(s, variant, stream, s->work, &s->work_bytes);
}

static int peer_sum(void *p, int peer, struct CUstream_st *stream)
{
    struct sums *s = p;
    (void)peer;
    s->loose = false;
    return s->peer_work ? cub(s, MG_REDUCE_SUM, s->peer_work, &s->peer_work_bytes, stream) : 1;
}

static int peer_min(void *p, int peer, struct CUstream_st *stream)
{
    struct sums *s = p;
    (void)peer;
    return s->peer_work ? cub(s, MG_REDUCE_MIN, s->peer_work, &s->peer_work_bytes, stream) : 1;
}

static const char *const peers[] = {"CUB", NULL};

#define DRIVER(id, text, gpu, make_it, work_it, run_it, peer_it, skip_it) \
    const struct bench_op bench_reduce_##id = {                           \
        .name = "reduce",                                                 \
        .type = text,                                                     \
        .dims = 1,                                                        \
        .sizes_gpu = gpu,                                                 \
        .sizes_sim = "2^16",                                              \
        .variants = mg_reduce_variants,                                   \
        .limit = "copy",                                                  \
        .make = make_it,                                                  \
        .free = sums_free,                                                \
        .work = work_it,                                                  \
        .run = run_it,                                                    \
        .verify = sums_verify,                                            \
        .peers = peers,                                                   \
        .peer_run = peer_it,                                              \
        .skip = skip_it,                                                  \
    }
DRIVER(f32, "sum f32", "2^20,2^28", make_f32, work_4, run_sum, peer_sum, NULL);
DRIVER(i32, "sum i32", "2^20,2^28", make_i32, work_4, run_sum, peer_sum, NULL);
DRIVER(f64, "sum f64", "2^27", make_f64, work_8, run_sum, peer_sum, sums_skip_atomics);
DRIVER(min, "min f32", "2^28", make_min, work_4, run_min, peer_min, sums_skip_atomics);
