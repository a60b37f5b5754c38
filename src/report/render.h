/* render.h - the command's half of src/report: records read back, added up, and shown.
 *
 * A record is parsed into an arena and owned by it. A tally adds launches up: by kernel and launch shape, each with its
 * source lines and shared variables; findings are merged likewise. Renderers append text to a buffer and never touch
 * the terminal; a style says what the place that the text goes to can show.
 */
#ifndef MG_RENDER_H
#define MG_RENDER_H
#include "report/picture.h"
#include "report/report.h"

enum mg_record_kind {
    MG_RECORD_UNKNOWN, /* a later version's: ignored */
    MG_RECORD_HEADER,
    MG_RECORD_LAUNCH,
    MG_RECORD_CHECKS, /* launches are checked */
    MG_RECORD_FINDING,
    MG_RECORD_ADVICE,
    MG_RECORD_PICTURE,
    MG_RECORD_ERROR,
    MG_RECORD_WARNING, /* as an error; the program goes on */
    MG_RECORD_NOTE,
    MG_RECORD_HOSTED, /* a call that the host computed */
    MG_RECORD_SOURCE, /* source text that is in no file */
    MG_RECORD_PROGRESS,
    MG_RECORD_END
};
struct mg_record {
    enum mg_record_kind kind;
    struct mg_report_device device;   /* HEADER */
    const char *version;              /* HEADER */
    int schema;                       /* HEADER */
    struct mg_report_launch launch;   /* LAUNCH; of a PICTURE its names and its shape */
    struct mg_report_finding finding; /* FINDING; no string of it is NULL */
    const char *json;                 /* FINDING, ADVICE, PICTURE, ERROR, WARNING: the object that report files hold */
    const char *kernel;   /* ERROR, WARNING, PROGRESS */
    struct mg_diag diag;  /* ERROR, WARNING */
    const char *note;     /* NOTE: a sentence without its full stop */
    const char *library, *routine; /* HOSTED */
    const char *file, *text;       /* SOURCE */
    uint64_t done, total; /* PROGRESS, */
    double seconds;       /* likewise: that the launch has run */
};
/* One line of the stream, without its newline. MG_ERR_SYNTAX: damaged; the reader may go on with the next line. */
enum mg_status mg__record_parse(const char *line, size_t length, struct mg_arena *arena, struct mg_record *record);

/* The same, of a stream whose launches come again and again: those that were read already, but for their time, are not
 * read anew (repeat.c). What the record points to lives as long as the arena, or until the next call. */
#define MG_REPEATS 32u
struct mg_repeat;
struct mg_repeats { /* zeroed before its first use */
    struct mg_repeat *at[MG_REPEATS];
    unsigned next; /* to be forgotten */
};
enum mg_status mg__record_repeat(struct mg_repeats *repeats, const char *line, size_t length, struct mg_arena *arena,
                                 struct mg_record *record);
void mg__repeats_free(struct mg_repeats *repeats);

/* ---- calls that the host computed (hosted.c) ---- */
struct mg_hosted_row {
    const char *library, *routine;
    uint64_t calls;
};
struct mg_hosted_rows {
    struct mg_arena arena;
    MG_VEC(struct mg_hosted_row *) at; /* by library and routine */
};
void mg__hosted_init(struct mg_hosted_rows *rows);
void mg__hosted_free(struct mg_hosted_rows *rows);
enum mg_status mg__hosted_add(struct mg_hosted_rows *rows, const char *library, const char *routine);
bool mg__hosted_json(const struct mg_hosted_rows *rows, struct mg_strbuf *out); /* an array */

/* ---- source text that came with the report (given.c) ---- */
struct mg_given {
    struct mg_arena arena;
    struct mg_strtab by_name;
    MG_VEC(void *) at;
};
void mg__given_init(struct mg_given *given);
void mg__given_free(struct mg_given *given);
enum mg_status mg__given_add(struct mg_given *given, const char *file, const char *text);
/* False: the report says nothing of it. *text NULL: it has two texts of that name, so that neither may be shown. */
bool mg__given_text(const struct mg_given *given, const char *file, const char **text);
enum mg_status mg__given_load(struct mg_given *given, const char *json); /* that array; MG_ERR_SYNTAX: it is none */
bool mg__given_json(const struct mg_given *given, struct mg_strbuf *out); /* an array */

/* ---- tally ---- */
struct mg_tally_kernel {
    const char *kernel, *mangled;
    struct mg_dim3 grid, block; /* the first launch's, when launches are not kept apart by shape */
    uint32_t shared_static, shared_dynamic, regs;
    uint64_t launches, failed;
    bool shapes_differ;
    uint32_t waits;   /* of any launch */
    uint32_t devices; /* that it ran on: a bit each, the last for all from there on */
    double seconds;
    double occupancy;          /* a fraction, of the first launch's shape; 0: not known. The command's to fill in */
    struct mg_metrics metrics; /* sums */
    MG_VEC(struct mg_report_line) lines;
    MG_VEC(struct mg_report_var) vars;
    struct mg_report_sample sample; /* of all launches; counted less than blocks: the sums are estimates */
};
struct mg_tally {
    struct mg_arena arena;
    struct mg_strtab index;
    bool by_shape; /* a kernel launched in two shapes is two rows */
    MG_VEC(struct mg_tally_kernel *) kernels;
};
void mg__tally_init(struct mg_tally *tally, bool by_shape);
void mg__tally_free(struct mg_tally *tally);
enum mg_status mg__tally_add(struct mg_tally *tally, const struct mg_report_launch *launch);
/* Costliest first: wavefronts and sectors together, then instructions. Ties stay in the order of their first launch. */
void mg__tally_sort(struct mg_tally *tally);

/* ---- what ptxas made of the lines, where a disassembler's listing of the machine code is at hand ---- */
enum mg_machine_kind { MG_MACHINE_FEWER, MG_MACHINE_MORE, MG_MACHINE_PREDICATED };
struct mg_machine_line {
    struct mg_report_written made;
    bool swaps; /* there is an atomic of shared memory, or a loop of compare-and-swap */
};
struct mg_machine_change {
    const struct mg_tally_kernel *kernel; /* the tally's */
    const char *file;
    uint32_t line;
    enum mg_machine_kind kind;
    const char *what;       /* "loads", "stores", "atomics", "accesses" */
    uint32_t written, made; /* in PTX and in machine code; of accesses those under a predicate */
};
struct mg_machine {
    struct mg_arena arena;
    struct mg_strtab index; /* of lines, by kernel, file and number */
    bool known;             /* a listing was read */
    MG_VEC(struct mg_machine_change) changes;
};
void mg__machine_init(struct mg_machine *machine);
void mg__machine_free(struct mg_machine *machine);
/* Adds what `nvdisasm -g -c` printed. False: out of memory. */
bool mg__machine_read(struct mg_machine *machine, const char *text, size_t length);
/* Fills `changes`, once the run is over. The tally must outlive it. */
bool mg__machine_compare(struct mg_machine *machine, const struct mg_tally *tally);
bool mg__machine_json(const struct mg_machine *machine, struct mg_strbuf *out);

/* ---- findings of all launches: those of one kernel, place and kind are one ---- */
struct mg_findings {
    struct mg_arena arena;
    struct mg_strtab index;
    MG_VEC(struct mg_report_finding *) at;
};
void mg__findings_init(struct mg_findings *findings);
void mg__findings_free(struct mg_findings *findings);
enum mg_status mg__findings_add(struct mg_findings *findings, const struct mg_report_finding *finding);
/* The same, and not put together with others. */
enum mg_status mg__findings_keep(struct mg_findings *findings, const struct mg_report_finding *finding);
/* Gravest first, then by place. The order is total: it depends on what was found alone. */
void mg__findings_sort(struct mg_findings *findings);
/* How much of `variable` is its name: "tile" of "tile[17][3]". */
size_t mg__finding_variable_name(const char *variable);
/* Where in a demangled name the kernel's own begins, and how long it is: "f<32>" of "void f<32>(int)". */
/* The name itself, without what stands before it: "void cub::detail::f<32>(int)" -> "f<32>(int)". */
const char *mg__kernel_own_name(const char *kernel);
void mg__kernel_bare_name(const char *kernel, size_t *start, size_t *length);
bool mg__kernel_is_called(const char *kernel, const char *name, size_t n); /* its bare name is these bytes */

/* ---- advice: of launches of one kernel in one shape, the one that is estimated to take longest ---- */
struct mg_advice_row {
    struct mg_report_advice advice; /* once it is read: no string of it is NULL */
    uint64_t launches, looked; /* how many there were, and how many of them were looked at */
    double all, pages; /* seconds of all of them; of these, for pages of managed memory */
    char *json;
};
#define MG_ADVICE_ROWS 1000
struct mg_advices {
    struct mg_arena arena;
    struct mg_strtab index;
    MG_VEC(struct mg_advice_row *) at;
    uint64_t left_out; /* launches of further kernels and shapes */
    const struct mg_given *given; /* where sources are looked for first; may be NULL */
};
void mg__advices_init(struct mg_advices *advices);
void mg__advices_free(struct mg_advices *advices);
/* `json`: the record's object. MG_ERR_SYNTAX: it is none. */
enum mg_status mg__advices_add(struct mg_advices *advices, const char *json);
/* Those of a list, as mg__advices_json has written it. */
enum mg_status mg__advices_load(struct mg_advices *advices, const char *json);
/* Fills in the rows' `advice`, once all launches are there. */
enum mg_status mg__advices_read(struct mg_advices *advices);
void mg__advices_sort(struct mg_advices *advices); /* longest first; after mg__advices_read */
/* The rows as a JSON list, in the order of their first launches, each with its number of "launches". */
bool mg__advices_json(const struct mg_advices *advices, struct mg_strbuf *out);

/* ---- pictures: the records, as they came ---- */
struct mg_picture_row {
    char *json, *mangled;
    struct mg_dim3 grid, block;
    uint32_t shared_dynamic;
};
struct mg_picture_rows {
    MG_VEC(struct mg_picture_row) at;
    size_t bytes;
    uint64_t left_out;
};
void mg__pictures_init(struct mg_picture_rows *pictures);
void mg__pictures_free(struct mg_picture_rows *pictures);
enum mg_status mg__pictures_add(struct mg_picture_rows *pictures, const struct mg_record *record);
/* Its accesses, banks and names; into the arena. MG_ERR_SYNTAX: it is no picture. */
enum mg_status mg__picture_read(const struct mg_picture_row *row, struct mg_arena *arena,
                                struct mg_report_picture *picture);
bool mg__pictures_json(const struct mg_picture_rows *pictures, struct mg_strbuf *out); /* as a list */

/* ---- report files, read back ---- */
struct mg_report_error {
    const char *kernel; /* "": the program as a whole */
    struct mg_diag diag;
};
struct mg_report_file {
    struct mg_arena arena;
    const char *device;    /* its name */
    bool checked, advised; /* by the commands of those names */
    uint64_t launches;
    struct mg_tally tally;
    struct mg_findings findings; /* sorted; without those that were suppressed */
    struct mg_picture_rows pictures;
    struct mg_advices advices; /* not read yet (mg__advices_read) */
    struct mg_given given;
    MG_VEC(struct mg_report_error *) errors;
};
void mg__report_file_init(struct mg_report_file *file, bool by_shape);
void mg__report_file_free(struct mg_report_file *file);
/* Adds what the file holds; several may be added up. */
enum mg_status mg__report_load(struct mg_report_file *file, const char *path, struct mg_diag *diag);

/* ---- layout: text that fits its place ---- */
struct mg_style {
    unsigned width;  /* columns */
    bool color;      /* escape sequences are welcome */
    bool utf8;       /* characters beyond ASCII are */
    bool broken;     /* a line of text is broken at the width, else it stays one, for who searches the output */
    const char *cwd; /* file names below it are shown relative to it; may be NULL */
    const struct mg_given *given; /* source text is looked for there first; may be NULL */
};
/* "margay: computed on the host, not counted: cublasSgemm_v2 3 times"; nothing without a row. */
bool mg__hosted_render(const struct mg_hosted_rows *rows, const struct mg_style *style, struct mg_strbuf *out);
enum mg_tone { MG_TONE_BOLD, MG_TONE_RED, MG_TONE_DIM };
/* Appends `text` made harmless (control characters and bad UTF-8 replaced), cut to `width` columns with an ellipsis,
 * and returns through *used the columns that it took. `used` may be NULL. */
bool mg__layout_text(struct mg_strbuf *out, const struct mg_style *style, const char *text, size_t length,
                     unsigned width, unsigned *used);
bool mg__layout_tone(struct mg_strbuf *out, const struct mg_style *style, enum mg_tone tone, bool on);
/* "1,048,576", from a hundred million on "104.9 M" (G, T, P, E); right-aligned in `width` columns. */
bool mg__layout_number(struct mg_strbuf *out, uint64_t value, unsigned width);
/* As its type is shown: "1,048,576", "16.5×", "88 %", "1.2 ms"; right-aligned. */
bool mg__layout_metric(struct mg_strbuf *out, const struct mg_style *style, const struct mg_metrics *metrics,
                       enum mg_metric metric, unsigned width);
bool mg__layout_right(struct mg_strbuf *out, const char *ascii, unsigned width, unsigned columns);
bool mg__layout_bytes(struct mg_strbuf *out, uint64_t bytes);   /* "4,224 B", "48 KiB" */
bool mg__layout_seconds(struct mg_strbuf *out, double seconds); /* "1.2 ms" */
bool mg__layout_dim3(struct mg_strbuf *out, const struct mg_style *style,
                     struct mg_dim3 d); /* "32×32": ones at the end left out */

/* The file's name relative to the style's folder, where it is below that: the end of `file`. */
const char *mg__layout_path(const struct mg_style *style, const char *file);

/* ---- source files, read when first asked for ---- */
struct mg_sources {
    struct mg_arena arena;
    struct mg_strtab files;
    const struct mg_given *given;
};
void mg__sources_init(struct mg_sources *sources, const struct mg_given *given); /* `given` may be NULL */
void mg__sources_free(struct mg_sources *sources);
/* The text of a line without leading and trailing blanks; false when the file or the line is not there. `indent` may be
 * NULL; it gets the bytes of leading blanks. */
bool mg__sources_line(struct mg_sources *sources, const char *file, uint32_t line, const char **text, size_t *length,
                      size_t *indent);
uint32_t mg__sources_count(struct mg_sources *sources, const char *file); /* lines; 0: no such file */

/* A kernel's name; one that is too long loses its return type and namespaces first, and then its end. */
bool mg__layout_kernel(struct mg_strbuf *out, const struct mg_style *style, const char *kernel, unsigned width,
                       unsigned *used);
#define MG_DURATION 32
void mg__layout_duration(char text[MG_DURATION], double seconds); /* "3.4 us" */
/* All of a file. */
bool mg__sources_text(struct mg_sources *sources, const char *file, const char **text, size_t *size);
/* The name of a kernel's parameter, counted from 0, as its definition in the file has it; not terminated. */
bool mg__sources_parameter(struct mg_sources *sources, const char *file, const char *kernel, unsigned index,
                           const char **name, size_t *length);
/* "parameter 2" of all texts becomes the parameter's own name, where the source is at hand. */
void mg__advice_name_parameters(struct mg_arena *arena, struct mg_sources *sources, struct mg_report_advice *advice);

/* ---- renderers ---- */
bool mg__render_profile(const struct mg_tally *tally, const struct mg_report_device *device,
                        const struct mg_style *style, struct mg_strbuf *out);
/* What stands under the tables about ptxas; nothing when there are no changes. */
bool mg__machine_render(const struct mg_machine *machine, const struct mg_style *style, struct mg_strbuf *out);
bool mg__render_summary(const struct mg_tally *tally, const struct mg_style *style, struct mg_strbuf *out);
bool mg__render_error(const char *kernel, const struct mg_diag *diag, const struct mg_style *style,
                      struct mg_strbuf *out);
bool mg__render_warning(const char *kernel, const struct mg_diag *diag, const struct mg_style *style,
                        struct mg_strbuf *out);
bool mg__render_finding(const struct mg_report_finding *finding, struct mg_sources *sources,
                        const struct mg_style *style, struct mg_strbuf *out);
bool mg__render_advice_table(const struct mg_advices *advices, const struct mg_style *style, struct mg_strbuf *out);
bool mg__render_advice(const struct mg_advices *advices, const struct mg_style *style, struct mg_strbuf *out);
/* Lanes to banks, as they are and in its layouts. The picture says what banks there are. */
bool mg__render_banks(const struct mg_report_picture *picture, const struct mg_report_access *access,
                      const struct mg_style *style, struct mg_strbuf *out);
/* The rooflines of all, as one SVG picture. */
bool mg__render_roofline_svg(const struct mg_advices *advices, struct mg_strbuf *out);

/* ---- a page that holds all of it: html.c ---- */
struct mg_page {
    const char *command, *program; /* "profile" */
    const char *cwd;               /* file names are told relative to it; may be NULL */
    const struct mg_report_device *device;
    const struct mg_tally *tally;       /* sorted */
    const struct mg_findings *findings; /* these may be NULL */
    const struct mg_advices *advices;   /* read */
    const struct mg_picture_rows *pictures;
    const struct mg_given *given;
    const char *errors; /* JSON objects, commas between */
    /* Appends what limits the kernel's occupancy, a JSON object; nothing where that is not known. May be NULL. */
    bool (*occupancy)(void *arg, const struct mg_tally_kernel *kernel, struct mg_strbuf *out);
    void *arg;
};
bool mg__render_html(const struct mg_page *page, struct mg_strbuf *out);

/* ---- SARIF 2.1.0 ---- */
struct mg_sarif_rule { /* a row of the catalogue of kinds */
    const char *check, *kind, *text, *advice;
    enum mg_severity severity;
};
/* `suppressed` findings are in the file too, marked as such. `root`: the folder that file
 * names are told relative to. */
bool mg__render_sarif(const struct mg_findings *findings, const struct mg_findings *suppressed,
                      const struct mg_given *given, const struct mg_sarif_rule *rules, size_t nrules, const char *root,
                      bool complete, struct mg_strbuf *out);
#endif
