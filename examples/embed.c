/* embed.c - the simulator inside a C program: PTX text in, results and counters out.
 *
 * Build:  cc embed.c $(pkg-config --cflags --libs margay) -o embed      (or: make, which builds it as examples/embed)
 * Run:    ./embed
 *
 * The kernel reverses each block's 64 integers through shared memory: y[64 b + t] = x[64 b + 63 - t]. The stores to
 * shared memory are two words apart in half of the launches (`stride` 2), so that the report has a conflict to show.
 * Exits 0 if the results are right.
 */
#include <margay/margay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] = ".version 8.0\n"
                          ".target sm_90\n"
                          ".address_size 64\n"
                          ".visible .entry reverse(.param .u64 y, .param .u64 x, .param .u32 stride)\n"
                          "{\n"
                          "    .reg .b32 %r<10>;\n"
                          "    .reg .b64 %rd<6>;\n"
                          "    .shared .align 4 .b8 tile[512];\n"
                          "    ld.param.u64 %rd1, [y];\n"
                          "    ld.param.u64 %rd2, [x];\n"
                          "    ld.param.u32 %r1, [stride];\n"
                          "    cvta.to.global.u64 %rd1, %rd1;\n"
                          "    cvta.to.global.u64 %rd2, %rd2;\n"
                          "    mov.u32 %r2, %tid.x;\n"
                          "    mov.u32 %r3, %ctaid.x;\n"
                          "    shl.b32 %r4, %r3, 6;\n"
                          "    add.s32 %r4, %r4, %r2;\n" /* this thread's element */
                          "    mul.wide.u32 %rd3, %r4, 4;\n"
                          "    add.s64 %rd4, %rd2, %rd3;\n"
                          "    ld.global.u32 %r5, [%rd4];\n"
                          "    shl.b32 %r6, %r1, 2;\n" /* bytes between neighbours in the tile */
                          "    mov.u32 %r7, tile;\n"
                          "    mad.lo.s32 %r8, %r2, %r6, %r7;\n"
                          "    st.shared.u32 [%r8], %r5;\n"
                          "    bar.sync 0;\n"
                          "    sub.s32 %r9, 63, %r2;\n"
                          "    mad.lo.s32 %r8, %r9, %r6, %r7;\n"
                          "    ld.shared.u32 %r5, [%r8];\n"
                          "    add.s64 %rd5, %rd1, %rd3;\n"
                          "    st.global.u32 [%rd5], %r5;\n"
                          "    ret;\n"
                          "}\n";

enum { BLOCK = 64, BLOCKS = 16, COUNT = BLOCK * BLOCKS };

static int fail(struct mg_context *context, const char *what, enum mg_status status)
{
    const struct mg_diag *diag = context ? mg_last_error(context) : NULL;
    fprintf(stderr, "embed: %s: %s\n", what, diag && diag->message[0] ? diag->message : mg_status_text(status));
    if (context)
        mg_context_destroy(context);
    return 1;
}

int main(void)
{
    struct mg_context *context = NULL;
    struct mg_module *module;
    struct mg_kernel *kernel;
    uint64_t x_address, y_address;
    enum mg_status status;

    status = mg_context_create(&(struct mg_options){.profile = 1}, &context);
    if (status != MG_OK)
        return fail(NULL, "no context", status);
    if ((status = mg_module_load(context, ptx, strlen(ptx), &module)) != MG_OK)
        return fail(context, "the PTX does not load", status);
    if ((status = mg_kernel_find(module, "reverse", &kernel)) != MG_OK)
        return fail(context, "no such kernel", status);
    if ((status = mg_mem_alloc(context, COUNT * sizeof(uint32_t), &x_address)) != MG_OK ||
        (status = mg_mem_alloc(context, COUNT * sizeof(uint32_t), &y_address)) != MG_OK)
        return fail(context, "no memory", status);

    /* A device pointer is a host pointer: inputs are written and results read in place. */
    uint32_t *x = (uint32_t *)(uintptr_t)x_address, *y = (uint32_t *)(uintptr_t)y_address;
    for (uint32_t i = 0; i < COUNT; i++)
        x[i] = i * i;

    unsigned wrong = 0;
    for (uint32_t stride = 1; stride <= 2; stride++) {
        void *args[] = {&y_address, &x_address, &stride};
        memset(y, 0, COUNT * sizeof(uint32_t));
        status = mg_launch(context, kernel, (struct mg_dim3){BLOCKS, 1, 1}, (struct mg_dim3){BLOCK, 1, 1}, 0, args);
        if (status != MG_OK)
            return fail(context, "the launch failed", status);
        for (uint32_t i = 0; i < COUNT; i++)
            wrong += y[i] != x[i / BLOCK * BLOCK + BLOCK - 1 - i % BLOCK];
    }
    printf("reverse: %s\n", wrong ? "wrong" : "ok");

    char *json;
    if ((status = mg_report_json(context, &json)) != MG_OK)
        return fail(context, "no report", status);
    printf("%s\n", json);
    free(json);
    mg_context_destroy(context);
    return wrong ? 1 : 0;
}
