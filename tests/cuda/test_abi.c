/* The driver's abi.h against cuda.h: sizes, offsets, values, and error codes by their names. Structures of cuda.h keep
 * their layout under a name with a version, so that one header speaks for all from CUDA 12 on; it was last held to
 * those of 12.9 and 13.0. */
#include <cuda.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

extern const size_t abi_ours[], abi_our_errors[];

static void layouts(void **state)
{
#define SIZE(a, b) {sizeof(b), "sizeof " #b},
#define FIELD(a, f, b, g) {offsetof(b, g), #b "." #g},
#define VALUE(a, b) {(size_t)(b), #b},
    static const struct {
        size_t value;
        const char *what;
    } theirs[] = {
#include "cuda/abi.def"
    };
    (void)state;
    for (size_t i = 0; i < sizeof(theirs) / sizeof(*theirs); i++)
        if (theirs[i].value != abi_ours[i])
            fail_msg("%s: %zu, ours is %zu", theirs[i].what, theirs[i].value, abi_ours[i]);
}

#if CUDA_VERSION >= 13000 /* which has codes that 12.9 has not */
static void errors(void **state)
{
    static const struct {
        size_t value;
        const char *name;
    } theirs[] = {
#define CUDA_ERROR(value, name, text) {(size_t)(name), #name},
#include "cuda/errors.def"
    };
    (void)state;
    for (size_t i = 0; i < sizeof(theirs) / sizeof(*theirs); i++)
        if (theirs[i].value != abi_our_errors[i])
            fail_msg("%s: %zu, ours is %zu", theirs[i].name, theirs[i].value, abi_our_errors[i]);
}
#else
static void errors(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layouts), cmocka_unit_test(errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
