/* time_priv.h - what the files of this room share. */
#ifndef MG_TIME_PRIV_H
#define MG_TIME_PRIV_H
#include "cfg/cfg.h"
#include "flow/flow.h"
#include "model/model.h"
#include "ptx/ptx.h"
#include "time/time.h"

enum mg_time_parameter {
#define PARAMETER(id, value, unit, source) MG_TIME_P_##id,
#include "time/device.def"
    MG_TIME_PARAMETERS
};
extern const double mg__time_parameter[MG_TIME_PARAMETERS];
#define P(id) (mg__time_parameter[MG_TIME_P_##id])
/* The same where boards differ in it. */
double mg__time_of_board(const struct mg_arch *arch, enum mg_time_parameter id);
#define OF(arch, id) mg__time_of_board(arch, MG_TIME_P_##id)

enum mg_time_pipe {
    MG_PIPE_NONE,   /* ptxas makes no instruction of it */
    MG_PIPE_EITHER, /* of the next two */
    MG_PIPE_ALU,
    MG_PIPE_FMA,
    MG_PIPE_FP64,
    MG_PIPE_MUFU,
    MG_PIPE_TENSOR,
    MG_PIPE_CONTROL,
    MG_PIPE_LSU,
    MG_PIPE_UNIFORM,
    MG_PIPES
};
/* ---- sample.c: what accesses did, by instruction; means of the sampled blocks ---- */
struct mg_time_access {
    uint8_t space, kind; /* enum mg_ptx_space, enum mg_access_kind; kind of the last one seen */
    bool seen;
    bool elsewhere;        /* only in blocks that do not share a multiprocessor with the first one */
    double requests;       /* sampled; what follows is for each of them */
    double wavefronts;     /* shared */
    double sectors, lines; /* global: sectors that move, lines of 128 bytes */
    double passes;         /* of the first cache, for words of one bank, or lines of one bank of tags */
    double past_l1;        /* sectors that the first cache does not have, … */
    double misses;         /* requests with any such sector */
    double shared;         /* requests that it has because another warp was there the same time round */
    double first;          /* of these, sectors that come from device memory: 64 bytes whenever one is missing */
    double fresh;          /* requests that go past it for what no block here has touched */
    double rounds;         /* shared atomics: lanes at one place; constants: different addresses */
    double turns;          /* shared compare-and-swaps: lanes in one bank */
    double places;         /* atomics: different pieces of 512 bytes in the grid; such swaps: words in the block;
                              constants: pieces of 64 bytes that the block reads */
    double hits;           /* sectors that the first cache has, written ones included */
    double host;           /* of its sectors, the part that is page-locked memory of the host */
};
#define MG_TIME_BLOCKS 16u      /* most sampled */
#define MG_TIME_SECTORS 262144u /* of a sampled block, most */
struct mg_time_sample;
/* Which blocks: some that share a multiprocessor, and others spread over the grid. */
struct mg_time_choice {
    uint64_t block[MG_TIME_BLOCKS];
    unsigned n, together; /* the first so many run on one multiprocessor */
    double resident;      /* blocks that run at once, on all */
};
void mg__time_choose(struct mg_time_choice *c, uint64_t blocks, unsigned sms, unsigned resident);
struct mg_time_sample *mg__time_sample_create(void);
/* For another launch; false: it has so much memory that it is better given back. */
bool mg__time_sample_clear(struct mg_time_sample *s);
void mg__time_sample_free(struct mg_time_sample *s);
size_t mg__time_sample_requests(const struct mg_time_sample *s);
/* What accesses of one pattern come to, which were met before: by where they begin in a sector. A worker's; it begins
 * as zeros. */
enum { MG_TIME_MET_SECTORS = 32 };
struct mg_time_met {
    const struct mg_pattern *pattern; /* NULL: nothing is here */
    uint32_t insn, phase, count;
    uint16_t wavefronts, rounds, turns;
    uint16_t lines[4], passes[4]; /* by the base's sector in its line; 0: not looked at yet */
    uint16_t words;               /* of one bank, most */
    uint8_t kind, space;
    bool none; /* another instruction carries it */
    int32_t sector[MG_TIME_MET_SECTORS]; /* from that of its base on */
};
/* True: it was met, and is added, or, *failed, there was no memory. */
bool mg__time_sample_met(struct mg_time_sample *s, struct mg_time_met *met, const struct mg_access *a, bool *failed);
/* Of what was added last; `made`: as what, NULL: not at all. */
void mg__time_sample_meet(const struct mg_time_sample *s, struct mg_time_met *met, const struct mg_launch_info *info,
                          const struct mg_model_access *made, const struct mg_access *a);
/* False: out of memory. */
bool mg__time_sample_add(struct mg_time_sample *s, const struct mg_arch *arch, const struct mg_launch_info *info,
                         const struct mg_model_access *made, const struct mg_access *a);
struct mg_time_traffic { /* of the whole launch, as far as the samples tell */
    double l1_sectors, l1_hits, l2_sectors, l2_hits;
    double read, written; /* bytes of device memory, each once */
    double local_written; /* and of local memory, what the second cache has no room for */
    double pages, paged;  /* of managed memory, pieces that come to the device, and of how many arrays */
};
/* By instruction, from the samples of `c` (NULL: no accesses); `room`: of the second cache. What comes to the device of
 * managed memory is noted there (mg_pages). False: out of memory. */
bool mg__time_digest(struct mg_time_sample *const *samples, const struct mg_time_choice *c,
                     const struct mg_launch_info *info, const struct mg_insn_counts *counts, uint32_t cache_lines,
                     double room, struct mg_time_access *access, struct mg_time_traffic *traffic);

/* ---- code.c: the kernel as the device runs it ---- */
/* An atomic of shared memory that ptxas makes of compare-and-swaps. */
bool mg__time_swaps(const struct mg_ptx_insn *insn);
enum mg_time_lock { MG_TIME_LOCK_NONE, MG_TIME_LOCK_TAKES, MG_TIME_LOCK_GIVES };
enum mg_time_copies { MG_TIME_COPIES_NONE, MG_TIME_COPIES_BEGIN, MG_TIME_COPIES_COMMIT, MG_TIME_COPIES_WAIT };
struct mg_time_op {
    uint32_t insn;
    uint8_t pipe, slots, interval;
    bool barrier, access, fence, floats;
    bool membar;
    bool orders;     /* an access that orders others: acquires, releases */
    bool swaps;      /* it is made of compare-and-swap, in shared memory */
    uint8_t lock;    /* enum mg_time_lock */
    uint8_t copies;  /* enum mg_time_copies: of cp.async */
    uint8_t pending; /* … groups that a wait leaves */
    uint16_t latency;
    uint32_t regs; /* of code->regs: those that it reads, then those that it writes */
    uint16_t reads, writes;
    uint32_t call; /* a block, or UINT32_MAX */
    float part;    /* change.c: how often of the times that a warp comes to it; 0: always */
    /* Of machine code: cycles until the warp's next one; scoreboards that it sets when its result is there and when its
     * operands are read (6 and 7: none), and a bit for each that it waits for. */
    bool native;
    uint8_t stall, sets, frees, waits;
    float made; /* of an access that hangs on a predicate, how often it is made */
};
struct mg_time_block {
    uint32_t first, end; /* ops */
    uint32_t succ[2], nsucc, ipdom;
    double rare; /* how often it goes to succ[rare_at], or, with one successor, leaves the kernel */
    double both; /* of these, how often to both, one after the other */
    unsigned rare_at;
    bool steady;     /* what its branch goes by does not change in the loop */
    double rounds;   /* 0, or where it leaves a loop: of how often it is come to for each time that it does, … */
    unsigned leaves; /* … by succ[leaves] */
    /* Of a loop that is left in several places: at its head how many rounds it makes each time that it is come to; at
     * a branch that leaves it the head and 1, and which part of the times, from where to where, it is this one. */
    double turns;
    uint32_t head;
    float from, to;
    uint32_t unrolled,
        unrolled_end; /* of a loop that is one block: ops of MG_TIME_UNROLLED rounds; none if it is not unrolled */
    bool outermost;   /* of a loop that is in no other */
    bool once;        /* a warp comes here at most once, by and large: who goes where is shared out among warps */
    bool returns;
};
struct mg_time_code {
    struct mg_arena arena;
    struct mg_time_op *ops;
    struct mg_time_block *blocks;
    uint32_t *regs;
    uint32_t nops, nblocks, nregs;
    bool parts;      /* some op has one */
    bool exits;      /* some loop has several */
    bool native;     /* it is machine code */
    uint32_t others; /* who have it as well, and will free it */
};
enum { MG_TIME_UNROLLED = 4, MG_TIME_SCOREBOARDS = 6 };
/* What the files that make it share. */
struct mg_time_function {
    const struct mg_ptx_func *func;
    struct mg_cfg *cfg;
    uint32_t base, block, reg; /* its first instruction, block and register */
};
struct mg_time_builder {
    const struct mg_launch_info *info;
    const struct mg_insn_counts *counts;
    const struct mg_model_made *made;
    struct mg_time_code *code;
    struct mg_time_function *functions;
    size_t nfunctions;
    double warps; /* of the launch, in the counts' terms */
    const bool *uniform; /* of the function that is being taken: see mg__time_uniform; NULL: none */
    uint32_t nregs_used;
    uint32_t wide; /* what the last access of the block wrote that others are joined to, or UINT32_MAX */
};
/* ways.c. False: out of memory. */
double mg__time_executed(const struct mg_time_builder *b, const struct mg_time_function *f, uint32_t block);
void mg__time_ways(const struct mg_time_builder *b, const struct mg_time_function *f, uint32_t at,
                   struct mg_time_block *block);
/* How many loops are around each block, how often the innermost of them is come to, and its head; both may be NULL. */
bool mg__time_loops(const struct mg_time_builder *b, const struct mg_time_function *f, const struct mg_cfg *cfg,
                    uint8_t *depth, double *entries, uint32_t *heads);
bool mg__time_rounds(const struct mg_time_builder *b, const struct mg_time_function *f);
bool mg__time_unroll(struct mg_time_builder *b);
void mg__time_locks(const struct mg_time_builder *b);
/* uniform.c: by instruction, whether it reads constants at a place that is the same for all lanes, for the caller to
 * free; NULL: none does. False: out of memory. */
bool mg__time_uniform(const struct mg_ptx_func *func, bool **uniform);
/* fuse.c. False: out of memory. */
bool mg__time_fuse(const struct mg_time_builder *b);
/* order.c */
bool mg__time_order(struct mg_time_code *code, const struct mg_launch_info *info);
/* Where a block goes, and how often. */
void mg__time_shape(const struct mg_time_builder *b, const struct mg_time_function *f, uint32_t at);
/* `made`: which accesses are joined; NULL: none. `native`: machine code, or NULL. NULL: out of memory, or code of a
 * kind that is not followed. */
struct mg_time_code *mg__time_code(const struct mg_launch_info *info, const struct mg_insn_counts *counts,
                                   const struct mg_model_made *made, const struct mg_time_native *native);
/* native.c. NULL: it cannot be followed, and the PTX that `b` has made is what there is. */
struct mg_time_code *mg__time_native_code(struct mg_time_builder *b, const struct mg_time_native *native);
void mg__time_code_free(struct mg_time_code *code);
/* The codes of the latest launches, with all that they were made from. Zeros: none. */
enum { MG_TIME_CODES = 8 };
struct mg_time_codes {
    struct mg_time_code_of {
        uint64_t program;
        struct mg_dim3 grid, block;
        const void *native;
        struct mg_insn_counts *counts;
        struct mg_time_code *code; /* NULL: nothing is here */
    } at[MG_TIME_CODES];
    unsigned next; /* the oldest */
};
/* As mg__time_code, and to be freed likewise; not made again where all that it is made from is the same. */
struct mg_time_code *mg__time_code_again(struct mg_time_codes *codes, const struct mg_launch_info *info,
                                         const struct mg_insn_counts *counts, const struct mg_model_made *made,
                                         const struct mg_time_native *native);
void mg__time_codes_forget(struct mg_time_codes *codes);

/* ---- machine.c: one multiprocessor ---- */
struct mg_time_machine {
    const struct mg_arch *arch;
    const struct mg_time_code *code;
    const struct mg_time_access *access;
    uint64_t blocks; /* of the grid */
    unsigned warps, resident;
    double
        unequal;   /* rounds of outermost loops that the multiprocessor makes that is done last, for each of the mean */
    double written; /* of what stores write to global memory, the part that the second cache has no room for */
    uint64_t most; /* instructions of a warp, beyond which it is taken to have lost its way */
    uint32_t ninsns;
    double (*stalled)[MG_STALLS]; /* by instruction, at first 0: samples of all warps */
    uint64_t enough;              /* ops after which it stops; 0: as many as it likes */
    double all_ops;               /* that it would execute; 0: not known. What is left goes on at the same pace. */
};
/* False: out of memory. */
bool mg__time_run(const struct mg_time_machine *machine, struct mg_time_result *result);

/* ---- again.c: the same, which is not done again where all that it is given is the same ---- */
struct mg_time_again;
struct mg_time_again *mg__time_again_create(void); /* NULL, which the others take: nothing is remembered */
void mg__time_again_free(struct mg_time_again *again);
bool mg__time_run_again(struct mg_time_again *again, const struct mg_time_machine *machine,
                        struct mg_time_result *result);

/* ---- change.c: what is kept of a launch for questions about it ---- */
struct mg_time_kept {
    struct mg_time_machine machine; /* its code, accesses and stalls are its own */
    struct mg_insn_counts *counts;
    struct mg_time_again *again; /* the observer's */
    struct mg_time_result result;
    double base; /* seconds of the launch as it was, followed as far as the changed ones are; 0: not asked yet */
};
void mg__time_kept_free(struct mg_time_kept *kept);
/* As mg__time_changed, of what was kept. */
struct mg_time_sectors mg__time_kept_sectors(const struct mg_time_kept *kept, uint32_t insn);
bool mg__time_ask(struct mg_time_kept *kept, const struct mg_time_change *change, double *seconds);
#endif
