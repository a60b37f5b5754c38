/* place.c - where the user finds an instruction: the line of his own sources that a header's code was inlined into.
 *
 * A location's call sites are followed outwards (.loc ... inlined_at) for as long as the file is one that comes with
 * the toolkit or the system, which nobody is going to change. The line inside the header is kept beside it. Where all
 * of it is a header's, as of a kernel that a library defines, the outermost line stands.
 */
#include "ptx/ptx_priv.h"

struct mg_ptx_place mg__ptx_place(const struct mg_ptx_module *m, uint32_t loc)
{
    struct mg_ptx_place place = {"", 0, 0, "", 0, "", 0};
    for (unsigned depth = 0; m && loc && loc < m->nlocs && depth <= MG_PTX_MAX_INLINED; depth++) {
        const struct mg_ptx_loc *at = &m->locs[loc];
        if (at->file >= m->nfiles)
            break;
        if (depth == 1) {
            place.header = place.file;
            place.header_line = place.line;
        }
        place.file = m->files[at->file];
        place.line = at->line;
        place.column = at->column;
        if (!mg__file_is_system(place.file)) {
            const struct mg_ptx_loc *call = at->inlined_at < m->nlocs ? &m->locs[at->inlined_at] : at;
            if (at->inlined_at && call->file < m->nfiles) {
                place.call = m->files[call->file];
                place.call_line = call->line;
            }
            break;
        }
        loc = at->inlined_at;
    }
    return place;
}
