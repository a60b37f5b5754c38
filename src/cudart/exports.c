/* exports.c - the public names of libcudart.so.MARGAY_CUDART, all from api.def, and the constructor.
 *
 * Compiled once a library, with MARGAY_CUDART 12 or 13. A name is a jump to its label in libmargay_cuda.so (entries.c),
 * where all of the runtime is: a process that uses the driver and the runtime, or both runtimes, has one of it.
 */
#include "cudart/jump.h"

/* For rows of the other version, which are not exported. */
#if MARGAY_CUDART == 12
#define IF_V12(...) __VA_ARGS__
#define IF_V13(...)
#else
#define IF_V12(...)
#define IF_V13(...) __VA_ARGS__
#endif
#define IF_BOTH(...) __VA_ARGS__

#define SECTION(title)
#define API(name, in, function, note) IF_##in(MG_EXPORT(#name, MG_CUDART_ENTRY(name, in)))
#define API_LATER(name, in, note) API(name, in, , note)
#include "cudart/api.def"
#undef API
#undef API_LATER

void mg__cudart_start(unsigned version, char *const *environment);

/* Linked with -z initfirst: this runs before the constructors of every other object, which register their fatbins. */
__attribute__((constructor)) static void start(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv;
    mg__cudart_start(MARGAY_CUDART, environment);
}
