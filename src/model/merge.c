/* merge.c - what ptxas makes of a kernel's accesses before the hardware counts them. */
#include "model/model_priv.h"

struct mg_model_plan *mg__model_merge(const struct mg_ptx_func *func)
{
    return calloc(func->ninsns + 1, sizeof(struct mg_model_plan));
}
