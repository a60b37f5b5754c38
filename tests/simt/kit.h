/* kit.h - what the engine's tests share: PTX around a body, a device, a launch, and an observer that sums.
 *
 * A test's kernel is named k and has four parameters of 64 bits. KERNEL wraps a body that finds them in %a %b %c %e,
 * its thread in %t, block in %bid, lane in %lane, threads a block in %nt, and the thread of the grid in %gid.
 */
#ifndef MG_TESTS_SIMT_KIT_H
#define MG_TESTS_SIMT_KIT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "simt/simt.h"

#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY                                                                                                          \
    ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{\n"                           \
    ".reg .pred %p<16>; .reg .b16 %h<16>; .reg .f32 %f<8>; .reg .b32 %r<64>; .reg .b64 %d<64>; .reg .b64 %a, %b, %c, " \
    "%e;\n"                                                                                                            \
    ".reg .b32 %t, %bid, %lane, %nt, %gid;\n"                                                                          \
    "ld.param.u64 %a, [p0]; ld.param.u64 %b, [p1]; ld.param.u64 %c, [p2]; ld.param.u64 %e, [p3];\n"                    \
    "mov.u32 %t, %tid.x; mov.u32 %bid, %ctaid.x; mov.u32 %lane, %laneid; mov.u32 %nt, %ntid.x;\n"                      \
    "mad.lo.u32 %gid, %bid, %nt, %t;\n"
#define KERNEL(declarations, body) HEADER declarations ENTRY body "\nret;\n}\n"

/* Sums of what an observer saw. Everything but `events` must not depend on threads, extension or kind of observer. */
struct kit_sums {
    uint64_t events; /* calls of access() */
    uint64_t requests, lanes, sectors, wavefronts;
    uint64_t shapes;   /* of each access's instruction, lanes, width, space, distances and base modulo 32 */
    uint64_t exact;    /* MG_OBSERVE_EVERY: of each access's warp, addresses and values */
    uint64_t patterns; /* events that came as one */
    uint64_t joined;   /* accesses that were told together, of blocks that it need not hear closely */
    uint64_t by_block; /* MG_OBSERVE_EVERY: of each access's block, however it was told */
    uint64_t counts;   /* of each instruction's counts */
    uint64_t issued, threads, divergent;
};
struct kit_observer {
    unsigned wants;
    const struct mg_launch_info *launch;
    struct kit_sums *sums;
    unsigned workers; /* of the launch, as it began */
    bool parted;      /* the last launch was in two parts */
};
#define KIT_EACH_LANE 0x10000u /* in `wants`: nothing is known by its shape */
#define KIT_SOME 0x20000u      /* it must hear every third block closely, and others not */
#define KIT_BLOCKS 0x40000u    /* it names a few blocks, and may hear nothing of others */
struct kit {
    struct mg_simt *simt;
    struct mg_engine *engine; /* by MARGAY_ENGINE; NULL: interpreted */
    struct mg_simt_module *module;
    struct mg_simt_kernel *kernel;
    struct kit_sums sums;   /* of the last launch */
    struct kit_sums beside; /* likewise, of the second observer */
    struct kit_observer observers[2];
    struct mg_diag diag; /* likewise */
    char *printed;       /* likewise */
};
/* `wants`: what its observer asks for; 0: none. `isa`: MARGAY_ISA, or NULL. */
/* Whether this build has the engine that compiles, or else says that the test is skipped. Compiled kernels are not
 * kept. */
bool kit_compiles(void);
void kit_open(struct kit *kit, unsigned threads, unsigned timeout_ms, unsigned wants, const char *isa);
void kit_beside(struct kit *kit, unsigned wants); /* attaches another observer */
void kit_close(struct kit *kit);
void kit_load(struct kit *kit, const char *ptx);
uint64_t kit_alloc(struct kit *kit, uint64_t size); /* filled with zeros */
struct kit_params {
    uint64_t p[4];
};
enum mg_status kit_launch(struct kit *kit, uint32_t grid, uint32_t block, struct kit_params params);
enum mg_status kit_launch_full(struct kit *kit, const struct mg_simt_launch *launch);
#define kit_expect(kit, status) kit_expect_at(kit, status, __FILE__, __LINE__)
void kit_expect_at(const struct kit *kit, enum mg_status status, const char *file, int line);
/* The line of `ptx` that holds the comment HERE; 0: none. */
unsigned kit_line(const char *ptx);

int kit_run_again(void);
int kit_run_shapes(void);
int kit_run_progress(void);
int kit_run_faults(void);
int kit_run_slots(void);
int kit_run_fused(void);
int kit_run_system(void);
#endif
