/* exports.c - the public names of libcuda.so.1, all from api.def. A name is a jump to its label in libmargay_cuda.so
 * (entries.c), where the driver and the runtime are.
 */
#include "cudart/jump.h"

#define SECTION(title)
#define API(symbol, name, version, function, note) MG_EXPORT(#symbol, "mg__entry_" #symbol)
#define API_LATER(symbol, name, version, note) API(symbol, name, version, , note)
#include "cuda/api.def"
#undef API
#undef API_LATER
