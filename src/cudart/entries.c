/* entries.c - a label for every row of api.def, for both versions, and a table of them.
 *
 * A label is a jump to the hidden function behind it, so that one function can stand behind several names, versions can
 * differ, and no call inside the library goes through a name that a program may have taken. What programs see are the
 * names of libcudart.so.12 and .13, which jump here (exports.c), and what redirect.c patches into static runtimes.
 */
#include "cudart/cudart.h"
#include "cudart/hosted.h"
#include "cudart/jump.h"

/* What is not there. */
#define SECTION(title)
#define API(name, in, function, note)
#define API_LATER(name, in, note)                                                    \
    static __attribute__((used)) int later_##name(void) __asm__("mg__later_" #name); \
    static int later_##name(void)                                                    \
    {                                                                                \
        return mg__cudart_missing(#name);                                            \
    }
#include "cudart/api.def"
#undef API
#undef API_LATER

/* Those of programs whose default stream is the thread's own say so on their way: with that, they are the same
 * functions. */
#define CODE(name, in, target, note) MG_ENTRY(MG_CUDART_ENTRY(name, in), target, note, mg__cudart_per_thread)
#define API(name, in, function, note) CODE(name, in, #function, note)
#define API_LATER(name, in, note) CODE(name, in, "mg__later_" #name, "")
#include "cudart/api.def"
#undef API
#undef API_LATER

/* For redirect.c: a static program brings its own version. */
enum { IN_V12 = CUDART_V12, IN_V13 = CUDART_V13, IN_BOTH = CUDART_V12 | CUDART_V13 };
#define API(name, in, function, note) extern void mg__entry_##name##_##in(void);
#define API_LATER(name, in, note) API(name, in, , note)
#include "cudart/api.def"
#undef API
#undef API_LATER
const struct cudart_api mg__cudart_api[] = {
#define API(name, in, function, note) {#name, mg__entry_##name##_##in, IN_##in},
#define API_LATER(name, in, note) API(name, in, , note)
#include "cudart/api.def"
#undef API
#undef API_LATER
    {NULL, NULL, 0}};

/* For the libraries that compute on the host: looked up by name, so that nothing here calls them. */
__attribute__((used)) static const void *const looked_up[] = {(const void *)margay_hosted,
                                                              (const void *)margay_hosted_missing};

/* With libcudart.so.12 and .13 both preloaded, the first to come redirects. */
void mg__cudart_start(unsigned version, char *const *environment)
{
    static atomic_int claimed;
    mg__cudart.version = version;
    if (!atomic_exchange(&claimed, 1))
        mg__cudart_redirect((void *)mg__cudart_start, environment);
}
