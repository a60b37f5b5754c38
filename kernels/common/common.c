/* common.c - what belongs to no operation: the names of statuses, the list of operations. */
#include "margay/kernels.h"

static const char *const names[] = {"MG_KERNELS_OK",
                                    "MG_KERNELS_ERR_INVALID",
                                    "MG_KERNELS_ERR_VARIANT",
                                    "MG_KERNELS_ERR_WORKSPACE",
                                    "MG_KERNELS_ERR_UNSUPPORTED",
                                    "MG_KERNELS_ERR_DEVICE"};
static const char *const texts[] = {"no error",
                                    "an argument is wrong: a null pointer, a size, a leading dimension",
                                    "the operation has no rung of that number",
                                    "the workspace is too small or not aligned to 256 bytes",
                                    "this rung cannot do it; MG_BEST can",
                                    "the CUDA runtime refused the launch"};

const char *mg_kernels_status_name(enum mg_kernels_status status)
{
    unsigned i = (unsigned)status;
    return i < sizeof names / sizeof *names ? names[i] : "unknown status";
}

const char *mg_kernels_status_text(enum mg_kernels_status status)
{
    unsigned i = (unsigned)status;
    return i < sizeof texts / sizeof *texts ? texts[i] : "unknown status";
}

static const struct mg_operation operations[] = {
#define OPERATION(name, text) {#name, text, mg_##name##_variants},
#include "common/operation.def"
#undef OPERATION
    {NULL, NULL, NULL},
};

const struct mg_operation *mg_operations(size_t *count)
{
    *count = sizeof operations / sizeof *operations - 1;
    return operations;
}
