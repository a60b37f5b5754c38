/* cli.h - what the files of the command share. */
#ifndef MG_CLI_H
#define MG_CLI_H
#include <sys/types.h>

#include "arch/arch.h"
#include "report/render.h"

/* Our own failures (usage, no such program, compilation, an unwritable report); and what a check found. */
enum { MG_EXIT_SETUP = 2, MG_EXIT_FINDINGS = 1 };

enum mg_command { MG_CMD_RUN = 1, MG_CMD_PROFILE = 2, MG_CMD_CHECK = 4, MG_CMD_BENCH = 8, MG_CMD_ADVISE = 16 };

struct mg_session;
struct mg_cli_options {
    enum mg_command command;
    const char *name; /* "run" */
    const char *json, *html, *output, *kernel, *nvcc_args, *engine;
    const struct mg_arch *arch;
    const struct mg_board *board;
    bool board_given; /* or its capability */
    unsigned launches, threads, devices, timeout_ms; /* 0: not given */
    uint64_t sample;                                 /* one block in so many, UINT64_MAX: auto, 0: all */
    bool no_results, progress, no_progress;
    bool verbose, strict, quiet, pictures, time, host_clock;
    const char *expect; /* profile: budgets, as written */
    int format;         /* enum mg_format of guard.h */
    bool reserved;      /* standard output is a report's: the program's own goes to standard error */
    const char *svg; /* advise */
    bool full;
    /* check: */
    const char *sarif, *suppress;
    bool leaks, pedantic;
    int fail_on;     /* the least enum mg_severity that fails; above all of them: never */
    char checks[64]; /* what to look for: "race,init" */
    struct mg_suppressions *suppressions;
    /* bench: */
    const char *sizes, *reps;
    bool simulate;
    /* Sees each launch record of the run, in order; may be NULL. */
    void (*on_launch)(void *arg, const struct mg_report_launch *launch);
    void *on_launch_arg;
    /* Sees the session when the run is over, before its report is ended, and may add findings; may be NULL. */
    void (*on_end)(void *arg, struct mg_session *session);
    void *on_end_arg;
    char **program; /* PROGRAM and its arguments, ending in NULL */
    struct mg_style style; /* of standard error */
    char cwd[4096];
};

/* ---- options.c ---- */
/* Fills *options. Returns -1 to go on, or the status to exit with (help and version were printed, or a complaint). */
int mg__cli_parse(enum mg_command command, int argc, char **argv, struct mg_cli_options *options);
int mg__cli_help(enum mg_command command);
/* Says that --option names no compute capability, and which there are. */
int mg__cli_bad_capability(const struct mg_cli_options *options, const char *option, const char *text);

/* Kernels whose name matches are meant. Returns -1 to go on, or the status to exit with. */
int mg__cli_kernel(struct mg_cli_options *options, const char *regex);

/* The board of that name, or part of one. NULL: none, or several, which is told. */
const struct mg_board *mg__cli_board(const struct mg_cli_options *options, const char *name);

/* ---- read_options.c: what all command lines have in common ---- */
#define MG_CLI_MOST_OPTIONS 40
struct mg_cli_option {
    int id;
    const char *name, *arg, *text; /* arg NULL: it takes no value */
    unsigned commands;             /* that take it */
};
struct mg_cli_reader {
    const struct mg_cli_option *table;
    size_t count;
    unsigned command; /* one bit of mg_cli_option.commands */
    bool mixed;       /* options may stand behind operands */
    int help;         /* the id that -h stands for */
    const struct mg_cli_options *options; /* for complaints; may be NULL */
    int (*apply)(void *arg, int id, const char *value); /* -1 to go on, or the status to exit with */
    void *arg;
};
/* Reads options up to the first operand, optind. Returns -1 to go on, or the status to exit with. */
int mg__cli_read(const struct mg_cli_reader *reader, int argc, char **argv);
void mg__cli_help_rows(const struct mg_cli_reader *reader); /* "options:", a row each, on standard output */
void mg__cli_style(struct mg_style *style, int fd);         /* what that terminal or file can show */
/* The entry of `names` (ends in NULL) nearest to `word`, or NULL when none is near. */
const char *mg__cli_nearest(const char *word, const char *const *names);
/* "margay: …" on standard error. complain returns MG_EXIT_SETUP. */
int mg__cli_complain(const struct mg_cli_options *options, const char *format, ...) MG_PRINTF(2, 3);
void mg__cli_say(const struct mg_cli_options *options, const char *format, ...) MG_PRINTF(2, 3); /* when verbose */
extern const char *const mg__cli_commands[];

/* ---- output.c: files that options name, "-" being standard output ---- */
bool mg__output_is_stdout(const char *name);
const char *mg__output_name(const char *name); /* as people say it */
/* Whether one would overwrite the other: names of one file, no device or pipe. NULL is none. */
bool mg__output_same(const char *a, const char *b);
/* Whether a file that is written when the run is over can be: a run may be long. False: it cannot, which is told. */
bool mg__output_fits(const struct mg_cli_options *options, const char *name);
/* A name of NULL is no file, and no failure. False: it cannot be opened, which is told. */
bool mg__output_open(const struct mg_cli_options *options, const char *name, FILE **file);
/* False, and told: not all could be written. */
bool mg__output_close(const struct mg_cli_options *options, const char *name, FILE *file, bool written);
/* No run, no report: an old or empty file must not pass for one. It stays open. */
void mg__output_discard(const char *name, FILE *file);
bool mg__output_write(const struct mg_cli_options *options, const char *name, const struct mg_strbuf *text);

/* ---- find.c ---- */
/* PROGRAM as execvp would find it. False: *why is an errno. */
bool mg__find_program(const char *name, char *path, size_t size, int *why);
bool mg__find_own_dir(char *path, size_t size); /* the folder that the command itself is in */
/* Why no processor here starts the file, as far as its first bytes tell; NULL: nothing is wrong, or who knows. */
const char *mg__find_unfit(const char *path);
/* The folder of Margay's own CUDA runtime. */
bool mg__find_libdir(char *path, size_t size);
/* The runtime that the program asks for by name: 12 or 13, and 0 when it names none or is no ELF file. */
unsigned mg__find_cudart_needed(const char *program);
bool mg__find_nvcc(char *path, size_t size);
/* A tool of the CUDA toolkit: on PATH, beside nvcc, or where the toolkit usually is. */
bool mg__find_tool(const char *name, char *path, size_t size);

/* ---- child.c ---- */
struct mg_child {
    const char *path;  /* what to execute */
    char **argv;
    bool quiet_stdout; /* its standard output goes to our standard error */
    /* Called in the child before exec; report_fd is -1 without `data`. */
    void (*setup)(void *arg, int report_fd);
    /* What the child writes to the report pipe, piece by piece. NULL: no pipe is made. */
    void (*data)(void *arg, const char *bytes, size_t size);
    void *arg;
    int *asked_to_end; /* the last signal that asked us to end meanwhile; may be NULL */
};
/* Runs it to its end; *status as from waitpid. On failure *error is an errno. */
enum mg_status mg__child_run(const struct mg_child *child, int *status, int *error);

/* ---- keeper.c ---- */
/* To be called by a child of `parent` before exec: it ends when the parent does, however that ends. */
void mg__child_bind(pid_t parent);
/* In a child of `parent`; does not return. Starts a child of its own, which calls `become`, and writes to `told` its
 * pid_t, -1: it could not, and once it has ended its status as from waitpid. Closes descriptors that are the child's
 * alone, -1: none. When `parent` ends, whatever of the child's is left is killed. */
_Noreturn void mg__keep(pid_t parent, int told, const int theirs[2], void (*become)(void *arg), void *arg);

/* ---- missing.c ---- */
/* Of a program that the loader did not start: tells of each library that it did not find. `setup` as for the child. */
void mg__missing_libraries(const char *path, char **argv, void (*setup)(void *arg, int report_fd), void *setup_arg,
                           void (*tell)(void *arg, const struct mg_diag *diag), void *arg);

/* ---- compile.c ---- */
struct mg_compiled {
    char dir[1024], program[2048];
};
/* Returns -1 to go on, or the status to exit with. */
int mg__compile(const struct mg_cli_options *options, const char *source, struct mg_compiled *compiled);
void mg__compile_clean(struct mg_compiled *compiled);

/* ---- self.c: the command run by itself ---- */
struct mg_self {
    const char *command;
    const char *const *options; /* they and the program with its arguments end in NULL */
    char *const *program;
    const char *output; /* all that it prints goes to this file; NULL: to our standard error */
};
/* Its exit status, 128 and more: of a signal; -1: it could not be started. */
int mg__self_run(const struct mg_self *self);
/* A temporary folder, for mg__compile_clean. False, and told: there is none. */
bool mg__self_folder(struct mg_compiled *folder);

/* ---- kinds.c: the catalogue of what is found ---- */
const struct mg_sarif_rule *mg__kinds(size_t *count);
/* Whether a check has the name's first `length` characters as its name. */
bool mg__kinds_has_check(const char *name, size_t length);

/* ---- suppress.c: findings that are known and accepted ---- */
struct mg_suppressions;
/* Returns -1 to go on, or the status to exit with. */
int mg__suppressions_load(const struct mg_cli_options *options, const char *file, struct mg_suppressions **list);
void mg__suppressions_free(struct mg_suppressions *list);
/* Marks every entry that covers the finding as used. */
bool mg__suppressions_match(struct mg_suppressions *list, const struct mg_report_finding *finding);
/* Says on standard error which entries covered nothing, of those that concern the checks that ran. */
void mg__suppressions_tell_unused(const struct mg_suppressions *list, const struct mg_cli_options *options);
/* The line that suppresses exactly this finding. */
bool mg__suppression_for(const struct mg_report_finding *finding, const struct mg_style *style, struct mg_strbuf *out);

/* ---- disassemble.c ---- */
/* Fills `machine` with what ptxas made of the tally's kernels, where the program has machine code for the simulated
 * device and there is an nvdisasm; else, and on any failure, it stays empty. */
void mg__disassemble(const struct mg_cli_options *options, const char *program, const struct mg_tally *tally,
                     struct mg_machine *machine);

/* ---- registers.c ---- */
/* Writes into a temporary file, whose name it gives (or ""), what ptxas makes of the kernels that are PTX on the
 * device. */
void mg__registers_write(const struct mg_cli_options *options, const char *path, char *file, size_t size);

/* ---- session.c: one program run under Margay, its records collected ---- */
struct mg_session {
    const struct mg_cli_options *options;
    struct mg_tally tally;
    struct mg_report_device device;
    struct mg_advices advices;
    struct mg_picture_rows pictures;
    struct mg_strbuf error_objects; /* as in the report, commas between */
    struct mg_machine machine; /* profile */
    struct mg_hosted_rows hosted; /* calls that the host computed */
    struct mg_given given; /* source text that is in no file */
    struct mg_findings findings, suppressed; /* in order, once the run is over */
    uint64_t launches, errors, damaged;
    bool heard;     /* the program has made a call of CUDA */
    bool internal;  /* an error was a defect of Margay itself */
    bool signalled; /* the program was ended by a signal, or one asked us to end */
    bool checked; /* the runtime said that it checks */
    uint64_t unexplained; /* errors that no finding stands for: what came after them was not looked at */
    bool stopped;         /* one of these was a kernel's */
};
/* Runs options->program (compiling it first if it is a .cu file). Returns -1 when the program ran, with its exit status
 * in *status; or the status to exit with. The session must be freed in either case. */
/* Sets in this process what a program would be started with, but for the report. -1, or the status to exit with. */
int mg__session_settings(const struct mg_cli_options *options);
int mg__session_run(struct mg_session *session, const struct mg_cli_options *options, int *status);
void mg__session_free(struct mg_session *session);
/* Why there is no kernel in the report: "no kernel was launched". */
bool mg__session_none(const struct mg_session *session, struct mg_strbuf *out);
/* A line of what is to be done about it, or "". */
const char *mg__session_hint(const struct mg_session *session);

/* ---- page.c ---- */
/* Writes options->html, if it was asked for. Returns -1 to go on, or the status to exit with. `program`: as it was
 * given. */
int mg__cli_page(struct mg_session *session, const char *program);

/* ---- commands ---- */
int mg__cmd_run(int argc, char **argv);
int mg__cmd_profile(int argc, char **argv);
int mg__cmd_check(int argc, char **argv);
int mg__cmd_advise(int argc, char **argv);
int mg__cmd_bench(int argc, char **argv);
int mg__cmd_diff(int argc, char **argv);
int mg__cmd_summary(int argc, char **argv);
int mg__cmd_banks(int argc, char **argv);
int mg__cmd_limits(int argc, char **argv);
int mg__cmd_occupancy(int argc, char **argv);
int mg__cmd_env(int argc, char **argv);
int mg__cmd_compare(int argc, char **argv);
int mg__cmd_sweep(int argc, char **argv);
#endif
