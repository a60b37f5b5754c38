/* square_sum.c - the bench's drivers of square_sum. Plain C is the first row; the peers are cuBLAS's nrm2, whose result
 * is the root of ours and is squared here before it is looked at, and CUB's reduction with a square for each element.
 * See sums.h for what a result is held to. */
#include "peer_cub.h"

static int call(struct sums *s, int variant, struct CUstream_st *stream, void *work, size_t *bytes)
{
    if (s->type == SUMS_I32)
        return (int)mg_square_sum_i32(stream, variant, s->n, s->x, s->result, work, bytes);
    return (int)mg_square_sum_f32(stream, variant, s->n, s->x, s->result, work, bytes);
}

static int cub(struct sums *s, void *work, size_t *bytes, struct CUstream_st *stream)
{
#ifdef MARGAY_KERNELS_PEERS
    return bench_cub_square_sum(work, bytes, s->type, s->x, s->n, s->result, stream);
#else
    (void)s, (void)work, (void)bytes, (void)stream;
    return 1;
#endif
}

static void plain(void *p)
{
    struct sums *s = p;
    s->want = s->type == SUMS_I32 ? (double)mg_ref_square_sum_i32(s->n, s->host_x)
                                  : (double)mg_ref_square_sum_f32(s->n, s->host_x);
}

static void *make(enum sums_type type, int64_t n)
{
    struct sums *s = sums_make(type, n, 1);
    if (!s || !sums_workspace(s, mg_square_sum_variants, call)) {
        if (s)
            sums_free(s);
        return NULL;
    }
    plain(s);
    s->magnitude = type == SUMS_I32 ? 0 : s->want; /* its terms have one sign */
    if (cub(s, NULL, &s->peer_work_bytes, NULL) == 0)
        s->peer_work = bench_alloc(s->peer_work_bytes);
    return s;
}

static void *make_f32(const struct bench_size *size)
{
    return make(SUMS_F32, size->d[0]);
}

static void *make_i32(const struct bench_size *size)
{
    return make(SUMS_I32, size->d[0]);
}

static struct bench_work work(const struct bench_size *size)
{
    return (struct bench_work){.bytes = 4 * (double)size->d[0], .flops = 2 * (double)size->d[0]};
}

static int run(void *p, int variant, struct CUstream_st *stream)
{
    struct sums *s = p;
    s->loose = variant == 0;
    s->root = false;
    return call(s, variant, stream, s->work, &s->work_bytes);
}

static int run_cub(struct sums *s, struct CUstream_st *stream)
{
    s->loose = s->root = false;
    return s->peer_work ? cub(s, s->peer_work, &s->peer_work_bytes, stream) : 1;
}

static int peer_i32(void *p, int peer, struct CUstream_st *stream)
{
    (void)peer;
    return run_cub(p, stream);
}

static int nrm2(struct sums *s, struct CUstream_st *stream)
{
    typedef int snrm2(void *, int, const float *, int, float *);
    sums_routine *found;
    void *handle = sums_cublas(s, "cublasSnrm2_v2", stream, &found);
    if (!handle)
        return 1;
    s->loose = false;
    s->root = true;
    return sums_cublas_end(handle, ((snrm2 *)found)(handle, (int)s->n, s->x, 1, s->result));
}

static int peer_f32(void *p, int peer, struct CUstream_st *stream)
{
    return peer == 0 ? nrm2(p, stream) : run_cub(p, stream);
}

static const char *const peers_f32[] = {"cuBLAS nrm2", "CUB", NULL}, *const peers_i32[] = {"CUB", NULL};

const struct bench_op bench_square_sum_f32 = {
    .name = "square_sum",
    .type = "f32",
    .dims = 1,
    .sizes_gpu = "2^20,2^28",
    .sizes_sim = "2^16",
    .variants = mg_square_sum_variants,
    .limit = "copy",
    .make = make_f32,
    .free = sums_free,
    .work = work,
    .run = run,
    .verify = sums_verify,
    .peers = peers_f32,
    .peer_run = peer_f32,
    .plain = plain,
    .skip = sums_skip_atomics,
};
const struct bench_op bench_square_sum_i32 = {
    .name = "square_sum",
    .type = "i32",
    .dims = 1,
    .sizes_gpu = "2^20,2^28",
    .sizes_sim = "2^16",
    .variants = mg_square_sum_variants,
    .limit = "copy",
    .make = make_i32,
    .free = sums_free,
    .work = work,
    .run = run,
    .verify = sums_verify,
    .peers = peers_i32,
    .peer_run = peer_i32,
    .plain = plain,
};
