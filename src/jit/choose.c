/* choose.c - which engine a device gets: MARGAY_ENGINE, jit or interp; without it jit where it was built, for what it pays
 * for. MARGAY_VERBOSE=1 says on stderr what became of each kernel. */
#include "jit/jit.h"
#include "simt/simt.h"

enum mg_status mg__jit_choose(struct mg_simt *simt, struct mg_engine **engine, struct mg_diag *diag)
{
    const char *name = getenv("MARGAY_ENGINE"), *verbose = getenv("MARGAY_VERBOSE"), *reason = "";
    bool named = name && name[0];
    *engine = NULL;
    if (named && strcmp(name, "interp") == 0)
        return MG_OK;
    if (named && strcmp(name, "jit") != 0)
        return mg__diag_set(diag, MG_ERR_INVALID, "MARGAY_ENGINE=%s: there are jit and interp", name);
    struct mg_jit_options options = {.verbose = verbose && strcmp(verbose, "1") == 0, .patient = !named};
    *engine = mg__jit_open(&options, &reason);
    if (*engine)
        mg__simt_attach(simt, *engine);
    else if (named)
        return mg__diag_set(diag, MG_ERR_UNSUPPORTED, "MARGAY_ENGINE=jit: %s", reason);
    return MG_OK;
}
