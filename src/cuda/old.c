/* old.c - launches as they were before CUDA 4, which PyCUDA still makes: a function's block, shared memory and
 * parameters are set one by one, and then it is launched. They stay the function's until they are set anew.
 */
#include "cuda/driver.h"

enum { MOST_PARAMS = 4096 };
struct settings {
    struct mg_dim3 block;
    unsigned shared;
    size_t size; /* of the parameters */
    unsigned char params[MOST_PARAMS];
};

static struct settings *settings_of(const void *function)
{
    struct cudart_func *func = mg__cudart_func_known(function);
    if (func && !func->settings) {
        struct settings *s = calloc(1, sizeof(*s));
        if (s)
            s->block = (struct mg_dim3){1, 1, 1};
        func->settings = s;
    }
    return func ? func->settings : NULL;
}

static int set_block(void *function, int x, int y, int z)
{
    struct settings *s = settings_of(function);
    if (!s || x <= 0 || y <= 0 || z <= 0)
        return s ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    s->block = (struct mg_dim3){(unsigned)x, (unsigned)y, (unsigned)z};
    return 0;
}

static int set_shared(void *function, unsigned bytes)
{
    struct settings *s = settings_of(function);
    if (s)
        s->shared = bytes;
    return s ? 0 : CUDA_ERROR_INVALID_HANDLE;
}

static int set_size(void *function, unsigned bytes)
{
    struct settings *s = settings_of(function);
    if (!s || bytes > MOST_PARAMS)
        return s ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    s->size = bytes;
    return 0;
}

static int set_params(void *function, int offset, const void *value, unsigned bytes)
{
    struct settings *s = settings_of(function);
    if (!s)
        return CUDA_ERROR_INVALID_HANDLE;
    if (offset < 0 || offset > MOST_PARAMS || bytes > MOST_PARAMS - (unsigned)offset || (bytes && !value))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(s->params + offset, value, bytes);
    return 0;
}

static int launch(void *function, int width, int height, void *stream)
{
    struct settings *s = settings_of(function);
    if (!s || width <= 0 || height <= 0)
        return s ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    void *extra[] = {(void *)CU_PARAM_BUFFER, s->params, (void *)CU_PARAM_BUFFER_SIZE, &s->size, CU_PARAM_END};
    return mg__cuda_launch(
        function,
        &(struct cudart_request){
            .grid = {(unsigned)width, (unsigned)height, 1}, .block = s->block, .shared = s->shared, .stream = stream},
        NULL, extra);
}

CUDA_SAME(cuFuncSetBlockShape, (void *function, int x, int y, int z), set_block(function, x, y, z))
CUDA_SAME(cuFuncSetSharedSize, (void *function, unsigned bytes), set_shared(function, bytes))
CUDA_SAME(cuParamSetSize, (void *function, unsigned bytes), set_size(function, bytes))
CUDA_SAME(cuParamSeti, (void *function, int offset, unsigned value),
          set_params(function, offset, &value, sizeof(value)))
CUDA_SAME(cuParamSetf, (void *function, int offset, float value), set_params(function, offset, &value, sizeof(value)))
CUDA_SAME(cuParamSetv, (void *function, int offset, void *value, unsigned bytes),
          set_params(function, offset, value, bytes))
CUDA_SAME(cuLaunch, (void *function), launch(function, 1, 1, NULL))
CUDA_SAME(cuLaunchGrid, (void *function, int width, int height), launch(function, width, height, NULL))
CUDA_SAME(cuLaunchGridAsync, (void *function, int width, int height, void *stream),
          launch(function, width, height, stream))

/* A context was counted by those who use it: with the last of them it goes. There is one, as it was made. */
int mg__cuCtxAttach(void **context, unsigned flags)
{
    CUDA_ENTER();
    if (!context || flags)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    struct cudart_context *current = mg__cudart_current();
    current->attached++;
    *context = current;
    return mg__cuda_done(0);
}

int mg__cuCtxDetach(void *handle)
{
    CUDA_BEGIN();
    struct cudart_context *context = handle ? mg__cudart_context_of(handle) : NULL;
    if (!context || !context->device)
        return mg__cuda_done(CUDA_ERROR_INVALID_CONTEXT);
    if (context->attached) {
        context->attached--;
        return mg__cuda_done(0);
    }
    if (context->primary)
        return mg__cuda_done(CUDA_ERROR_INVALID_CONTEXT);
    if (mg__cudart_current() == context)
        mg__cudart_pop();
    return mg__cuda_done(mg__cudart_context_drop(context));
}
