/* jit.h - the second engine: kernels compiled to the machine's own code. */
#ifndef MG_JIT_H
#define MG_JIT_H
#include "base/base.h"

struct mg_engine;
struct mg_simt;
struct mg_jit_options {
    const char *cache; /* folder of kept code; NULL: the user's (MARGAY_CACHE, where "off" is none, or ~/.cache/margay),
                          "": none is kept */
    bool verbose;        /* says on stderr what became of each kernel */
    bool patient;        /* kernels are interpreted until compiling pays (simt/engine.h) */
    bool quick;          /* else compiled with little effort */
};
/* NULL: this build has no code generator, or this processor none that it can serve; *reason is a sentence. For
 * mg__simt_attach (simt/simt.h); close it after the device. */
struct mg_engine *mg__jit_open(const struct mg_jit_options *options, const char **reason);
void mg__jit_close(struct mg_engine *engine);
/* Gives the device the engine of that name (jit, quick, interp), or with NULL or "" the best that was built; *engine is
 * NULL if kernels are interpreted. Close it after the device. */
enum mg_status mg__jit_choose(struct mg_simt *simt, const char *name, bool verbose, struct mg_engine **engine,
                              struct mg_diag *diag);
struct mg_jit_stats {
    uint64_t compiled[2], loaded, refused; /* compiled: quickly, thoroughly */
    uint64_t faulty; /* of those refused: code was made that LLVM or the loader would not take */
    double compile_seconds[2], load_seconds;
};
void mg__jit_stats(const struct mg_engine *engine, struct mg_jit_stats *stats);
/* The text of the code generator's IR for the last kernel that was compiled goes here; for tests. */
void mg__jit_dump(struct mg_engine *engine, struct mg_strbuf *dump);
#endif
