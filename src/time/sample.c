/* sample.c - which blocks are looked at, and what their accesses come to: wavefronts, sectors, lines (digest.c makes of
 * it what they say of all).
 *
 * Some of the sampled blocks would share a multiprocessor, which gets every so many blocks of the grid; the others are
 * spread over the grid. Local memory is where the device has it: a thread's words are 128 bytes apart, those of its
 * warp's other lanes between them. An access whose pattern was met before comes to the same (`met`).
 */
#include "time/sample.h"

#include <math.h>

enum { SHARED_WORDS = 65536 };

enum {
    SMALL = 16 /* blocks: a grid of fewer is looked at whole; of others one block in … */,
    PART = 4,
    LEAST = 8 /* and so many at least, which are enough to tell what blocks have in common */
};

void mg__time_choose(struct mg_time_choice *c, uint64_t blocks, unsigned sms, unsigned resident)
{
    unsigned most = MG_MIN(resident, MG_TIME_BLOCKS / 2);
    const uint64_t all =
        blocks < SMALL ? MG_TIME_BLOCKS : MG_MIN(MG_MAX(blocks / PART, (uint64_t)LEAST), (uint64_t)MG_TIME_BLOCKS);
    c->n = 0;
    uint64_t from = MG_MIN(blocks, (uint64_t)sms) / 2;
    for (uint64_t at = from; c->n < most && at < blocks; at += sms)
        c->block[c->n++] = at;
    c->together = c->n;
    c->resident = (double)MG_MIN(blocks, (uint64_t)sms * resident);
    for (unsigned i = 0; c->n < all && i < 4 * MG_TIME_BLOCKS; i++) {
        double part = 0.6180339887498949 * (i + 1);
        uint64_t at = (uint64_t)((double)blocks * (part - floor(part)));
        bool fresh = at < blocks;
        for (unsigned k = 0; k < c->n; k++)
            fresh &= c->block[k] != at;
        if (fresh)
            c->block[c->n++] = at;
    }
}

struct mg_time_sample *mg__time_sample_create(void)
{
    return calloc(1, sizeof(struct mg_time_sample));
}

bool mg__time_sample_clear(struct mg_time_sample *s)
{
    enum { KEPT_BYTES = 4 << 20 };
    free(s->swapped);
    s->swapped = NULL;
    s->nswapped = 0;
    s->requests.count = s->sectors.count = 0;
    s->touched = 0;
    memset(s->latest, 0, sizeof(s->latest));
    memset(s->constants, 0, sizeof(s->constants));
    return s->requests.capacity * sizeof(*s->requests.at) + s->sectors.capacity * sizeof(*s->sectors.at) <= KEPT_BYTES;
}

void mg__time_sample_free(struct mg_time_sample *s)
{
    if (!s)
        return;
    mg__vec_free(&s->requests);
    mg__vec_free(&s->sectors);
    free(s->swapped);
    free(s);
}

size_t mg__time_sample_requests(const struct mg_time_sample *s)
{
    return s->requests.count;
}

/* Lanes at the place that most of them go to. */
static unsigned most_together(const struct mg_model_access *made)
{
    unsigned most = 1;
    for (uint32_t rest = made->mask; (unsigned)__builtin_popcount(rest) > most;) {
        const uint32_t here = rest & mg__model_lanes_at(made->address, 0, made->address[__builtin_ctz(rest)]);
        most = MG_MAX(most, (unsigned)__builtin_popcount(here));
        rest &= ~here;
    }
    return most;
}

/* Lanes whose words lie in one bank, at most: compare-and-swaps of shared memory change one word of each at a time. */
static unsigned most_in_bank(const struct mg_model_access *made)
{
    unsigned most = 1, in[32] = {0};
    for (unsigned i = 0; i < 32; i++) {
        unsigned *n = &in[made->address[i] / 4 % 32];
        *n += made->mask >> i & 1;
        most = MG_MAX(most, *n);
    }
    return most;
}

static bool keep_swapped(struct mg_time_sample *s, const struct mg_model_access *made)
{
    if (!s->swapped && !(s->swapped = calloc(SHARED_WORDS / 64, sizeof(*s->swapped))))
        return false;
    for (unsigned i = 0; i < 32; i++) {
        uint64_t word = made->address[i] / 4 % SHARED_WORDS, bit = UINT64_C(1) << word % 64;
        if (!(made->mask >> i & 1))
            continue;
        s->nswapped += !(s->swapped[word / 64] & bit);
        s->swapped[word / 64] |= bit;
    }
    return true;
}

/* Whether it is none of `seen` shifted right; `some`: a bit for what one of 64 may be there already, so that those that
 * lie apart are mostly not looked for. */
static inline bool is_fresh(uint64_t is, const uint64_t *seen, uint32_t n, unsigned shift, uint64_t *some)
{
    const uint64_t bit = UINT64_C(1) << (is * UINT64_C(0x9E3779B97F4A7C15) >> 58);
    bool fresh = true;
    for (uint32_t k = *some & bit ? n : 0; k-- > 0 && fresh;)
        fresh = seen[k] >> shift != is;
    *some |= bit;
    return fresh;
}

/* Pieces of so many bytes in which the lanes' addresses are. */
static unsigned different(const struct mg_model_access *made, unsigned bytes)
{
    uint64_t seen[32], some = 0;
    unsigned n = 0;
    for (uint32_t m = made->mask; m; m &= m - 1) {
        seen[n] = made->address[__builtin_ctz(m)] / bytes;
        n += is_fresh(seen[n], seen, n, 0, &some);
    }
    return n;
}

/* The first cache finds a line's tag in one of four banks, and brings words of 4 bytes from 32: a request takes as many
 * cycles as it has lines in one bank of tags, or different words in one bank of data, whichever are more. The bank of a
 * tag is parity of these bits of a line's number, as a loop over pairs of lines tells on an H200, and both rules
 * give the cycles of all patterns there (tests/hardware/time_places.txt). Lines are numbered from the first lane's one,
 * so that lanes that lie alike cost the same wherever they are. */
static unsigned bank_of_tag(uint64_t line)
{
    return (unsigned)(__builtin_parityll(line & 0x2dab5) | __builtin_parityll(line & 0x4d5da) << 1);
}

struct lines {
    uint16_t n, tags[4]; /* by bank */
};
static void add_line(struct lines *l, uint64_t line)
{
    l->n++;
    l->tags[bank_of_tag(line)]++;
}

static uint16_t most_tags(const struct lines *l)
{
    return MG_MAX(MG_MAX(l->tags[0], l->tags[1]), MG_MAX(l->tags[2], l->tags[3]));
}

static uint16_t most_words(const struct mg_model_access *made)
{
    enum { WORDS = 8 /* of a lane, most */ };
    uint64_t seen[32 * WORDS], some = 0;
    uint16_t in[32] = {0}, most = 0;
    uint32_t n = 0;
    for (uint32_t m = made->mask; m; m &= m - 1) {
        const uint64_t address = made->address[__builtin_ctz(m)],
                       to = MG_MIN((address + made->width - 1) / 4, address / 4 + WORDS - 1);
        for (uint64_t word = address / 4; word <= to; word++)
            if (is_fresh(word, seen, n, 0, &some)) {
                seen[n++] = word;
                in[word % 32]++;
                most = MG_MAX(most, in[word % 32]);
            }
    }
    return most;
}

/* The sectors that the lanes touch, each once; their lines are added, numbered from `first` on. */
static uint32_t sectors_of(const struct mg_model_access *made, uint64_t seen[256], uint64_t first, struct lines *lines)
{
    uint64_t some = 0, some_lines = 0;
    uint32_t n = 0;
    for (uint32_t m = made->mask; m; m &= m - 1) {
        const uint64_t address = made->address[__builtin_ctz(m)], to = (address + made->width - 1) / 32;
        for (uint64_t sector = address / 32; sector <= to && n < 256; sector++) {
            if (!is_fresh(sector, seen, n, 0, &some))
                continue;
            if (is_fresh(sector / 4, seen, n, 2, &some_lines))
                add_line(lines, sector / 4 - first);
            seen[n++] = sector;
        }
    }
    return n;
}

/* The same of local memory, of which the lanes' words lie beside one another. */
static uint32_t local_sectors_of(const struct mg_launch_info *info, const struct mg_model_access *made,
                                 const struct mg_access *a, uint64_t seen[256], struct lines *lines)
{
    uint64_t warps = ((uint64_t)info->block.x * info->block.y * info->block.z + 31) / 32;
    uint64_t base = LOCAL + (a->block * warps + a->warp) * ((info->stack_bytes + UINT64_C(3)) / 4 * 128);
    struct mg_model_access word = *made;
    uint32_t n = 0;
    word.width = MG_MIN(made->width, 4u);
    word.address = word.moved;
    for (unsigned k = 0; k < made->width && n <= 224; k += 4) {
        for (unsigned lane = 0; lane < 32; lane++)
            word.moved[lane] =
                base + (made->address[lane] + k) / 4 * 128 + lane * UINT64_C(4) + made->address[lane] % 4;
        n += sectors_of(&word, seen + n, base / 128, lines);
    }
    return n;
}

/* Its sectors lie behind the others; they go there, or are there already. */
static void add_sectors(struct mg_time_sample *s, struct request *r)
{
    const uint64_t *sectors = s->sectors.at + s->sectors.count;
    r->first = (uint32_t)s->sectors.count;
    s->touched += r->count;
    if (!r->count)
        return;
    uint32_t *latest = &s->latest[(sectors[0] * UINT64_C(0x9E3779B97F4A7C15) >> 32) % MG_TIME_LATEST];
    const struct request *was = *latest ? &s->requests.at[*latest - 1] : NULL;
    if (was && was->count == r->count && was->kind == r->kind && was->space == r->space &&
        !memcmp(s->sectors.at + was->first, sectors, r->count * sizeof(*sectors))) {
        r->first = was->first;
    } else {
        s->sectors.count += r->count;
        *latest = (uint32_t)s->requests.count + 1;
    }
}

static bool keep_sectors(struct mg_time_sample *s, struct request *r, const uint64_t *seen, uint32_t n,
                         const struct lines *lines)
{
    r->count = n;
    r->lines = lines->n;
    r->passes = MG_MAX(most_tags(lines), r->words);
    if (!mg__vec_grow((void **)&s->sectors.at, &s->sectors.capacity, s->sectors.count + n, sizeof(uint64_t)))
        return false;
    memcpy(s->sectors.at + s->sectors.count, seen, n * sizeof(uint64_t));
    add_sectors(s, r);
    return true;
}

bool mg__time_sample_add(struct mg_time_sample *s, const struct mg_arch *arch, const struct mg_launch_info *info,
                         const struct mg_model_access *made, const struct mg_access *a)
{
    const struct mg_ptx_insn *insn = info->insns[a->insn].insn;
    struct request r = {.insn = a->insn, .warp = (uint16_t)a->warp, .kind = (uint8_t)made->kind, .space = a->space};
    uint64_t seen[256];
    if (s->touched + s->requests.count > MG_TIME_SECTORS)
        return true;
    if (insn->access == MG_ACCESSES_COPY &&
        a->space == MG_SPACE_SHARED) /* where it goes; it waits for where it comes from */
        return true;
    if (a->space == MG_SPACE_SHARED) {
        r.wavefronts =
            (uint16_t)mg__model_shared(arch, made->cost, insn, made->width, made->mask, made->address).wavefronts;
        if (made->kind == MG_ACCESS_ATOM || made->kind == MG_ACCESS_RED)
            r.rounds = (uint16_t)most_together(made);
        if (mg__time_swaps(insn)) {
            r.turns = (uint16_t)most_in_bank(made);
            if (!keep_swapped(s, made))
                return false;
        }
    } else if (a->space == MG_SPACE_GLOBAL) {
        struct lines lines = {0};
        const uint32_t n = sectors_of(made, seen, a->address[__builtin_ctz(a->mask)] / 128, &lines);
        uint64_t origin = mg__model_origin(info, made->address[__builtin_ctz(made->mask)]);
        r.wavefronts = (uint16_t)MG_MIN(mg__model_access_global(arch, insn, made, origin).moved, UINT16_MAX);
        r.words = most_words(made);
        if (!keep_sectors(s, &r, seen, n, &lines))
            return false;
    } else if (a->space == MG_SPACE_CONST || a->space == MG_SPACE_PARAM) {
        r.rounds = (uint16_t)different(made, 1);
        r.lines = (uint16_t)different(made, CONSTANT_LINE);
        for (uint32_t m = a->space == MG_SPACE_CONST ? made->mask : 0; m; m &= m - 1) {
            const uint64_t line = made->address[__builtin_ctz(m)] / CONSTANT_LINE % CONSTANT_LINES;
            s->constants[line / 64] |= UINT64_C(1) << line % 64;
        }
    } else if (a->space == MG_SPACE_LOCAL) {
        struct lines lines = {0};
        const uint32_t n = local_sectors_of(info, made, a, seen, &lines);
        r.wavefronts = r.words = (uint16_t)((made->width + 3) / 4);
        if (!keep_sectors(s, &r, seen, n, &lines))
            return false;
    } else {
        r.wavefronts = (uint16_t)((made->width + 3) / 4);
    }
    return mg__vec_push(&s->requests, r);
}

/* ---- the same again ---- */
/* Places that are whole sectors apart are alike to all but lines. */
enum { SECTOR = 32 };

static uint32_t met_phase(const struct mg_access *a)
{
    return (uint32_t)(a->base % SECTOR) << 8 | a->space;
}

/* Of sectors from that one of a line on. */
static struct lines lines_of(const int32_t *sector, uint32_t count, uint32_t from)
{
    uint64_t seen[MG_TIME_MET_SECTORS], some = 0;
    struct lines l = {0};
    for (uint32_t k = 0; k < count; k++) {
        seen[l.n] = (uint64_t)(((int64_t)from + sector[k]) >> 2);
        if (is_fresh(seen[l.n], seen, l.n, 0, &some))
            add_line(&l, seen[l.n]);
    }
    return l;
}

bool mg__time_sample_met(struct mg_time_sample *s, struct mg_time_met *met, const struct mg_access *a, bool *failed)
{
    if (met->pattern != a->pattern || met->insn != a->insn || met->phase != met_phase(a))
        return false;
    if (met->none || s->touched + s->requests.count > MG_TIME_SECTORS)
        return true;
    if (!mg__vec_grow((void **)&s->sectors.at, &s->sectors.capacity, s->sectors.count + met->count, sizeof(uint64_t))) {
        *failed = true;
        return true;
    }
    const uint64_t base = a->base / SECTOR;
    uint16_t *lines = &met->lines[base % 4], *passes = &met->passes[base % 4];
    if (!*lines && met->count) {
        const struct lines l = lines_of(met->sector, met->count, (uint32_t)(base % 4));
        *lines = l.n;
        *passes = MG_MAX(most_tags(&l), met->words);
    }
    struct request r = {.insn = a->insn,
                        .count = met->count,
                        .wavefronts = met->wavefronts,
                        .lines = *lines,
                        .words = met->words,
                        .passes = *passes,
                        .rounds = met->rounds,
                        .turns = met->turns,
                        .warp = (uint16_t)a->warp,
                        .kind = met->kind,
                        .space = met->space};
    uint64_t *to = s->sectors.at + s->sectors.count;
    for (uint32_t k = 0; k < met->count; k++)
        to[k] = base + (uint64_t)(int64_t)met->sector[k];
    add_sectors(s, &r);
    *failed |= !mg__vec_push(&s->requests, r);
    return true;
}

/* What depends on more than its pattern is left out: where an atomic's array begins, which words are swapped, the other
 * side of a copy, the thread's place in local memory. */
void mg__time_sample_meet(const struct mg_time_sample *s, struct mg_time_met *met, const struct mg_launch_info *info,
                          const struct mg_model_access *made, const struct mg_access *a)
{
    const bool atomic = a->kind == MG_ACCESS_ATOM || a->kind == MG_ACCESS_RED;
    const struct request *r = s->requests.count ? &s->requests.at[s->requests.count - 1] : NULL;
    met->pattern = NULL;
    if (a->other || (a->space == MG_SPACE_GLOBAL ? atomic : a->space != MG_SPACE_SHARED) ||
        mg__time_swaps(info->insns[a->insn].insn) || (made && (!r || r->insn != a->insn)) ||
        (made && r->count > MG_TIME_MET_SECTORS))
        return;
    met->pattern = a->pattern;
    met->insn = a->insn;
    met->phase = met_phase(a);
    met->none = !made;
    met->count = 0;
    memset(met->lines, 0, sizeof(met->lines));
    if (!made)
        return;
    met->count = r->count;
    met->wavefronts = r->wavefronts;
    met->lines[a->base / SECTOR % 4] = r->lines;
    met->passes[a->base / SECTOR % 4] = r->passes;
    met->words = r->words;
    met->rounds = r->rounds;
    met->turns = r->turns;
    met->kind = r->kind;
    met->space = r->space;
    for (uint32_t k = 0; k < r->count; k++)
        met->sector[k] = (int32_t)(s->sectors.at[r->first + k] - a->base / SECTOR);
}
