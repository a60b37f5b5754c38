/* last.c - the advice of a folder's last run, kept so that `margay advise KERNEL` can tell the rest of it at once.
 *
 * The table of `margay advise` names kernels; who then asks for one of them should not have to wait for the program
 * again. What is kept stands in the cache, under the name of the working folder: when it was, of which program, for
 * which board, source text that is in no file, and the advice as the report has it. A run that --kernel narrowed is not
 * kept, since it would hide what is there.
 */
#include "guard.h"

#include <limits.h>
#include <regex.h>
#include <sys/stat.h>
#include <time.h>

#define MOST_BYTES ((size_t)16 << 20) /* more advice than that is not kept */

/* No program is found under it, and it could be the name of a kernel. */
bool mg__last_is_name(const char *word)
{
    char path[PATH_MAX];
    struct stat st;
    int why = 0;
    return word[0] && !strchr(word, '/') && !strchr(word, '.') && stat(word, &st) != 0 &&
           !mg__find_program(word, path, sizeof(path), &why);
}

static bool name(const struct mg_cli_options *o, struct mg_kept *kept)
{
    char key[sizeof(o->cwd) + 32];
    snprintf(key, sizeof(key), "last advice with sources in %s", o->cwd);
    return o->style.cwd && mg__kept_text_name(key, strlen(key), kept);
}

/* A line of its own. */
static bool put_line(struct mg_strbuf *out, const char *text)
{
    bool ok = true;
    for (; ok && *text; text++)
        ok = mg__strbuf_append(out, *text == '\n' ? " " : text, 1);
    return ok;
}

void mg__last_keep(const struct mg_session *s, const char *program)
{
    const struct mg_cli_options *o = s->options;
    char path[PATH_MAX];
    struct mg_kept kept;
    struct mg_strbuf text = {0}, sources = {0};
    int why = 0;
    if (!s->advices.at.count || o->kernel || !name(o, &kept))
        return;
    struct stat st;
    bool found = strchr(program, '/') || stat(program, &st) == 0 ? realpath(program, path) != NULL
                                                                 : mg__find_program(program, path, sizeof(path), &why);
    bool ok = mg__strbuf_printf(&text, "%lld\n", (long long)time(NULL)) && put_line(&text, program);
    for (char **arg = o->program + 1; ok && *arg; arg++)
        ok = mg__strbuf_append(&text, " ", 1) && put_line(&text, *arg);
    ok = ok && mg__strbuf_append(&text, "\n", 1) && put_line(&text, found ? path : "") &&
         mg__strbuf_printf(&text, "\n%s\n", o->board->name) && mg__given_json(&s->given, &sources) &&
         put_line(&text, sources.at) && mg__strbuf_append(&text, "\n", 1) && mg__advices_json(&s->advices, &text);
    if (ok && text.count <= MOST_BYTES)
        mg__kept_text_put(&kept, &text);
    mg__strbuf_free(&sources);
    mg__strbuf_free(&text);
}

/* ---- taken again ---- */
struct last {
    time_t when;
    const char *program, *path, *board, *sources, *advice;
};

static bool take_apart(char *text, struct last *last)
{
    char *rest = text, *when = strsep(&rest, "\n");
    last->when = (time_t)strtoll(when, NULL, 10);
    last->program = strsep(&rest, "\n");
    last->path = strsep(&rest, "\n");
    last->board = strsep(&rest, "\n");
    last->sources = strsep(&rest, "\n");
    last->advice = rest;
    return rest != NULL;
}

static bool matches(const regex_t *regex, const struct mg_report_advice *a)
{
    return !regexec(regex, a->kernel, 0, NULL, 0) || !regexec(regex, a->mangled, 0, NULL, 0);
}

/* Rows of other kernels go. */
static void filter(struct mg_advices *advices, const regex_t *regex)
{
    size_t n = 0;
    for (size_t i = 0; i < advices->at.count; i++) {
        struct mg_advice_row *row = advices->at.at[i];
        if (matches(regex, &row->advice))
            advices->at.at[n++] = row;
        else
            free(row->json);
    }
    advices->at.count = n;
}

static int complain_none(const struct mg_cli_options *o, const char *kernel, const char *why)
{
    return mg__cli_complain(o, "%s: no such program; and as a kernel: %s. 'margay advise %s PROGRAM' runs one",
                            kernel, why, kernel);
}

static int choose(const struct mg_cli_options *o, const struct last *last, struct mg_advices *advices,
                  struct mg_given *given)
{
    regex_t regex;
    char why[256];
    if (mg__given_load(given, last->sources) != MG_OK || mg__advices_load(advices, last->advice) != MG_OK ||
        mg__advices_read(advices) != MG_OK)
        return complain_none(o, o->kernel, "what was kept of the last run in this folder is damaged");
    if (regcomp(&regex, o->kernel, REG_EXTENDED | REG_NOSUB))
        return complain_none(o, o->kernel, "it is no regular expression");
    filter(advices, &regex);
    regfree(&regex);
    mg__advices_sort(advices);
    if (advices->at.count)
        return -1;
    snprintf(why, sizeof(why), "the last run in this folder (%.160s) launched none of that name", last->program);
    return complain_none(o, o->kernel, why);
}

bool mg__last_had(const struct mg_cli_options *o, const char *word)
{
    struct mg_kept kept;
    struct mg_strbuf text = {0};
    struct last last = {0};
    struct mg_advices advices;
    struct mg_given given;
    struct stat st;
    bool had = false;
    if (o->json || o->html || o->pictures || strchr(word, '/') || stat(word, &st) == 0) /* of a run; a file */
        return false;
    mg__advices_init(&advices);
    mg__given_init(&given);
    advices.given = &given;
    if (name(o, &kept) && mg__kept_text_take(&kept, &text) && take_apart(text.at, &last) &&
        mg__advices_load(&advices, last.advice) == MG_OK && mg__advices_read(&advices) == MG_OK)
        for (size_t i = 0; i < advices.at.count; i++)
            had |= mg__kernel_is_called(advices.at.at[i]->advice.kernel, word, strlen(word));
    mg__strbuf_free(&text);
    mg__given_free(&given);
    mg__advices_free(&advices);
    return had;
}

int mg__last_take(const struct mg_cli_options *o, struct mg_advices *advices, struct mg_given *given)
{
    struct mg_kept kept;
    struct mg_strbuf text = {0};
    struct last last = {0};
    struct stat st;
    int result;
    if (!name(o, &kept) || !mg__kept_text_take(&kept, &text) || !take_apart(text.at, &last))
        result = complain_none(o, o->kernel, "no advice was kept in this folder");
    else if (o->json || o->html || o->pictures)
        result = complain_none(o, o->kernel, "--json, --html and --pictures are of a run");
    else if (o->board_given && strcmp(o->board->name, last.board))
        result = complain_none(o, o->kernel, "the last run in this folder was for another device");
    else
        result = choose(o, &last, advices, given);
    if (result < 0 && !o->quiet)
        fprintf(stderr, "margay: of the last run in this folder: %s%s\n", last.program,
                !last.path[0] || stat(last.path, &st) != 0 || st.st_mtime > last.when ? " (which has changed since)"
                                                                                      : "");
    mg__strbuf_free(&text);
    return result;
}
