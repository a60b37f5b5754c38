/* pages.c - managed memory whose pages come to the device while the launch waits for them. What that takes is not part
 * of the launch's time as the other advisers have it: no change of the kernel changes it.
 */
#include "advise/facts.h"

void mg__advise_pages(struct mg_facts *f)
{
    const double whole = f->seconds + f->part[MG_TIME_PAGES], pages = f->part[MG_TIME_PAGES];
    struct mg_report_advice_item item = {.id = "prefetch",
                                         .title = "Bring managed memory to the device before the launch",
                                         .file = "",
                                         .variable = "",
                                         .seconds = pages,
                                         .gain = whole > 0 ? pages / whole : 0};
    if (item.gain < MG_ADVICE_LEAST)
        return;
    item.gain_least = item.gain_most = item.gain;
    item.why =
        mg__advise_text(f,
                        "Pages that the host has, or nobody yet, come one fault after the other: %.0f us, beside "
                        "the %.0f us of the kernel itself.",
                        pages * 1e6, f->seconds * 1e6);
    item.how =
        "Call cudaMemPrefetchAsync(pointer, bytes, device, stream) for what the kernel reads and writes: an array "
        "comes at the rate of a copy. Or allocate with cudaMalloc what the host does not touch. What the host "
        "reads goes back to it, and must come again.";
    (void)mg__vec_push(&f->items, item);
}
