/* ref.h - the other opinion: what every operation of sem.def should give, computed in another way.
 *
 * Integers are done in 128 bits or bit by bit as PTX ISA's pseudo-code writes it; floating point with MPFR, exactly and
 * in every rounding direction. The approximate operations have a true value and a bound instead (ref_approx).
 */
#ifndef MG_TEST_REF_H
#define MG_TEST_REF_H
#include <stdbool.h>
#include <stdint.h>

/* false: no reference for that row. Values and results as mg__sem_eval has them; mode is SEM_*. */
bool ref_eval(const char *row, const uint64_t v[4], uint32_t mode, uint64_t *result);
/* For an approximate row: is `result` inside PTX ISA's bounds? *known is false if there is no bound for that row. */
bool ref_approx(const char *row, const uint64_t v[4], uint32_t mode, uint64_t result, bool *known);
#endif
