/* fuzz_ptx.c - any bytes are PTX text or a failure with a place; what parses, prints to a
 * fixed point and has a graph. */
#include "cfg/cfg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok)
        abort();
}

static void check_graph(const struct mg_ptx_func *func)
{
    struct mg_cfg *cfg;
    if (mg__cfg_build(func, &cfg) != MG_OK)
        return;
    for (uint32_t i = 0; i < cfg->nblocks; i++) {
        check(cfg->blocks[i].first < cfg->blocks[i].end);
        check(cfg->blocks[i].ipdom == MG_CFG_EXIT || cfg->blocks[i].ipdom < cfg->nblocks);
        check(cfg->blocks[i].idom < cfg->nblocks);
    }
    mg__cfg_free(cfg);
}

/* Every index that an instruction holds is one that exists. */
static void check_operand(const struct mg_ptx_func *func, const struct mg_ptx_opnd *op, unsigned depth)
{
    check(depth < 3);
    if (op->kind == MG_OPND_REG || (op->kind == MG_OPND_ADDR && op->has_reg))
        check(op->index < func->nregs);
    if (op->kind == MG_OPND_LABEL)
        check(op->index <= func->ninsns);
    if (op->kind == MG_OPND_TABLE)
        check(op->index < func->ntables);
    if (op->kind == MG_OPND_PROTO)
        check(op->index < func->nprotos);
    if (op->kind == MG_OPND_SYMBOL)
        check(op->var || op->func);
    for (uint32_t i = 0; i < op->count; i++) {
        check(op->first + i < func->noperands);
        check_operand(func, &func->operands[op->first + i], depth + 1);
    }
}

static void check_func(const struct mg_ptx_func *func)
{
    for (size_t i = 0; i < func->ninsns; i++) {
        const struct mg_ptx_insn *insn = &func->insns[i];
        check(insn->first_op + (size_t)insn->nops <= func->noperands);
        check(insn->guard < (int64_t)func->nregs);
        for (unsigned k = 0; k < insn->nops; k++)
            check_operand(func, mg__ptx_op(func, insn, k), 0);
    }
    check_graph(func);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mg_ptx_module *module, *again;
    struct mg_diag diag;
    if (mg__ptx_parse((const char *)data, size, &module, &diag) != MG_OK) {
        check(diag.message[0] != '\0' && !module);
        check(diag.status != MG_ERR_SYNTAX || diag.line > 0);
        return 0;
    }
    for (size_t i = 0; i < module->nfuncs; i++)
        check_func(module->funcs[i]);
    struct mg_strbuf first = {0}, second = {0};
    check(mg__ptx_print(module, &first));
    if (mg__ptx_parse(first.at, first.count, &again, &diag) != MG_OK) {
        fprintf(stderr, "%u:%u: %s\n%s\n----\n%s", diag.line, diag.column, diag.message, diag.excerpt, first.at);
        abort();
    }
    check(mg__ptx_print(again, &second));
    if (strcmp(first.at, second.at) != 0) {
        fprintf(stderr, "printed twice:\n%s\n----\n%s", first.at, second.at);
        abort();
    }
    mg__strbuf_free(&first);
    mg__strbuf_free(&second);
    mg__ptx_free(module);
    mg__ptx_free(again);
    return 0;
}
