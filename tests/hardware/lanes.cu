/* lanes.cu - one warp, one memory instruction, one lane pattern a launch: what the counters say about each.
 *
 *     lanes PATTERNS.json [SECONDS [OP...]]        PATTERNS.json: h100_lane_patterns.json, for its 59 patterns
 *
 * Prints a line `launch OP WIDTH PATTERN` for each launch in order, and `pattern N: lanes` first. A lane's index is an
 * element index, its byte address index * WIDTH; -1 is an idle lane. Pattern 59 has all lanes idle: what its launch counts is
 * the kernel's own and to be taken off. Launches come in the order of their worth, and end after SECONDS: under a profiler
 * each takes long. Given OPs, all patterns of these alone. Nothing but the instruction itself touches shared or global memory, but for kernels of
 * compare-and-swap loops, which clear shared memory first.
 */
#include "check.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

enum { GIVEN = 59, MASKS = 12, KINDS = 20, GATHERS = 24, MADE = 1 + MASKS + KINDS + GATHERS, PATTERNS = GIVEN + MADE, BYTES = 32768 };
__constant__ short table[PATTERNS * 32];
__device__ __align__(256) char global_bytes[BYTES];
__device__ unsigned sink;

/* OP(id, text of the PTX name, width, new, clear, PTX): `new`: the 59 given patterns have no rows of it yet.
 * %1 shared address, %2 global address; p: the lane takes part; r1 = 1, d1 = 1, f1 = 1.0, e1 = 1.0; r7 is the result. */
#define OPS                                                                                                            \
    OP(ld_s8, "ld.shared.b8", 1, 0, 0, "@p ld.shared.u8 r7, [%1];")                                                    \
    OP(ld_s16, "ld.shared.b16", 2, 0, 0, "@p ld.shared.u16 r7, [%1];")                                                 \
    OP(ld_s32, "ld.shared.b32", 4, 0, 0, "@p ld.shared.b32 r7, [%1];")                                                 \
    OP(ld_s64, "ld.shared.b64", 8, 0, 0, "@p ld.shared.b64 d7, [%1]; cvt.u32.u64 r6, d7; shr.b64 d7, d7, 32; "         \
                                         "cvt.u32.u64 r7, d7; xor.b32 r7, r7, r6;")                                    \
    OP(ld_s128, "ld.shared.b128", 16, 0, 0, "@p ld.shared.v4.b32 {r4, r5, r6, r7}, [%1]; xor.b32 r4, r4, r5; "         \
                                            "xor.b32 r6, r6, r7; xor.b32 r7, r4, r6;")                                 \
    OP(st_s64, "st.shared.b64", 8, 0, 0, "@p st.shared.b64 [%1], d1;")                                                 \
    OP(st_s128, "st.shared.b128", 16, 0, 0, "@p st.shared.v4.b32 [%1], {r1, r1, r1, r1};")                             \
    OP(st_s8, "st.shared.b8", 1, 0, 0, "@p st.shared.u8 [%1], r1;")                                                    \
    OP(st_s16, "st.shared.b16", 2, 1, 0, "@p st.shared.u16 [%1], r1;")                                                 \
    OP(st_s32, "st.shared.b32", 4, 0, 0, "@p st.shared.b32 [%1], r1;")                                                 \
    OP(atom_s_add, "atom.shared.add.u32", 4, 0, 0, "@p atom.shared.add.u32 r7, [%1], %3;")                             \
    OP(red_s_add, "red.shared.add.u32", 4, 0, 0, "@p red.shared.add.u32 [%1], %3;")                                    \
    OP(atom_s_add1, "atom.shared.add.u32 1", 4, 1, 0, "@p atom.shared.add.u32 r7, [%1], 1;")                           \
    OP(red_s_add1, "red.shared.add.u32 1", 4, 1, 0, "@p red.shared.add.u32 [%1], 1;")                                  \
    OP(atom_s_inc, "atom.shared.inc.u32", 4, 1, 0, "@p atom.shared.inc.u32 r7, [%1], %3;")                             \
    OP(red_s_inc, "red.shared.inc.u32", 4, 1, 0, "@p red.shared.inc.u32 [%1], %3;")                                    \
    OP(atom_s_max, "atom.shared.max.s32", 4, 1, 0, "@p atom.shared.max.s32 r7, [%1], %3;")                             \
    OP(red_s_max, "red.shared.max.s32", 4, 1, 0, "@p red.shared.max.s32 [%1], %3;")                                    \
    OP(red_s_or, "red.shared.or.b32", 4, 1, 0, "@p red.shared.or.b32 [%1], %3;")                                       \
    OP(atom_s_or, "atom.shared.or.b32", 4, 1, 0, "@p atom.shared.or.b32 r7, [%1], %3;")                                \
    OP(exch_s32, "atom.shared.exch.b32", 4, 1, 0, "@p atom.shared.exch.b32 r7, [%1], %3;")                             \
    OP(exch_s64, "atom.shared.exch.b64", 8, 1, 0, "@p atom.shared.exch.b64 d7, [%1], d1; cvt.u32.u64 r7, d7;")         \
    OP(cas_s32, "atom.shared.cas.b32", 4, 1, 1, "@p atom.shared.cas.b32 r7, [%1], r0, %3;")                            \
    OP(cas_s64, "atom.shared.cas.b64", 8, 1, 1, "@p atom.shared.cas.b64 d7, [%1], d0, d1; cvt.u32.u64 r7, d7;")        \
    OP(cas_s16, "atom.shared.cas.b16", 2, 1, 1, "@p atom.shared.cas.b16 h7, [%1], h0, h1; cvt.u32.u16 r7, h7;")        \
    OP(red_s_f32, "red.shared.add.f32", 4, 0, 1, "@p red.shared.add.f32 [%1], f1;")                                    \
    OP(atom_s_f32, "atom.shared.add.f32", 4, 1, 1, "@p atom.shared.add.f32 f7, [%1], f1; mov.b32 r7, f7;")             \
    OP(atom_s_u64, "atom.shared.add.u64", 8, 0, 1, "@p atom.shared.add.u64 d7, [%1], d1; cvt.u32.u64 r7, d7;")         \
    OP(red_s_f64, "red.shared.add.f64", 8, 1, 1, "@p red.shared.add.f64 [%1], e1;")                                    \
    OP(atom_s_max64, "atom.shared.max.u64", 8, 1, 1, "@p atom.shared.max.u64 d7, [%1], d1; cvt.u32.u64 r7, d7;")       \
    OP(red_s_max64, "red.shared.max.u64", 8, 1, 1, "@p red.shared.max.u64 [%1], d1;")                                  \
    OP(red_s_f16, "red.shared.add.noftz.f16", 2, 1, 1, "mov.b16 h1, 0x3c00; @p red.shared.add.noftz.f16 [%1], h1;")    \
    OP(red_s_f16x2, "red.shared.add.noftz.f16x2", 4, 1, 1,                                                             \
       "mov.b32 r1, 0x3c003c00; @p red.shared.add.noftz.f16x2 [%1], r1;")                                              \
    OP(cp_4, "cp.async.ca 4", 4, 1, 0, "@p cp.async.ca.shared.global [%1], [%2], 4; cp.async.wait_all;")               \
    OP(cp_8, "cp.async.ca 8", 8, 1, 0, "@p cp.async.ca.shared.global [%1], [%2], 8; cp.async.wait_all;")               \
    OP(cp_16, "cp.async.ca 16", 16, 1, 0, "@p cp.async.ca.shared.global [%1], [%2], 16; cp.async.wait_all;")           \
    OP(cp_g, "cp.async.cg 16", 16, 1, 0, "@p cp.async.cg.shared.global [%1], [%2], 16; cp.async.wait_all;")            \
    OP(ld_g8, "ld.global.b8", 1, 0, 0, "@p ld.global.u8 r7, [%2];")                                                    \
    OP(ld_g32, "ld.global.b32", 4, 0, 0, "@p ld.global.b32 r7, [%2];")                                                 \
    OP(ld_g64, "ld.global.b64", 8, 0, 0, "@p ld.global.b64 d7, [%2]; cvt.u32.u64 r6, d7; shr.b64 d7, d7, 32; "         \
                                         "cvt.u32.u64 r7, d7; xor.b32 r7, r7, r6;")                                    \
    OP(ld_g128, "ld.global.b128", 16, 0, 0, "@p ld.global.v4.b32 {r4, r5, r6, r7}, [%2]; xor.b32 r4, r4, r5; "         \
                                            "xor.b32 r6, r6, r7; xor.b32 r7, r4, r6;")                                 \
    OP(st_g8, "st.global.b8", 1, 1, 0, "@p st.global.u8 [%2], r1;")                                                    \
    OP(st_g32, "st.global.b32", 4, 0, 0, "@p st.global.b32 [%2], r1;")                                                 \
    OP(st_g64, "st.global.b64", 8, 1, 0, "@p st.global.b64 [%2], d1;")                                                 \
    OP(st_g128, "st.global.b128", 16, 0, 0, "@p st.global.v4.b32 [%2], {r1, r1, r1, r1};")                             \
    OP(red_g_add, "red.global.add.u32", 4, 0, 0, "@p red.global.add.u32 [%2], %3;")                                    \
    OP(red_g_f32, "red.global.add.f32", 4, 0, 0, "@p red.global.add.f32 [%2], f1;")                                    \
    OP(red_g_u64, "red.global.add.u64", 8, 1, 0, "@p red.global.add.u64 [%2], d1;")                                    \
    OP(red_g_f64, "red.global.add.f64", 8, 1, 0, "@p red.global.add.f64 [%2], e1;")                                    \
    OP(red_g_max, "red.global.max.s32", 4, 1, 0, "@p red.global.max.s32 [%2], %3;")                                    \
    OP(red_g_f16x2, "red.global.add.noftz.f16x2", 4, 1, 0,                                                             \
       "mov.b32 r1, 0x3c003c00; @p red.global.add.noftz.f16x2 [%2], r1;")                                              \
    OP(atom_g_add, "atom.global.add.u32", 4, 1, 0, "@p atom.global.add.u32 r7, [%2], %3;")                             \
    OP(atom_g_f32, "atom.global.add.f32", 4, 1, 0, "@p atom.global.add.f32 f7, [%2], f1; mov.b32 r7, f7;")             \
    OP(atom_g_u64, "atom.global.add.u64", 8, 1, 0, "@p atom.global.add.u64 d7, [%2], d1; cvt.u32.u64 r7, d7;")         \
    OP(atom_g_max, "atom.global.max.s32", 4, 1, 0, "@p atom.global.max.s32 r7, [%2], %3;")                             \
    OP(atom_g_exch, "atom.global.exch.b32", 4, 1, 0, "@p atom.global.exch.b32 r7, [%2], %3;")                          \
    OP(atom_g_cas, "atom.global.cas.b32", 4, 1, 0, "@p atom.global.cas.b32 r7, [%2], r0, %3;")                         \
    OP(atom_g_cas64, "atom.global.cas.b64", 8, 1, 0,                                                                   \
       "@p atom.global.cas.b64 d7, [%2], d0, d1; cvt.u32.u64 r7, d7;")

#define OP(id, text, width, is_new, clear, ptx)                                                                        \
    __global__ void lane_##id(int pattern, unsigned value)                                                             \
    {                                                                                                                  \
        __shared__ __align__(256) char bytes[BYTES];                                                                   \
        int index = table[pattern * 32 + threadIdx.x];                                                                 \
        unsigned shared = (unsigned)__cvta_generic_to_shared(bytes) + (index < 0 ? 0 : index) * width;                 \
        char *global = global_bytes + (index < 0 ? 0 : index) * width;                                                 \
        unsigned result;                                                                                               \
        if (clear) {                                                                                                   \
            for (int i = threadIdx.x; i < BYTES / 16; i += 32)                                                         \
                asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};"                                                \
                             ::"r"((unsigned)__cvta_generic_to_shared(bytes) + i * 16), "r"(0) : "memory");            \
            __syncwarp();                                                                                              \
        }                                                                                                              \
        asm volatile("{\n.reg .pred p; .reg .b16 h<8>; .reg .b32 r<8>; .reg .f32 f<8>; .reg .b64 d<8>; "              \
                     ".reg .f64 e<8>;\n"                                                                               \
                     "mov.b32 r0, 0; mov.b64 d0, 0; mov.b16 h0, 0; mov.b16 h1, 1; mov.b32 r1, %3; "                    \
                     "cvt.u64.u32 d1, %3; cvt.rn.f32.u32 f1, %3; cvt.rn.f64.u32 e1, %3; "                              \
                     "mov.b32 r4, 0; mov.b32 r5, 0; mov.b32 r6, 0; mov.b32 r7, 0; mov.b64 d7, 0; mov.f32 f7, 0f00000000; "\
                     "mov.b16 h7, 0;\nsetp.ge.s32 p, %4, 0;\n" ptx "\nmov.b32 %0, r7;\n}"                              \
                     : "=r"(result)                                                                                    \
                     : "r"(shared), "l"(global), "r"(value), "r"(index)                                                \
                     : "memory");                                                                                      \
        if (result == 0x9e3779b9u)                                                                                     \
            sink = 1;                                                                                                  \
    }
OPS
#undef OP

struct op {
    const char *name;
    int width, is_new;
    void (*kernel)(int, unsigned);
};
static const op ops[] = {
#define OP(id, text, width, is_new, clear, ptx) {text, width, is_new, lane_##id},
    OPS
#undef OP
};

static short lanes[PATTERNS][32];
static unsigned long long state = 88172645463325252ull;
static unsigned dice(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 20) % n;
}

static bool given(const char *path)
{
    static char text[1 << 18];
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = 0;
    const char *at = text;
    for (int p = 0; p < GIVEN; p++) {
        at = strstr(at, "\"lanes\":[");
        if (!at)
            return false;
        at += strlen("\"lanes\":[");
        for (int i = 0; i < 32; i++, at += *at == ',') {
            char *end;
            lanes[p][i] = (short)strtol(at, &end, 10);
            at = end;
        }
    }
    return true;
}

static void made()
{
    static const unsigned masks[] = {0x00000001, 0x80000000, 0x0000ffff, 0xffff0000, 0x55555555, 0xaaaaaaaa, 0x000000ff,
                                     0x80000001, 0x00ff00ff, 0x0f0f0f0f, 0x7fffffff, 0x12345678};
    int p = GIVEN;
    for (int i = 0; i < 32; i++)
        lanes[p][i] = -1; /* none at all */
    p++;
    for (unsigned mask : masks) { /* neighbours, some idle */
        for (int i = 0; i < 32; i++)
            lanes[p][i] = mask >> i & 1 ? (short)i : -1;
        p++;
    }
    for (int kind = 0; kind < 20; kind++, p++) /* which lanes may share a phase of a wide load */
        for (int i = 0; i < 32; i++) {
            int half = i / 16, quarter = i / 8;
            int v = i;
            switch (kind) {
            case 0: v = half ? i : i / 2; break;                       /* pairs in the lower half alone */
            case 1: v = half ? i / 2 : i; break;
            case 2: v = half ? 16 + i % 2 + i / 4 * 2 : i / 2; break;    /* neighbours below, next but one above */
            case 3: v = half ? i / 2 * 8 : i / 2; break;               /* pairs, conflicts in the upper half alone */
            case 4: v = half ? i / 2 : i / 2 * 8; break;
            case 5: v = quarter == 3 ? i / 2 * 8 : i / 2; break;
            case 6: v = (i & 3) == 3 || (i & 3) == 0 ? i / 4 * 2 : i / 4 * 2 + 1; break; /* i and i^3 */
            case 7: v = i % 4 + i / 8 * 4; break;                      /* i and i^4 */
            case 8: v = i % 8 + i / 16 * 8; break;                     /* i and i^8 */
            case 9: v = 15 - i / 2; break;                             /* pairs, downwards */
            case 10: v = i % 2 + i / 4 * 2; break;                      /* i and i^2, no conflict */
            case 11: v = i % 2 + i / 4 * 16; break;                     /* i and i^2, conflicts */
            case 12: v = i % 3 == 0 ? -1 : i / 2; break;               /* pairs, some idle */
            case 13: v = half ? -1 : i / 2; break;
            case 14: v = half ? i / 2 : -1; break;
            case 15: v = i % 2 ? -1 : i * 8; break;                    /* one of each pair idle, conflicts */
            case 16: v = i == 1 ? 100 : i / 2; break;                  /* one lane breaks the pairs */
            case 17: v = i == 30 ? 3 : i / 2; break;
            case 18: v = i / 8; break;
            case 19: v = (i / 2 * 5) % 16; break;
            }
            lanes[p][i] = (short)v;
        }
    for (; p < PATTERNS; p++) { /* gathers, some lanes idle; every other one in pairs */
        static const unsigned ranges[] = {4, 16, 40, 100, 500, 1500};
        unsigned range = ranges[p % 6], idle = p % 3 ? dice(20) : 0;
        for (int i = 0; i < 32; i++)
            lanes[p][i] = dice(32) < idle ? -1 : p % 2 && i % 2 && lanes[p][i - 1] >= 0 ? lanes[p][i - 1] : (short)dice(range);
    }
}

static double now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc < 2 || !given(argv[1])) {
        fprintf(stderr, "usage: lanes PATTERNS.json [SECONDS [OP...]]\n");
        return 2;
    }
    setvbuf(stdout, nullptr, _IOLBF, 0);
    double end = now() + (argc > 2 ? atof(argv[2]) : 1e9);
    made();
    CHECK(cudaMemcpyToSymbol(table, lanes, sizeof lanes));
    for (int p = 0; p < PATTERNS; p++) {
        printf("pattern %d:", p);
        for (int i = 0; i < 32; i++)
            printf(" %d", lanes[p][i]);
        printf("\n");
    }
    /* In the order of their worth: nobody, the gathers, every seventh of the given ones, masks, kinds, the other given ones. */
    static int order[PATTERNS];
    int n = 0;
    order[n++] = GIVEN;
    for (int p = PATTERNS - GATHERS; p < PATTERNS; p++)
        order[n++] = p;
    for (int p = 0; p < GIVEN; p += 7)
        order[n++] = p;
    for (int p = GIVEN + 1; p < PATTERNS - GATHERS; p++)
        order[n++] = p;
    for (int p = 0; p < GIVEN; p++)
        if (p % 7)
            order[n++] = p;
    for (int k = 0; k < PATTERNS; k++) {
        int p = order[k];
        for (const op &o : ops) {
            bool wide = !strncmp(o.name, "ld.shared", 9) && o.width >= 8, gather = p >= PATTERNS - GATHERS;
            bool named = argc <= 3;
            for (int i = 3; i < argc; i++)
                named |= !strcmp(argv[i], o.name);
            if (!named || (!o.is_new && p < GIVEN))
                continue;
            if (argc <= 3 && !o.is_new && !wide && !gather && p != GIVEN)
                continue;
            if (now() > end)
                return 0;
            o.kernel<<<1, 32>>>(p, 1);
            CHECK(cudaGetLastError());
            printf("launch %d %d %s\n", p, o.width, o.name);
        }
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
