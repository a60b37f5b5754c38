/* select.c - which build of lanes.c this processor runs. */
#include "simt/simt_priv.h"

#if defined(__x86_64__)
extern const struct mg_lanes mg__lanes_v2, mg__lanes_v3, mg__lanes_v4;

/* MARGAY_ISA=v2|v3|v4 lowers the choice, so that tests can hold the builds against each other. */
const struct mg_lanes *mg__lanes_select(void)
{
    const char *asked = getenv("MARGAY_ISA");
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512cd");
    if (asked && strcmp(asked, "v2") == 0)
        return &mg__lanes_v2;
    if (!v3)
        return &mg__lanes_v2;
    return v4 && !(asked && strcmp(asked, "v3") == 0) ? &mg__lanes_v4 : &mg__lanes_v3;
}
#else
extern const struct mg_lanes mg__lanes_generic;
const struct mg_lanes *mg__lanes_select(void)
{
    return &mg__lanes_generic;
}
#endif
