/* read_options.c - what every command line has in common: a table of options is read by getopt_long, slips are told
 * with the nearest name, the help's rows come from the same table. What an option means is its owner's business
 * (options.c, device_cmd.c).
 */
#include "cli.h"

#include <getopt.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Edit distance (Levenshtein), rows of at most 32. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[33];
    size_t n = strlen(b);
    if (n > 32 || strlen(a) > 32)
        return UINT32_MAX;
    for (unsigned j = 0; j <= n; j++)
        row[j] = j;
    for (unsigned i = 1; a[i - 1]; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= n; j++) {
            unsigned change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = MG_MIN(change, MG_MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[n];
}

const char *mg__cli_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    unsigned least = (unsigned)MG_MIN(strlen(word), 100u) / 3 + 1;
    for (; *names; names++) {
        unsigned d = distance(word, *names);
        if (d <= least && (!best || d < least)) {
            least = d;
            best = *names;
        }
    }
    return best;
}

void mg__cli_style(struct mg_style *style, int fd)
{
    struct winsize size;
    bool tty = isatty(fd);
    const char *columns = getenv("COLUMNS"); /* which some shells export, and people set */
    unsigned long given = columns ? strtoul(columns, NULL, 10) : 0;
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    memset(style, 0, sizeof(*style));
    style->width = 80;
    if (tty && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
        style->width = MG_MAX(60u, MG_MIN(size.ws_col, 240u));
    if (given)
        style->width = (unsigned)MG_MAX(60ul, MG_MIN(given, 240ul));
    style->broken = tty || given;
    style->color = tty && !(no_color && no_color[0]) && term && strcmp(term, "dumb");
    style->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
}

void mg__cli_help_rows(const struct mg_cli_reader *reader)
{
    fputs("\noptions:\n", stdout);
    for (size_t i = 0; i < reader->count; i++) {
        const struct mg_cli_option *row = &reader->table[i];
        char left[48];
        if (!(row->commands & reader->command))
            continue;
        snprintf(left, sizeof(left), "--%s%s%s", row->name, row->arg ? " " : "", row->arg ? row->arg : "");
        if (strlen(left) > 20)
            printf("  %s\n  %-20s %s\n", left, "", row->text);
        else
            printf("  %-20s %s\n", left, row->text);
    }
}

/* What does the same here as an option of NVIDIA's tools, or NULL. */
static const char *foreign(const struct mg_cli_reader *r, const char *given)
{
    enum { RUN = MG_CMD_RUN, PROFILE = MG_CMD_PROFILE, CHECK = MG_CMD_CHECK, ADVISE = MG_CMD_ADVISE };
    static const struct {
        const char *name;
        unsigned commands;
        const char *instead;
    } rows[] = {
#define FOREIGN(name, commands, instead) {name, commands, instead},
#include "foreign.def"
    };
    for (size_t i = 0; r->options && i < MG_COUNT(rows); i++) {
        size_t n = strlen(rows[i].name);
        bool same = rows[i].name[n - 1] == '=' ? !strncmp(given, rows[i].name, n)
                                               : !strncmp(given, rows[i].name, n) && (!given[n] || given[n] == '=');
        if (same && rows[i].commands & r->options->command)
            return rows[i].instead;
    }
    return NULL;
}

/* A word that getopt_long did not take. */
static int unknown(const struct mg_cli_reader *r, const char *given, const char *const *names, const char *command)
{
    char word[64] = "";
    const char *near = NULL, *instead = foreign(r, given);
    if (instead)
        return mg__cli_complain(r->options, "unknown option '%s': %s; see 'margay %s --help'", given, instead, command);
    if (!strncmp(given, "--", 2)) {
        snprintf(word, sizeof(word), "%.*s", (int)strcspn(given + 2, "="), given + 2);
        near = mg__cli_nearest(word, names);
    }
    if (near && strcmp(near, word))
        return mg__cli_complain(r->options, "unknown option '%s'; did you mean '--%s'?", given, near);
    if (near)
        return mg__cli_complain(r->options, "option '--%s' takes no value", near);
    return mg__cli_complain(r->options, "unknown option '%s'; see 'margay %s --help'", given, command);
}

int mg__cli_read(const struct mg_cli_reader *r, int argc, char **argv)
{
    struct option longs[MG_CLI_MOST_OPTIONS + 1] = {{0}};
    const char *names[MG_CLI_MOST_OPTIONS + 1] = {0};
    size_t n = 0;
    for (size_t i = 0; i < r->count && n < MG_CLI_MOST_OPTIONS; i++) {
        const struct mg_cli_option *row = &r->table[i];
        if (!(row->commands & r->command))
            continue;
        longs[n] = (struct option){row->name, row->arg ? required_argument : no_argument, NULL, row->id};
        names[n++] = row->name;
    }
    opterr = 0;
    for (;;) {
        int at = optind; /* not where options and operands may be mixed: there it is the word before the next */
        int id = getopt_long(argc, argv, r->mixed ? ":h" : "+:h", longs, NULL);
        if (id == -1)
            return -1;
        if (r->mixed)
            at = optind - 1;
        if (id == ':')
            return mg__cli_complain(r->options, "option '%s' needs a value; see 'margay %s --help'", argv[at], argv[0]);
        if (id == '?')
            return unknown(r, argv[at], names, argv[0]);
        int result = r->apply(r->arg, id == 'h' ? r->help : id, optarg);
        if (result >= 0)
            return result;
    }
}
