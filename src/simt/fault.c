/* fault.c - a launch goes wrong, or does what a device only happens to let pass: the record that names the instruction,
 * its source line, the block and the thread.
 *
 * The line is the user's: where a toolkit header's code was inlined, the header's place stands beside it
 * (mg__ptx_place). Instructions and calls that the engine does not do become faults here when they are reached, not
 * before, so that a kernel with a path that it never takes runs.
 */
#include "simt/simt_priv.h"

/* What happened, and where: the block, the thread, the line and the instruction. */
static void record(struct mg_warp *w, const struct mg_op *op, uint32_t lane, struct mg_diag *diag,
                   enum mg_status status, const char *what)
{
    const struct mg_run *run = w->worker->run;
    const struct mg_block *b = w->block;
    mg__diag_set(diag, status, "%s: %s (block %u,%u,%u, thread %u,%u,%u)", run->info.kernel, what, b->ctaid[0],
                 b->ctaid[1], b->ctaid[2], w->tid[0][lane], w->tid[1][lane], w->tid[2][lane]);
    if (op && op->insn < run->program->ninsns) {
        const struct mg_insn_info *i = &run->program->insns[op->insn];
        struct mg_strbuf text = {0};
        struct mg_ptx_place place = mg__ptx_place(run->info.module, i->insn->loc);
        if (place.line) {
            mg__diag_at(diag, place.file, place.line, 0);
            mg__diag_inlined(diag, place.header, place.header_line);
        } else {
            mg__diag_at(diag, "<ptx>", i->insn->ptx_line, 0);
        }
        if (mg__ptx_print_insn(run->info.module, i->func, i->insn, &text) && text.at)
            mg__diag_excerpt(diag, text.at, text.count);
        mg__strbuf_free(&text);
    }
}

const struct mg_op *mg__fault(struct mg_warp *w, const struct mg_op *op, uint32_t lane, enum mg_status status,
                              const char *format, ...)
{
    struct mg_worker *worker = w->worker;
    if (!worker->passes || (status != MG_ERR_ADDRESS && status != MG_ERR_MISALIGNED)) {
        w->stop = MG_STOP_FAULT;
        mg__end_early(w->block->cluster);
    }
    worker->told_fault = worker->diag.status == MG_OK || w->block->cluster->linear < worker->fault_cluster;
    if (!worker->told_fault)
        return NULL;
    char what[384];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    record(w, op, lane, &worker->diag, status, what);
    worker->fault_cluster = w->block->cluster->linear;
    return NULL;
}

struct mg_diag *mg__warn(struct mg_warp *w, const struct mg_op *op, uint32_t lane, const char *format, ...)
{
    struct mg_worker *worker = w->worker;
    size_t i = 0;
    while (i < worker->nwarnings && worker->warnings[i].op != op)
        i++;
    if (i < worker->nwarnings && w->block->linear >= worker->warnings[i].block)
        return NULL;
    if (i == worker->nwarnings) {
        struct mg_warning *more = realloc(worker->warnings, (i + 1) * sizeof *more);
        if (!more)
            return NULL;
        worker->warnings = more;
        worker->nwarnings++;
    }
    char what[384];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    struct mg_warning *warning = &worker->warnings[i];
    *warning = (struct mg_warning){.op = op, .block = w->block->linear, .cluster = w->block->cluster->linear};
    record(w, op, lane, &warning->diag, MG_ERR_ADDRESS, what);
    return &warning->diag;
}

static bool before(const struct mg_warning *a, const struct mg_warning *b)
{
    return a->block != b->block ? a->block < b->block : a->op < b->op;
}

static struct mg_worker *worker_at(const struct mg_run *run, unsigned i)
{
    return i < run->nworkers ? &run->workers[i] : &run->rest->workers[i - run->nworkers];
}

void mg__warnings_tell(struct mg_run *run)
{
    const struct mg_warning *last = NULL, *next;
    const unsigned all = run->nworkers + (run->rest ? run->rest->nworkers : 0);
    do {
        next = NULL;
        for (unsigned i = 0; i < all; i++)
            for (size_t k = 0; k < worker_at(run, i)->nwarnings; k++) {
                const struct mg_warning *at = &worker_at(run, i)->warnings[k];
                if (at->cluster <= run->until && (!last || before(last, at)) && (!next || before(at, next)))
                    next = at;
            }
        if (next && run->launch->warn)
            run->launch->warn(run->launch->warn_context, &next->diag);
        last = next;
    } while (next);
    for (unsigned i = 0; i < all; i++)
        free(worker_at(run, i)->warnings);
}

void mg__fault_hint(struct mg_warp *w, const char *format, ...)
{
    struct mg_worker *worker = w->worker;
    if (!worker->told_fault || worker->diag.hint[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(worker->diag.hint, sizeof worker->diag.hint, format, args);
    va_end(args);
}

/* ---- what is not simulated ---- */
/* Behind "cuda" in the name that the program calls: the device runtime's functions carry a version in PTX. NULL: not
 * one of its. */
static const char *device_runtime_call(const char *name)
{
    static const char *const prefixes[] = {"__cudaCDP2", "__cudaCDP", "cudaCDP"};
    for (size_t i = 0; i < MG_COUNT(prefixes); i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
            return name + strlen(prefixes[i]);
    return NULL;
}

bool mg__simt_device_runtime(const char *function)
{
    return device_runtime_call(function) != NULL;
}

/* A call of a function that no PTX defines and the engine does not either. */
static void unsupported_call(struct mg_warp *w, const struct mg_op *op, uint32_t lane, const char *name)
{
    const char *call = device_runtime_call(name);
    if (!call) {
        mg__fault(w, op, lane, MG_ERR_UNSUPPORTED, "the function %s is called, and no PTX of the program defines it",
                  name);
        mg__fault_hint(w, "It may be machine code only: link its source, or build its library with PTX "
                          "(-gencode arch=compute_90,code=compute_90).");
        return;
    }
    if (!strncmp(call, "GetParameterBuffer", 18) || !strncmp(call, "LaunchDevice", 12))
        mg__fault(w, op, lane, MG_ERR_UNSUPPORTED,
                  "the kernel launches kernels (CUDA dynamic parallelism), which is not simulated");
    else
        mg__fault(w, op, lane, MG_ERR_UNSUPPORTED,
                  "the kernel calls cuda%s on the device (CUDA dynamic parallelism), which is not simulated", call);
    mg__fault_hint(w,
                   "Launch the inner kernel from the host once the outer one has ended, or do its work in the outer.");
}

MG_HANDLER(mg__op_unsupported)
{
    const struct mg_insn_info *i = &w->worker->run->program->insns[op->insn];
    const struct mg_ptx_insn *insn = i->insn;
    uint32_t lane = (uint32_t)__builtin_ctz(mask);
    const struct mg_ptx_opnd *target =
        insn->opcode == MG_OP_CALL && insn->nops > 1 ? mg__ptx_op(i->func, insn, 1) : NULL;
    if (target && target->kind == MG_OPND_FUNC &&
        (!target->func->defined || mg__simt_device_runtime(target->func->name))) {
        unsupported_call(w, op, lane, target->func->name);
        return NULL;
    }
    mg__fault(w, op, lane, MG_ERR_UNSUPPORTED, "the instruction %s is not simulated", insn->text);
    const char *since = mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->since_sm;
    if (strtoul(since, NULL, 10) > 90)
        mg__fault_hint(w,
                       "Devices have it from sm_%s on; the newest that is simulated is sm_90. Compile for that, with "
                       "all that it has: -gencode arch=compute_90a,code=[sm_90a,compute_90a].",
                       since);
    else if (!strncmp(insn->text, "multimem.", 9))
        mg__fault_hint(w, "It works on memory of several devices at once (multicast objects), which is not simulated. "
                          "Give the kernel a path for one device.");
    else
        mg__fault_hint(
            w, "docs/isa.md lists what is. Compile for an older architecture, or give the kernel a path without it.");
    return NULL;
}
