/* sem_bitcode.c - src/sem for the code generator: compiled by clang to LLVM bitcode, never to machine code.
 *
 * Every row of sem.def becomes functions of its own: op_<row>_0 for the default mode, op_<row>_f for flush-to-zero, and
 * op_<row>_m that takes the mode. What a fixed mode does not ask for is gone before the code generator sees it, so that
 * nearly all of them are a few instructions without a branch.
 */
#define SEM_BITCODE
#include "sem.h"

#define T_B1 uint32_t
#define T_B16 uint16_t
#define T_B32 uint32_t
#define T_B64 uint64_t
#define PARAMS_1(A, B, C, D) T_##A a
#define PARAMS_2(A, B, C, D) T_##A a, T_##B b
#define PARAMS_3(A, B, C, D) T_##A a, T_##B b, T_##C c
#define PARAMS_4(A, B, C, D) T_##A a, T_##B b, T_##C c, T_##D d
#define ARGS_1 a
#define ARGS_2 a, b
#define ARGS_3 a, b, c
#define ARGS_4 a, b, c, d

#define FIXED(name, suffix, MODE, RET, N, A, B, C, D)                                                                  \
    T_##RET op_##name##suffix(PARAMS_##N(A, B, C, D));                                                                 \
    T_##RET op_##name##suffix(PARAMS_##N(A, B, C, D))                                                                  \
    {                                                                                                                  \
        return sem_##name(ARGS_##N, MODE);                                                                             \
    }
#define ANY(name, RET, N, A, B, C, D)                                                                                  \
    T_##RET op_##name##_m(PARAMS_##N(A, B, C, D), uint32_t mode);                                                      \
    T_##RET op_##name##_m(PARAMS_##N(A, B, C, D), uint32_t mode)                                                       \
    {                                                                                                                  \
        return sem_##name(ARGS_##N, mode);                                                                             \
    }
#define MODES_0(name, RET, N, A, B, C, D) FIXED(name, _0, 0, RET, N, A, B, C, D)
#define MODES_1(name, RET, N, A, B, C, D)                                                                              \
    FIXED(name, _0, 0, RET, N, A, B, C, D)                                                                             \
    FIXED(name, _f, SEM_FTZ, RET, N, A, B, C, D)                                                                       \
    ANY(name, RET, N, A, B, C, D)
#define SEM(name, RET, N, A, B, C, D, M) MODES_##M(name, RET, N, A, B, C, D)
#include "sem.def"
#undef SEM
