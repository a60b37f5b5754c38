/* entries.c - a label for every row of api.def, and a table of them for cuGetProcAddress. A label is a jump to the
 * hidden function behind it (cudart/jump.h); libcuda.so.1 is names that jump here (exports.c). So for libnvJitLink.
 */
#include "cuda/driver.h"
#include "cudart/jump.h"

#define SECTION(title)
#define API(symbol, name, version, function, note)
#define API_LATER(symbol, name, version, note)                                           \
    static __attribute__((used)) int later_##symbol(void) __asm__("mg__later_" #symbol); \
    static int later_##symbol(void)                                                      \
    {                                                                                    \
        return mg__cuda_missing(#symbol);                                                \
    }
#include "cuda/api.def"
#undef API
#undef API_LATER

#define API(symbol, name, version, function, note) \
    MG_ENTRY("mg__entry_" #symbol, #function, note, mg__cudart_per_thread)
#define API_LATER(symbol, name, version, note) API(symbol, name, version, mg__later_##symbol, "")
#include "cuda/api.def"
#undef API
#undef API_LATER

#define API(symbol, name, version, function, note) extern void mg__entry_##symbol(void);
#define API_LATER(symbol, name, version, note) API(symbol, name, version, , note)
#include "cuda/api.def"
#undef API
#undef API_LATER
/* Whether the symbol ends as those for per-thread default streams do. */
#define PER_THREAD(symbol) \
    (sizeof(symbol) > 5 && symbol[sizeof(symbol) - 6] == '_' && symbol[sizeof(symbol) - 5] == 'p')
const struct cuda_api mg__cuda_api[] = {
#define API(symbol, name, version, function, note) {#name, version, PER_THREAD(#symbol), mg__entry_##symbol},
#define API_LATER(symbol, name, version, note) API(symbol, name, version, , note)
#include "cuda/api.def"
#undef API
#undef API_LATER
    {NULL, 0, 0, NULL}};

#define NVJITLINK(name) MG_ENTRY("mg__entry_nvJitLink" #name, "mg__nvJitLink" #name, "", mg__cudart_per_thread)
#include "cuda/nvjitlink.def"
