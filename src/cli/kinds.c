/* kinds.c - the catalogue of what is found, as the command needs it: names for --only, rules for SARIF. */
#include "cli.h"

static const struct mg_sarif_rule kinds[] = {
#define ERROR MG_SEVERITY_ERROR
#define WARNING MG_SEVERITY_WARNING
#define NOTE MG_SEVERITY_NOTE
#define CHECK_KIND(id, check, name, severity, title, advice) {check, name, title, advice, severity},
#include "check/kind.def"
#undef CHECK_KIND
#undef ERROR
#undef WARNING
#undef NOTE
};

const struct mg_sarif_rule *mg__kinds(size_t *count)
{
    *count = MG_COUNT(kinds);
    return kinds;
}

bool mg__kinds_has_check(const char *name, size_t length)
{
    for (size_t i = 0; i < MG_COUNT(kinds); i++)
        if (strlen(kinds[i].check) == length && !memcmp(kinds[i].check, name, length))
            return true;
    return false;
}
