#include "cudart/link.h"
struct mg_linker { int n; char *t; size_t l;};
enum mg_status mg__link_create(struct mg_linker **linker){ *linker=calloc(1,sizeof(**linker)); return *linker?MG_OK:MG_ERR_NOMEM;}
enum mg_status mg__link_add(struct mg_linker *l, const char *text, size_t length, struct mg_diag *diag){ if(l->n++) return mg__diag_set(diag,MG_ERR_UNSUPPORTED,"linking"); l->t=strndup(text,length); l->l=length; return MG_OK;}
enum mg_status mg__link_finish(struct mg_linker *l, char **text, size_t *length, struct mg_diag *diag){(void)diag;*text=l->t;*length=l->l;l->t=NULL;return MG_OK;}
void mg__link_destroy(struct mg_linker *l){if(l)free(l->t);free(l);}
