/* lanes_alu.c - arithmetic over 32 lanes, compiled once for each vector extension; MG_ISA names the build.
 *
 * Handlers are generated from sem.def: each row becomes a loop over the lanes around its scalar function, in three
 * versions: default mode, flush-to-zero, and any mode. With all lanes active the loop writes straight to the
 * destination; otherwise it computes all lanes (the functions are total, so idle lanes may hold anything) and blends.
 */
#include "simt/lanes.h"

/* ---- arithmetic ---- */
#define C_B1 uint32_t
#define C_B16 uint16_t
#define C_B32 uint32_t
#define C_B64 uint64_t
#define PTR_B1(n, operand) const uint32_t n = mg__pred(w, operand);
#define PTR_B16(n, operand) const uint32_t *const n = mg__slot(w, operand);
#define PTR_B32(n, operand) const uint32_t *const n = mg__slot(w, operand);
#define PTR_B64(n, operand) const uint64_t *const n = mg__slot(w, operand);
#define PTR_V(n, operand)
#define GET_B1(n) (n >> i & 1u)
#define GET_B16(n) (uint16_t) n[i]
#define GET_B32(n) n[i]
#define GET_B64(n) n[i]

#define ARGS_1(A, B, C, D) GET_##A(pa)
#define ARGS_2(A, B, C, D) GET_##A(pa), GET_##B(pb)
#define ARGS_3(A, B, C, D) GET_##A(pa), GET_##B(pb), GET_##C(pc)
#define ARGS_4(A, B, C, D) GET_##A(pa), GET_##B(pb), GET_##C(pc), GET_##D(pd)

/* A destination is either one of the sources, lane for lane, or another slot: vector loads before stores are right.
 * Some lanes idle is the rarer case, in a function of its own, so that the common one needs no stack. */
#define LOOP(T, VALUE)                                                                                                 \
    T *const out = mg__slot(w, op->d);                                                                                 \
    IVDEP for (unsigned i = 0; i < 32; i++) out[i] = VALUE;

#define RESULT(T, HOW, name, CALL_ARGS, PREPARE)                                                                       \
    static HOW __attribute__((noinline)) MG_HANDLER(name##_some)                                                       \
    {                                                                                                                  \
        PREPARE LOOP(T, mask >> i & 1u ? (T)(CALL_ARGS) : out[i]) NEXT                                                 \
    }                                                                                                                  \
    static HOW MG_HANDLER(name)                                                                                        \
    {                                                                                                                  \
        if (MG_UNLIKELY(mask != ~0u))                                                                                  \
            return name##_some(w, op, mask);                                                                           \
        PREPARE LOOP(T, (T)(CALL_ARGS)) NEXT                                                                           \
    }
#define RESULT_B16(HOW, name, CALL_ARGS, PREPARE) RESULT(uint32_t, HOW, name, CALL_ARGS, PREPARE)
#define RESULT_B32(HOW, name, CALL_ARGS, PREPARE) RESULT(uint32_t, HOW, name, CALL_ARGS, PREPARE)
#define RESULT_B64(HOW, name, CALL_ARGS, PREPARE) RESULT(uint64_t, HOW, name, CALL_ARGS, PREPARE)
#define RESULT_B1(HOW, name, CALL_ARGS, PREPARE)                                                                       \
    static HOW MG_HANDLER(name)                                                                                        \
    {                                                                                                                  \
        PREPARE uint32_t bits = 0;                                                                                     \
        for (unsigned i = 0; i < 32; i++)                                                                              \
            bits |= (uint32_t)(CALL_ARGS) << i;                                                                        \
        mg__pred_set(w, op->d, bits, mask);                                                                            \
        NEXT                                                                                                           \
    }

/* Modes beyond the default and flush-to-zero are rare: they are not worth the compiler's time. */
#define FAST
#if defined(__GNUC__) && !defined(__clang__)
#define RARE __attribute__((optimize("O1")))
#else
#define RARE
#endif
#define PREPARE(MODE, A, B, C, D)                                                                                      \
    const uint32_t mode = MODE;                                                                                        \
    (void)mode;                                                                                                        \
    PTR_##A(pa, op->a) PTR_##B(pb, op->b) PTR_##C(pc, op->c) PTR_##D(pd, op->e)
#define HANDLER(HOW, name, suffix, MODE, RET, N, A, B, C, D)                                                           \
    RESULT_##RET(HOW, h_##name##suffix, sem_##name(ARGS_##N(A, B, C, D), mode), PREPARE(MODE, A, B, C, D))
#define MODES_0(name, RET, N, A, B, C, D) HANDLER(FAST, name, _0, 0, RET, N, A, B, C, D)
#define MODES_1(name, RET, N, A, B, C, D)                \
    HANDLER(FAST, name, _0, 0, RET, N, A, B, C, D)       \
    HANDLER(FAST, name, _f, SEM_FTZ, RET, N, A, B, C, D) \
    HANDLER(RARE, name, _m, op->mode, RET, N, A, B, C, D)
#define SEM(name, RET, N, A, B, C, D, M) MODES_##M(name, RET, N, A, B, C, D)
#include "sem/sem.def"
#undef SEM

#define ROW_0(name) {h_##name##_0, h_##name##_0, h_##name##_0},
#define ROW_1(name) {h_##name##_0, h_##name##_f, h_##name##_m},
const mg_handler ISA(mg__alu)[MG_SEM_OP_COUNT][3] = {
#define SEM(name, RET, N, A, B, C, D, M) ROW_##M(name)
#include "sem/sem.def"
#undef SEM
};
