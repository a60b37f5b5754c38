/* ref_priv.h - shared by the two halves of the reference. */
#ifndef MG_TEST_REF_PRIV_H
#define MG_TEST_REF_PRIV_H
#include "ref.h"
#include "sem/sem_base.h" /* for the mode bits alone */
#include <inttypes.h>
#include <stdio.h>

struct ref_name { /* a row's name in its parts: "mul_wide_s32" is {"mul", "wide", "s32"} */
    char part[8][16];
    int count;
};
bool ref_integer(const struct ref_name *n, const uint64_t v[4], uint32_t mode, uint64_t *result);
bool ref_float(const struct ref_name *n, const uint64_t v[4], uint32_t mode, uint64_t *result);

struct ref_type { /* "u32", "s8", "b16": width and signedness of an integer type */
    int bits;
    bool is_signed;
};
bool ref_int_type(const char *text, struct ref_type *type);
sem_s128 ref_value(uint64_t v, struct ref_type type); /* the value of the low bits */
uint64_t ref_wrap(sem_s128 value, int bits);
#endif
