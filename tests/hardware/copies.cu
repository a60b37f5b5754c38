/* copies.cu - one warp's cp.async, a launch each: rows and random places whose two sides lie differently.
 *
 *     copies [print]        launches all; print: a line for each, "OPERATION SOURCE>DESTINATION*32", offsets in bytes, idle lanes -
 *
 * Tiles with padded rows, swizzled ones, rows that begin anywhere, lanes left out, lanes that read the same, and places drawn by a
 * fixed generator. Source and destination count from addresses that are multiples of 4,096. `collect.sh OUT 0 copies` reads the
 * counters; nothing else in the program touches global or shared memory.
 */
#include "check.cuh"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { SOURCE = 1 << 20, ROOM = 32768 };
struct places { /* offsets in bytes; of an idle lane the source is -1 */
    int source[32], destination[32];
};

#define OPS OP(ca_4, 4, "ca") OP(ca_8, 8, "ca") OP(ca_16, 16, "ca") OP(cg_16, 16, "cg")
#define OP(id, width, how) COPY(id, width, how, tiles) COPY(id, width, how, idle) COPY(id, width, how, drawn)
#define COPY(id, width, how, kind)                                                                                     \
    __global__ void kind##_##id(places at, const char *base)                                                           \
    {                                                                                                                  \
        __shared__ __align__(4096) char room[ROOM];                                                                    \
        int source = at.source[threadIdx.x];                                                                           \
        unsigned destination = (unsigned)__cvta_generic_to_shared(room) + at.destination[threadIdx.x];                 \
        asm volatile("{\n.reg .pred p; setp.ge.s32 p, %2, 0;\n"                                                        \
                     "@p cp.async." how ".shared.global [%0], [%1], %3;\ncp.async.wait_all;\n}" ::"r"(destination),     \
                     "l"(base + (source < 0 ? 0 : source)), "r"(source), "n"(width)                                    \
                     : "memory");                                                                                      \
    }
OPS
#undef OP

struct op {
    const char *name;
    int width;
    void (*tiles)(places, const char *), (*idle)(places, const char *), (*drawn)(places, const char *);
};
static const op ops[] = {
#define OP(id, width, how) {#id, width, tiles_##id, idle_##id, drawn_##id},
    OPS
#undef OP
};

static uint32_t state = 1;
static int draw(int bound)
{
    state = state * 1664525u + 1013904223u;
    return (int)((uint64_t)(state >> 8) * (unsigned)bound >> 24);
}
template <int N> static int one_of(const int (&list)[N]) { return list[draw(N)]; }

/* Rows of lanes: as a tile is filled whose rows have other strides in both memories. */
static places tile(int width)
{
    static const int lanes[] = {1, 2, 4, 8, 16, 32}, pad[] = {0, 0, 1, 2, 3, 4, 5, 9}, gap[] = {0, 1, 2, 4, 8, 24, 57};
    static const int begin[] = {0, 0, 0, 1, 2, 3, 4, 5, 7};
    int row = one_of(lanes), to = row + one_of(pad), from = row + one_of(gap) + (draw(2) ? row : 0);
    int first_to = one_of(begin), first_from = one_of(begin);
    places p;
    for (int i = 0; i < 32; i++) {
        p.source[i] = (first_from + i / row * from + i % row) * width;
        p.destination[i] = (first_to + i / row * to + i % row) * width;
    }
    return p;
}

/* Rows of 128 bytes whose units are exchanged by the row's number. */
static places swizzled(int width)
{
    places p = tile(width);
    int unit = 128 / width, bits = draw(3) + 1;
    for (int i = 0; i < 32; i++) {
        int row = i / unit, column = i % unit * width;
        p.destination[i] = row * 128 + (column ^ (row << 4 & ((1 << bits) - 1) << 4));
    }
    return p;
}

/* Each side in a range of its own, no destination twice. */
static places drawn(int width)
{
    static const int range[] = {32, 40, 64, 128, 512, 2000};
    places p;
    int sources = one_of(range), destinations = one_of(range);
    uint8_t taken[2048] = {0};
    for (int i = 0; i < 32; i++) {
        p.source[i] = draw(sources) * width;
        int to = draw(destinations);
        while (taken[to])
            to = (to + 1) % destinations;
        taken[to] = 1;
        p.destination[i] = to * width;
    }
    return p;
}

int main(int argc, char **argv)
{
    bool print = argc > 1 && !strcmp(argv[1], "print");
    char *base;
    CHECK(cudaMalloc(&base, SOURCE));
    CHECK(cudaMemset(base, 0, SOURCE));
    for (const op &o : ops)
        for (int k = 0; k < (o.width == 16 ? 240 : 120); k++) {
            places p = k % 8 == 7 ? swizzled(o.width) : k % 8 >= 5 ? drawn(o.width) : tile(o.width);
            bool idle = k % 5 == 4; /* some lanes have nothing to do */
            for (int &source : p.source)
                source = !idle || draw(3) ? source : -1;
            (k % 8 >= 5 && k % 8 < 7 ? o.drawn : idle ? o.idle : o.tiles)<<<1, 32>>>(p, base);
            CHECK(cudaGetLastError());
            if (print) {
                printf("%s", o.name);
                for (int i = 0; i < 32; i++)
                    p.source[i] < 0 ? printf(" -") : printf(" %d>%d", p.source[i], p.destination[i]);
                putchar('\n');
            }
        }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(base));
    return 0;
}
