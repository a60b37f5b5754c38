/* pipelines.cu - rings of stages as people write them: producers and consumers, ping-pong, multistage cp.async. sm_90a. */
#include "async.cuh"

/* ---- a ring of two stages: one warp copies, 64 threads add up ---- */
#define RING(count_full, count_empty)                                                                                  \
    __shared__ __align__(128) int tile[2][64];                                                                         \
    __shared__ uint64_t full[2], empty[2];                                                                             \
    const int t = threadIdx.x;                                                                                         \
    begin_ring(full, empty, count_full, count_empty);                                                                  \
    __syncthreads()
enum { STEPS = 6 };

/* The reader waits for one stage and reads the other. */
template <bool fault> __global__ void wrong_stage(const int *in, int *out)
{
    RING(1, 64);
    if (t == 64)
        for (int k = 0; k < STEPS; k++) {
            const int s = k % 2;
            if (k >= 2)
                WAIT(&empty[s], k / 2 - 1 & 1);
            expect(&full[s], sizeof tile[s]);
            LOAD(tile[s], in + 64 * k, sizeof tile[s], &full[s]); // ALSO: race/*
        }
    int sum = 0;
    if (t < 64) {
        for (int k = 0; k < STEPS; k++) {
            const int s = k % 2;
            WAIT(&full[s], k / 2 & 1);
            sum += tile[fault ? s ^ 1 : s][t]; // EXPECT: race/* tile
            arrive(&empty[s]);
        }
        out[t] = sum;
    }
}
CASE(wrong_stage, 0)
{
    wrong_stage<fault><<<1, 96>>>(zeros(64 * STEPS), zeros(64));
}

/* The reader's parity turns with every step, and not with every round of the ring. */
template <bool fault> __global__ void parity_of_a_step(const int *in, int *out)
{
    RING(1, 64);
    if (t < 64)
        tile[0][t] = tile[1][t] = 0;
    PROXY();
    __syncthreads();
    if (t == 64)
        for (int s = 0; s < 2; s++) {
            expect(&full[s], sizeof tile[s]);
            LOAD(tile[s], in + 64 * s, sizeof tile[s], &full[s]);
        }
    int sum = 0;
    if (t < 64) {
        for (int k = 0; k < 2; k++) {
            WAIT(&full[k % 2], (fault ? k : k / 2) & 1);
            sum += tile[k % 2][t]; // EXPECT: race/async-copy tile
        }
        out[t] = sum;
    }
}
CASE(parity_of_a_step, 0)
{
    parity_of_a_step<fault><<<1, 96>>>(zeros(128), zeros(64));
}

/* The producer waits for its first stages to be released by readers that have none yet. */
template <bool fault> __global__ void first_round_waits(const int *in, int *out)
{
    RING(1, 64);
    if (t == 64)
        for (int k = 0; k < STEPS; k++) {
            const int s = k % 2;
            WAIT(&empty[s], fault ? k / 2 & 1 : (k / 2 & 1) ^ 1); // EXPECT: barrier/mbarrier empty
            expect(&full[s], sizeof tile[s]);
            LOAD(tile[s], in + 64 * k, sizeof tile[s], &full[s]);
        }
    int sum = 0;
    if (t < 64) {
        for (int k = 0; k < STEPS; k++) {
            const int s = k % 2;
            WAIT(&full[s], k / 2 & 1); // ALSO: barrier/mbarrier
            sum += tile[s][t];
            arrive(&empty[s]);
        }
        out[t] = sum;
    }
}
CASE(first_round_waits, ALONE | HANGS)
{
    first_round_waits<fault><<<1, 96>>>(zeros(64 * STEPS), zeros(64));
}

/* An arrival that expects no bytes ends the phase before the copy has come. */
template <bool fault> __global__ void nothing_expected(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0)
        begin(&full, 1);
    __syncthreads();
    if (t == 0) {
        if (fault)
            arrive(&full);
        else
            expect(&full, sizeof tile);
        LOAD(tile, in, sizeof tile, &full);
    }
    WAIT(&full, 0);
    out[t] = tile[t]; // EXPECT: race/async-copy tile
}
CASE(nothing_expected, 0)
{
    nothing_expected<fault><<<1, 64>>>(zeros(64), zeros(64));
}

/* Two copies come, and the bytes of one are expected. */
template <bool fault> __global__ void fewer_bytes_expected(const int *in, int *out)
{
    __shared__ __align__(128) int a[64], b[64];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0) {
        begin(&full, 1);
        LOAD(a, in, sizeof a, &full);
        LOAD(b, in + 64, sizeof b, &full);
        expect(&full, fault ? sizeof a : sizeof a + sizeof b);
    }
    __syncthreads();
    WAIT(&full, 0);
    out[t] = a[t] + b[t]; // EXPECT: race/async-copy b
}
CASE(fewer_bytes_expected, 0)
{
    fewer_bytes_expected<fault><<<1, 64>>>(zeros(128), zeros(64));
}

/* ---- ping-pong: two warpgroups take tiles in turns, and a warp copies for both ---- */
/* Each stage is released by whoever multiplied it: the wrong one lets the copy into what the other one still reads. */
template <bool fault> __global__ void ping_pong(const int *in, int *out)
{
    __shared__ __align__(128) int tile[4][576];
    __shared__ uint64_t full[4], empty[4];
    const int group = threadIdx.x / 128, rounds = 2;
    begin_ring(full, empty, 1, 128);
    __syncthreads();
    if (group == 2) {
        for (int k = 0; k < 4 * rounds && threadIdx.x == 256; k++) {
            const int s = k % 4;
            if (k >= 4)
                WAIT(&empty[s], k / 4 - 1 & 1);
            expect(&full[s], sizeof tile[s]);
            LOAD(tile[s], in + 576 * k, sizeof tile[s], &full[s]);
        }
        return;
    }
    int d[4] = {};
    for (int k = 0; k < 2 * rounds; k++) { /* stages 0 and 1 are the first group's, 2 and 3 the other's */
        const int s = 2 * group + k % 2;
        WAIT(&full[s], k / 2 & 1);
        FENCE();
        MULTIPLY(d, tile[s], tile[s] + 512); // EXPECT: race/filled-too-soon tile
        COMMIT();
        if (fault && k < 2)
            arrive(&empty[s ^ 2]);
        WAIT_GROUP(0);
        if (!fault)
            arrive(&empty[s]);
    }
    WAIT_GROUP(0);
    PIN(d);
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
CASE(ping_pong, 0)
{
    ping_pong<fault><<<1, 288>>>(zeros(576 * 8), zeros(256));
}

/* Both write their results to one buffer, from which a bulk store takes them, in turns that a pair of named barriers keeps: the
 * second group must wait for its first turn, too. */
template <bool fault> __global__ void ping_pong_results(int *out)
{
    __shared__ __align__(128) int result[128];
    const int group = threadIdx.x / 128, t = threadIdx.x % 128;
    for (int k = 0; k < 2; k++) {
        if (k > 0 || (group == 1 && !fault))
            asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
        result[t] = 1000 * group + t + k; // EXPECT: race/* result
        PROXY();
        asm volatile("bar.sync %0, 128;" ::"r"(5 + group) : "memory");
        if (t == 0) {
            STORE(out + 256 * k + 128 * group, result, sizeof result); // ALSO: race/*
            READ_OUT(0);
        }
        asm volatile("bar.sync %0, 128;" ::"r"(5 + group) : "memory");
        asm volatile("bar.arrive %0, 256;" ::"r"(1 + (group ^ 1)) : "memory");
    }
}
CASE(ping_pong_results, 0)
{
    ping_pong_results<fault><<<1, 256>>>(zeros(512));
}

/* The turn is given on before the store has read the buffer. */
template <bool fault> __global__ void turn_given_too_early(int *out)
{
    __shared__ __align__(128) int result[128];
    const int group = threadIdx.x / 128, t = threadIdx.x % 128;
    if (group == 1)
        asm volatile("bar.sync 1, 256;" ::: "memory");
    result[t] = 1000 * group + t; // EXPECT: race/async-copy result
    PROXY();
    asm volatile("bar.sync %0, 128;" ::"r"(5 + group) : "memory");
    if (t == 0) {
        STORE(out + 128 * group, result, sizeof result);
        if (!fault)
            READ_OUT(0);
    }
    if (group == 0)
        asm volatile("bar.sync 7, 128;\nbar.arrive 1, 256;" ::: "memory");
    READ_OUT(0);
}
CASE(turn_given_too_early, 0)
{
    turn_given_too_early<fault><<<1, 256>>>(zeros(256));
}

/* ---- stages that cp.async fills ---- */
#define COPY16(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(to)), "l"(from) : "memory")
#define COPIED() asm volatile("cp.async.commit_group;" ::: "memory")
#define PENDING(n) asm volatile("cp.async.wait_group " #n ";" ::: "memory")
#define LDMATRIX(how, a, from)                                                                                         \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" how ".shared.b16 {%0,%1,%2,%3}, [%4];"                                \
                 : "=r"((a)[0]), "=r"((a)[1]), "=r"((a)[2]), "=r"((a)[3])                                              \
                 : "r"(at(from))                                                                                       \
                 : "memory")
enum { ROUNDS = 5 };

/* Three stages, of which two may be under way while one is multiplied: with one more they may be three. */
template <bool fault> __global__ void multistage_mma(const int *in, int *out)
{
    __shared__ __align__(128) int tile[3][256]; /* 16 rows of 16 bytes for A, as many for B and their other halves */
    const int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        for (int i = t; i < 64; i += 32)
            COPY16(&tile[k][4 * i], in + 256 * k + 4 * i);
        COPIED();
    }
    float d[4] = {};
    for (int k = 0; k < ROUNDS; k++) {
        if (fault)
            PENDING(2);
        else
            PENDING(1);
        __syncthreads();
        const int *now = tile[k % 3];
        uint32_t a[4], b[4];
        LDMATRIX("", a, now + 4 * t); // EXPECT: race/async-copy tile
        LDMATRIX(".trans", b, now + 128 + 4 * t); // ALSO: race/async-copy
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        if (k + 2 < ROUNDS)
            for (int i = t; i < 64; i += 32)
                COPY16(&tile[(k + 2) % 3][4 * i], in + 256 * (k + 2) + 4 * i);
        COPIED();
    }
    out[t] = (int)(d[0] + d[1] + d[2] + d[3]);
}
CASE(multistage_mma, 0)
{
    multistage_mma<fault><<<1, 32>>>(zeros(256 * ROUNDS), zeros(32));
}

/* Two stages for two that are under way: the next one is filled while other warps still load from it. */
template <bool fault> __global__ void multistage_too_few(const int *in, int *out)
{
    const int stages = fault ? 2 : 3;
    __shared__ __align__(128) int tile[3][256];
    const int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        COPY16(&tile[k][4 * (t % 64)], in + 256 * k + 4 * (t % 64));
        COPIED();
    }
    int sum = 0;
    for (int k = 0; k < ROUNDS; k++) {
        PENDING(1);
        __syncthreads();
        uint32_t a[4];
        LDMATRIX("", a, &tile[k % stages][4 * (63 - t)]); // ALSO: race/*
        sum += (int)(a[0] + a[1] + a[2] + a[3]);
        if (k + 2 < ROUNDS)
            COPY16(&tile[(k + 2) % stages][4 * t], in + 256 * (k + 2) + 4 * t); // EXPECT: race/* tile
        COPIED();
    }
    out[t] = sum;
}
CASE(multistage_too_few, 0)
{
    multistage_too_few<fault><<<1, 64>>>(zeros(256 * ROUNDS), zeros(64));
}

/* The same for wgmma, whose operands must be seen by the asynchronous proxy as well. */
template <bool fault> __global__ void multistage_wgmma(const int *in, int *out)
{
    __shared__ __align__(128) int tile[3][576];
    const int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        for (int i = t; i < 144; i += 128)
            COPY16(&tile[k][4 * i], in + 576 * k + 4 * i);
        COPIED();
    }
    int d[4] = {};
    for (int k = 0; k < ROUNDS; k++) {
        if (fault)
            PENDING(2);
        else
            PENDING(1);
        PROXY();
        __syncthreads();
        FENCE();
        MULTIPLY(d, tile[k % 3], tile[k % 3] + 512); // EXPECT: race/async-copy tile
        COMMIT();
        WAIT_GROUP(0);
        __syncthreads();
        if (k + 2 < ROUNDS)
            for (int i = t; i < 144; i += 128)
                COPY16(&tile[(k + 2) % 3][4 * i], in + 576 * (k + 2) + 4 * i);
        COPIED();
    }
    PIN(d);
    out[t] = d[0] + d[1] + d[2] + d[3];
}
CASE(multistage_wgmma, 0)
{
    multistage_wgmma<fault><<<1, 128>>>(zeros(576 * ROUNDS), zeros(128));
}

/* Rows of bytes that are no multiple of 16 apart: each row must begin at one. */
template <bool fault> __global__ void rows_not_aligned(int *out)
{
    __shared__ __align__(16) uint16_t tile[32 * 12];
    const int t = threadIdx.x, pitch = fault ? 12 : 8;
    for (int i = t; i < 32 * 12; i += 32)
        tile[i] = (uint16_t)i;
    __syncwarp();
    uint32_t a[4];
    LDMATRIX("", a, tile + pitch * t); // EXPECT: bounds/misaligned tile
    out[t] = (int)(a[0] + a[1] + a[2] + a[3]);
}
CASE(rows_not_aligned, ALONE)
{
    rows_not_aligned<fault><<<1, 32>>>(zeros(32));
}

#define STMATRIX(to, a) asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at(to)), "r"(a) : "memory")
template <bool fault> __global__ void rows_stored_not_aligned(int *out)
{
    __shared__ __align__(16) uint16_t tile[8 * 12];
    const int t = threadIdx.x, pitch = fault ? 12 : 8;
    STMATRIX(tile + pitch * (t % 8), t); // EXPECT: bounds/misaligned tile
    __syncwarp();
    out[t] = tile[t];
}
CASE(rows_stored_not_aligned, ALONE)
{
    rows_stored_not_aligned<fault><<<1, 32>>>(zeros(32));
}

/* ---- results that bulk stores take ---- */
/* A group that was not committed is not waited for. */
template <bool fault> __global__ void group_not_committed(int *out)
{
    __shared__ __align__(128) int tile[64];
    const int t = threadIdx.x;
    for (int i = 0; i < 2; i++) {
        tile[t] = t + i; // EXPECT: race/async-copy tile
        PROXY();
        __syncthreads();
        if (t == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + 64 * i), "r"(at(tile)),
                         "r"((unsigned)sizeof tile)
                         : "memory");
            if (!fault)
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            READ_OUT(0);
        }
        __syncthreads();
    }
}
CASE(group_not_committed, 0)
{
    group_not_committed<fault><<<1, 64>>>(zeros(128));
}

/* Two buffers, and one store may be under way while the other one is filled: not two. */
template <bool fault> __global__ void both_under_way(int *out)
{
    __shared__ __align__(128) int tile[2][64];
    const int t = threadIdx.x;
    for (int i = 0; i < 4; i++) {
        if (t == 0) {
            if (fault)
                READ_OUT(2);
            else
                READ_OUT(1);
        }
        __syncthreads();
        tile[i % 2][t] = t + i; // EXPECT: race/async-copy tile
        PROXY();
        __syncthreads();
        if (t == 0)
            STORE(out + 64 * i, tile[i % 2], sizeof tile[0]);
    }
    if (t == 0)
        READ_OUT(0);
}
CASE(both_under_way, 0)
{
    both_under_way<fault><<<1, 64>>>(zeros(256));
}

/* ---- an mbarrier's own life ---- */
/* It is used by threads that do not know yet that it was made. */
template <bool fault> __global__ void used_before_it_is_made(int *out)
{
    __shared__ uint64_t ready;
    const int t = threadIdx.x;
    if (t == 0)
        begin(&ready, 64);
    if (!fault)
        __syncthreads();
    ARRIVE(&ready); // EXPECT: barrier/mbarrier-life ready
    WAIT(&ready, 0); // ALSO: barrier/mbarrier-life
    out[t] = 1;
}
CASE(used_before_it_is_made, 0)
{
    used_before_it_is_made<fault><<<1, 64>>>(zeros(64));
}

/* One thread is through and ends it, while others have not seen yet that the phase is over. */
template <bool fault> __global__ void ended_while_in_use(int *out)
{
    __shared__ uint64_t done;
    const int t = threadIdx.x;
    if (t == 0)
        begin(&done, 64);
    __syncthreads();
    arrive(&done);
    WAIT(&done, 0); // ALSO: barrier/mbarrier-life
    out[t] = 1;
    if (!fault)
        __syncthreads();
    if (t == 0)
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(&done)) : "memory"); // EXPECT: barrier/mbarrier-life done
}
CASE(ended_while_in_use, 0)
{
    ended_while_in_use<fault><<<1, 64>>>(zeros(64));
}


/* One thread arrives for its warp, by 32, and the others arrive as well. */
template <bool fault> __global__ void too_many_arrive(int *out)
{
    __shared__ uint64_t done;
    const int t = threadIdx.x;
    if (t == 0)
        begin(&done, 48);
    __syncthreads();
    if (t < 32)
        arrive(&done);
    __syncthreads();
    if (t == 32)
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0], %1; }" ::"r"(at(&done)), "r"(fault ? 32 : 16) : "memory"); // EXPECT: barrier/mbarrier-count done
    out[t] = 1;
}
CASE(too_many_arrive, ALONE)
{
    too_many_arrive<fault><<<1, 64>>>(zeros(64));
}

/* ---- what an mbarrier tells, and who has looked ---- */
#define FULL(count)                                                                                                    \
    __shared__ __align__(128) int tile[256];                                                                           \
    __shared__ uint64_t full;                                                                                          \
    const int t = threadIdx.x;                                                                                         \
    if (t == 0)                                                                                                        \
        begin(&full, count);                                                                                           \
    __syncthreads()
enum { TILE_BYTES = 64 * sizeof(int) };

/* The copies tell an mbarrier that they are over, but nobody waits there: a barrier of the block does not wait for them. */
template <bool fault> __global__ void told_and_not_asked(const int4 *in, int *out)
{
    FULL(64);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(&tile[4 * t])), "l"(in + t) : "memory"); // OTHER
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at(&full)) : "memory");
    if (!fault && t == 63) /* one waits, and all meet him */
        WAIT(&full, 0);
    __syncthreads();
    out[t] = tile[4 * (t ^ 33)]; // EXPECT: race/async-copy tile
}
CASE(told_and_not_asked, 0)
{
    told_and_not_asked<fault><<<1, 64>>>((const int4 *)zeros(256), zeros(64));
}

/* An arrival that orders nothing. */
template <bool fault> __global__ void relaxed_arrival(int *out)
{
    FULL(32);
    if (t < 32) {
        tile[t] = t; // OTHER
        if (fault)
            asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(at(&full)) : "memory");
        else
            arrive(&full);
    } else {
        WAIT(&full, 0);
        out[t] = tile[t - 32]; // EXPECT: race/write-read tile
    }
}
CASE(relaxed_arrival, 0)
{
    relaxed_arrival<fault><<<1, 64>>>(zeros(64));
}

/* The producer fills a stage again before the slow warp has seen that it was full: two phases go by, and it waits for ever. */
template <bool fault> __global__ void two_phases_went_by(const int *in, int *out)
{
    FULL(1);
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        if (t == 0) {
            PROXY();
            expect(&full, TILE_BYTES);
            LOAD(tile, in, TILE_BYTES, &full); // OTHER
        }
        WAIT(&full, k & 1); // EXPECT: barrier/mbarrier full
        sum += tile[t]; // ALSO: race/*
        if (!fault || k < 1)
            __syncthreads();
    }
    out[t] = sum;
}
CASE(two_phases_went_by, ALONE | HANGS)
{
    two_phases_went_by<fault><<<1, 64>>>(zeros(64), zeros(64));
}

/* What was read too early is told, though the block does not live to see the copy come. */
template <bool fault> __global__ void read_and_lost(const int *in, int *out)
{
    FULL(1);
    if (t == 0) {
        expect(&full, TILE_BYTES);
        LOAD(tile, in, TILE_BYTES, &full); // OTHER
    }
    __syncthreads();
    if (!fault)
        WAIT(&full, 0);
    out[t] = tile[t]; // EXPECT: race/async-copy tile
    if (fault)
        asm volatile("trap;");
}
CASE(read_and_lost, ALONE)
{
    read_and_lost<fault><<<1, 64>>>(zeros(64), zeros(64));
}

/* A warp copies ahead of its reader, three stages in turn: of a stage it learns by a barrier at which the reader was
 * several stages ago. The copy is waited for before the reader is told, or behind that. */
template <bool fault> __global__ void copies_ahead(const int *in, int *out)
{
    __shared__ __align__(16) int tile[3][128];
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < STEPS; k++) {
        const int s = k % 3;
        if (t < 32) {
            if (k >= 3)
                asm volatile("bar.sync %0, 64;" ::"r"(8 + s) : "memory");
            COPY16(&tile[s][4 * t], in + 128 * k + 4 * t);
            asm volatile("cp.async.commit_group;" ::: "memory");
            if (!fault)
                asm volatile("cp.async.wait_group 0;" ::: "memory");
            asm volatile("bar.arrive %0, 64;" ::"r"(1 + s) : "memory");
            if (fault)
                asm volatile("cp.async.wait_group 0;" ::: "memory");
        } else {
            asm volatile("bar.sync %0, 64;" ::"r"(1 + s) : "memory");
            sum += tile[s][3 * (63 - t)]; // EXPECT: race/async-copy tile
            if (k + 3 < STEPS)
                asm volatile("bar.arrive %0, 64;" ::"r"(8 + s) : "memory");
        }
    }
    out[t] = sum;
}
CASE(copies_ahead, 0)
{
    copies_ahead<fault><<<1, 64>>>(zeros(128 * STEPS), zeros(64));
}

/* The same where mbarriers tell that copies are over, of four stages; the reader gives a stage back before it has read it,
 * or behind that. */
template <bool fault> __global__ void copies_tell(const int *in, int *out)
{
    __shared__ __align__(16) int tile[4][128];
    __shared__ uint64_t full[4], empty[4];
    const int t = threadIdx.x;
    begin_ring(full, empty, 32, 32);
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 2 * STEPS; k++) {
        const int s = k % 4, round = k / 4;
        if (t < 32) {
            if (round > 0)
                WAIT(&empty[s], (round ^ 1) & 1);
            COPY16(&tile[s][4 * t], in + 128 * k + 4 * t); // EXPECT: race/* tile
            asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at(&full[s])) : "memory");
        } else {
            WAIT(&full[s], round & 1);
            if (fault)
                arrive(&empty[s]);
            sum += tile[s][3 * (63 - t)]; // ALSO: race/*
            if (!fault)
                arrive(&empty[s]);
        }
    }
    out[t] = sum;
}
CASE(copies_tell, 0)
{
    copies_tell<fault><<<1, 64>>>(zeros(256 * STEPS), zeros(64));
}

/* Lanes that have nothing left to copy copy the last element again, as cg::memcpy_async has them, or what lies behind it. */
template <bool fault> __global__ void spare_lanes(const int *in, int *out)
{
    __shared__ int tile[32];
    const int t = threadIdx.x, to = t < 28 ? t : 27;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(&tile[to])), "l"(in + (fault ? t : to)) : "memory"); // EXPECT: race/write-write tile
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    out[t] = tile[27 - to];
}
CASE(spare_lanes, 0)
{
    spare_lanes<fault><<<1, 32>>>(zeros(32), zeros(32));
}
