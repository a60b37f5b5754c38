/* roofline.c - the roofs of the board, where the launch stands under them, and which one binds.
 *
 * Amounts are what was counted: floating-point operations (a fused multiply-add is two), wavefronts of shared memory
 * times 128 bytes (a wavefront takes the pipe for its cycle however many bytes it moves); and bytes of device memory,
 * by the model of time, which knows what the caches keep of the sectors that were counted. Those that a warpgroup's
 * multiplication reads its operands in count as well; what bulk copies move counts with its bytes, on both sides.
 * Arithmetic of several widths is put against the single-precision roof by what each takes of it. Half precision is
 * given twice the rate of single, as all devices since 6.0 that do not lack it have.
 *
 * Multiplications of matrices have a roof of their own, if there are any: what the tensor cores do of each type, put
 * one behind the other; their operations, whole numbers too, count where bytes are put against work.
 */
#include "advise/facts.h"
#include "arch/tensor.h"
#include "model/matrix.h"

/* Operations of matrices, and the seconds that they take at the board's peaks; 0 seconds: a peak is not known. */
static double matrix_work(const struct mg_facts *f, double *seconds)
{
    double all = 0;
    bool known = true;
    *seconds = 0;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        struct mg_model_matrix m;
        if (!insn || !mg__model_matrix(insn, &m))
            continue;
        const enum mg_tensor_kind kind = m.kind == MG_METRIC_OPS_TF32   ? MG_TENSOR_OF_TF32
                                         : m.kind == MG_METRIC_OPS_FP64 ? MG_TENSOR_OF_F64
                                         : m.kind == MG_METRIC_OPS_FP8  ? MG_TENSOR_OF_F8
                                         : m.kind == MG_METRIC_OPS_INT8 ? MG_TENSOR_OF_INT8
                                         : m.kind == MG_METRIC_OPS_INT1 ? MG_TENSOR_OF_INT1
                                                                        : MG_TENSOR_OF_F16;
        const double ops = (double)f->seen->insns[i].warps * m.operations,
                     peak = mg_board_tensor_peak(f->arch->board, kind);
        all += ops;
        known &= peak > 0;
        *seconds += peak > 0 ? ops / peak : 0;
    }
    *seconds = known ? *seconds : 0;
    return all;
}

void mg__advise_roofline(struct mg_facts *f, struct mg_report_advice *a)
{
    const struct mg_board *b = f->arch->board;
    double issue = (double)b->clock_khz * 1e3 * b->sm_count * f->arch->partitions; /* of warps, a second */
    double fp32 = mg_board_fp32_peak(b), flops = (double)(f->flops_f16 + f->flops_f32 + f->flops_f64);
    double f64_rate = f->arch->fp32_lanes ? (double)f->arch->fp64_lanes / f->arch->fp32_lanes : 0;
    double single = (double)f->flops_f32 + (double)f->flops_f16 / 2 +
                    (f64_rate > 0 ? (double)f->flops_f64 / f64_rate : (double)f->flops_f64);
    double mixed = single > 0 ? fp32 * flops / single : fp32; /* the peak of this mixture */
    double matrix_seconds, matrix = matrix_work(f, &matrix_seconds), work = flops + matrix;
    double bulk = (double)f->total.bulk * f->arch->sector_bytes;
    double touched = (double)f->total.touched * f->arch->sector_bytes;
    double bytes = (f->known ? MG_MIN(f->dram, touched) : touched) + bulk,
           shared = ((double)f->total.wavefronts + f->matrices) * mg__facts_row(f) + bulk;
    struct mg_report_roof roofs[] = {
        {"arithmetic", mixed, flops, 0, flops / mixed},
        {"device memory", mg_board_memory_peak(b), bytes, bytes > 0 ? work / bytes : 0, 0},
        {"shared memory", mg_board_shared_peak(b), shared, shared > 0 ? work / shared : 0, 0},
        {"instruction issue", issue, f->inst, f->inst > 0 ? work / f->inst : 0, f->inst / issue},
        {"tensor cores", matrix_seconds > 0 ? matrix / matrix_seconds : 0, matrix, 0, matrix_seconds},
    };
    roofs[1].seconds = bytes / roofs[1].peak;
    roofs[2].seconds = shared / roofs[2].peak;
    f->flop_seconds = roofs[0].seconds;
    a->roofs = mg__arena_alloc(&f->arena, sizeof(roofs));
    if (!a->roofs)
        return;
    memcpy(a->roofs, roofs, sizeof(roofs));
    a->nroofs = MG_COUNT(roofs) - (matrix > 0 ? 0 : 1);
    for (size_t i = 1; i < a->nroofs; i++)
        if (roofs[i].seconds > roofs[a->binding].seconds)
            a->binding = i;
    a->attainable = roofs[a->binding].seconds > 0 ? work / roofs[a->binding].seconds : 0;
}
