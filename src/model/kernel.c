/* kernel.c - what all launches of a kernel have in common: how its instructions are counted, the order of its source
 * lines, names as one writes them. Working it out takes up to 100 us, as long as a short launch; so it is kept, the
 * latest of MG_MODEL_KEPT, by the number of the program.
 */
#include "model/model_priv.h"

static void free_kernel(struct mg_model_kernel *k)
{
    if (!k)
        return;
    for (uint32_t i = 0; k->vars && i < k->nvars; i++)
        free(k->vars[i]);
    free(k->vars);
    free(k->name);
    mg__model_made_free(k->made);
    free(k->order);
    free(k);
}

static int by_file_and_line(const void *left, const void *right)
{
    const struct mg_insn_info *a = *(const struct mg_insn_info *const *)left;
    const struct mg_insn_info *b = *(const struct mg_insn_info *const *)right;
    int order = strcmp(a->file ? a->file : "", b->file ? b->file : "");
    if (order)
        return order;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (a > b) - (a < b);
}

static struct mg_model_kernel *make_kernel(const struct mg_launch_info *info)
{
    struct mg_model_kernel *k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->program = info->program;
    k->made = mg__model_made_create(info);
    k->order = calloc((size_t)info->ninsns + 1, sizeof(struct mg_insn_info *));
    k->vars = calloc((size_t)info->nshared_vars + 1, sizeof(char *));
    k->name = mg__report_demangle(info->kernel);
    if (!k->made || !k->order || !k->vars || !k->name) {
        free_kernel(k);
        return NULL;
    }
    for (uint32_t i = 0; i < info->ninsns; i++)
        k->order[i] = &info->insns[i];
    qsort(k->order, info->ninsns, sizeof(*k->order), by_file_and_line);
    for (uint32_t i = 0; i < info->ninsns; i++)
        k->nlines +=
            !i || k->order[i]->line != k->order[i - 1]->line ||
            strcmp(k->order[i]->file ? k->order[i]->file : "", k->order[i - 1]->file ? k->order[i - 1]->file : "");
    /* dynamic shared memory is the last, "(dynamic)", and another launch may have none */
    for (k->nvars = 0; k->nvars < info->nshared_vars && info->shared_vars[k->nvars].name[0] != '('; k->nvars++)
        if (!(k->vars[k->nvars] = mg__report_demangle(info->shared_vars[k->nvars].name))) {
            free_kernel(k);
            return NULL;
        }
    return k;
}

const struct mg_model_kernel *mg__model_kernel(struct mg_model_kernel *kept[MG_MODEL_KEPT],
                                               const struct mg_launch_info *info)
{
    struct mg_model_kernel **k = &kept[info->program % MG_MODEL_KEPT];
    if (*k && info->program && (*k)->program == info->program)
        return *k;
    free_kernel(*k);
    return *k = make_kernel(info);
}

void mg__model_kernels_free(struct mg_model_kernel *kept[MG_MODEL_KEPT])
{
    for (unsigned i = 0; i < MG_MODEL_KEPT; i++)
        free_kernel(kept[i]);
}
