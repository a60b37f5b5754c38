// orders.cu - atomic instructions as libcu++ writes them, and by hand: generic and global addresses, every order, with
// a result and without, a word for each lane and one for all. Which of them the device counts as reductions is its
// compiler's choice (src/model/merge.c); orders.json is what an H200 counted.
#include <cstdio>

// `pointer`: what the instruction takes of the address.
#define HEAD(type) type v = (type)(threadIdx.x + 1), *a = p + threadIdx.x * apart
#define ATOM(name, instruction, pointer, constraint, type)                                                      \
    template <int READ> __global__ void name(type *p, type *out, int apart)                                     \
    {                                                                                                           \
        HEAD(type), r;                                                                                          \
        asm volatile(instruction " %0, [%1], %2;" : "=" constraint(r) : "l"(pointer), constraint(v) : "memory"); \
        if (READ)                                                                                               \
            out[threadIdx.x] = r;                                                                               \
    }
#define RED(name, instruction, pointer, constraint, type)                                \
    __global__ void name(type *p, int apart)                                             \
    {                                                                                    \
        HEAD(type);                                                                      \
        asm volatile(instruction " [%0], %1;" ::"l"(pointer), constraint(v) : "memory"); \
    }
#define GLOBAL __cvta_generic_to_global(a)
#define GENERIC a

#define ATOMS(X)                                                                 \
    X(add, "atom.add.u32", GENERIC, "r", unsigned)                               \
    X(add_global, "atom.global.add.u32", GLOBAL, "r", unsigned)                  \
    X(add_relaxed, "atom.relaxed.gpu.add.u32", GENERIC, "r", unsigned)           \
    X(add_relaxed_global, "atom.relaxed.gpu.global.add.u32", GLOBAL, "r", unsigned) \
    X(add_acquire, "atom.acquire.gpu.add.u32", GENERIC, "r", unsigned)           \
    X(add_acquire_global, "atom.acquire.gpu.global.add.u32", GLOBAL, "r", unsigned) \
    X(add_release, "atom.release.gpu.add.u32", GENERIC, "r", unsigned)           \
    X(add_release_global, "atom.release.gpu.global.add.u32", GLOBAL, "r", unsigned) \
    X(add_acq_rel_global, "atom.acq_rel.gpu.global.add.u32", GLOBAL, "r", unsigned) \
    X(add_acquire_block, "atom.acquire.cta.global.add.u32", GLOBAL, "r", unsigned) \
    X(max_relaxed, "atom.relaxed.gpu.max.s32", GENERIC, "r", int)                \
    X(max_acquire_global, "atom.acquire.gpu.global.max.s32", GLOBAL, "r", int)   \
    X(or_relaxed, "atom.relaxed.sys.or.b32", GENERIC, "r", unsigned)             \
    X(or_acq_rel_global, "atom.acq_rel.sys.global.or.b32", GLOBAL, "r", unsigned) \
    X(inc_relaxed, "atom.relaxed.gpu.inc.u32", GENERIC, "r", unsigned)           \
    X(inc_global, "atom.global.inc.u32", GLOBAL, "r", unsigned)                  \
    X(exch_global, "atom.relaxed.gpu.global.exch.b32", GLOBAL, "r", unsigned)    \
    X(exch, "atom.relaxed.gpu.exch.b32", GENERIC, "r", unsigned)                 \
    X(add_float, "atom.relaxed.gpu.add.f32", GENERIC, "f", float)                \
    X(add_float_global, "atom.relaxed.gpu.global.add.f32", GLOBAL, "f", float)   \
    X(add_wide, "atom.relaxed.gpu.add.u64", GENERIC, "l", unsigned long long)    \
    X(add_wide_acquire_global, "atom.acquire.gpu.global.add.u64", GLOBAL, "l", unsigned long long) \
    X(min_wide_global, "atom.relaxed.gpu.global.min.u64", GLOBAL, "l", unsigned long long)
#define REDS(X)                                                                  \
    X(red_add, "red.relaxed.gpu.add.u32", GENERIC, "r", unsigned)                \
    X(red_add_global, "red.relaxed.gpu.global.add.u32", GLOBAL, "r", unsigned)   \
    X(red_add_release, "red.release.gpu.add.u32", GENERIC, "r", unsigned)        \
    X(red_add_release_global, "red.release.gpu.global.add.u32", GLOBAL, "r", unsigned) \
    X(red_max, "red.relaxed.gpu.max.s32", GENERIC, "r", int)                     \
    X(red_or_global, "red.relaxed.gpu.global.or.b32", GLOBAL, "r", unsigned)     \
    X(red_add_float, "red.relaxed.gpu.add.f32", GENERIC, "f", float)             \
    X(red_add_wide, "red.relaxed.gpu.add.u64", GENERIC, "l", unsigned long long)
ATOMS(ATOM)
REDS(RED)

int main()
{
    enum { THREADS = 80, BYTES = 1 << 16 };
    char *p;
    cudaMalloc(&p, 2 * BYTES);
    cudaMemset(p, 0, 2 * BYTES);
#define RUN(name, instruction, pointer, constraint, type)                        \
    for (int apart = 0; apart < 4; apart += apart + 1) {                         \
        name<1><<<2, THREADS>>>((type *)p, (type *)(p + BYTES), apart);          \
        name<0><<<2, THREADS>>>((type *)p, nullptr, apart);                      \
    }
#define RUN_RED(name, instruction, pointer, constraint, type)                    \
    for (int apart = 0; apart < 4; apart += apart + 1)                           \
        name<<<2, THREADS>>>((type *)p, apart);
    ATOMS(RUN)
    REDS(RUN_RED)
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
