/* abi.h against the toolkit's headers: compiled where a CUDA 13 toolkit is found. CUDA 12's cudaDeviceProp is held to
 * numbers taken from the headers of 12.9. */
#include <cuda_runtime_api.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

extern const size_t abi_ours[];
extern const size_t abi_ours_12[4];

#if CUDART_VERSION >= 13000
static void layouts(void **state)
{
#define SIZE(a, b) {sizeof(b), "sizeof " #b},
#define FIELD(a, f, b, g) {offsetof(b, g), #b "." #g},
#define SAME_FIELD(f) {offsetof(struct cudaDeviceProp, f), "cudaDeviceProp." #f},
    static const struct {
        size_t value;
        const char *what;
    } theirs[] = {
#include "cudart/abi.def"
    };
    (void)state;
    for (size_t i = 0; i < sizeof(theirs) / sizeof(*theirs); i++)
        if (theirs[i].value != abi_ours[i])
            fail_msg("%s: %zu, ours is %zu", theirs[i].what, theirs[i].value, abi_ours[i]);
}
#else
static void layouts(void **state)
{
    (void)state;
    skip();
}
#endif

static void properties_of_12(void **state)
{
    (void)state;
    assert_int_equal(abi_ours_12[0], 1032); /* sizeof */
    assert_int_equal(abi_ours_12[1], 608);  /* memoryClockRate */
    assert_int_equal(abi_ours_12[2], 696);  /* sharedMemPerBlockOptin */
    assert_int_equal(abi_ours_12[3], 776);  /* unifiedFunctionPointers */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(layouts), cmocka_unit_test(properties_of_12)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
