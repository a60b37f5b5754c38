/* isa.c - which vectors this processor has, or is taken to have. */
#include "base/base.h"

atomic_uint mg__isa_first;

unsigned mg__isa_processor(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512cd");
    return v4 ? 4 : v3 ? 3 : 2;
#else
    return 1;
#endif
}

unsigned mg__isa_now(void)
{
    const char *asked = getenv("MARGAY_ISA");
    const unsigned most = asked && strcmp(asked, "v2") == 0 ? 2 : asked && strcmp(asked, "v3") == 0 ? 3 : 4,
                   has = mg__isa_processor();
    return MG_MIN(most, has);
}
