/* engine_priv.h - compiled code inside the engine: descriptions of kernels, and blocks that run it. */
#ifndef MG_ENGINE_PRIV_H
#define MG_ENGINE_PRIV_H
#include "simt/engine.h"
#include "simt/simt_priv.h"

/* A kernel for blocks of one shape, as described to the code generator, and what became of it. */
struct mg_described {
    struct mg_arena arena;
    struct mg_engine_program program;
    mg_handler *call;        /* by op: what calls->op runs */
    uint32_t *entry_of;      /* by op: the point of its entry, or that of the barrier that it is; 0: none */
    struct mg_engine_code *code;
    bool loops;              /* how often a warp executes an op is not known: there are branches back, or calls */
};
uint32_t mg__described_row(const struct mg_dim3 *block); /* lanes a row of such a block, 0: irregular */
bool mg__described_fill(const struct mg_code *code, int32_t slot);
struct mg_described *mg__describe(const struct mg_program *program, const struct mg_lanes *lanes, uint32_t row);
void mg__described_free(struct mg_described *described);

void mg__late_settle(struct mg_engine_late *late, uint32_t row);
void mg__late_begin(struct mg_engine_late *late, uint32_t row, uint64_t least, uint64_t most, uint64_t step);

/* A kernel whose warps leave compiled code often may be interpreted in less time: then some blocks are timed either way. Results
 * and counts are the same. Whether the worker's next block is to be compiled code's; and what one took. */
bool mg__engine_pace(struct mg_worker *worker);
bool mg__engine_timed(const struct mg_worker *worker); /* whether to tell how long the next one takes */
void mg__engine_paced(struct mg_worker *worker, bool compiled, bool done, uint64_t ns);
#endif
