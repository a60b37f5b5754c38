/* device_cmd.c - the command lines of `margay limits` and `margay occupancy`, read and checked. */
#include "device_cmd.h"

#include <errno.h>
#include <getopt.h>
#include <unistd.h>

enum {
    OPT_FIRST = 1000,
#define OPTION(id, name, arg, commands, text) OPT_##id,
#include "device_option.def"
#undef OPTION
};

static const struct mg_cli_option table[] = {
#define LIMITS MG_DEVCMD_LIMITS
#define OCCUPANCY MG_DEVCMD_OCCUPANCY
#define OPTION(id, name, arg, commands, text) {OPT_##id, name, arg, text, commands},
#include "device_option.def"
#undef OPTION
#undef LIMITS
#undef OCCUPANCY
};

static int help(enum mg_device_command command)
{
    if (command == MG_DEVCMD_LIMITS)
        fputs("usage: margay limits [--cc CC | --board NAME | --device N | --all] [--json]\n"
              "\n"
              "Shows what a launch, a block and a multiprocessor may have on a compute capability, and\n"
              "the clocks and memory of a board. It needs no GPU; with one, --device asks it.\n",
              stdout);
    else
        fputs("usage: margay occupancy --threads N --regs N --smem BYTES [options]\n"
              "       margay occupancy --kernel PROGRAM[:REGEX] [--threads N] [options]\n"
              "\n"
              "Shows how many blocks and warps a multiprocessor holds at once, what each limit would\n"
              "allow, which one binds, and what change would admit one block more. Registers, static\n"
              "shared memory and barriers of a kernel come from its machine code.\n",
              stdout);
    mg__cli_help_rows(&(struct mg_cli_reader){.table = table, .count = MG_COUNT(table), .command = command});
    fputs(command == MG_DEVCMD_LIMITS
              ? "\nExit status: 0; 1 when a device differs from the table; 2, with a message, on an error.\n"
              : "\nExit status: 0; 1 when a block cannot run; 2, with a message, on an error.\n",
          stdout);
    return 0;
}

/* A count, with K or M behind it where `units`: 48K is 48 x 1024. */
static bool parse_number(const char *text, bool units, unsigned most, unsigned *value)
{
    char *end;
    errno = 0;
    if (text[0] < '0' || text[0] > '9')
        return false;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || n > most)
        return false;
    if (units && (*end == 'K' || *end == 'k'))
        n *= 1024, end++;
    else if (units && (*end == 'M' || *end == 'm'))
        n *= 1048576, end++;
    if (units && (!strcmp(end, "B") || !strcmp(end, "iB")))
        end += strlen(end);
    *value = (unsigned)MG_MIN(n, (unsigned long long)UINT32_MAX);
    return !*end && n <= most;
}

static int bad_cc(const char *text)
{
    if (!strcmp(text, "8.8") || !strcmp(text, "88") || !strcmp(text, "sm_88"))
        return mg__cli_complain(
            NULL,
            "--cc %s: the programming guide does not list it; NVIDIA's CCCL counts it like 8.6: try "
            "--cc 8.6",
            text);
    return mg__cli_bad_capability(NULL, "cc", text);
}

/* Returns -1 to go on. */
static int apply(void *arg, int id, const char *value)
{
    struct mg_device_options *o = arg;
    static const char *const sweeps[] = {"", "threads", "smem", "regs"};
    unsigned n;
    switch (id) {
    case OPT_CC:
        o->arch = mg_arch_parse(value);
        return o->arch ? -1 : bad_cc(value);
    case OPT_BOARD:
        o->board = mg__cli_board(NULL, value);
        return o->board ? -1 : MG_EXIT_SETUP;
    case OPT_DEVICE:
        o->has_device = true;
        if (!parse_number(value, false, 1024, &o->device))
            return mg__cli_complain(
                NULL, "--device %s: the number of a GPU is needed, from 0 on; --cc takes a capability", value);
        break;
    case OPT_ALL:
        o->all = true;
        break;
    case OPT_KERNEL:
        o->kernel = value;
        break;
    case OPT_NVCC_ARGS:
        o->nvcc_args = value;
        break;
    case OPT_THREADS:
        if (!parse_number(value, false, 1u << 20, &o->threads) || !o->threads)
            return mg__cli_complain(NULL, "--threads %s: a number from 1 is needed", value);
        break;
    case OPT_REGS:
        o->has_regs = true;
        if (!parse_number(value, false, 1u << 20, &o->regs) || !o->regs)
            return mg__cli_complain(NULL, "--regs %s: a number from 1 is needed", value);
        break;
    case OPT_SMEM:
        o->has_smem = true;
        if (!parse_number(value, true, 1u << 30, &o->smem))
            return mg__cli_complain(NULL, "--smem %s: bytes are needed, such as 49152 or 48K", value);
        break;
    case OPT_BARRIERS:
        o->has_barriers = true;
        if (!parse_number(value, false, 16, &o->barriers))
            return mg__cli_complain(NULL, "--barriers %s: a number from 0 to 16 is needed", value);
        break;
    case OPT_CARVEOUT:
        if (!parse_number(value, false, 100, &n))
            return mg__cli_complain(NULL, "--carveout %s: a percentage from 0 to 100 is needed", value);
        o->carveout = (int)n;
        break;
    case OPT_SWEEP:
        for (size_t i = 1; i < MG_COUNT(sweeps); i++)
            if (!strcmp(sweeps[i], value))
                o->sweep = (enum mg_sweep)i;
        if (!o->sweep)
            return mg__cli_complain(NULL, "--sweep %s: one of threads, smem, regs is needed", value);
        break;
    case OPT_SVG:
        o->svg = value;
        break;
    case OPT_JSON:
        o->json = true;
        break;
    case OPT_HELP:
        return help(o->command);
    case OPT_VERSION:
        puts("margay " MG_VERSION_STRING);
        return 0;
    default:
        return mg__cli_complain(NULL, "option %d is not handled", id);
    }
    return -1;
}

int mg__device_parse(enum mg_device_command command, int argc, char **argv, struct mg_device_options *o)
{
    memset(o, 0, sizeof(*o));
    o->command = command;
    o->carveout = -1;
    mg__cli_style(&o->style, STDOUT_FILENO);
    int result = mg__cli_read(&(struct mg_cli_reader){.table = table, .count = MG_COUNT(table), .command = command,
                                                      .help = OPT_HELP, .apply = apply, .arg = o},
                              argc, argv);
    if (result >= 0)
        return result;
    if (optind < argc)
        return mg__cli_complain(NULL, "unexpected '%s'; see 'margay %s --help'", argv[optind], argv[0]);
    if (o->board && o->arch && o->board->cc != o->arch->cc)
        return mg__cli_complain(NULL, "%s has compute capability %u.%u, not %u.%u", o->board->name, o->board->cc / 10,
                                o->board->cc % 10, o->arch->cc / 10, o->arch->cc % 10);
    if (o->nvcc_args && !o->kernel)
        return mg__cli_complain(NULL, "--nvcc-args is for --kernel with a .cu file");
    if (o->has_device + o->all + (o->arch || o->board) > 1)
        return mg__cli_complain(NULL, "--device, --all and --cc or --board exclude each other");
    if (!o->arch)
        o->arch = mg_arch_find(o->board ? o->board->cc : 90);
    if (!o->board)
        o->board = o->arch->board;
    return -1;
}

int mg__device_out_of_memory(void)
{
    return mg__cli_complain(NULL, "out of memory");
}

int mg__device_print(struct mg_strbuf *text)
{
    bool ok = fputs(text->at ? text->at : "", stdout) >= 0 && fflush(stdout) == 0;
    mg__strbuf_free(text);
    return ok ? 0 : mg__cli_complain(NULL, "standard output could not be written");
}
