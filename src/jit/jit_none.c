/* jit_none.c - in place of the engine that compiles, where it was not built. */
#include "jit/jit.h"

struct mg_engine *mg__jit_open(const struct mg_jit_options *options, const char **reason)
{
    (void)options;
    *reason = "this build has no code generator: it was made without LLVM";
    return NULL;
}
void mg__jit_close(struct mg_engine *engine)
{
    (void)engine;
}
void mg__jit_stats(const struct mg_engine *engine, struct mg_jit_stats *stats)
{
    (void)engine;
    *stats = (struct mg_jit_stats){0};
}
void mg__jit_dump(struct mg_engine *engine, struct mg_strbuf *dump)
{
    (void)engine, (void)dump;
}
