/* sem.h - what every operation computes: scalar, pure C, written once.
 *
 * sem_<name>(values…, mode) for every row of sem.def: raw bits in, raw bits out. `mode` comes last, always; 0 is
 * round to nearest even, no flush, no saturation. Each is free of undefined behaviour and of the floating-point
 * environment. The functions are static inline: an engine wraps them in a loop over lanes and passes a constant mode,
 * and what the mode does not ask for is gone.
 *
 * Compile what includes this with -ffp-contract=off (linking mg_sem does): fused operations would make the
 * approximations and the two-sums differ from one processor to the next.
 */
#ifndef MG_SEM_H
#define MG_SEM_H
#include "sem_approx.h"
#include "sem_bits.h"
#include "sem_cmp.h"
#include "sem_cvt.h"
#include "sem_float.h"
#include "sem_half.h"
#include "sem_int.h"
#include "sem_warp.h"

#ifdef __FAST_MATH__
#error "src/sem needs IEEE arithmetic: compile without -ffast-math"
#endif

enum mg_sem_carrier { MG_SEM_V, MG_SEM_B1, MG_SEM_B16, MG_SEM_B32, MG_SEM_B64 };
typedef uint32_t mg_sem_b1; /* 0 or 1 */
typedef uint16_t mg_sem_b16;
typedef uint32_t mg_sem_b32;
typedef uint64_t mg_sem_b64;
#define MG_SEM_TYPE_B1 mg_sem_b1
#define MG_SEM_TYPE_B16 mg_sem_b16
#define MG_SEM_TYPE_B32 mg_sem_b32
#define MG_SEM_TYPE_B64 mg_sem_b64

/* Rows that are expressions */
#define MG_SEM_ARGS_1(A, B, C, D) MG_SEM_TYPE_##A a
#define MG_SEM_ARGS_2(A, B, C, D) MG_SEM_TYPE_##A a, MG_SEM_TYPE_##B b
#define MG_SEM_ARGS_3(A, B, C, D) MG_SEM_TYPE_##A a, MG_SEM_TYPE_##B b, MG_SEM_TYPE_##C c
#define MG_SEM_ARGS_4(A, B, C, D) MG_SEM_TYPE_##A a, MG_SEM_TYPE_##B b, MG_SEM_TYPE_##C c, MG_SEM_TYPE_##D d
#define MG_SEM_USED_1 (void)a
#define MG_SEM_USED_2 MG_SEM_USED_1, (void)b
#define MG_SEM_USED_3 MG_SEM_USED_2, (void)c
#define MG_SEM_USED_4 MG_SEM_USED_3, (void)d
#define SEM(name, RET, NARGS, A, B, C, D, M)
#define SEM_IS(name, RET, NARGS, A, B, C, D, M, expression)                                    \
    static inline MG_SEM_TYPE_##RET sem_##name(MG_SEM_ARGS_##NARGS(A, B, C, D), uint32_t mode) \
    {                                                                                          \
        MG_SEM_USED_##NARGS, (void)mode;                                                       \
        return (MG_SEM_TYPE_##RET)(expression);                                                \
    }
#include "sem.def"
#undef SEM

enum mg_sem_op {
#define SEM(name, RET, NARGS, A, B, C, D, M) MG_SEM_OP_##name,
#include "sem.def"
#undef SEM
    MG_SEM_OP_COUNT
};
struct mg_sem_row {
    const char *name;
    uint8_t ret;    /* enum mg_sem_carrier */
    uint8_t nargs;  /* 1 … 4 */
    uint8_t arg[4]; /* enum mg_sem_carrier; MG_SEM_V beyond nargs */
    uint8_t mode;   /* 1: looks at its mode */
};
extern const struct mg_sem_row mg_sem_rows[MG_SEM_OP_COUNT];
/* The operation of that name, or -1. */
int mg__sem_find(const char *name);
/* The operation on values in 64-bit slots (the low bits of each are read): for tests and tools, not for speed. */
uint64_t mg__sem_eval(enum mg_sem_op op, const uint64_t arg[4], uint32_t mode);
#endif
