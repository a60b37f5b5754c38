/* link.h - PTX of several translation units made into one text (nvcc -rdc=true). */
#ifndef MG_DEVICE_LINK_H
#define MG_DEVICE_LINK_H
#include "base/base.h"

struct mg_linker;
enum mg_status mg__link_create(struct mg_linker **linker);
/* The text is copied. */
enum mg_status mg__link_add(struct mg_linker *linker, const char *text, size_t length, struct mg_diag *diag);
/* The linked text, for the caller to free. */
enum mg_status mg__link_finish(struct mg_linker *linker, char **text, size_t *length, struct mg_diag *diag);
void mg__link_destroy(struct mg_linker *linker); /* NULL is fine */
#endif
