/* sem.c - the catalogue as data: rows, look-up by name, one evaluator for any row.
 *
 * The evaluator is also the proof that each row of sem.def has a function with just the carriers that the row says.
 */
#include "sem.h"

const struct mg_sem_row mg_sem_rows[MG_SEM_OP_COUNT] = {
#define SEM(name, RET, NARGS, A, B, C, D, M) \
    {#name, MG_SEM_##RET, NARGS, {MG_SEM_##A, MG_SEM_##B, MG_SEM_##C, MG_SEM_##D}, M},
#include "sem.def"
#undef SEM
};

const struct mg_sem_warp_row mg_sem_warp_rows[MG_SEM_WARP_COUNT] = {
#define WARP(name, OUT, IN, SETS) {#name, OUT, IN, SETS, sem_warp_##name},
#include "sem_warp.def"
#undef WARP
};

/* The row whose name, the first member of each, is `name`; -1: none. */
static int find(const char *name, const void *rows, size_t size, int count)
{
    int lo = 0, hi = count - 1;
    while (name && lo <= hi) {
        int mid = (lo + hi) / 2;
        int order = strcmp(name, *(const char *const *)((const char *)rows + (size_t)mid * size));
        if (order == 0)
            return mid;
        if (order < 0)
            hi = mid - 1;
        else
            lo = mid + 1;
    }
    return -1;
}

int mg__sem_find(const char *name)
{
    return find(name, mg_sem_rows, sizeof mg_sem_rows[0], MG_SEM_OP_COUNT);
}

int mg__sem_warp_find(const char *name)
{
    return find(name, mg_sem_warp_rows, sizeof mg_sem_warp_rows[0], MG_SEM_WARP_COUNT);
}

#define ARGS_1(f, A, B, C, D) f((MG_SEM_TYPE_##A)v[0], mode)
#define ARGS_2(f, A, B, C, D) f((MG_SEM_TYPE_##A)v[0], (MG_SEM_TYPE_##B)v[1], mode)
#define ARGS_3(f, A, B, C, D) f((MG_SEM_TYPE_##A)v[0], (MG_SEM_TYPE_##B)v[1], (MG_SEM_TYPE_##C)v[2], mode)
#define ARGS_4(f, A, B, C, D) \
    f((MG_SEM_TYPE_##A)v[0], (MG_SEM_TYPE_##B)v[1], (MG_SEM_TYPE_##C)v[2], (MG_SEM_TYPE_##D)v[3], mode)
#define TYPES_1(A, B, C, D) MG_SEM_TYPE_##A
#define TYPES_2(A, B, C, D) MG_SEM_TYPE_##A, MG_SEM_TYPE_##B
#define TYPES_3(A, B, C, D) MG_SEM_TYPE_##A, MG_SEM_TYPE_##B, MG_SEM_TYPE_##C
#define TYPES_4(A, B, C, D) MG_SEM_TYPE_##A, MG_SEM_TYPE_##B, MG_SEM_TYPE_##C, MG_SEM_TYPE_##D
#define SEM(name, RET, NARGS, A, B, C, D, M)                                                   \
    static uint64_t eval_##name(const uint64_t v[4], uint32_t mode)                            \
    {                                                                                          \
        MG_SEM_TYPE_##RET (*const function)(TYPES_##NARGS(A, B, C, D), uint32_t) = sem_##name; \
        return ARGS_##NARGS(function, A, B, C, D);                                             \
    }
#include "sem.def"
#undef SEM

uint64_t mg__sem_eval(enum mg_sem_op op, const uint64_t arg[4], uint32_t mode)
{
    static uint64_t (*const eval[MG_SEM_OP_COUNT])(const uint64_t[4], uint32_t) = {
#define SEM(name, RET, NARGS, A, B, C, D, M) eval_##name,
#include "sem.def"
#undef SEM
    };
    return (unsigned)op < MG_SEM_OP_COUNT ? eval[op](arg, mode) : 0;
}
