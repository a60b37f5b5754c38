/* picture.h - what pictures of a kernel are drawn from: where the lanes of its accesses go, its PTX, what is in flight.
 *
 * One record stands for a kernel in one shape of launch: its first recorded launch. Of every access (an instruction and
 * the space that it reaches) it has one pattern, the worst that any warp made, and its sums over the launch. All is
 * bounded; what does not fit is counted. docs/report.md, "Pictures", is the manual.
 */
#ifndef MG_REPORT_PICTURE_H
#define MG_REPORT_PICTURE_H
#include "report/report.h"

enum { MG_PICTURE_ACCESSES = 64, MG_PICTURE_INSNS = 3000, MG_PICTURE_STEPS = 64, MG_PICTURE_PHASES = 32 };

struct mg_report_cost { /* of one warp's access: wavefronts of shared memory, or sectors of global */
    uint32_t taken, ideal;
    unsigned nphases; /* shared memory: neighbouring lanes that are served together; 0: not known */
    struct {
        uint8_t from, lanes;
        uint32_t wavefronts;
    } phases[MG_PICTURE_PHASES];
};
struct mg_report_layout {                                       /* another layout of the variable, tried */
    const char *kind;                                           /* "pad", "swizzle" */
    uint32_t element, row, pad, xor_mask, xor_shift, xor_times; /* as in model/layout.h */
    uint32_t added;                                             /* bytes of shared memory */
    uint64_t lanes[32];
    struct mg_report_cost cost;
};
struct mg_report_access {
    const char *file;
    uint32_t line, insn;   /* insn: of the picture's, or ~0u */
    const char *space;     /* "shared", "global" */
    const char *operation; /* "load", "store", "atomic", "copy" */
    const char *variable;  /* of shared memory; or "" */
    uint32_t offset, size; /* the variable's, bytes */
    uint64_t count;        /* accesses of all warps; what they took, and the ideal */
    uint64_t taken, ideal;
    uint32_t width, mask; /* the worst of them: bytes a lane, and the active lanes */
    uint64_t lanes[32];   /* shared: bytes from the block's first; global: from the line that the first of them is in */
    struct mg_report_cost cost;
    struct mg_report_layout layouts[2];
    unsigned nlayouts; /* best first; 0: no conflicts, or none helps */
};
struct mg_report_insn {
    const char *file;
    uint32_t line;
    uint64_t warps; /* that issued it */
    const char *text;
};
struct mg_report_step { /* of a pipeline: what one warp asked for, and what was still on its way afterwards */
    const char *file;
    uint32_t line;
    const char *what; /* "commit", "wait" */
    uint64_t bytes;   /* of the group that is committed */
    uint32_t pending; /* groups in flight afterwards, at the most */
};
struct mg_report_picture {
    const char *kernel, *mangled;
    unsigned device;
    struct mg_dim3 grid, block;
    uint32_t shared_dynamic;
    uint32_t banks, bank_bytes, sector_bytes, line_bytes; /* the device's */
    struct mg_report_insn *insns;
    size_t ninsns, insns_left_out;
    struct mg_report_access *accesses; /* worst first */
    size_t naccesses, accesses_left_out;
    struct mg_report_step *steps; /* of the first block's first warp that copies asynchronously */
    size_t nsteps, steps_left_out;
    uint32_t steps_warp;
};

/* The object that report files hold in "pictures". */
bool mg__report_picture_json(const struct mg_report_picture *picture, struct mg_strbuf *out);
enum mg_status mg__report_picture(struct mg_report_writer *w, const struct mg_report_picture *picture);
#endif
