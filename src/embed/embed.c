/* embed.c - the public interface of margay.h over the engine, the models and the report. */
#include "margay/margay.h"

#include "arch/arch.h"
#include "jit/jit.h"
#include "model/model.h"
#include "report/report.h"
#include "simt/simt.h"

struct mg_context {
    struct mg_simt *simt;
    struct mg_engine *engine; /* NULL: interpreted */
    struct mg_model *model;
    struct mg_diag diag;
    struct mg_strbuf launches; /* JSON objects, separated by commas */
    bool lost;                 /* a record did not fit into memory */
    uint32_t regs;             /* of the kernel that is running */
    uint64_t began;
    struct mg_module *modules;
};
struct mg_kernel {
    struct mg_context *context;
    struct mg_simt_kernel *kernel;
    struct mg_kernel *next;
};
struct mg_module {
    struct mg_context *context;
    struct mg_simt_module *module;
    struct mg_kernel *kernels;
    struct mg_module *next;
};

static enum mg_status fail(struct mg_context *c, enum mg_status status, const char *message)
{
    return mg__diag_set(&c->diag, status, "%s", message);
}

static void record(void *arg, struct mg_report_launch *launch)
{
    struct mg_context *c = arg;
    launch->regs = c->regs;
    launch->seconds = (double)(mg__time_ns() - c->began) * 1e-9;
    if (c->launches.count && !mg__strbuf_append(&c->launches, ",\n", 2))
        c->lost = true;
    if (!mg__report_launch_json(launch, &c->launches))
        c->lost = true;
}

enum mg_status mg_context_create(const struct mg_options *options, struct mg_context **context)
{
    struct mg_simt_options o = {0};
    if (!context)
        return MG_ERR_INVALID;
    *context = NULL;
    if (options) {
        o.threads = options->threads;
        o.timeout_ms = options->timeout_ms;
        o.arch = mg_arch_find(options->device_cc ? options->device_cc : 90);
        if (!o.arch)
            return MG_ERR_NOT_FOUND;
    }
    struct mg_context *c = calloc(1, sizeof *c);
    if (!c)
        return MG_ERR_NOMEM;
    enum mg_status status = mg__simt_create(&o, &c->simt);
    if (status == MG_OK)
        status = mg__jit_choose(c->simt, &c->engine, &c->diag);
    if (status == MG_OK && options && options->profile) {
        status = mg__model_create(mg__simt_arch(c->simt), record, c, &c->model);
        if (status == MG_OK) {
            struct mg_observer observer = mg__model_observer(c->model);
            status = mg__simt_observe(c->simt, &observer);
        }
    }
    if (status != MG_OK) {
        mg_context_destroy(c);
        return status;
    }
    *context = c;
    return MG_OK;
}

void mg_context_destroy(struct mg_context *c)
{
    if (!c)
        return;
    while (c->modules) {
        struct mg_module *m = c->modules;
        c->modules = m->next;
        while (m->kernels) {
            struct mg_kernel *k = m->kernels;
            m->kernels = k->next;
            free(k);
        }
        free(m);
    }
    mg__simt_destroy(c->simt);
    mg__jit_close(c->engine);
    if (c->model)
        mg__model_destroy(c->model);
    mg__strbuf_free(&c->launches);
    free(c);
}

const struct mg_diag *mg_last_error(const struct mg_context *context)
{
    return context ? &context->diag : NULL;
}

enum mg_status mg_mem_alloc(struct mg_context *c, size_t size, uint64_t *address)
{
    if (!c || !address)
        return MG_ERR_INVALID;
    enum mg_status status = mg__mem_alloc(c->simt, size, 256, address);
    return status == MG_OK ? status : fail(c, status, "no device memory is left for an allocation of that size");
}

enum mg_status mg_mem_free(struct mg_context *c, uint64_t address)
{
    if (!c)
        return MG_ERR_INVALID;
    if (!address)
        return MG_OK;
    enum mg_status status = mg__mem_free(c->simt, address);
    return status == MG_OK ? status : fail(c, status, "no allocation begins at the address that was to be freed");
}

enum mg_status mg_module_load(struct mg_context *c, const char *ptx, size_t length, struct mg_module **module)
{
    if (!c || !ptx || !module)
        return MG_ERR_INVALID;
    *module = NULL;
    struct mg_ptx_module *parsed;
    enum mg_status status = mg__ptx_parse(ptx, length, &parsed, &c->diag);
    if (status != MG_OK)
        return status;
    struct mg_module *m = calloc(1, sizeof *m);
    status = m ? mg__simt_module_load(c->simt, parsed, &m->module, &c->diag)
               : fail(c, MG_ERR_NOMEM, "no host memory for a module");
    if (status != MG_OK) {
        mg__ptx_free(parsed);
        free(m);
        return status;
    }
    m->context = c;
    m->next = c->modules;
    c->modules = m;
    *module = m;
    return MG_OK;
}

enum mg_status mg_module_symbol(struct mg_module *module, const char *name, uint64_t *address, size_t *size)
{
    uint64_t bytes;
    if (!module || !name || !address)
        return MG_ERR_INVALID;
    if (!mg__simt_module_symbol(module->module, name, address, &bytes))
        return mg__diag_set(&module->context->diag, MG_ERR_NOT_FOUND, "the module has no variable %s", name);
    if (size)
        *size = bytes;
    return MG_OK;
}

enum mg_status mg_kernel_find(struct mg_module *module, const char *name, struct mg_kernel **kernel)
{
    if (!module || !name || !kernel)
        return MG_ERR_INVALID;
    *kernel = NULL;
    struct mg_simt_kernel *found = mg__simt_kernel_find(module->module, name);
    if (!found)
        return mg__diag_set(&module->context->diag, MG_ERR_NOT_FOUND, "the module has no kernel %s", name);
    struct mg_kernel *k = module->kernels;
    while (k && k->kernel != found)
        k = k->next;
    if (!k) {
        if (!(k = calloc(1, sizeof *k)))
            return fail(module->context, MG_ERR_NOMEM, "no host memory for a kernel");
        *k = (struct mg_kernel){module->context, found, module->kernels};
        module->kernels = k;
    }
    *kernel = k;
    return MG_OK;
}

enum mg_status mg_launch(struct mg_context *c, struct mg_kernel *kernel, struct mg_dim3 grid, struct mg_dim3 block,
                         uint32_t shared, void *const *args)
{
    struct mg_simt_kernel_info info;
    if (!c || !kernel || kernel->context != c)
        return MG_ERR_INVALID;
    mg__simt_kernel_info(kernel->kernel, &info);
    if (info.func->nparams && !args)
        return fail(c, MG_ERR_INVALID, "the kernel has parameters, and args is null");
    uint8_t *params = calloc(1, info.param_size + 1);
    if (!params)
        return fail(c, MG_ERR_NOMEM, "no host memory for a launch");
    for (size_t i = 0; i < info.func->nparams; i++)
        memcpy(params + info.func->params[i]->offset, args[i], info.func->params[i]->size);
    const struct mg_simt_launch launch = {.grid = grid, .block = block, .shared = shared, .params = params,
                                          .shared_optin = mg__simt_arch(c->simt)->shared_block_optin};
    c->regs = info.regs;
    c->began = mg__time_ns();
    enum mg_status status = mg__simt_launch(c->simt, kernel->kernel, &launch, &c->diag);
    free(params);
    fflush(stdout);
    return status;
}

enum mg_status mg_report_json(struct mg_context *c, char **json)
{
    if (!c || !json)
        return MG_ERR_INVALID;
    *json = NULL;
    const struct mg_arch *arch = mg__simt_arch(c->simt);
    struct mg_strbuf out = {0};
    bool good =
        !c->lost &&
        mg__strbuf_printf(&out,
                          "{\"margay\": {\"version\": \"%s\", \"schema\": 1},\n\"device\": {\"name\": \"%s\", "
                          "\"compute_capability\": \"%u.%u\", \"sm_count\": %u},\n\"launches\": [",
                          MG_VERSION_STRING, arch->board->name, arch->cc / 10, arch->cc % 10, arch->board->sm_count) &&
        mg__strbuf_append(&out, c->launches.at ? c->launches.at : "", c->launches.count) &&
        mg__strbuf_printf(&out, "],\n\"findings\": []}\n");
    mg__strbuf_free(&c->launches);
    c->lost = false;
    if (!good) {
        mg__strbuf_free(&out);
        return fail(c, MG_ERR_NOMEM, "no host memory for the report");
    }
    *json = out.at;
    return MG_OK;
}
