/* gen_isa_doc.c - prints docs/isa.md from isa.def: `gen_isa_doc > docs/isa.md`. A test holds the page to the table. */
#include "ptx/ptx.h"

static const struct {
    enum mg_ptx_group group;
    const char *title, *text;
} groups[] = {
    {MG_G_ALU, "Arithmetic, logic, conversion, movement", "Registers from registers, lane by lane."},
    {MG_G_MEM, "Memory", "Loads, stores, atomics, asynchronous copies, addresses, the stack."},
    {MG_G_CONTROL, "Control flow", ""},
    {MG_G_WARP, "Across a warp", "Lanes read one another."},
    {MG_G_SYNC, "Synchronisation", ""},
    {MG_G_MISC, "Hints", "They are executed, and change no result."},
    {MG_G_CLUSTER, "Clusters", ""},
    {MG_G_MBARRIER, "Barriers in memory, and what signals them", ""},
    {MG_G_BULK, "Bulk copies and tensor maps", ""},
    {MG_G_MATRIX, "Matrices", ""},
    {MG_G_TEXTURE, "Texture and surface", ""},
    {MG_G_VIDEO, "Video", ""},
};

/* The letters of isa.def as a reader of PTX knows them. */
static void operands(const char *letters)
{
    char source = 'a';
    bool optional = false;
    for (const char *l = letters, *comma = ""; *l; l++) {
        if (*l == '?') {
            optional = true;
            continue;
        }
        printf("%s", comma);
        comma = ", ";
        if (strchr("dv", *l))
            printf(*l == 'v' ? "d (vec)" : "d");
        else if (strchr("mMAa", *l))
            printf(*l == 'm' ? "[m] read" : *l == 'M' ? "[m] written" : *l == 'A' ? "[m] read and written" : "[m]");
        else if (*l == 'l' || *l == 't')
            printf(*l == 'l' ? "label" : "labels");
        else if (*l == '*')
            printf("…");
        else if (*l == 'i')
            printf("constant");
        else if (*l == 'p')
            printf("p");
        else
            printf("%c%s", source++, *l == 'w' ? " (vec)" : "");
        if (optional)
            printf("?");
    }
}

static void since(const struct mg_ptx_isa *isa)
{
    if (strcmp(isa->since_ptx, "1.0") || strcmp(isa->since_sm, "10"))
        printf(" (%s, sm_%s)", isa->since_ptx, isa->since_sm);
}

/* Why those of targets up to sm_90 are not. */
static const struct {
    const char *name, *why;
} reasons[] = {
    {"multimem.ld_reduce", "Of `multimem` there is nothing: it is for memory that several GPUs hold at one address, "
                           "which no program has here"},
    {"istypep", "None is written by nvcc 13"},
    {"vadd", "None of these is written by nvcc 13: its intrinsics for bytes and halves come to other instructions"},
};

static void say_reasons(enum mg_ptx_group group)
{
    for (size_t k = 0; k < sizeof(reasons) / sizeof(reasons[0]); k++)
        for (unsigned op = 1; op < MG_OP_COUNT; op++)
            if (mg__ptx_isa((enum mg_ptx_opcode)op)->group == group &&
                !strcmp(mg__ptx_isa((enum mg_ptx_opcode)op)->name, reasons[k].name))
                printf(" %s.", reasons[k].why);
}

/* Those that the engine executes, a line each; or the others, in one paragraph behind what was printed (`before`). */
static bool section(enum mg_ptx_group group, bool executed, bool before)
{
    bool any = false;
    for (unsigned op = 1; op < MG_OP_COUNT; op++) {
        const struct mg_ptx_isa *isa = mg__ptx_isa((enum mg_ptx_opcode)op);
        if (isa->group != group || isa->executed != executed)
            continue;
        printf("%s`%s", executed ? "- " : any ? ", " : before ? "\nNot executed: " : "Not executed: ", isa->name);
        if (executed && isa->operands[0])
            printf(" ");
        if (executed)
            operands(isa->operands);
        printf("`");
        since(isa);
        if (executed)
            printf("\n");
        any = true;
    }
    if (any && !executed) {
        printf(".");
        say_reasons(group);
        printf("\n");
    }
    return any;
}

int main(void)
{
    unsigned total = 0, executed = 0;
    for (unsigned op = 1; op < MG_OP_COUNT; op++) {
        total++;
        executed += mg__ptx_isa((enum mg_ptx_opcode)op)->executed;
    }
    printf(
        "# Instructions\n\n"
        "Every instruction of PTX ISA 9.0 parses: %u of them. The engine executes %u. `barrier` is another spelling\n"
        "of `bar`. Operands: `d` is written, `a`, `b`, `c` are read, `[m]` is an address; `?` stands behind what may\n"
        "be absent, `vec` what may be a vector, `p` a predicate. In brackets: the first PTX ISA version and the first\n"
        "target that have the instruction in some form, where they are not 1.0 and sm_10. A warp that reaches an\n"
        "instruction that is not executed stops with its name and its source line.\n\n"
        "This page is generated from `src/ptx/isa.def`.\n",
        total, executed);
    for (size_t g = 0; g < MG_COUNT(groups); g++) {
        printf("\n## %s\n\n", groups[g].title);
        if (groups[g].text[0])
            printf("%s\n\n", groups[g].text);
        section(groups[g].group, false, section(groups[g].group, true, false));
    }
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
