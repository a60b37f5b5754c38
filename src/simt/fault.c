/* fault.c - a launch goes wrong: the record that names the instruction, its source line, the block and the thread. */
#include "simt/simt_priv.h"

const struct mg_op *mg__fault(struct mg_warp *w, const struct mg_op *op, uint32_t lane, enum mg_status status,
                              const char *format, ...)
{
    struct mg_worker *worker = w->worker;
    struct mg_run *run = worker->run;
    if (!worker->passes || (status != MG_ERR_ADDRESS && status != MG_ERR_MISALIGNED)) {
        w->stop = MG_STOP_FAULT;
        atomic_store(&run->stop, 1);
    }
    if (worker->diag.status != MG_OK)
        return NULL;
    char what[384];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    const struct mg_block *b = w->block;
    mg__diag_set(&worker->diag, status, "%s: %s (block %u,%u,%u, thread %u,%u,%u)", run->info.kernel, what, b->ctaid[0],
                 b->ctaid[1], b->ctaid[2], w->tid[0][lane], w->tid[1][lane], w->tid[2][lane]);
    if (op && op->insn < run->program->ninsns) {
        const struct mg_insn_info *i = &run->program->insns[op->insn];
        struct mg_strbuf text = {0};
        if (i->line)
            mg__diag_at(&worker->diag, i->file, i->line, 0);
        else
            mg__diag_at(&worker->diag, "<ptx>", i->insn->ptx_line, 0);
        if (mg__ptx_print_insn(run->info.module, i->func, i->insn, &text) && text.at)
            mg__diag_excerpt(&worker->diag, text.at, text.count);
        mg__strbuf_free(&text);
    }
    worker->fault_block = b->linear;
    return NULL;
}

void mg__fault_hint(struct mg_warp *w, const char *format, ...)
{
    struct mg_worker *worker = w->worker;
    if (worker->diag.status == MG_OK || worker->diag.hint[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(worker->diag.hint, sizeof worker->diag.hint, format, args);
    va_end(args);
}
