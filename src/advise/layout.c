/* layout.c - bank conflicts: other layouts of a shared variable (model/layout.h), tried on the accesses that were
 * recorded.
 *
 * Every recorded access of the variable, store and load, is moved to its new place and counted by the same rules; so a
 * layout that fixes the column and spoils the row does not look good. The element is the widest access, so that vector
 * accesses stay whole and aligned. Where neighbouring loads are joined by the compiler, a layout that breaks their
 * alignment is counted with the loads as written.
 *
 * Exact where all different accesses of the variable were kept; else scaled from a sample of them (shapes.c). What is
 * left out: that neighbours of the variable move, which turns all their banks alike.
 */
#include "advise/facts.h"
#include "model/layout.h"

#include <math.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Instructions of an address: an exclusive or with what mostly stays; or row, mask, product and that. */
enum { SWIZZLING = 1, SWIZZLING_TIMES = 3 };

/* An access that goes by words: a load or store of up to 32 bits, where banks are words. Its wavefronts are the most of
 * its different words in one bank. Elements of 32 bits or more are moved as words, which differ under every layout if
 * they do under one; of smaller ones, which lie together in a word is asked of each layout. */
enum { UNITS = 32, NO_UNIT = 0, BANKS = 32, MOST_WORDS = 65536 };
struct worded {
    uint32_t insn, shape; /* of that instruction */
    double times, scale;
    uint16_t unit[UNITS]; /* the question's numbers of the units that it touches, each once; NO_UNIT behind the last */
};
struct question { /* of one variable */
    const struct mg_facts *facts;
    uint32_t var;
    struct mg_change *change; /* NULL: not wanted */
    /* What goes by words, of all instructions in turn; and the units that these touch, where in the variable they are:
     * elements, or words of larger ones; number NO_UNIT is left out. */
    MG_VEC(struct worded) worded;
    MG_VEC(uint32_t) units;
    uint32_t unit;        /* bytes */
    uint8_t *banks;       /* of the units, by the layout that is tried; of NO_UNIT none */
    uint16_t *words;      /* likewise; NULL: units are words */
    uint32_t *seen, turn; /* by word: the last access that touched it */
    double ideal;         /* of all, as far as it is known: if all go by words, or when a layout was counted whole */
    size_t stride;        /* from one to the next of `worded`, so that all come, spread over them */
    bool all;             /* accesses go by words */
};

/* Whether loads that need `bytes` of alignment can still be joined. */
static bool joins(const struct mg_layout *l, unsigned bytes)
{
    return bytes <= l->element || (!l->xor_mask && (uint64_t)(l->row + l->pad) * l->element % bytes == 0);
}

static struct mg_access access_of(const struct mg_advise_shape *s, uint32_t insn, const uint64_t *address)
{
    return (struct mg_access){.insn = insn,
                              .kind = s->kind,
                              .space = MG_SPACE_SHARED,
                              .width = s->width,
                              .mask = s->mask,
                              .shared_var = s->var,
                              .address = address};
}

/* Whether it goes by words, joined or not; `mask`: its lanes. */
static bool goes_by_words(const struct question *q, uint32_t insn, const struct mg_advise_shape *s, uint32_t *mask)
{
    uint64_t address[32];
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = (uint32_t)s->at[lane];
    for (int joined = 0; joined < 2; joined++) {
        struct mg_access a = access_of(s, insn, address);
        struct mg_model_access as;
        if (!mg__model_made_access(q->facts->seen->made, &a, joined, &as) || as.address != address ||
            mg__model_made_second(q->facts->seen->made, insn, &as) ||
            (as.cost != MG_ACCESS_LD && as.cost != MG_ACCESS_ST) || as.width > 4 || (as.width & (as.width - 1)) ||
            !as.width || (joined && as.mask != *mask))
            return false;
        *mask = as.mask;
    }
    return *mask && !s->other;
}

/* Finds what goes by words. `numbers`: by unit of the variable, NO_UNIT at first. False: out of memory. */
static bool find_units(struct question *q, uint16_t *numbers, uint32_t nunits)
{
    const struct mg_facts *f = q->facts;
    const uint32_t base = f->info->shared_vars[q->var].offset;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_shapes *set = &f->seen->shared[i];
        for (uint32_t k = 0; k < set->count; k++) {
            const struct mg_advise_shape *s = &set->at[k];
            struct worded w = {.insn = i, .shape = k, .times = (double)s->times, .scale = f->scale[i]};
            uint32_t mask = 0, n = 0, known;
            if (s->var != (int32_t)q->var)
                continue;
            bool good = goes_by_words(q, i, s, &mask);
            for (uint32_t m = mask; good && m; m &= m - 1) {
                const uint32_t unit = ((uint32_t)s->at[__builtin_ctz(m)] - base) / q->unit;
                if (unit >= nunits || q->units.count >= UINT16_MAX) {
                    good = false;
                    break;
                }
                if (numbers[unit] == NO_UNIT) {
                    if (!mg__vec_grow((void **)&q->units.at, &q->units.capacity, q->units.count + 1, sizeof(uint32_t)))
                        return false;
                    q->units.at[q->units.count++] = unit;
                    numbers[unit] = (uint16_t)q->units.count;
                }
                for (known = 0; known < n && w.unit[known] != numbers[unit]; known++)
                    ;
                w.unit[known] = numbers[unit];
                n += known == n;
            }
            q->all &= good;
            q->ideal += good ? w.times * w.scale : 0;
            if (!good)
                continue;
            if (!mg__vec_grow((void **)&q->worded.at, &q->worded.capacity, q->worded.count + 1, sizeof(w)))
                return false;
            q->worded.at[q->worded.count++] = w;
        }
    }
    q->banks = malloc(q->units.count + 1);
    if (q->unit == 4)
        return q->banks != NULL;
    q->words = malloc((q->units.count + 1) * sizeof(*q->words));
    q->seen = calloc(MOST_WORDS, sizeof(*q->seen));
    return q->banks && q->words && q->seen;
}

static void answered(struct question *q)
{
    mg__vec_free(&q->worded);
    mg__vec_free(&q->units);
    free(q->banks);
    free(q->words);
    free(q->seen);
    q->banks = NULL;
}

/* Golden steps, and none that comes back before all were seen. */
static size_t stride_of(size_t n)
{
    for (size_t stride = n * 5 / 8 | 1;; stride++) {
        size_t a = n, b = stride, rest;
        for (; b; rest = a % b, a = b, b = rest)
            ;
        if (a <= 1)
            return n > 1 ? stride % n : 0;
    }
}

/* Where banks are words of 32 bits, 32 of them; else, and without memory, each access is asked for by itself. */
static struct question question_of(const struct mg_facts *f, uint32_t var, uint32_t element)
{
    struct question q = {.facts = f, .var = var, .all = true, .unit = MG_MIN(element, 4u)};
    const struct mg_shared_var *v = &f->info->shared_vars[var];
    if (f->arch->banks != BANKS || f->arch->bank_bytes != 4 || v->offset % 4 || (element & (element - 1)))
        return q;
    uint16_t *numbers = calloc(v->size / q.unit + 1, sizeof(*numbers));
    if (!numbers || !find_units(&q, numbers, v->size / q.unit))
        answered(&q);
    q.stride = stride_of(q.worded.count);
    free(numbers);
    return q;
}

/* Where the layout puts the units. False: that is not known. */
static bool find_banks(struct question *q, const struct mg_layout *l)
{
    const uint32_t base = q->facts->info->shared_vars[q->var].offset;
    if (!q->banks || l->element % q->unit)
        return false;
    q->banks[NO_UNIT] = BANKS;
    for (size_t k = 0; k < q->units.count; k++) {
        const uint32_t word = (base + mg__layout_moved(l, q->units.at[k] * q->unit)) / 4;
        q->banks[k + 1] = (uint8_t)(word % BANKS);
        if (q->words)
            q->words[k + 1] = (uint16_t)word;
        if (word >= MOST_WORDS)
            return false;
    }
    return true;
}

/* The most words in one bank: each is a 1 at its bank's place among 32, and these are added up. */
#ifdef __SSE2__
static unsigned most_of_words(const uint8_t *banks, const uint16_t unit[UNITS])
{
    static const uint8_t one_at[3 * BANKS] = {[BANKS] = 1};
    __m128i low = _mm_setzero_si128(), high = low;
    for (unsigned k = 0; k < UNITS; k++) {
        const uint8_t *one = one_at + BANKS - banks[unit[k]];
        low = _mm_add_epi8(low, _mm_loadu_si128((const void *)one));
        high = _mm_add_epi8(high, _mm_loadu_si128((const void *)(one + 16)));
    }
    low = _mm_max_epu8(low, high);
    low = _mm_max_epu8(low, _mm_srli_si128(low, 8));
    low = _mm_max_epu8(low, _mm_srli_si128(low, 4));
    low = _mm_max_epu8(low, _mm_srli_si128(low, 2));
    low = _mm_max_epu8(low, _mm_srli_si128(low, 1));
    return (unsigned)_mm_cvtsi128_si32(low) & 255;
}
#else
static unsigned most_of_words(const uint8_t *banks, const uint16_t unit[UNITS])
{
    uint8_t in[BANKS + 1] = {0}, most = 0;
    for (unsigned k = 0; k < UNITS && unit[k] != NO_UNIT; k++)
        most = MG_MAX(most, ++in[banks[unit[k]]]);
    return most;
}
#endif

static unsigned most_in_bank(struct question *q, const struct worded *w)
{
    if (!q->words)
        return most_of_words(q->banks, w->unit);
    uint8_t in[BANKS] = {0}, most = 0;
    q->turn++;
    for (unsigned k = 0; k < UNITS && w->unit[k] != NO_UNIT; k++) {
        const uint16_t word = q->words[w->unit[k]];
        in[word % BANKS] = (uint8_t)(in[word % BANKS] + (q->seen[word] != q->turn));
        most = MG_MAX(most, in[word % BANKS]);
        q->seen[word] = q->turn;
    }
    return most;
}

/* Of an access by itself. False: another instruction's carries it. */
static bool cost_one(const struct question *q, const struct mg_layout *l, uint32_t insn, bool joined,
                     const struct mg_advise_shape *s, double *taken, double *ideal)
{
    const struct mg_facts *f = q->facts;
    const struct mg_ptx_insn *text = f->info->insns[insn].insn;
    uint32_t base = f->info->shared_vars[q->var].offset;
    uint64_t address[32];
    struct mg_access a = access_of(s, insn, address);
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = base + (s->mask >> lane & 1 ? mg__layout_moved(l, (uint32_t)s->at[lane] - base) : 0);
    struct mg_model_access as;
    if (!mg__model_made_access(f->seen->made, &a, joined, &as))
        return false;
    struct mg_cost c = mg__model_shared(f->arch, as.cost, text, as.width, as.mask, as.address);
    *taken = c.wavefronts;
    *ideal = c.ideal;
    if (mg__model_made_second(f->seen->made, insn, &as)) {
        c = mg__model_shared(f->arch, as.cost, text, as.width, as.mask, as.address);
        *taken += c.wavefronts;
        *ideal += c.ideal;
    }
    if (s->other) { /* its source is not known here: what the destination alone makes, as it is and moved */
        for (unsigned lane = 0; lane < 32; lane++)
            address[lane] = (uint32_t)s->at[lane];
        const uint32_t as_is = mg__model_shared(f->arch, as.cost, text, as.width, as.mask, as.address).wavefronts;
        *taken = s->taken * *taken / MG_MAX(as_is, 1u);
    }
    return true;
}

/* Where all of its accesses go by words. What is above the best so far, and the ideal, cannot become the best: that is
 * looked at every LOOK accesses, which come spread over all of them, as the mean of those so far tells it, less three
 * times its error. What is not given up is counted whole. */
enum { LOOK = 128 };
static void cost_words(struct question *q, struct mg_layout_trial *t)
{
    const double most = MG_MAX(t->enough, 1.01 * q->ideal);
    const size_t n = q->worded.count;
    double weights = 0, squares = 0, spread = 0;
    for (size_t k = 0, at = 0; k < n && t->wavefronts <= most;
         k++, at = at + q->stride < n ? at + q->stride : at + q->stride - n) {
        const struct worded *w = &q->worded.at[at];
        const double weight = w->times * w->scale, each = most_in_bank(q, w);
        t->wavefronts += each * weight;
        t->ideal += weight;
        weights += weight;
        squares += weight * weight;
        spread += each * each * weight;
        if ((k + 1) % LOOK)
            continue;
        const double mean = t->wavefronts / weights,
                     error = sqrt(MG_MAX(spread / weights - mean * mean, 0) * squares) / weights;
        if ((mean - 3 * error) * q->ideal > most) {
            t->wavefronts = mean * q->ideal;
            t->ideal = q->ideal;
            return;
        }
    }
}

static void cost(void *arg, struct mg_layout_trial *t)
{
    struct question *q = arg;
    const struct mg_facts *f = q->facts;
    const bool words = find_banks(q, &t->layout);
    const double most = q->change ? INFINITY : MG_MAX(t->enough, 1.01 * q->ideal);
    size_t at = 0;
    if (words && q->all && !q->change) {
        cost_words(q, t);
        return;
    }
    for (uint32_t i = 0; i < f->info->ninsns && t->wavefronts <= most; i++) {
        const struct mg_shapes *set = &f->seen->shared[i];
        double scale = f->scale[i], now = 0, then = 0;
        if (!set->count)
            continue;
        bool joined = joins(&t->layout, mg__model_made_joined(f->seen->made, i));
        for (uint32_t k = 0; k < set->count && t->wavefronts <= most; k++) {
            const struct mg_advise_shape *s = &set->at[k];
            double taken, ideal = 1;
            if (s->var != (int32_t)q->var)
                continue;
            now += (double)s->taken * (double)s->times * scale;
            const bool by_words = at < q->worded.count && q->worded.at[at].insn == i && q->worded.at[at].shape == k;
            if (by_words && words)
                taken = most_in_bank(q, &q->worded.at[at]);
            else if (!cost_one(q, &t->layout, i, joined, s, &taken, &ideal))
                continue;
            at += by_words;
            t->wavefronts += taken * (double)s->times * scale;
            t->ideal += ideal * (double)s->times * scale;
            then += taken * (double)s->times * scale;
        }
        if (q->change && now > 0)
            q->change->edits[i].wavefronts = (float)(then / now);
    }
    if (t->wavefronts <= most)
        q->ideal = MG_MAX(q->ideal, t->ideal);
}

static uint32_t widest(const struct mg_facts *f, uint32_t var, bool *sampled)
{
    uint32_t width = 1;
    for (uint32_t i = 0; i < f->info->ninsns; i++)
        for (uint32_t k = 0; k < f->seen->shared[i].count; k++)
            if (f->seen->shared[i].at[k].var == (int32_t)var) {
                width = MG_MAX(width, f->seen->shared[i].at[k].width);
                *sampled |= f->seen->shared[i].level > 0;
            }
    return width;
}

/* Row lengths that the conflicting accesses show, by the wavefronts that they cost too much. */
static void candidate_rows(const struct mg_facts *f, uint32_t var, uint32_t element, struct mg_layout_rows *rows)
{
    for (uint32_t i = 0; i < f->info->ninsns; i++)
        for (uint32_t k = 0; k < f->seen->shared[i].count; k++) {
            const struct mg_advise_shape *s = &f->seen->shared[i].at[k];
            if (s->var == (int32_t)var && s->taken > s->ideal)
                mg__layout_distances(rows, element, f->info->shared_vars[var].size / element, s->mask, s->at,
                                     (double)(s->taken - s->ideal) * (double)s->times);
        }
}

static const char *swizzle_text(struct mg_facts *f, const struct mg_layout *l)
{
    const char *times = l->xor_times > 1 ? mg__advise_text(f, " * %u", l->xor_times) : "";
    if (l->xor_shift)
        return mg__advise_text(f, "column ^ (row >> %u & %u)%s", l->xor_shift, l->xor_mask, times);
    return mg__advise_text(f, "column ^ (row & %u)%s", l->xor_mask, times);
}

/* Pieces of 16 bytes that change places as a tensor map's swizzle has them: a hint for those who fill a tile by one, or
 * look for a name. */
static const char *map_text(struct mg_facts *f, const struct mg_layout *l)
{
    const uint32_t span = l->element * l->row;
    if (l->element != 16 || l->xor_times != 1 || (span != 32 && span != 64 && span != 128) ||
        l->xor_mask != l->row - 1 || 128u >> l->xor_shift != span)
        return "";
    return mg__advise_text(f, " That is the swizzle of %u bytes of tensor maps, CU_TENSOR_MAP_SWIZZLE_%uB.", span,
                           span);
}

/* What was found for a variable: the better of the best pad and the best swizzle. */
struct choice {
    uint32_t var, element;
    struct mg_layout_trial pad, swizzle;
    bool padded, sampled, is_static, tree;
    double now, by_swizzle; /* wavefronts; seconds */
    struct mg_change *change;
    unsigned blocks, same; /* on an SM, with the pad and now */
};

static const struct mg_layout_trial *chosen(const struct choice *c)
{
    return c->padded ? &c->pad : &c->swizzle;
}

static struct mg_change *changed(struct mg_facts *f, const struct question *searched,
                                 const struct mg_layout_trial *trial)
{
    const uint32_t var = searched->var;
    struct question q = *searched;
    struct mg_layout_trial again = {.layout = trial->layout, .enough = INFINITY};
    q.change = mg__change(f);
    cost(&q, &again);
    const double each = trial->layout.xor_times > 1 ? SWIZZLING_TIMES : SWIZZLING;
    for (uint32_t i = 0; trial->layout.xor_mask && i < f->info->ninsns; i++)
        if (mg__change_of_var(f, i, var) && mg__change_often(f, i) > 0)
            mg__change_add(f, q.change, i, MG_TIME_NEW_ALU, each * mg__change_often(f, i), 0, 0);
    return q.change;
}

static bool choose(struct mg_facts *f, uint32_t var, struct choice *c)
{
    const struct mg_var_fact *v = &f->vars[var];
    const struct mg_shared_var *info = &f->info->shared_vars[var];
    struct mg_layout_rows rows = {.n = 0};
    *c = (struct choice){.var = var, .now = (double)v->wavefronts};
    c->element = widest(f, var, &c->sampled);
    if (v->wavefronts <= v->ideal || info->size < 2 * c->element)
        return false;
    uint64_t taken = (uint64_t)f->info->shared_static + f->info->shared_dynamic, most = f->arch->shared_block_optin;
    double conflicts = (double)(v->wavefronts - v->ideal), pad_seconds;
    struct question question = question_of(f, var, c->element);
    struct mg_layout_search search = {.arch = f->arch,
                                      .size = info->size,
                                      .element = c->element,
                                      .room = most > taken ? most - taken : 0,
                                      .conflicts = conflicts,
                                      .cost = cost,
                                      .arg = &question};
    candidate_rows(f, var, c->element, &rows);
    mg__layout_search(&search, &rows);
    c->pad = search.pad;
    c->swizzle = search.swizzle;
    unsigned doublings = 0; /* distances of 2, 4, 8 and so on between lanes: a tree */
    for (unsigned i = 0; i < rows.n; i++)
        doublings += (rows.row[i] & (rows.row[i] - 1)) == 0;
    c->tree = doublings >= 4;
    c->blocks = c->pad.any ? mg__advise_blocks_with(f, c->pad.added) : 0;
    c->same = mg__advise_blocks_with(f, 0);
    c->is_static = info->name && info->name[0] != '(';
    if (c->is_static && (uint64_t)f->info->shared_static + c->pad.added > f->arch->shared_block)
        c->blocks = 0; /* a static declaration cannot grow so far */
    struct mg_change *pad = c->pad.any && c->blocks ? changed(f, &question, &c->pad) : NULL;
    struct mg_change *swizzle = c->swizzle.any ? changed(f, &question, &c->swizzle) : NULL;
    answered(&question);
    mg__change_room(f, pad, c->pad.added);
    pad_seconds = mg__change_saves(f, pad);
    c->by_swizzle = mg__change_saves(f, swizzle);
    /* as good: that which keeps the indices as they are */
    c->padded =
        pad && pad_seconds >= 0.98 * c->by_swizzle && (!swizzle || c->pad.wavefronts <= c->swizzle.wavefronts * 1.02);
    c->padded |= pad && pad_seconds > 1.02 * c->by_swizzle;
    c->change = c->padded ? pad : swizzle;
    return c->change && c->now - chosen(c)->wavefronts >= 0.05 * conflicts;
}

/* The layout that was not chosen, and what a tree would rather do. */
static const char *other_ways(struct mg_facts *f, const struct choice *c)
{
    const struct mg_layout_trial *pad = &c->pad, *swizzle = &c->swizzle;
    const char *other = "";
    if (c->padded && swizzle->any && c->by_swizzle > 0)
        other =
            mg__advise_text(f, " Or keep the size and put element (row, column) at %s in rows of %u: %.0f wavefronts.",
                            swizzle_text(f, &swizzle->layout), swizzle->layout.row, swizzle->wavefronts);
    else if (!c->padded && pad->any)
        other =
            mg__advise_text(f,
                            " Padding rows of %u by %u gives %.0f wavefronts and %u bytes more, and %u blocks on an SM "
                            "instead of %u.",
                            pad->layout.row, pad->layout.pad, pad->wavefronts, pad->added, c->blocks, c->same);
    if (!c->tree)
        return other;
    return mg__advise_text(
        f,
        "%s A reduction is better turned round, and needs no other layout then: thread t adds element "
        "t + n / 2, then t + n / 4, so that lanes stay neighbours.",
        other);
}

static void tell(struct mg_facts *f, struct mg_report_advice_item *item, const struct choice *c)
{
    const struct mg_var_fact *v = &f->vars[c->var];
    const struct mg_layout_trial *t = chosen(c);
    const struct mg_layout *l = &t->layout;
    const char *name = mg__facts_variable(f, c->var), *other = other_ways(f, c);
    const char *after =
        mg__advise_text(f, "%.0f wavefronts, %.0f more than the ideal", t->wavefronts, t->wavefronts - t->ideal);
    mg__advise_at(f, item, v->worst);
    item->variable = name;
    item->why =
        mg__advise_text(f, "%.0f wavefronts where %.0f would do: %.1f times.%s", c->now, (double)v->ideal,
                        c->now / (double)MG_MAX(v->ideal, 1u), c->sampled ? " (From a sample of its accesses.)" : "");
    if (!c->padded) {
        item->title = mg__advise_text(f, "Swizzle the columns of '%s'", name);
        item->how = mg__advise_text(f,
                                    "In rows of %u elements of %u bytes, put element (row, column) at %s. Tried on the "
                                    "recorded accesses: %s; no byte more.%s%s",
                                    l->row, c->element, swizzle_text(f, l), after, map_text(f, l), other);
        return;
    }
    item->title = mg__advise_text(f, "Pad each row of '%s' by %u element%s (%u bytes)", name, l->pad,
                                  l->pad > 1 ? "s" : "", l->pad * c->element);
    item->how = mg__advise_text(f,
                                "Rows of %u elements become %u (%u bytes each; element i goes to i + i / %u%s). "
                                "Tried on the recorded accesses: %s; "
                                "%u bytes more, %u blocks on an SM, now %u.%s",
                                l->row, l->row + l->pad, c->element, l->row,
                                l->pad > 1 ? mg__advise_text(f, " * %u", l->pad) : "", after, t->added, c->blocks,
                                c->same, other);
}

static void put_values(struct mg_facts *f, struct mg_report_advice_item *item, const struct choice *c)
{
    const struct mg_var_fact *v = &f->vars[c->var];
    const struct mg_layout_trial *t = chosen(c);
    mg__advise_value(f, item, "element_bytes", c->element);
    mg__advise_value(f, item, "row_elements", t->layout.row);
    mg__advise_value(f, item, "pad_elements", t->layout.pad);
    mg__advise_value(f, item, "added_bytes", t->added);
    mg__advise_value(f, item, "wavefronts_now", (double)mg__facts_round(c->now));
    mg__advise_value(f, item, "wavefronts_then", (double)mg__facts_round(t->wavefronts));
    mg__advise_value(f, item, "conflicts_now", (double)mg__facts_round(c->now - (double)v->ideal));
    mg__advise_value(f, item, "conflicts_then", (double)mg__facts_round(t->wavefronts - t->ideal));
    mg__advise_value(f, item, "blocks_now", c->same);
    mg__advise_value(f, item, "blocks_then", c->padded ? c->blocks : c->same);
    if (c->swizzle.any) {
        mg__advise_value(f, item, "swizzle_row_elements", c->swizzle.layout.row);
        mg__advise_value(f, item, "swizzle_mask", c->swizzle.layout.xor_mask);
        mg__advise_value(f, item, "swizzle_shift", c->swizzle.layout.xor_shift);
        mg__advise_value(f, item, "swizzle_times", c->swizzle.layout.xor_times);
        mg__advise_value(f, item, "swizzle_wavefronts", (double)mg__facts_round(c->swizzle.wavefronts));
    }
    double total = (double)f->total.wavefronts, ideal = (double)f->total.wavefronts_ideal;
    mg__advise_predict(f, item, MG_METRIC_WAVEFRONTS_SHARED, total - c->now + t->wavefronts);
    mg__advise_predict(f, item, MG_METRIC_WAVEFRONTS_SHARED_IDEAL, ideal - (double)v->ideal + t->ideal);
    mg__advise_predict(f, item, c->is_static ? MG_METRIC_SHARED_STATIC : MG_METRIC_SHARED_DYNAMIC,
                       (double)(c->is_static ? f->info->shared_static : f->info->shared_dynamic) + t->added);
}

static void advise_var(struct mg_facts *f, uint32_t var)
{
    struct choice c;
    if (!choose(f, var, &c))
        return;
    struct mg_report_advice_item *item = mg__advise_add(f, c.padded ? "pad" : "swizzle", c.change);
    if (!item)
        return;
    tell(f, item, &c);
    put_values(f, item, &c);
}

void mg__advise_layout(struct mg_facts *f)
{
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        if (!f->vars[v].library && (!f->vars[v].atomics || f->vars[v].loads + f->vars[v].stores > f->vars[v].atomics))
            advise_var(f, v);
}
