/* model.h - what an access costs: shared-memory wavefronts, sectors and requests, divergence. An observer.
 *
 * The rules are those measured on an H100 (../../docs/fidelity.md) and depend on addresses alone.
 */
#ifndef MG_MODEL_H
#define MG_MODEL_H
#include "report/report.h"
#include "simt/observe.h"

struct mg_model;
/* `done` gets each launch's record (seconds and regs are the caller's to fill before it writes it);
 * the record is only valid during the call. */
enum mg_status mg__model_create(void (*done)(void *arg, struct mg_report_launch *launch), void *arg,
                                struct mg_model **model);
void mg__model_destroy(struct mg_model *model);
struct mg_observer mg__model_observer(struct mg_model *model);

/* The rules themselves. `address` as in mg_access; `width` in bytes a lane, `mask` the active lanes. */
struct mg_cost {
    uint32_t wavefronts, ideal;
};
struct mg_cost mg__model_shared(enum mg_access_kind kind, const struct mg_ptx_insn *insn, unsigned width,
                                uint32_t mask, const uint64_t address[32]);
uint32_t mg__model_sectors(enum mg_access_kind kind, unsigned width, uint32_t mask, const uint64_t address[32]);
#endif
