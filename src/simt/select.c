/* select.c - which build of lanes.c this processor runs. */
#include "simt/simt_priv.h"

#if defined(__x86_64__)
extern const struct mg_lanes mg__lanes_v2, mg__lanes_v3, mg__lanes_v4;

const struct mg_lanes *mg__lanes_select(void)
{
    const unsigned isa = mg__isa_now();
    return isa >= 4 ? &mg__lanes_v4 : isa == 3 ? &mg__lanes_v3 : &mg__lanes_v2;
}
#else
extern const struct mg_lanes mg__lanes_generic;
const struct mg_lanes *mg__lanes_select(void)
{
    return &mg__lanes_generic;
}
#endif
