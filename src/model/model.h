/* model.h - what an access costs: shared-memory wavefronts, sectors and requests, divergence. An observer.
 *
 * The rules are those measured on an H100 (../../docs/fidelity.md) and depend on addresses alone.
 */
#ifndef MG_MODEL_H
#define MG_MODEL_H
#include "arch/arch.h"
#include "report/report.h"
#include "simt/observe.h"

struct mg_model;
/* The rules are those of `arch`, a row of arch.def: at most 32 banks, each a power of two bytes, as are sectors, of at
 * most 32 bytes, and lines; else MG_ERR_INVALID. `done` gets each launch's record (seconds and regs are the caller's to
 * fill before it writes it); the record is only valid during the call. */
enum mg_status mg__model_create(const struct mg_arch *arch, void (*done)(void *arg, struct mg_report_launch *launch),
                                void *arg, struct mg_model **model);
void mg__model_destroy(struct mg_model *model);
struct mg_observer mg__model_observer(struct mg_model *model); /* for one simulator */
/* What was counted of an instruction in the last launch that ended. False: nothing. */
struct mg_model_counted {
    uint64_t wavefronts, ideal;                       /* shared memory */
    uint64_t requests, sectors, sectors_ideal, moved; /* global; sectors: touched */
    uint64_t bulk;                                    /* sectors of device memory that bulk copies move */
};
bool mg__model_counted(const struct mg_model *model, uint32_t insn, struct mg_model_counted *counted);

/* The rules themselves. `address` as in mg_access; `width` in bytes a lane, `mask` the active lanes. */
struct mg_cost {
    uint32_t wavefronts, ideal;
};
struct mg_cost mg__model_shared(const struct mg_arch *arch, enum mg_access_kind kind, const struct mg_ptx_insn *insn,
                                unsigned width, uint32_t mask, const uint64_t address[32]);
/* The same, and which lanes are served together: the phases of a wide access. A swap loop has none, nor has a copy that
 * passes by the first-level cache. `phases` may be NULL. */
struct mg_phase {
    uint8_t from, lanes; /* neighbours: the first, and how many of them there are, active or not */
    uint32_t wavefronts;
};
struct mg_phases {
    unsigned n;
    struct mg_phase at[32];
};
struct mg_cost mg__model_phases(const struct mg_arch *arch, enum mg_access_kind kind, const struct mg_ptx_insn *insn,
                                unsigned width, uint32_t mask, const uint64_t address[32], struct mg_phases *phases);
/* `origin`: where the allocation starts that they lie in; an atomic's sectors depend on the distance to it. */
uint32_t mg__model_sectors(const struct mg_arch *arch, enum mg_access_kind kind, unsigned width, uint32_t mask,
                           const uint64_t address[32], uint64_t origin);
uint64_t mg__model_origin(const struct mg_launch_info *info, uint64_t address); /* 0: in no allocation */
/* The lanes whose addresses, shifted right, are this. */
uint32_t mg__model_lanes_at(const uint64_t address[32], unsigned shift, uint64_t unit);
/* One access to global memory: sectors moved (an atomic's lanes on one address one after the other), those touched, and
 * the fewest that its bytes could have touched. */
struct mg_global_cost {
    uint32_t moved, touched, ideal;
};
struct mg_global_cost mg__model_global(const struct mg_arch *arch, enum mg_access_kind kind,
                                       const struct mg_ptx_insn *insn, unsigned width, uint32_t mask,
                                       const uint64_t address[32], uint64_t origin);

/* What ptxas makes of each access of a launch before the hardware counts it, for those who ask what it would have cost
 * at other addresses. NULL: out of memory. */
struct mg_model_made;
struct mg_model_made *mg__model_made_create(const struct mg_launch_info *launch);
void mg__model_made_free(struct mg_model_made *made);
/* The same for the launches of an observer, who gives each back by mg__model_made_free: those of one program get what
 * was made for the first, as long as it is kept. */
#define MG_MODEL_MADE_KEPT 16u
struct mg_model_made *mg__model_made_kept(struct mg_model_made *kept[MG_MODEL_MADE_KEPT],
                                          const struct mg_launch_info *launch);
/* An access as the hardware makes it. */
struct mg_model_access {
    enum mg_access_kind kind, cost; /* what it is, and whose rule counts it */
    uint32_t width, mask;
    const uint64_t *address; /* the access's own, or `moved` */
    const uint64_t *other;   /* as in mg_access */
    uint64_t moved[32];
};
/* What it costs: mg__model_shared and mg__model_global of it, and of an asynchronous copy what both its sides make. */
struct mg_cost mg__model_access_shared(const struct mg_arch *arch, const struct mg_ptx_insn *insn,
                                       const struct mg_model_access *as);
struct mg_global_cost mg__model_access_global(const struct mg_arch *arch, const struct mg_ptx_insn *insn,
                                              const struct mg_model_access *as, uint64_t origin);
/* False: another instruction carries it. `joined` false: no access is joined to another, as where the alignment that
 * it takes is gone. */
bool mg__model_made_access(const struct mg_model_made *made, struct mg_access *access, bool joined,
                           struct mg_model_access *as);
/* Where ptxas makes two accesses of one: from the first to the second. False: there is none. */
bool mg__model_made_second(const struct mg_model_made *made, uint32_t insn, struct mg_model_access *as);
/* Another instruction carries its accesses, where they are joined. */
bool mg__model_made_elsewhere(const struct mg_model_made *made, uint32_t insn);
/* The bytes a lane that an instruction's accesses were joined to, 0 when they were not. */
unsigned mg__model_made_joined(const struct mg_model_made *made, uint32_t insn);
#endif
