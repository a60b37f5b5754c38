/* jit_priv.h - between the parts of the room: the kept form of a compiled kernel, its loader, the cache, the
 * generator's library. */
#ifndef MG_JIT_PRIV_H
#define MG_JIT_PRIV_H
#include "base/base.h"
#include "simt/engine.h"

#define MG_JIT_MAGIC 0x544a474du /* "MGJT" */
#define MG_JIT_VERSION 18u        /* of generated code: kept code of another version is not used */

/* A compiled kernel as bytes: this header, the tables in the order of their counts, and the object file. */
struct mg_jit_header {
    uint32_t magic, version, engine;
    uint32_t npoints, nforms, nopens, nsites, nmembers, nlevels, nsomes, ncells, row;
    uint64_t object; /* bytes */
    uint64_t key[2], check; /* check: of all that follows the header */
};
/* Tables and code ready to run, from those bytes. NULL: they are damaged, or need what is not here. */
struct mg_engine_code *mg__jit_load(const void *bytes, size_t size);
void mg__jit_unload(struct mg_engine_code *code);

/* cache.c: kept kernels, in the folder `given` (NULL: the user's); both may fail, and then nothing is kept. */
bool mg__jit_cache_get(const char *given, const uint64_t key[2], char **bytes, size_t *size);
void mg__jit_cache_put(const char *given, const uint64_t key[2], const char *bytes, size_t size);
uint64_t mg__jit_processor(void); /* what this processor has, as a number */
void mg__jit_key(const struct mg_engine_program *program, enum mg_engine_effort effort, uint64_t key[2]);

/* The library that holds LLVM exports this: the bytes of a compiled kernel in *bytes (free them), or NULL and a reason.
 * `dump`: the text of the IR goes there, if not NULL. With `program` NULL LLVM is set up, and that is all. */
typedef bool mg_jit_generate(const struct mg_engine_program *program, enum mg_engine_effort effort,
                             const uint64_t key[2], char **bytes, size_t *size, const char **reason,
                             struct mg_strbuf *dump);
#endif
