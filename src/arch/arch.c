/* arch.c - the tables of capabilities, boards and limits, and look-ups in them.
 *
 * The data are arch.def, board.def and limit.def, which say where they come from. A new device is a row of the first
 * two; a new limit is a field of struct mg_arch and a row of the third.
 */
#include "arch/arch.h"

#include <ctype.h>

enum board_id {
#define BOARD(id, ...) BOARD_##id,
#include "arch/board.def"
#undef BOARD
};

static const struct mg_board boards[] = {
#define BOARD(id, cc_, name_, sms, l2, clock, mclock, bus, memory_, source_)                                           \
    [BOARD_##id] = {.name = name_, .cc = cc_, .sm_count = sms, .l2_bytes = l2, .clock_khz = clock,                     \
                    .memory_clock_khz = mclock, .memory_bus_bits = bus, .memory = memory_, .source = source_},
#include "arch/board.def"
#undef BOARD
};

static const struct mg_arch archs[] = {
#define ARCH(cc_, family_, board_, warps, blocks, regs_block_, parts, fp32, fp64, optin, shared_sm_, reserved, unit,   \
             carveouts, unified, ccache, params, cluster, barriers, banks_, bank_, sector, line)                       \
    {.cc = cc_, .family = family_, .board = &boards[BOARD_##board_],                                                   \
     .warp_size = 32, .max_threads_block = 1024, .max_block_dim = {1024, 1024, 64},                                    \
     .max_grid_dim = {2147483647, 65535, 65535}, .max_regs_thread = 255, .regs_block = regs_block_,                    \
     .max_local_thread = 512 * 1024, .max_param_bytes = params, .max_cluster_blocks = cluster,                         \
     .max_threads_sm = (warps) * 32, .max_warps_sm = warps, .max_blocks_sm = blocks, .regs_sm = 65536,                 \
     .partitions = parts, .reg_alloc_unit = 256, .barriers_block = 16, .barriers_sm = barriers,                        \
     .fp32_lanes = fp32, .fp64_lanes = fp64, .shared_block = 49152, .shared_block_optin = optin,                       \
     .shared_reserved = reserved, .shared_sm = shared_sm_, .shared_alloc_unit = unit, .banks = banks_,                 \
     .bank_bytes = bank_, .sector_bytes = sector, .line_bytes = line, .unified_cache = unified,                        \
     .carveouts_kib = carveouts,                                                                                       \
     .ncarveouts = sizeof((const unsigned[])carveouts) / sizeof(unsigned), .const_total = 65536,                       \
     .const_cache = ccache},
#include "arch/arch.def"
#undef ARCH
};

static const struct mg_limit limits[] = {
#define LIMIT(group_, key_, text_, unit_, attribute_, of_board_, value)                                                \
    {.key = #key_, .group = group_, .text = text_, .unit = unit_, .attribute = attribute_, .of_board = of_board_},
#include "arch/limit.def"
#undef LIMIT
};

const struct mg_arch *mg_arch_find(unsigned cc)
{
    for (size_t i = 0; i < MG_COUNT(archs); i++)
        if (archs[i].cc == cc)
            return &archs[i];
    return NULL;
}

const struct mg_arch *mg_arch_at(size_t index)
{
    return index < MG_COUNT(archs) ? &archs[index] : NULL;
}

const struct mg_arch *mg_arch_parse(const char *text)
{
    unsigned major, minor;
    int end = -1;
    if (!text)
        return NULL;
    if (isdigit((unsigned char)text[0]) && sscanf(text, "%3u.%1u%n", &major, &minor, &end) == 2 && end > 0 &&
        !text[end])
        return mg_arch_find(major * 10 + minor);
    bool prefixed = true;
    if (!strncmp(text, "sm_", 3))
        text += 3;
    else if (!strncmp(text, "compute_", 8))
        text += 8;
    else
        prefixed = false;
    if (!isdigit((unsigned char)text[0]) || sscanf(text, "%4u%n", &major, &end) != 1 || end < 0)
        return NULL;
    if (prefixed && (text[end] == 'a' || text[end] == 'f'))
        end++;
    return text[end] ? NULL : mg_arch_find(major);
}

const struct mg_board *mg_board_at(size_t index)
{
    return index < MG_COUNT(boards) ? &boards[index] : NULL;
}

/* Where `part` (lower or upper case alike) is in `name`: 3 as its last words, 2 as whole words, 1 inside one, 0 not. */
static int has_words(const char *name, const char *part)
{
    size_t n = strlen(part);
    int found = 0;
    for (const char *at = name; *at && strlen(at) >= n; at++) {
        if (strncasecmp(at, part, n))
            continue;
        bool begins = at == name || !isalnum((unsigned char)at[-1]), ends = !isalnum((unsigned char)at[n]);
        found = MG_MAX(found, !begins || !ends ? 1 : at[n] ? 2 : 3);
    }
    return found;
}

size_t mg_board_match(const char *name, const struct mg_board **found, size_t room)
{
    size_t count = 0;
    for (int wanted = 3; name && name[0] && wanted > 0 && !count; wanted--)
        for (size_t i = 0; i < MG_COUNT(boards); i++)
            if (has_words(boards[i].name, name) == wanted && count++ < room)
                found[count - 1] = &boards[i];
    return count;
}

const struct mg_board *mg_board_find(const char *name)
{
    const struct mg_board *found[MG_COUNT(boards)], *standing = NULL;
    size_t count = mg_board_match(name, found, MG_COUNT(boards)), representatives = 0;
    for (size_t i = 0; i < count; i++) {
        if (mg_arch_find(found[i]->cc)->board != found[i] || has_words(found[i]->name, name) == 1)
            continue; /* "rtx 50" could be any of them */
        standing = found[i];
        representatives++;
    }
    return count == 1 ? found[0] : representatives == 1 ? standing : NULL;
}

double mg_board_fp32_peak(const struct mg_board *board)
{
    const struct mg_arch *arch = mg_arch_find(board->cc);
    return arch ? 2.0 * arch->fp32_lanes * board->sm_count * board->clock_khz * 1e3 : 0;
}

double mg_board_memory_peak(const struct mg_board *board)
{
    return 2.0 * board->memory_clock_khz * 1e3 * board->memory_bus_bits / 8;
}

double mg_board_link_peak(const struct mg_board *board)
{
    static const unsigned modules[] = {53, 62, 72, 87, 101, 110};
    for (size_t k = 0; k < MG_COUNT(modules); k++)
        if (board->cc == modules[k])
            return 0;
    return board->cc < 80 ? 15.75e9 : board->cc < 90 ? 31.5e9 : 63.0e9; /* PCIe 3.0, 4.0, 5.0 */
}

double mg_board_shared_peak(const struct mg_board *board)
{
    const struct mg_arch *arch = mg_arch_find(board->cc);
    return arch ? (double)arch->banks * arch->bank_bytes * board->sm_count * board->clock_khz * 1e3 : 0;
}

const struct mg_limit *mg_limit_at(size_t index)
{
    return index < MG_COUNT(limits) ? &limits[index] : NULL;
}

uint64_t mg_limit_value(size_t index, const struct mg_arch *arch, const struct mg_board *board)
{
    const struct mg_arch *a = arch;
    const struct mg_board *b = board ? board : a->board;
    enum {
#define LIMIT(group, key, ...) LIMIT_##key,
#include "arch/limit.def"
#undef LIMIT
    };
    switch (index) {
#define LIMIT(group, key, text, unit, attribute, of_board, value) \
    case LIMIT_##key:                                             \
        return (uint64_t)(value);
#include "arch/limit.def"
#undef LIMIT
    }
    return 0;
}

const char *mg_limiter_name(enum mg_limiter limiter)
{
    static const char *const names[MG_LIMITER_COUNT] = {
        [MG_LIMITER_BLOCKS] = "block slots",   [MG_LIMITER_WARPS] = "warp slots",  [MG_LIMITER_REGISTERS] = "registers",
        [MG_LIMITER_SHARED] = "shared memory", [MG_LIMITER_BARRIERS] = "barriers",
    };
    return (unsigned)limiter < MG_LIMITER_COUNT ? names[limiter] : "?";
}
