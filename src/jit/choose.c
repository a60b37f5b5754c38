/* choose.c - which engine a device gets: MARGAY_ENGINE is jit, quick (the same with little effort) or interp; without
 * it kernels are compiled, where that was built, when it pays. MARGAY_VERBOSE=1 says on stderr what became of each. */
#include "jit/jit.h"
#include "simt/simt.h"

enum mg_status mg__jit_choose(struct mg_simt *simt, struct mg_engine **engine, struct mg_diag *diag)
{
    const char *name = getenv("MARGAY_ENGINE"), *verbose = getenv("MARGAY_VERBOSE"), *reason = "";
    bool named = name && name[0];
    *engine = NULL;
    if (named && strcmp(name, "interp") == 0)
        return MG_OK;
    bool quick = named && strcmp(name, "quick") == 0;
    if (named && !quick && strcmp(name, "jit") != 0)
        return mg__diag_set(diag, MG_ERR_INVALID, "MARGAY_ENGINE=%s: there are jit, quick and interp", name);
    struct mg_jit_options options = {
        .verbose = verbose && strcmp(verbose, "1") == 0, .patient = !named, .quick = quick};
    *engine = mg__jit_open(&options, &reason);
    if (*engine)
        mg__simt_attach(simt, *engine);
    else if (named)
        return mg__diag_set(diag, MG_ERR_UNSUPPORTED, "MARGAY_ENGINE=%s: %s", name, reason);
    return MG_OK;
}
