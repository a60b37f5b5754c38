/* kinds.c - the kinds of findings: kind.def as a table. */
#include "check/check_priv.h"

const struct kind mg__kinds[] = {
#define CHECK_KIND(id, check, name, severity, title, advice) {check, name, advice, MG_SEVERITY_##severity},
#include "check/kind.def"
#undef CHECK_KIND
};
