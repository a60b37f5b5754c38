/* embed.c - the public interface of margay.h: a context is a device (device.h) whose report stays in memory, and its
 * modules and kernels are the device's.
 */
#include "margay/margay.h"

#include "device/device.h"

struct mg_context {
    struct mg_device *device;
    struct mg_report_writer *report; /* NULL: nothing is counted */
    struct mg_diag diag;
};

static struct mg_device_module *module_of(struct mg_module *module)
{
    return (struct mg_device_module *)module;
}

static struct mg_context *context_of(struct mg_module *module)
{
    return module_of(module)->device->skin;
}

static enum mg_status fail(struct mg_context *c, enum mg_status status, const char *message)
{
    return mg__diag_set(&c->diag, status, "%s", message);
}

enum mg_status mg_context_create(const struct mg_options *options, struct mg_context **context)
{
    const char *verbose = getenv("MARGAY_VERBOSE");
    struct mg_device_options o = {.engine = getenv("MARGAY_ENGINE"), .verbose = verbose && !strcmp(verbose, "1")};
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
    enum mg_status status = MG_OK;
    if (options && options->profile) {
        o.checks = options->profile & MG_PROFILE_CHECK ? mg__check_parse("race,barrier,init,bounds,launch") : 0;
        o.both = options->profile & ~MG_PROFILE_CHECK;
        struct mg_report_device header = mg__device_header(&o);
        status = mg__report_keep(&header, &c->report);
        o.report = c->report;
    }
    if (status == MG_OK)
        status = mg__device_create(&o, &c->device, &c->diag);
    if (status != MG_OK) {
        mg_context_destroy(c);
        return status;
    }
    c->device->skin = c;
    *context = c;
    return MG_OK;
}

void mg_context_destroy(struct mg_context *c)
{
    if (!c)
        return;
    mg__device_destroy(c->device);
    mg__report_close(c->report);
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
    enum mg_status status = mg__mem_alloc(c->device->simt, size, 256, address);
    if (status == MG_OK)
        mg__check_allocated(c->device->check, *address, size, MG_CHECK_DEVICE);
    return status == MG_OK ? status : fail(c, status, "no device memory is left for an allocation of that size");
}

enum mg_status mg_mem_write(struct mg_context *c, uint64_t address, const void *data, size_t size)
{
    if (!c || (!data && size))
        return MG_ERR_INVALID;
    struct mg_allocation at;
    if (size && (!mg__mem_find(c->device->simt, address, &at) || size > at.size - (address - at.address)))
        return fail(c, MG_ERR_ADDRESS, "the bytes do not fit into the allocation at that address");
    if (size)
        memcpy((void *)(uintptr_t)address, data, size);
    mg__check_filled(c->device->check, address, size);
    return MG_OK;
}

enum mg_status mg_mem_free(struct mg_context *c, uint64_t address)
{
    if (!c)
        return MG_ERR_INVALID;
    if (!address)
        return MG_OK;
    enum mg_status status = mg__mem_free(c->device->simt, address);
    if (status == MG_OK)
        mg__check_freed(c->device->check, address);
    return status == MG_OK ? status : fail(c, status, "no allocation begins at the address that was to be freed");
}

enum mg_status mg_module_load(struct mg_context *c, const char *ptx, size_t length, struct mg_module **module)
{
    if (!c || !ptx || !module)
        return MG_ERR_INVALID;
    *module = NULL;
    const struct mg_device_image image = {ptx, length, true};
    const struct mg_device_code code = {.images = &image, .nimages = 1};
    struct mg_device_module *m;
    enum mg_status status = mg__device_load(c->device, &code, &m, &c->diag);
    *module = (struct mg_module *)m;
    return status;
}

enum mg_status mg_module_symbol(struct mg_module *module, const char *name, uint64_t *address, size_t *size)
{
    uint64_t bytes;
    if (!module || !name || !address)
        return MG_ERR_INVALID;
    if (!mg__simt_module_symbol(module_of(module)->simt, name, address, &bytes))
        return mg__diag_set(&context_of(module)->diag, MG_ERR_NOT_FOUND, "the module has no variable %s", name);
    if (size)
        *size = bytes;
    return MG_OK;
}

enum mg_status mg_kernel_find(struct mg_module *module, const char *name, struct mg_kernel **kernel)
{
    if (!module || !name || !kernel)
        return MG_ERR_INVALID;
    struct mg_device_kernel *k;
    enum mg_status status = mg__device_kernel(module_of(module), name, &k);
    *kernel = (struct mg_kernel *)k;
    if (status == MG_ERR_NOT_FOUND)
        return mg__diag_set(&context_of(module)->diag, status, "the module has no kernel %s", name);
    return status == MG_OK ? status : fail(context_of(module), status, "no host memory for a kernel");
}

enum mg_status mg_launch(struct mg_context *c, struct mg_kernel *kernel, struct mg_dim3 grid, struct mg_dim3 block,
                         uint32_t shared, void *const *args)
{
    struct mg_device_kernel *k = (struct mg_device_kernel *)kernel;
    if (!c || !k || k->module->device != c->device)
        return MG_ERR_INVALID;
    const struct mg_arch *arch = &c->device->arch;
    /* Nobody has to ask for more than 48 KiB here: every kernel may have what is left. */
    (void)mg__device_allow(k, arch->shared_block_optin - MG_MIN(k->info.shared_static, arch->shared_block_optin));
    const struct mg_device_launch launch = {.grid = grid, .block = block, .shared = shared, .args = args};
    struct mg_device_outcome outcome;
    if (mg__device_launch(k, &launch, &outcome) != MG_OK) {
        (void)mg__diag_set(&c->diag, outcome.status, "%s: %s", k->name, outcome.diag.message);
        memcpy(outcome.diag.message, c->diag.message, sizeof c->diag.message);
        c->diag = outcome.diag;
    }
    fflush(stdout);
    return outcome.status;
}

enum mg_status mg_report_json(struct mg_context *c, char **json)
{
    struct mg_report_writer *writer;
    if (!c || !json)
        return MG_ERR_INVALID;
    *json = NULL;
    enum mg_status status = MG_OK;
    if (!(writer = c->report)) { /* nothing is counted: a report without launches */
        struct mg_report_device header = mg__device_header(&c->device->options);
        status = mg__report_keep(&header, &writer);
    }
    if (status == MG_OK)
        status = mg__report_take(writer, json);
    if (writer != c->report)
        mg__report_close(writer);
    return status == MG_OK ? status : fail(c, status, "no host memory for the report");
}
