/* module.c - code that a device loads: PTX out of text or of fatbins, put together where a program came in parts; and
 * what its machine code, which is not run, tells of the kernels.
 */
#include "device/device.h"

#include "device/link.h"
#include "fatbin/fatbin.h"
#include "ptx/source.h"

/* Parts of a linked program that have no PTX for this device. One may be missing: the device runtime, which programs
 * with dynamic parallelism carry. Its PTX is for the newest device alone, and the engine would not run it: a kernel
 * that calls it is told so when it does. */
struct left_out {
    unsigned parts;
    struct mg_diag why; /* of the first */
};

static bool may_be_missing(const struct left_out *left_out, const struct mg_ptx_module *ptx)
{
    bool asked_for = false;
    if (left_out->parts != 1)
        return left_out->parts == 0;
    for (size_t i = 0; i < ptx->nfuncs; i++) {
        const struct mg_ptx_func *f = ptx->funcs[i];
        bool device_runtime = mg__simt_device_runtime(f->name);
        asked_for |= device_runtime && !f->defined;
        if (!f->defined && !device_runtime && !mg__simt_provides(f->name))
            return false;
    }
    return asked_for;
}

/* ---- images ---- */
struct mg_device_image mg__device_image(const void *data)
{
    enum { FATBIN = (int)0xba55ed50u, WRAPPER = 0x466243b1, FATBIN_HEADER = 16, ELF_HEADER = 64 };
    struct mg_device_image image = {.data = data};
    int magic = 0;
    uint16_t header;
    uint64_t size;
    memcpy(&magic, data, strnlen(data, sizeof(magic)));
    if (magic == WRAPPER) { /* int magic, version; const void *data */
        const void *inside;
        memcpy(&inside, (const char *)data + 2 * sizeof(int), sizeof(inside));
        return inside ? mg__device_image(inside) : (struct mg_device_image){0};
    }
    if (magic == FATBIN) {
        memcpy(&header, (const char *)data + 6, sizeof(header));
        memcpy(&size, (const char *)data + 8, sizeof(size));
        image.size = MG_MAX(header + size, FATBIN_HEADER);
    } else if (!strncmp(data, "\177ELF", 4)) {
        image.size = ELF_HEADER; /* enough to say what it is */
    } else {
        image.text = true;
        image.size = strlen(data);
    }
    return image;
}

/* The PTX of one image, for the caller to free. *apart: products and sums are not fused, as it was built. */
static enum mg_status image_text(const struct mg_device_image *image, unsigned cc, char **text, size_t *length,
                                 bool *apart, struct mg_diag *diag)
{
    struct mg_fatbin_entry entry;
    const char *data = image->data;
    if (!data)
        return mg__diag_set(diag, MG_ERR_SYNTAX, "the program's fatbin wrapper is corrupt");
    if (image->text) {
        *length = image->size;
        *text = malloc(*length + 1);
        if (!*text)
            return mg__diag_set(diag, MG_ERR_NOMEM, "no host memory for the text of a module");
        memcpy(*text, data, *length);
        (*text)[*length] = '\0';
        return MG_OK;
    }
    if (mg__cubin_is(data, image->size)) {
        mg__diag_set(diag, MG_ERR_NO_PTX, "the module is machine code alone, and PTX is what is simulated");
        mg__diag_hint(
            diag, "load PTX (nvcc -ptx), or a fatbin that has some (-gencode arch=compute_%u,code=compute_%u)", cc, cc);
        return MG_ERR_NO_PTX;
    }
    enum mg_status status = mg__fatbin_choose(data, image->size, cc, &entry, diag);
    if (status)
        return status;
    *apart |= mg__fatbin_apart(&entry);
    return mg__fatbin_text(&entry, text, length, diag);
}

static enum mg_status linked_text(const struct mg_device_code *code, unsigned cc, char **text, size_t *length,
                                  bool *apart, struct left_out *left_out, struct mg_diag *diag)
{
    struct mg_linker *linker;
    enum mg_status status = mg__link_create(&linker);
    for (size_t i = 0; !status && i < code->nimages; i++) {
        char *part;
        size_t n;
        status = image_text(&code->images[i], cc, &part, &n, apart, diag);
        if (status == MG_ERR_NO_PTX) {
            if (!left_out->parts++)
                left_out->why = *diag;
            memset(diag, 0, sizeof(*diag));
            status = MG_OK;
        } else if (!status) {
            status = mg__link_add(linker, part, n, diag);
            free(part);
        }
    }
    if (!status)
        status = mg__link_finish(linker, text, length, diag);
    mg__link_destroy(linker);
    if (status && left_out->parts) {
        *diag = left_out->why;
        return left_out->why.status;
    }
    return status;
}

/* The source text that came with the PTX is told, and its files have the names that reports know them by. */
static enum mg_status tell_sources(struct mg_report_writer *report, const char *text, size_t length,
                                   struct mg_ptx_module *ptx, struct mg_diag *diag)
{
    const char *at = text, *end = text + length;
    struct mg_ptx_source source;
    while (mg__ptx_source_next(&at, end, &source)) {
        bool known = source.file < ptx->nfiles && ptx->files[source.file][0];
        char *decoded = known ? mg__ptx_source_text(&source) : NULL;
        const char *name = decoded ? mg__report_source(report, ptx->files[source.file], decoded, source.size) : NULL;
        free(decoded);
        if (!name || !strcmp(name, ptx->files[source.file]))
            continue;
        ptx->files[source.file] = mg__arena_strdup(&ptx->arena, name);
        if (!ptx->files[source.file])
            return mg__diag_set(diag, MG_ERR_NOMEM, "no host memory for a name");
    }
    return MG_OK;
}

static enum mg_status parse(const struct mg_device *device, const struct mg_device_code *code,
                            struct mg_ptx_module **ptx, struct mg_diag *diag)
{
    unsigned cc = device->arch.cc;
    struct left_out left_out = {0};
    char *text = NULL;
    size_t length = 0;
    bool apart = false;
    enum mg_status status = code->linked ? linked_text(code, cc, &text, &length, &apart, &left_out, diag)
                                         : image_text(&code->images[0], cc, &text, &length, &apart, diag);
    if (!status)
        status = mg__ptx_parse(text, length, ptx, diag);
    if (!status && (status = tell_sources(device->options.report, text, length, *ptx, diag)) != MG_OK)
        mg__ptx_free(*ptx);
    free(text);
    if (status)
        return status;
    if (!may_be_missing(&left_out, *ptx)) {
        mg__ptx_free(*ptx);
        *diag = left_out.why;
        return diag->status;
    }
    (*ptx)->apart |= apart;
    return MG_OK;
}

enum mg_status mg__device_link(const struct mg_device *device, const struct mg_device_code *code, char **text,
                               size_t *length, struct mg_diag *diag)
{
    struct left_out left_out = {0};
    bool apart = false;
    memset(diag, 0, sizeof(*diag));
    enum mg_status status = linked_text(code, device->arch.cc, text, length, &apart, &left_out, diag);
    if (!status && left_out.parts) {
        free(*text);
        *diag = left_out.why;
        status = diag->status;
    }
    return status;
}

/* ---- modules ---- */
/* Lines of a linked program's machine code are those of its parts' texts, and not of the one that was linked here. */
static void read_code(struct mg_device_module *m, const struct mg_device_image *machine, bool linked)
{
    struct mg_fatbin_entry entry;
    struct mg_diag ignored; /* damaged machine code hurts nobody: PTX is what runs */
    char *bytes;
    size_t size;
    if (!machine->data || mg__fatbin_code(machine->data, machine->size, m->device->arch.cc, false, &entry, &ignored) ||
        mg__fatbin_unpack(&entry, &bytes, &size, &ignored))
        return;
    m->code_cc = entry.sm;
    if (mg__cubin_read(bytes, size, &m->arena, &m->cubin, &ignored))
        memset(&m->cubin, 0, sizeof(m->cubin));
    for (size_t i = 0; linked && i < m->cubin.nkernels; i++)
        m->cubin.kernels[i].lines = NULL;
    free(bytes);
}

enum mg_status mg__device_load(struct mg_device *device, const struct mg_device_code *code,
                               struct mg_device_module **module, struct mg_diag *diag)
{
    struct mg_ptx_module *ptx;
    memset(diag, 0, sizeof(*diag));
    *module = NULL;
    enum mg_status status = parse(device, code, &ptx, diag);
    if (!status) {
        struct mg_device_module *m = calloc(1, sizeof(*m));
        bool kept = m && mg__vec_push(&device->modules, m);
        status = kept ? mg__simt_module_load(device->simt, ptx, &m->simt, diag)
                      : mg__diag_set(diag, MG_ERR_NOMEM, "no host memory for a module");
        if (status) {
            mg__ptx_free(ptx);
            device->modules.count -= kept;
            free(m);
        } else {
            m->device = device;
            m->ptx = ptx;
            mg__arena_init(&m->arena);
            read_code(m, &code->machine, code->linked);
            *module = m;
        }
    }
    if (status && !diag->message[0])
        mg__diag_set(diag, status, "the program's device code cannot be loaded: %s", mg_status_text(status));
    return status;
}

static void free_kernel(struct mg_device_kernel *k)
{
    free(k->name);
    free(k->told);
    free(k);
}

void mg__device_unload(struct mg_device_module *m)
{
    if (!m)
        return;
    struct mg_device *d = m->device;
    size_t at = 0;
    while (d->modules.at[at] != m)
        at++;
    d->modules.at[at] = d->modules.at[--d->modules.count];
    for (size_t i = 0; i < m->kernels.count; i++)
        free_kernel(m->kernels.at[i]);
    mg__vec_free(&m->kernels);
    mg__simt_module_unload(m->simt);
    mg__arena_free(&m->arena);
    free(m);
}

/* ---- kernels ---- */
/* What the command had ptxas make of the kernel's PTX: nearly what a driver would. */
static void apply_told(struct mg_device_kernel *k)
{
    const unsigned cc = k->module->device->arch.cc;
    const char *name = k->info.name, *line = k->module->device->options.regs;
    size_t n = strlen(name);
    while (line && *line && (strncmp(line, name, n) || line[n] != ' '))
        line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    unsigned long regs = line && *line ? strtoul(line + n, NULL, 10) : 0;
    if (!regs || regs > 255)
        return;
    k->info.regs = (uint32_t)regs;
    k->assembled = true;
    snprintf(k->regs_from, sizeof(k->regs_from), "ptxas for %u.%u", cc / 10, cc % 10);
}

/* What the compiler gave the kernel, in place of the engine's estimate. */
static void apply_code(struct mg_device_kernel *k)
{
    struct mg_device_module *m = k->module;
    const struct mg_arch *arch = &m->device->arch;
    unsigned from = m->code_cc;
    const struct mg_cubin_kernel *compiled = mg__cubin_find(&m->cubin, k->info.name);
    snprintf(k->regs_from, sizeof(k->regs_from), "an estimate");
    if (!compiled)
        return;
    k->info.regs = compiled->regs;
    k->barriers = compiled->barriers;
    k->exact = from <= arch->cc && from / 10 == arch->cc / 10;
    snprintf(k->regs_from, sizeof(k->regs_from), "machine code for %u.%u", from / 10, from % 10);
    if (!k->exact)
        return;
    k->info.shared_static = compiled->shared_static; /* rounded up, as a device tells and counts it */
    /* A device counts only blocks that the register file takes. */
    struct mg_occupancy_query q = mg_arch_query(k->info.max_threads, compiled->regs, 0, 0);
    while (q.threads > 32 && mg__arch_blocks_per_sm(arch, q.threads, compiled->regs, 0) == 0)
        q.threads = (q.threads - 1) / 32 * 32;
    k->info.max_threads = q.threads;
}

/* A kernel that times itself. One that reads the timer and waits, by mbarriers or naps, asks only when to give up: what
 * the C++ library makes of every such wait. */
static bool reads_clock(const struct mg_ptx_func *f)
{
    bool cycles = false, timer = false, waits = false;
    for (size_t i = 0; i < f->noperands; i++) {
        const struct mg_ptx_opnd *o = &f->operands[i];
        cycles |= o->kind == MG_OPND_SREG && o->index >= MG_SR_CLOCK && o->index <= MG_SR_CLOCK64;
        timer |= o->kind == MG_OPND_SREG && o->index >= MG_SR_GLOBALTIMER && o->index <= MG_SR_GLOBALTIMER_HI;
    }
    for (size_t i = 0; timer && i < f->ninsns; i++)
        waits |= mg__ptx_isa((enum mg_ptx_opcode)f->insns[i].opcode)->group == MG_G_MBARRIER ||
                 f->insns[i].opcode == MG_OP_NANOSLEEP;
    return cycles || (timer && !waits);
}

enum mg_status mg__device_kernel(struct mg_device_module *m, const char *name, struct mg_device_kernel **kernel)
{
    struct mg_simt_kernel *simt = mg__simt_kernel_find(m->simt, name);
    *kernel = NULL;
    if (!simt)
        return MG_ERR_NOT_FOUND;
    for (size_t i = 0; i < m->kernels.count; i++)
        if (m->kernels.at[i]->simt == simt) {
            *kernel = m->kernels.at[i];
            return MG_OK;
        }
    struct mg_device_kernel *k = calloc(1, sizeof(*k));
    if (!k)
        return MG_ERR_NOMEM;
    k->module = m;
    k->simt = simt;
    k->carveout = -1;
    k->number = m->device->nkernels++;
    mg__simt_kernel_info(simt, &k->info);
    k->name = mg__report_demangle(name);
    if (!k->name || !mg__vec_push(&m->kernels, k)) {
        free_kernel(k);
        return MG_ERR_NOMEM;
    }
    apply_code(k);
    if (!k->exact)
        apply_told(k);
    const struct mg_device_options *o = &m->device->options;
    k->wanted = o->report && (!o->only || !regexec(o->only, k->name, 0, NULL, 0));
    k->reads_clock = reads_clock(k->info.func);
    *kernel = k;
    return MG_OK;
}
