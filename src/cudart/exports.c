/* exports.c - the public names of libcudart.so.MARGAY_CUDART, all from api.def, and the constructor.
 *
 * Compiled once a library, with MARGAY_CUDART 12 or 13. A public name is a jump to the hidden function behind it, so
 * that one function can stand behind several names, versions can differ, and no call inside the library goes through a
 * name that a program may have taken.
 */
#include "cudart/cudart.h"

#include <dlfcn.h>

#if defined(__x86_64__)
#define LANDING "endbr64\n\t"
#define JUMP "jmp "
#elif defined(__aarch64__)
#define LANDING "bti c\n\t"
#define JUMP "b "
#else
#error "exports.c needs the jump instruction of this processor"
#endif

/* For rows of the other version, which are not exported. */
#define SKIP_V12(...)
#define SKIP_V13(...)
#if MARGAY_CUDART == 12
#define IF_V12(...) __VA_ARGS__
#define IF_V13(...)
#else
#define IF_V12(...)
#define IF_V13(...) __VA_ARGS__
#endif
#define IF_BOTH(...) __VA_ARGS__

/* The functions, whatever their type. */
#define SECTION(title)
#define API(name, in, function, note) extern void function(void);
#define API_LATER(name, in, note)                                                    \
    static __attribute__((used)) int later_##name(void) __asm__("mg__later_" #name); \
    static int later_##name(void)                                                    \
    {                                                                                \
        return mg__cudart_missing(#name);                                            \
    }
#include "cudart/api.def"
#undef API
#undef API_LATER

/* The names, and for redirect.c a label of each row. Those of programs whose default stream is the thread's own say so
 * on their way: with that, they are the same functions. */
#if defined(__x86_64__)
#define SAY_PER_THREAD "movq mg__cudart_per_thread@gottpoff(%rip), %r11\n\tmovb $1, %fs:(%r11)\n\t"
#else
#define SAY_PER_THREAD                                                                                      \
    "adrp x16, :gottprel:mg__cudart_per_thread\n\tldr x16, [x16, :gottprel_lo12:mg__cudart_per_thread]\n\t" \
    "mrs x17, tpidr_el0\n\tadd x16, x16, x17\n\tmov w17, #1\n\tstrb w17, [x16]\n\t"
#endif
#define ENTRY(name, in) "mg__entry_" #name "_" #in
#define EXPORT(name) ".globl " #name "\n\t.type " #name ", %function\n" #name ":\n\t"
#define CODE(name, in, target, note)                                                                         \
    __asm__(".text\n\t.p2align 4\n\t" IF_##in(EXPORT(name)) ".type " ENTRY(name, in) ", %function\n" ENTRY(  \
        name, in) ":\n\t" LANDING ".ifeqs " #note ", \"per-thread default stream\"\n\t" SAY_PER_THREAD       \
                  ".endif\n\t" JUMP target "\n\t.size " ENTRY(name, in) ", .-" ENTRY(name, in) "\n" IF_##in( \
                      "\t.size " #name ", .-" #name "\n"));
#define API(name, in, function, note) CODE(name, in, #function, note)
#define API_LATER(name, in, note) CODE(name, in, "mg__later_" #name, "")
#include "cudart/api.def"
#undef API
#undef API_LATER

/* The same for redirect.c, for both versions: a static program brings its own. */
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

/* Linked with -z initfirst: this runs before the constructors of every other object, which register their fatbins.
 * With libcudart.so.12 and .13 both preloaded, the first to come redirects. */
__attribute__((visibility("default"))) int margay_cudart_claimed;

__attribute__((constructor)) static void start(void)
{
    mg__cudart.version = MARGAY_CUDART;
    int *claimed = dlsym(RTLD_DEFAULT, "margay_cudart_claimed");
    if (claimed && (*claimed)++)
        return;
    mg__cudart_redirect((void *)start);
}
