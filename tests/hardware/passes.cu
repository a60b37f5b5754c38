/* passes.cu - one warp's atomic or reduction in global memory, at given addresses: how many sectors it moves.
 *
 *     passes ROWS        ROWS: passes.txt, lines "SECTORS OPERATION OFFSET*32"
 *
 * SECTORS is what an H200 counted; an offset is in bytes, of an idle lane -1. Launches once for each line, in order;
 * nothing else in the program touches global memory. The offsets count from the start of an allocation of 64 GiB, or of
 * as much as there is. `collect.sh OUT 0 passes` reads the counters again.
 */
#include "check.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct warp {
    long long offset[32];
};
__device__ unsigned sink;

/* OP(id, name, PTX): %1 the address; p: the lane takes part; r1 = 3, d1 = 3, f1 = 1.0, e1 = 1.0; r7 and d7 are results. */
#define OPS                                                                                                            \
    OP(red_u32, "red.add.u32", "@p red.global.add.u32 [%1], r1;")                                                      \
    OP(red_f32, "red.add.f32", "@p red.global.add.f32 [%1], f1;")                                                      \
    OP(red_u64, "red.add.u64", "@p red.global.add.u64 [%1], d1;")                                                      \
    OP(red_f64, "red.add.f64", "@p red.global.add.f64 [%1], e1;")                                                      \
    OP(red_f16x2, "red.add.f16x2", "@p red.global.add.noftz.f16x2 [%1], r1;")                                          \
    OP(red_max, "red.max.s32", "@p red.global.max.s32 [%1], r1;")                                                      \
    OP(red_and, "red.and.b32", "@p red.global.and.b32 [%1], r1;")                                                      \
    OP(atom_u32, "atom.add.u32", "@p atom.global.add.u32 r7, [%1], r1;")                                               \
    OP(atom_exch, "atom.exch.b32", "@p atom.global.exch.b32 r7, [%1], r1;")                                            \
    OP(atom_cas, "atom.cas.b32", "@p atom.global.cas.b32 r7, [%1], r0, r1;")                                           \
    OP(atom_inc, "atom.inc.u32", "@p atom.global.inc.u32 r7, [%1], r1;")                                               \
    OP(atom_u64, "atom.add.u64", "@p atom.global.add.u64 d7, [%1], d1; cvt.u32.u64 r7, d7;")

#define OP(id, name, ptx)                                                                                              \
    __global__ void pass_##id(warp lanes, char *base)                                                                  \
    {                                                                                                                  \
        long long offset = lanes.offset[threadIdx.x];                                                                  \
        unsigned result;                                                                                               \
        asm volatile("{\n.reg .pred p; .reg .b32 r<8>; .reg .f32 f<2>; .reg .b64 d<8>; .reg .f64 e<2>;\n"             \
                     "mov.b32 r0, 0; mov.b32 r1, 3; mov.b32 r7, 0; mov.b64 d1, 3; mov.b64 d7, 0;\n"                    \
                     "mov.f32 f1, 0f3f800000; mov.f64 e1, 0d3ff0000000000000;\n"                                       \
                     "setp.ge.s64 p, %2, 0;\n" ptx "\nmov.b32 %0, r7;\n}"                                              \
                     : "=r"(result)                                                                                    \
                     : "l"(base + (offset < 0 ? 0 : offset)), "l"(offset)                                              \
                     : "memory");                                                                                      \
        if (result == 0x9e3779b9u)                                                                                     \
            sink = 1;                                                                                                  \
    }
OPS
#undef OP

struct op {
    const char *name;
    void (*kernel)(warp, char *);
};
static const op ops[] = {
#define OP(id, name, ptx) {name, pass_##id},
    OPS
#undef OP
};

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file) {
        fprintf(stderr, "usage: passes ROWS\n");
        return 2;
    }
    long long size = 64ll << 30;
    char *base = NULL, name[64];
    while (cudaMalloc(&base, size) != cudaSuccess && size > 1 << 20) {
        (void)cudaGetLastError();
        size /= 2;
    }
    int launches = 0;
    while (fscanf(file, "%*d %63s", name) == 1) {
        const op *found = NULL;
        warp lanes;
        for (const op &o : ops)
            if (!strcmp(o.name, name))
                found = &o;
        for (long long &offset : lanes.offset)
            if (fscanf(file, "%lld", &offset) != 1 || offset > size - 8)
                found = NULL;
        if (!found) {
            fprintf(stderr, "passes: line %d: %s: no such operation, or too far\n", launches + 1, name);
            return 1;
        }
        found->kernel<<<1, 32>>>(lanes, base);
        CHECK(cudaGetLastError());
        launches++;
    }
    CHECK(cudaDeviceSynchronize());
    printf("%d launches\n", launches);
    return 0;
}
