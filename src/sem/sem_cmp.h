/* sem_cmp.h - comparisons (setp, testp) and selections (selp, slct). Predicates are 0 or 1. `set` is setp with its
 * result widened by the engine.
 */
#ifndef MG_SEM_CMP_H
#define MG_SEM_CMP_H
#include "sem_int.h"

#define SEM__SETP(name, C, expr)                                                                                       \
    static inline uint32_t sem_setp_##name(C a, C b, uint32_t mode)                                                    \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return (uint32_t)(expr);                                                                                       \
    }
#define SEM__SETP_U(T, C)                                                                                              \
    SEM__SETP(eq_##T, C, a == b)                                                                                       \
    SEM__SETP(ne_##T, C, a != b)                                                                                       \
    SEM__SETP(lt_##T, C, a < b)                                                                                        \
    SEM__SETP(le_##T, C, a <= b)                                                                                       \
    SEM__SETP(gt_##T, C, a > b)                                                                                        \
    SEM__SETP(ge_##T, C, a >= b)                                                                                       \
    SEM__SETP(lo_##T, C, a < b)                                                                                        \
    SEM__SETP(ls_##T, C, a <= b)                                                                                       \
    SEM__SETP(hi_##T, C, a > b)                                                                                        \
    SEM__SETP(hs_##T, C, a >= b)
#define SEM__SETP_S(T, C, V)                                                                                           \
    SEM__SETP(eq_##T, C, a == b)                                                                                       \
    SEM__SETP(ne_##T, C, a != b)                                                                                       \
    SEM__SETP(lt_##T, C, V(a) < V(b))                                                                                  \
    SEM__SETP(le_##T, C, V(a) <= V(b))                                                                                 \
    SEM__SETP(gt_##T, C, V(a) > V(b))                                                                                  \
    SEM__SETP(ge_##T, C, V(a) >= V(b))
SEM__SETP_U(u16, uint16_t)
SEM__SETP_U(u32, uint32_t)
SEM__SETP_U(u64, uint64_t)
SEM__SETP_S(s16, uint16_t, sem__s16)
SEM__SETP_S(s32, uint32_t, sem__s32)
SEM__SETP_S(s64, uint64_t, sem__s64)
SEM__SETP(eq_b16, uint16_t, a == b)
SEM__SETP(ne_b16, uint16_t, a != b)
SEM__SETP(eq_b32, uint32_t, a == b)
SEM__SETP(ne_b32, uint32_t, a != b)
SEM__SETP(eq_b64, uint64_t, a == b)
SEM__SETP(ne_b64, uint64_t, a != b)

/* Floating-point comparisons on values x and y of the host: V makes one of a carrier, and may use mode. The ordered
 * ones are false when either is NaN, the ..u ones true. */
#define SEM__SETP_F(T, C, V)                                                                                           \
    SEM__SETP(eq_##T, C, V(a) == V(b))                                                                                 \
    SEM__SETP(ne_##T, C, (V(a) < V(b)) | (V(a) > V(b)))                                                                \
    SEM__SETP(lt_##T, C, V(a) < V(b))                                                                                  \
    SEM__SETP(le_##T, C, V(a) <= V(b))                                                                                 \
    SEM__SETP(gt_##T, C, V(a) > V(b))                                                                                  \
    SEM__SETP(ge_##T, C, V(a) >= V(b))                                                                                 \
    SEM__SETP(equ_##T, C, !((V(a) < V(b)) | (V(a) > V(b))))                                                            \
    SEM__SETP(neu_##T, C, !(V(a) == V(b)))                                                                             \
    SEM__SETP(ltu_##T, C, !(V(a) >= V(b)))                                                                             \
    SEM__SETP(leu_##T, C, !(V(a) > V(b)))                                                                              \
    SEM__SETP(gtu_##T, C, !(V(a) <= V(b)))                                                                             \
    SEM__SETP(geu_##T, C, !(V(a) < V(b)))                                                                              \
    SEM__SETP(num_##T, C, (V(a) == V(a)) & (V(b) == V(b)))                                                             \
    SEM__SETP(nan_##T, C, (V(a) != V(a)) | (V(b) != V(b)))
#define SEM__CMP_F32(x) sem__f32(sem__ftz32(x, mode))
SEM__SETP_F(f32, uint32_t, SEM__CMP_F32)
SEM__SETP_F(f64, uint64_t, sem__f64)

/* ---- selp: c ? a : b;  slct: c >= 0 ? a : b, where a NaN selects b ---- */
#define SEM__SELECT(T, C)                                                                                              \
    static inline C sem_selp_##T(C a, C b, uint32_t c, uint32_t mode)                                                  \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return c ? a : b;                                                                                              \
    }                                                                                                                  \
    static inline C sem_slct_##T##_s32(C a, C b, uint32_t c, uint32_t mode)                                            \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return c >> 31 ? b : a;                                                                                        \
    }                                                                                                                  \
    static inline C sem_slct_##T##_f32(C a, C b, uint32_t c, uint32_t mode)                                            \
    {                                                                                                                  \
        return SEM__CMP_F32(c) >= 0.0f ? a : b;                                                                        \
    }
SEM__SELECT(b16, uint16_t)
SEM__SELECT(u16, uint16_t)
SEM__SELECT(s16, uint16_t)
SEM__SELECT(b32, uint32_t)
SEM__SELECT(u32, uint32_t)
SEM__SELECT(s32, uint32_t)
SEM__SELECT(f32, uint32_t)
SEM__SELECT(b64, uint64_t)
SEM__SELECT(u64, uint64_t)
SEM__SELECT(s64, uint64_t)
SEM__SELECT(f64, uint64_t)

/* ---- testp: +0 and -0 count as normal ---- */
#define SEM__TESTP(T, C, BITS, EXP)                                                                                    \
    static inline uint32_t sem_testp_finite_##T(C a, uint32_t mode)                                                    \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return (a & EXP) != EXP;                                                                                       \
    }                                                                                                                  \
    static inline uint32_t sem_testp_infinite_##T(C a, uint32_t mode)                                                  \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return (a & BITS) == EXP;                                                                                      \
    }                                                                                                                  \
    static inline uint32_t sem_testp_number_##T(C a, uint32_t mode)                                                    \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return (a & BITS) <= EXP;                                                                                      \
    }                                                                                                                  \
    static inline uint32_t sem_testp_notanumber_##T(C a, uint32_t mode)                                                \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return (a & BITS) > EXP;                                                                                       \
    }                                                                                                                  \
    static inline uint32_t sem_testp_normal_##T(C a, uint32_t mode)                                                    \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return ((a & EXP) != 0 && (a & EXP) != EXP) || (a & BITS) == 0;                                                \
    }                                                                                                                  \
    static inline uint32_t sem_testp_subnormal_##T(C a, uint32_t mode)                                                 \
    {                                                                                                                  \
        SEM__UNUSED_MODE;                                                                                              \
        return (a & EXP) == 0 && (a & BITS) != 0;                                                                      \
    }
SEM__TESTP(f32, uint32_t, 0x7fffffffu, 0x7f800000u)
SEM__TESTP(f64, uint64_t, 0x7fffffffffffffffu, 0x7ff0000000000000u)
#endif
