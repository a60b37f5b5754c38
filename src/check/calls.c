/* calls.c - calls of the host that fail: told at once if they can be nothing but a mistake, and otherwise at the end,
 * if the program has not looked at the error until then.
 */
#include "check/check_priv.h"

enum { CALLS_MOST = 1024 };

static struct failed_call *find(struct mg_check *c, const char *call, uint64_t from)
{
    for (size_t i = 0; i < c->calls.count; i++)
        if (c->calls.at[i].from == from && !strcmp(c->calls.at[i].call, call))
            return &c->calls.at[i];
    return NULL;
}

bool mg__check_wants_call(struct mg_check *c, const char *call, uint64_t from)
{
    pthread_mutex_lock(&c->lock);
    bool wants = c->checks & MG_CHECK_LAUNCH && !c->told && !find(c, call, from);
    pthread_mutex_unlock(&c->lock);
    return wants;
}

static void tell(struct mg_check *c, const struct failed_call *f)
{
    static const enum check_kind kinds[] = {[MG_CHECK_CALL_FAILED] = KIND_LAUNCH_CALL,
                                            [MG_CHECK_CALL_HANDLE] = KIND_LAUNCH_HANDLE,
                                            [MG_CHECK_CALL_SHAPE] = KIND_LAUNCH_COPY};
    mg__find_at(c, kinds[f->kind], NULL,
                (struct mg_report_finding){.file = f->file ? f->file : "", .line = f->line, .variable = ""},
                "%s returned %s%s", f->call, f->error,
                f->kind == MG_CHECK_CALL_FAILED ? ", and nothing looked at it" : "");
}

void mg__check_call_failed(struct mg_check *c, enum mg_check_call kind, const char *call, const char *error,
                           uint64_t from, const char *file, uint32_t line)
{
    pthread_mutex_lock(&c->lock);
    struct failed_call *known = find(c, call, from);
    struct failed_call new = {.kind = kind, .call = call, .error = error, .from = from, .line = line};
    if (c->told) { /* a finding has said it, and better */
        c->told = false;
    } else if (known) {
        known->looked &= kind != MG_CHECK_CALL_FAILED;
    } else if (c->checks & MG_CHECK_LAUNCH && c->calls.count < CALLS_MOST) {
        new.file = strdup(file);
        new.looked = kind != MG_CHECK_CALL_FAILED;
        if (new.looked)
            tell(c, &new);
        if (!mg__vec_push(&c->calls, new))
            free(new.file);
    }
    pthread_mutex_unlock(&c->lock);
}

void mg__check_call_looked(struct mg_check *c, const char *error)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->calls.count; i++)
        c->calls.at[i].looked |= !error || !strcmp(c->calls.at[i].error, error);
    pthread_mutex_unlock(&c->lock);
}

void mg__calls_ended(struct mg_check *c)
{
    for (size_t i = 0; i < c->calls.count; i++)
        if (!c->calls.at[i].looked)
            tell(c, &c->calls.at[i]);
}

void mg__calls_free(struct mg_check *c)
{
    for (size_t i = 0; i < c->calls.count; i++)
        free(c->calls.at[i].file);
    mg__vec_free(&c->calls);
}
