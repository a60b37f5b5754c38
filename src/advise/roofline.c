/* roofline.c - the roofs of the board, where the launch stands under them, and which one binds.
 *
 * Amounts are what was counted: floating-point operations (a fused multiply-add is two), sectors of global memory times
 * 32 bytes, wavefronts of shared memory times 128 bytes (a wavefront takes the pipe for its cycle however many bytes it
 * moves). Arithmetic of several widths is put against the single-precision roof by what each takes of it. Half
 * precision is given twice the rate of single, as all devices since 6.0 that do not lack it have.
 */
#include "advise/facts.h"

void mg__advise_roofline(struct mg_facts *f, struct mg_report_advice *a)
{
    const struct mg_board *b = f->arch->board;
    double fp32 = mg_board_fp32_peak(b), flops = (double)(f->flops_f16 + f->flops_f32 + f->flops_f64);
    double f64_rate = f->arch->fp32_lanes ? (double)f->arch->fp64_lanes / f->arch->fp32_lanes : 0;
    double single = (double)f->flops_f32 + (double)f->flops_f16 / 2 +
                    (f64_rate > 0 ? (double)f->flops_f64 / f64_rate : (double)f->flops_f64);
    double mixed = single > 0 ? fp32 * flops / single : fp32; /* the peak of this mixture */
    double bytes = (double)f->total.touched * f->arch->sector_bytes,
           shared = (double)f->total.wavefronts * mg__facts_row(f);
    struct mg_report_roof roofs[] = {
        {"arithmetic", mixed, flops, 0, flops / mixed},
        {"device memory", mg_board_memory_peak(b), bytes, bytes > 0 ? flops / bytes : 0, 0},
        {"shared memory", mg_board_shared_peak(b), shared, shared > 0 ? flops / shared : 0, 0},
        {"instruction issue", 1 / f->price.issue, f->inst, f->inst > 0 ? flops / f->inst : 0, f->s_issue},
    };
    roofs[1].seconds = bytes / roofs[1].peak;
    roofs[2].seconds = shared / roofs[2].peak;
    f->flop_seconds = roofs[0].seconds;
    a->roofs = mg__arena_alloc(&f->arena, sizeof(roofs));
    if (!a->roofs)
        return;
    memcpy(a->roofs, roofs, sizeof(roofs));
    a->nroofs = MG_COUNT(roofs);
    for (size_t i = 1; i < a->nroofs; i++)
        if (roofs[i].seconds > roofs[a->binding].seconds)
            a->binding = i;
    a->attainable = roofs[a->binding].seconds > 0 ? flops / roofs[a->binding].seconds : 0;
}
