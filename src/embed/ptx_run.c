/* ptx_run.c - one call that runs a kernel given as PTX text, as tinygrad's continuous integration drives an emulator.
 *
 *     OCELOT_PATH=/path/to/libmargay.so ... python3 ...
 *
 * The call has no context, so this file has one for the process: a device that trusts the host's memory, because its
 * pointers are plain host addresses of unknown extent, and the modules that it has loaded, by their text. Of these it
 * keeps the last KEPT. Calls from several threads take turns. There is nobody to return an error to: it goes to
 * standard error, and the process ends.
 */
#include "margay/margay.h"

#include "device/device.h"

#include <pthread.h>

enum { KEPT = 256 };
static struct {
    pthread_mutex_t lock;
    struct mg_device *device;
    struct kept {
        char *text;
        uint64_t hash, used; /* the call that used it last */
        struct mg_device_module *module;
        struct mg_device_kernel *kernel;
    } kept[KEPT];
    uint64_t calls;
} run = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Noreturn void end(const char *what, const struct mg_diag *diag)
{
    fprintf(stderr, "margay: error: ptx_run: %s%s%s\n", what, diag ? ": " : "", diag ? diag->message : "");
    if (diag && diag->excerpt[0])
        fprintf(stderr, "margay:   line %u: %s\n", diag->line, diag->excerpt);
    if (diag && diag->hint[0])
        fprintf(stderr, "margay:   %s\n", diag->hint);
    abort();
}

static void make_device(void)
{
    const char *verbose = getenv("MARGAY_VERBOSE");
    struct mg_device_options options = {.engine = getenv("MARGAY_ENGINE"), .verbose = verbose && !strcmp(verbose, "1")};
    struct mg_diag diag;
    memset(&diag, 0, sizeof(diag));
    if (mg__device_create(&options, &run.device, &diag))
        end("no device", &diag);
    if (mg__mem_trust_host(run.device->simt))
        end("no device for the host's memory", NULL);
}

static void load(struct kept *kept, const char *text, uint64_t hash)
{
    const struct mg_device_image image = {text, strlen(text), true};
    const struct mg_device_code code = {.images = &image, .nimages = 1};
    struct mg_diag diag;
    memset(&diag, 0, sizeof(diag));
    mg__device_unload(kept->module);
    free(kept->text);
    *kept = (struct kept){.hash = hash};
    if (mg__device_load(run.device, &code, &kept->module, &diag))
        end("the PTX was not loaded", &diag);
    const struct mg_ptx_module *ptx = kept->module->ptx;
    for (size_t i = 0; i < ptx->nfuncs && !kept->kernel; i++)
        if (ptx->funcs[i]->is_entry && ptx->funcs[i]->defined &&
            mg__device_kernel(kept->module, ptx->funcs[i]->name, &kept->kernel))
            end("its first entry cannot be run", NULL);
    if (!kept->kernel)
        end("the PTX has no entry", NULL);
    kept->text = strdup(text);
    if (!kept->text)
        end("no memory", NULL);
}

/* The module of this text: kept, or in the place of the one that was not used for longest. */
static struct mg_device_kernel *kernel_of(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    struct kept *oldest = &run.kept[0];
    for (const char *c = text; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 1099511628211u;
    run.calls++;
    for (size_t i = 0; i < KEPT; i++) {
        struct kept *k = &run.kept[i];
        if (k->text && k->hash == hash && !strcmp(k->text, text)) {
            k->used = run.calls;
            return k->kernel;
        }
        if (k->used < oldest->used)
            oldest = k;
    }
    load(oldest, text, hash);
    oldest->used = run.calls;
    return oldest->kernel;
}

void ptx_run(const char *ptx, int n_args, void **args, int block_x, int block_y, int block_z, int grid_x, int grid_y,
             int grid_z, int shared)
{
    if (!ptx || n_args < 0 || (n_args && !args) || shared < 0)
        end("it was given no PTX, no arguments, or a negative size", NULL);
    pthread_mutex_lock(&run.lock);
    if (!run.device)
        make_device();
    struct mg_device_kernel *kernel = kernel_of(ptx);
    const struct mg_ptx_func *func = kernel->info.func;
    struct mg_diag diag;
    memset(&diag, 0, sizeof(diag));
    if ((size_t)n_args < func->nparams) {
        mg__diag_set(&diag, MG_ERR_INVALID, "the kernel has %zu parameters, and %d came", (size_t)func->nparams,
                     n_args);
        end(kernel->name, &diag);
    }
    void **places = calloc((size_t)n_args + 1, sizeof(*places));
    if (!places)
        end("no memory", NULL);
    for (int i = 0; i < n_args; i++)
        places[i] = &args[i]; /* args[i] is the value itself; a shorter parameter is its first bytes */
    const struct mg_arch *arch = &run.device->arch;
    (void)mg__device_allow(kernel,
                           arch->shared_block_optin - MG_MIN(kernel->info.shared_static, arch->shared_block_optin));
    const struct mg_device_launch launch = {
        .grid = {(uint32_t)grid_x, (uint32_t)grid_y, (uint32_t)grid_z},
        .block = {(uint32_t)block_x, (uint32_t)block_y, (uint32_t)block_z},
        .shared = (uint64_t)shared,
        .args = places,
    };
    struct mg_device_outcome outcome;
    if (mg__device_launch(kernel, &launch, &outcome))
        end(kernel->name, &outcome.diag);
    free(places);
    fflush(stdout);
    pthread_mutex_unlock(&run.lock);
}
