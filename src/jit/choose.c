/* choose.c - which engine a device gets: jit, quick (the same with little effort) or interp, as MARGAY_ENGINE says;
 * without a name kernels are compiled, where that was built, when it pays. */
#include "jit/jit.h"
#include "simt/simt.h"

enum mg_status mg__jit_choose(struct mg_simt *simt, const char *name, bool verbose, struct mg_engine **engine,
                              struct mg_diag *diag)
{
    const char *reason = "";
    bool named = name && name[0];
    *engine = NULL;
    if (named && strcmp(name, "interp") == 0)
        return MG_OK;
    bool quick = named && strcmp(name, "quick") == 0;
    if (named && !quick && strcmp(name, "jit") != 0)
        return mg__diag_set(diag, MG_ERR_INVALID, "MARGAY_ENGINE=%s: there are jit, quick and interp", name);
    struct mg_jit_options options = {.verbose = verbose, .patient = !named, .quick = quick};
    *engine = mg__jit_open(&options, &reason);
    if (*engine)
        mg__simt_attach(simt, *engine);
    else if (named)
        return mg__diag_set(diag, MG_ERR_UNSUPPORTED, "MARGAY_ENGINE=%s: %s", name, reason);
    return MG_OK;
}
