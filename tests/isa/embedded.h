/* embedded.h - a module's kernel through the engine, for the tests that hold it to what a GPU answered. */
#ifndef TESTS_ISA_EMBEDDED_H
#define TESTS_ISA_EMBEDDED_H
#include "margay/margay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct mg_context *context;

static int set_up(void **state)
{
    (void)state;
    struct mg_options options = {.threads = 2, .timeout_ms = 120000};
    return mg_context_create(&options, &context) == MG_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mg_context_destroy(context);
    return 0;
}

/* What the kernel "run" of the module, whose text is freed, makes of `in`. It is given the addresses of both, and two
 * numbers, which it need not have. False: it could not be run. */
static bool embedded_run(char *text, size_t length, unsigned blocks, unsigned threads, uint64_t a, uint64_t b,
                         const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
    struct mg_module *module;
    struct mg_kernel *kernel;
    uint64_t from, to;
    bool good = mg_module_load(context, text, length, &module) == MG_OK;
    if (good) {
        assert_int_equal(mg_kernel_find(module, "run", &kernel), MG_OK);
        assert_int_equal(mg_mem_alloc(context, in_bytes, &from), MG_OK);
        assert_int_equal(mg_mem_alloc(context, out_bytes, &to), MG_OK);
        memcpy((void *)(uintptr_t)from, in, in_bytes);
        void *args[] = {&from, &to, &a, &b};
        good = mg_launch(context, kernel, (struct mg_dim3){blocks, 1, 1}, (struct mg_dim3){threads, 1, 1}, 0, args) ==
               MG_OK;
        memcpy(out, (const void *)(uintptr_t)to, out_bytes);
        mg_mem_free(context, from);
        mg_mem_free(context, to);
    }
    if (!good) {
        const struct mg_diag *d = mg_last_error(context);
        print_error("%s: %s [%s]\n", mg_status_name(d->status), d->message, d->excerpt);
    }
    free(text);
    return good;
}
#endif
