/* reader_priv.h - a record that is parsed as JSON already. */
#ifndef MG_READER_PRIV_H
#define MG_READER_PRIV_H
#include <jansson.h>

#include "report/render.h"

/* As mg__record_parse. Takes `root` away; it may be NULL. */
enum mg_status mg__record_of(json_t *root, struct mg_arena *arena, struct mg_record *record);
#endif
