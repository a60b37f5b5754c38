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
    {MG_G_LATER, "Parsed, and refused at launch",
     "A launch whose code contains one of these stops before its first block, with an error that names the instruction "
     "and its source line."},
};

int main(void)
{
    unsigned total = 0, executed = 0;
    for (unsigned op = 1; op < MG_OP_COUNT; op++) {
        total++;
        executed += mg__ptx_isa((enum mg_ptx_opcode)op)->engine;
    }
    printf(
        "# Instructions\n\n"
        "Every instruction of PTX ISA 9.0 parses: %u of them. The engine executes %u. `barrier` is another spelling "
        "of\n"
        "`bar`. The two last columns are the first PTX ISA version and the first target that have the instruction in\n"
        "some form; single types and modifiers may be younger.\n\n"
        "This page is generated from `src/ptx/isa.def`.\n",
        total, executed);
    for (size_t g = 0; g < MG_COUNT(groups); g++) {
        printf("\n## %s\n\n", groups[g].title);
        if (groups[g].text[0])
            printf("%s\n\n", groups[g].text);
        printf("| instruction | PTX ISA | target |\n| --- | --- | --- |\n");
        for (unsigned op = 1; op < MG_OP_COUNT; op++) {
            const struct mg_ptx_isa *isa = mg__ptx_isa((enum mg_ptx_opcode)op);
            if (isa->group == groups[g].group)
                printf("| `%s` | %s | sm_%s |\n", isa->name, isa->since_ptx, isa->since_sm);
        }
    }
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
