/* engine.h - the hook for a second engine: a code generator sees a kernel as plain data, and gives back a function that
 * runs warps, with tables that say in what state they leave it.
 *
 * What is compiled is the same list of ops that the interpreter runs (struct mg_engine_op describes one each). The
 * function runs warps, one after the other, from an entry with all 32 lanes active to a point where it leaves: at a
 * barrier, at the kernel's end, or before an op that the interpreter shall execute; there its lanes may be parted
 * (struct mg_engine_level). Values live in registers in between; at a point they are in the frame, or, when the lanes
 * are known to lie on a line, in cells: a base and what a lane adds to it (struct mg_engine_form).
 *
 * Lanes are numbered in rows: with `row` lanes a row, lane i stands at x = i % row and y = i / row, and a value of
 * affine form is base + cx * x + cy * y in every lane. Rows are those of the block, so that threadIdx.x and threadIdx.y
 * are affine; where these are of all lanes, code may have shorter ones, so that threadIdx.x % 16 and / 16 are.
 *
 * A memory access whose address has affine form needs no look at its lanes: one comparison with the record of its site
 * says that all lanes are in bounds and aligned, and one counter, by the base's word in its sector, is all that the
 * models need (observe.h: shapes). Accesses of a basic block through one address share a site. Where some lanes are
 * idle, which ones differs from time to time, and an access has MG_ENGINE_MASKS sites, one after the other, told apart
 * by the mask. At an address that is not known to have affine form the code may look at the lanes: where they lie one
 * behind the other, a site serves as well (`found`); one of fewer than four bytes has then a site for each place in a
 * word, and one of some of the lanes has MG_ENGINE_FEW_MASKS.
 */
#ifndef MG_SIMT_ENGINE_H
#define MG_SIMT_ENGINE_H
#include "base/base.h"

#define MG_ENGINE_VERSION 27u /* of everything here: kept code of another version is not used */

#define MG_ENGINE_MASKS 32u
#define MG_ENGINE_FEW_MASKS 4u /* of one that is found, in code for some of the lanes */

enum mg_engine_kind {
    MG_ENGINE_BLOCK, /* begins a basic block: counts segment `mode` */
    MG_ENGINE_ALU,   /* out[0] = row(in…) with `mode` */
    MG_ENGINE_MOV,   /* out[0] = in[0] */
    /* predicates: out[0] = in[0] <mode> in[2], out[1] = in[1] (absent: not in[0]) <mode> in[2]; mode is an enum
     * mg_ptx_boolop */
    MG_ENGINE_SETP,
    MG_ENGINE_PACK,
    MG_ENGINE_UNPACK, /* as in misc.c, between one register and its parts */
    MG_ENGINE_ROW,    /* a row of words `mode` bytes behind the frame: out[0] = it, or it = in[0] */
    MG_ENGINE_GUARD,  /* the next op is for the lanes of `guard` ^ `invert` */
    /* to op `target`, if guard < 0 or for the lanes of `guard` ^ `invert`; ways meet at op `meet` (-1: nowhere) */
    MG_ENGINE_BRANCH,
    MG_ENGINE_LOAD,    /* mem: from the address in[0] to out */
    MG_ENGINE_STORE,   /* mem: to the address in[0] from the other sources */
    MG_ENGINE_CALL,    /* a function of the interpreter, through calls->op; neither suspends nor diverges with all lanes
                        * active. With `mem` an atomic: through calls->checked where its addresses, in[0], were compared
                        * with a record and counted; or a load or store of local memory, which the code may do */
    MG_ENGINE_BARRIER, /* all threads of the block, or of the cluster */
    MG_ENGINE_EXIT,    /* the kernel ends, for the lanes of `guard` ^ `invert` if it falls */
    MG_ENGINE_LEAVE,   /* the interpreter executes it; what follows may come back */
    MG_ENGINE_NOP
};
enum mg_engine_effect {
    MG_ENGINE_ENDS = 1,       /* what stands behind it is only for the lanes that its guard leaves out */
    MG_ENGINE_PARTS = 2,      /* the lanes that run together may become others, or wait, or end */
    MG_ENGINE_MEETS = 4,      /* lanes of the warp wait for one another: none does where all are active */
    MG_ENGINE_ORDERS = 8,     /* memory accesses */
    MG_ENGINE_ACCESS = 16,    /* it is one, with a site */
    MG_ENGINE_COUNTER = 32,   /* a CALL through calls->add where all lanes are active */
    MG_ENGINE_REGISTERS = 64, /* it reads and writes nothing else */
    MG_ENGINE_SAME = 128,     /* results are the same in all lanes if sources are */
    MG_ENGINE_CHARGES = 256,  /* a BLOCK: the slice */
    /* Observers want to know: a BARRIER or an EXIT is told through calls->op when all lanes are there, unless
     * calls->quiet. Behind other ops
     * mg_engine_warp.leave says whether to leave. */
    MG_ENGINE_TELLS = 512,
    MG_ENGINE_TOGETHER = 1024, /* a CALL that does nothing where all lanes are active and named by its first source */
    /* A CALL with `mem`: a LOAD or a STORE where its lanes are on a line that fits its record; one of shared memory is
     * noted then, and another store leaves marks */
    MG_ENGINE_UNHEARD = 2048,
    MG_ENGINE_HEARD = 4096, /* a CALL with MEETS: where it is done without one, calls->met is called behind it */
    MG_ENGINE_INNER = 8192, /* a BRANCH whose lanes may meet before op `meet`; a BLOCK where those of such a one do */
    MG_ENGINE_LEFT = 16384  /* a BLOCK: lanes that come here may be waited for no more at an INNER one */
};
/* UNIFORM: the same in all lanes; BLOCK: in all warps of a block, too; WIDTH: of these, the block's x. */
enum mg_engine_fill_kind {
    MG_ENGINE_FILL_NONE,
    MG_ENGINE_FILL_UNIFORM,
    MG_ENGINE_FILL_BLOCK,
    MG_ENGINE_FILL_WIDTH,
    MG_ENGINE_FILL_TID,
    MG_ENGINE_FILL_LANEID
};
struct mg_engine_operand {
    int32_t slot;  /* byte offset in the frame */
    uint8_t bytes; /* 4 or 8 a lane; 0: a predicate */
};
struct mg_engine_mem {
    uint8_t space, kind; /* enum mg_ptx_space: SHARED, LOCAL or, for device addresses, any other; enum mg_access_kind */
    uint8_t width, vec;  /* bytes an element, elements */
    bool sext;
    int64_t offset;
};
struct mg_engine_op {
    uint8_t kind;
    uint8_t known, dim; /* CALL: its result is as this fill (enum mg_engine_fill_kind) */
    bool falls;         /* to the next op, for some lanes at least */
    uint16_t effects;   /* enum mg_engine_effect, or'd */
    int16_t row;        /* ALU: of sem.def; a CALL with MEETS: of sem_warp.def, -1: none */
    uint32_t mode;
    int32_t guard;
    uint32_t invert;
    uint32_t insn;
    uint32_t target;
    int32_t meet;
    const struct mg_engine_mem *mem;
    const uint32_t *targets; /* LEAVE: where the interpreter may go on, besides the next op (falls) */
    uint32_t ntargets;
    uint32_t nout, nin;
    const struct mg_engine_operand *out, *in; /* in the order of the row's in op.def; an absent one has slot -1 */
};
/* A slot that is filled before the kernel begins and never written. Of what is the same in all lanes, lane 0 is read;
 * of what is the same in all warps, the first one's. */
struct mg_engine_fill {
    int32_t slot;
    uint8_t kind, bytes, dim;
};
struct mg_engine_program {
    const char *name;
    const struct mg_engine_op *ops;
    uint32_t nops;
    uint32_t row;              /* lanes a row: 2 … 32; 0: threads lie in no such rows */
    uint32_t pool_at;          /* slots from here on are constants: pool[slot - pool_at], or a fill */
    const uint8_t *pool;
    uint32_t pool_bytes, frame_bytes, ninsns;
    /* warps may have idle lanes from the start, or it is a function that the kernel calls: only `some` is used */
    bool partial;
    bool ragged; /* a block's last warp has idle lanes from the start: `some` is all that it has */
    bool function; /* it is one: sites are the kernel's */
    uint32_t stride;           /* bytes from one warp of a block (struct mg_engine_warp) to the next */
    const struct mg_engine_fill *fills;
    uint32_t nfills;
};

/* ---- what comes back ---- */
struct mg_engine_form { /* a live slot at a point */
    int32_t slot;
    uint8_t bytes;
    /* in the frame; else cells[cell] is the base, cells[cell + 1] and [cell + 2] the dynamic cx and cy */
    bool vector;
    bool dx, dy;     /* cx, cy are dynamic */
    uint8_t zeros;   /* low bits of the base that are 0; 64 or more: all */
    int64_t cx, cy;
    uint32_t cell;
};
struct mg_engine_open { /* at a point: a site that was counted for all its members, of which `done` were executed */
    uint32_t site, done, cell; /* the cell holds the address, or that it was not counted after all */
};
#define MG_ENGINE_UNCOUNTED UINT64_MAX
/* At a point inside the arms of a branch whose lanes disagree, outermost first. cells[cell] are the lanes that came to
 * the branch, cells[cell + 1] those in this arm. */
struct mg_engine_level {
    uint32_t meet, other; /* ops: where the arms meet, and where the other arm begins */
    uint32_t cell;
    bool second;          /* the other arm is over */
};
enum mg_engine_point_kind {
    MG_ENGINE_AT_ENTRY,
    MG_ENGINE_AT_LEAVE,
    MG_ENGINE_AT_BARRIER,
    MG_ENGINE_AT_EXIT,
    MG_ENGINE_AT_FAULT
};
struct mg_engine_point {
    uint8_t kind;
    uint32_t op;    /* where the interpreter goes on; BARRIER: the barrier */
    uint32_t entry; /* BARRIER: the entry behind it */
    uint32_t first_form, nforms, first_open, nopen, first_level, nlevels;
};
struct mg_engine_site {
    uint32_t first_member, nmembers; /* the first one's address is what the record is compared with */
    uint8_t space, bytes;            /* of an access, all elements */
    bool dx, dy;
    bool found; /* its lanes are looked at each time, and on the line only where that was found */
    uint8_t notes; /* of a run of loads of shared memory: in how many notes it is told, of which this site's is one */
    int64_t cx, cy;
    uint32_t insn;  /* of the first */
    uint32_t shape; /* where `found`, of all lanes: its shape's number + 1 */
};
struct mg_engine_member {
    uint32_t op;
    int64_t offset; /* from the first one's address */
};
/* By worker and site. Addresses b of the first member with (b - lo) rotated right by log2(bytes, at least 4) <= range
 * are in bounds, for these coefficients and lanes. */
struct mg_engine_record {
    uint64_t lo, range;
    uint64_t cx, cy;
    uint32_t mask;
    uint8_t phase;
    /* Of a site whose line is found, or of some of the lanes: times in a row that it did not serve once made to fit, */
    uint8_t astray;
    uint16_t skip;  /* and misses for which it is left as it is */
    int32_t var;
    uint32_t next;  /* that was ever made to fit: its number + 1; the last one has ~0u, others have 0 */
    uint64_t last; /* the code's own: where it was before, to fetch ahead */
    /* Of accesses that are noted: where the least address is from lane 0's; the shape, as in a note; `told` more notes
     * than there may be: it is not of these. Of others, and those of some of the lanes, how often it was made to fit.
     */
    uint64_t low, shape, told, fits;
    uint64_t covers; /* words from the least address on that these lanes use, a bit each */
    /* Of stores that are not told: where the marks (mg_unheard) would be of address 0, and eight of them. */
    uint64_t marks, mark;
    uint64_t times[8];
};
/* MG_WINDOW bytes that have all lanes of an access: they are loaded, and turned. */
#define MG_WINDOW 128u
struct mg_window {
    uint32_t index[32] __attribute__((aligned(64))); /* the lanes' elements */
    uint32_t least; /* where it begins, from lane 0 */
    uint16_t in[2]; /* the words that the access covers, a bit each */
    bool serves;    /* there is one */
};
/* By worker: how the lanes of an access lay several times in a row. Its records are those of accesses that lie so; the
 * code moves lines and single places itself, and where it has shorter rows those that are lines each, or places. */
enum mg_engine_lie {
    MG_ENGINE_LINE = 1,
    MG_ENGINE_ONE_PLACE,
    MG_ENGINE_LINES,
    MG_ENGINE_PLACES,
    MG_ENGINE_OTHERWISE
};
#define MG_ENGINE_PIECE 4u /* lanes of what is taken for a row where threads lie in no rows alike in all warps */
struct mg_engine_shape {
    uint32_t from[32] __attribute__((aligned(64))); /* the lanes, from lane 0, with a sign */
    uint8_t lie;
    int8_t credit;           /* of accesses that it has served, against others that came; calls->learn's, as `served` */
    uint64_t served;         /* as its records had it when another came last */
    struct mg_window window; /* calls->move's, as all that follows */
    uint32_t offset[32] __attribute__((aligned(64))); /* from the least */
    uint32_t least;                                   /* from lane 0 */
};
struct mg_engine_warp {
    uint8_t *regs;                     /* the frame */
    uint8_t *shared;
    uint64_t *cells;
    struct mg_engine_record *records;  /* by site */
    struct mg_engine_shape *shapes;    /* by number */
    uint64_t *full;                    /* by segment: times that all 32 lanes executed it */
    struct mg_insn_counts *counts;     /* by segment: with some of the lanes */
    struct mg_insn_counts *by_insn;    /* divergent branches */
    const struct mg_engine_calls *calls;
    uint32_t point;                    /* where it left */
    int32_t slice;                     /* loops may go on while it is not negative */
    uint32_t leave;                    /* not 0: the interpreter goes on before the next op */
    uint32_t nested;                   /* of `some`: its lanes may be waited for at an INNER block, and it begins none,
                                        * nor one that is LEFT */
    uint64_t tag;                      /* its number in the block, as in a note */
    /* The code's own, by op, of an access: how often its lanes must yet be found one behind the other, or as they were
     * before, by calls->load or store, before it looks at them again; `line` is what was found (enum mg_engine_lie), or
     * 0. */
    uint8_t *apart;
    uint32_t line;
    /* The lanes' stacks as a device has them: a word of each lane, then the next word of each. So many bytes a lane; 0:
     * the warp has none yet. Behind them are MG_ENGINE_NOWHERE bytes that code may write, and nobody reads. */
    uint8_t *local;
    uint64_t local_bytes;
};
#define MG_ENGINE_NOWHERE 512u /* an access of 16 bytes by all lanes */
/* Stores of words whose lanes lie far apart, deferred by the code: several of them, of one warp or of warps after one
 * another, often share lines, and are then done lane by lane. Nobody can tell: they are settled before anything that
 * may see them, and no lane of one meets another lane of another one (`room`). The code's own, empty whenever it is
 * left. */
#define MG_ENGINE_DEFERRED 32u
struct mg_engine_deferred {
    uint64_t lo, hi;            /* they are in bytes [lo, hi); none: hi is 0 */
    uint64_t n, limit;          /* rows of lanes, and how many there may be; limit is 0 where none may follow */
    uint64_t step;              /* from lane to lane, of all of them */
    uint64_t least, most, room; /* of the addresses in `at`; they may lie as far as `room` apart */
    uint64_t at[MG_ENGINE_DEFERRED];
    uint32_t value[MG_ENGINE_DEFERRED][32];
};
struct mg_engine_calls {
    /* The record does not fit: makes it fit if it can. */
    bool (*miss)(struct mg_engine_warp *e, uint32_t site, uint64_t address, uint64_t cx, uint64_t cy, uint32_t mask);
    /* operands in the frame; false: the launch ends */
    bool (*op)(struct mg_engine_warp *e, uint32_t op, uint32_t mask);
    bool (*checked)(struct mg_engine_warp *e, uint32_t op, uint32_t mask); /* the same, of an atomic */
    bool (*add)(struct mg_engine_warp *e, uint32_t op, uint32_t mask);     /* the same, of a counter in shared memory */
    /* the same, of a LOAD, or a CALL with UNHEARD that loads device memory, and of a STORE */
    bool (*load)(struct mg_engine_warp *e, uint32_t op, uint32_t mask);
    bool (*store)(struct mg_engine_warp *e, uint32_t op, uint32_t mask);
    /* The access's lanes came again as they were: that is the site's shape from now on. */
    void (*learn)(struct mg_engine_warp *e, uint32_t site, uint32_t op);
    /* An access of a shape, in bounds and counted, with lane 0 at `at`; operands in the frame, but the address. */
    void (*move)(struct mg_engine_warp *e, uint32_t op, const struct mg_engine_shape *shape, uint64_t at);
    void (*met)(struct mg_engine_warp *e, uint32_t op);
    struct mg_notes *notes; /* observe.h */
    uint32_t quiet;         /* not 0: a BARRIER or an EXIT is told by the engine, behind `run` */
    bool (*slice)(struct mg_engine_warp *e);                          /* the slice is used up; false: leave */
    /* Of `some`: the others of its lanes have come to where they meet by this branch, these go on. */
    void (*stay)(struct mg_engine_warp *e, uint32_t insn, uint32_t lanes);
    void (*settle)(struct mg_engine_deferred *deferred, uint32_t row); /* does the stores; rows of that many lanes */
    /* The same, and begins anew: with a store whose rows begin at addresses from `least` to `most`. */
    void (*defer)(struct mg_engine_deferred *deferred, uint32_t row, uint64_t least, uint64_t most, uint64_t step);
};
/* What goes into a kernel's code. Quick code takes a fifth of the time to make and up to four times as long to run,
 * and leaves where the lanes of a branch disagree. */
enum mg_engine_effort { MG_ENGINE_QUICK, MG_ENGINE_THOROUGH, MG_ENGINE_EFFORTS };
struct mg_engine_code {
    /* Runs up to n warps of a block one after the other from an entry (0 is the kernel's start), as long as all come to
     * the same barrier or end; returns how many ran. e->point of each says where it left. */
    uint32_t (*run)(struct mg_engine_warp *e, uint32_t entry, uint32_t n);
    /* The lanes of `mask` from the op `op` of somes[] on, behind it if it is a BLOCK, which is counted, with all
     * registers in the frame; a block that begins at op `meet` is not begun. Returns the op at which the interpreter
     * goes on, ~0u: the launch ends. NULL: no lanes part but in `run`. */
    uint32_t (*some)(struct mg_engine_warp *e, uint32_t op, uint32_t mask, uint32_t meet);
    const struct mg_engine_point *points;
    const struct mg_engine_form *forms;
    const struct mg_engine_open *opens;
    const struct mg_engine_site *sites;
    const struct mg_engine_member *members;
    const struct mg_engine_level *levels;
    const uint32_t *somes; /* ops: BLOCKs, and what stands behind barriers */
    uint32_t npoints, nforms, nopens, nsites, nmembers, nlevels, nsomes, ncells;
    uint32_t nshapes; /* numbers of shapes that its sites have */
    uint32_t row; /* lanes a row, as the code has them: the program's, or fewer where its rows are of all 32 */
    void *memory; /* the engine's */
};
struct mg_engine {
    void *self;
    /* Kernels are interpreted until they have run for as long as compiling them takes, and compiled quickly first; else
     * they are compiled with `effort` at their first launch. What was kept of an earlier run is taken at once. */
    bool patient;
    uint8_t effort;
    uint64_t due[MG_ENGINE_EFFORTS]; /* for tests of the patient: after so many warp instructions; 0: when it pays */
    /* NULL: there is none. *reason is then a sentence that says why; with `kept` only code that was made before is
     * looked for, and no reason is given. */
    struct mg_engine_code *(*compile)(void *self, const struct mg_engine_program *program, enum mg_engine_effort effort,
                                      bool kept, const char **reason);
    /* Called before a thread makes code on its own: what has to be there once for all code. The process may not end
     * while it is being set up. May be NULL. */
    void (*prepare)(void *self);
    void (*release)(void *self, struct mg_engine_code *code);
    void (*say)(void *self, const char *kernel, const char *text); /* what became of a kernel; may be NULL */
};
#endif
