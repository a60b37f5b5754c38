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
        "of `bar`. The two last columns are the first PTX ISA version and the first target that have the instruction\n"
        "in some form; single types and modifiers may be younger. Operands: `d` is written, `a`, `b`, `c` are read,\n"
        "`[m]` is an address; `?` stands behind what may be absent, `vec` what may be a vector, `p` a predicate. A\n"
        "warp that reaches an instruction that is not executed stops with its name and its source line.\n\n"
        "This page is generated from `src/ptx/isa.def`.\n",
        total, executed);
    for (size_t g = 0; g < MG_COUNT(groups); g++) {
        printf("\n## %s\n\n", groups[g].title);
        if (groups[g].text[0])
            printf("%s\n\n", groups[g].text);
        printf("| instruction | operands | PTX ISA | target |\n| --- | --- | --- | --- |\n");
        for (unsigned op = 1; op < MG_OP_COUNT; op++) {
            const struct mg_ptx_isa *isa = mg__ptx_isa((enum mg_ptx_opcode)op);
            if (isa->group != groups[g].group)
                continue;
            printf("| `%s` | ", isa->name);
            if (isa->executed)
                operands(isa->operands);
            else
                printf("not executed");
            printf(" | %s | sm_%s |\n", isa->since_ptx, isa->since_sm);
        }
    }
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
