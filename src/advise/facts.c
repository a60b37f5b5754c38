/* facts.c - from the record of a launch to its facts: what was counted, put together in the terms that advice is given
 * in.
 *
 * The launch's time and its parts are those of the model of time; what a change of it saves, price.c asks that model.
 */
#include "advise/facts.h"
#include "model/matrix.h"

#include <math.h>

static void add_tried(struct mg_tried *to, const struct mg_tried *from)
{
    uint64_t *t = (uint64_t *)to;
    const uint64_t *s = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof(*to) / sizeof(*t); i++)
        t[i] += s[i];
}

/* ---- arithmetic ---- */
static bool is_half(enum mg_ptx_type t)
{
    return t == MG_T_F16 || t == MG_T_BF16 || t == MG_T_F16X2 || t == MG_T_BF16X2;
}

/* Floating-point operations of one lane: a fused multiply-add is two, a packed pair twice as many. */
static unsigned flops_of(const struct mg_ptx_insn *insn, enum mg_ptx_type *type)
{
    unsigned n = mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->flops;
    *type = insn->ntypes ? (enum mg_ptx_type)insn->type[0] : MG_T_NONE;
    if (*type == MG_T_F32 || *type == MG_T_F64 || *type == MG_T_F16 || *type == MG_T_BF16)
        return n;
    return is_half(*type) ? 2 * n : 0;
}

static void count_instructions(struct mg_facts *f)
{
    uint64_t worst = 0, worst_const = 0;
    struct mg_model_matrix matrix;
    f->worst_branch = f->worst_const = UINT32_MAX;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_tried *t = &f->seen->insns[i];
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        add_tried(&f->total, t);
        f->inst += (double)t->warps;
        f->thread_inst += (double)t->threads;
        f->alone += t->threads == t->warps ? (double)t->warps : 0;
        if (!insn)
            continue;
        f->matrices += mg__model_matrix(insn, &matrix) && matrix.wgmma
                           ? (double)mg__model_wgmma_wavefronts(f->info->insns[i].func, insn, t->warps)
                           : 0;
        const unsigned group = mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->group;
        f->others_use_shared |= group == MG_G_BULK || group == MG_G_MBARRIER || insn->opcode == MG_OP_WGMMA_MMA_ASYNC ||
                                insn->opcode == MG_OP_MAPA;
        if (t->const_passes > t->const_requests) {
            uint64_t more = t->const_passes - t->const_requests;
            if (f->worst_const == UINT32_MAX || more > worst_const) {
                worst_const = more;
                f->worst_const = i;
            }
        }
        if (mg__ptx_branches(insn)) {
            f->branches += (double)t->warps;
            f->divergent += (double)t->divergent;
            if (t->divergent > worst) {
                worst = t->divergent;
                f->worst_branch = i;
            }
        }
        if (insn->effects & MG_E_SYNCS)
            f->barriers += (double)t->warps;
        enum mg_ptx_type type;
        uint64_t flops = flops_of(insn, &type) * t->threads;
        f->arithmetic += flops ? (double)t->warps : 0;
        if (type == MG_T_F64)
            f->flops_f64 += flops;
        else if (is_half(type))
            f->flops_f16 += flops;
        else
            f->flops_f32 += flops;
    }
}

/* ---- groups ---- */
static uint32_t root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root(parent, a);
    b = root(parent, b);
    if (a != b)
        parent[MG_MAX(a, b)] = MG_MIN(a, b);
}

/* Load sites whose granules overlap read one array, whatever the parameters are called. */
static void unite_sites(struct mg_facts *f, uint32_t *parent)
{
    static const unsigned overlap = 16; /* one in so many is enough: a halo is not */
    uint32_t n = MG_MIN(f->nsites, (uint32_t)MG_SITES_JOINED);
    uint64_t *common = mg__arena_array(&f->arena, (size_t)n * n + 1, sizeof(*common));
    for (uint32_t i = 0; i < f->nsites; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct mg_advise_site *a = f->sites[i].site, *b = f->sites[k].site;
            if (a->direction == b->direction &&
                ((a->param >= 0 && a->param == b->param) || (a->global && a->global == b->global)))
                unite(parent, i, k);
        }
    for (unsigned s = 0; common && s < f->seen->nsampled; s++) {
        const struct mg_advise_block *b = f->seen->blocks[s];
        for (uint32_t i = 0; b && i < b->ngrains; i++)
            for (uint32_t k = i; k < b->ngrains && b->grains[k].key == b->grains[i].key; k++)
                if (b->grains[i].site < n && b->grains[k].site < n)
                    common[b->grains[i].site * n + b->grains[k].site]++;
    }
    for (uint32_t i = 0; common && i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            if (f->sites[i].site->direction == MG_DIR_LOAD && f->sites[k].site->direction == MG_DIR_LOAD &&
                common[i * n + k] * overlap > MG_MIN(common[i * n + i], common[k * n + k]) && common[i * n + k])
                unite(parent, i, k);
}

/* Of a block's warps: lanes that are in the set. */
static unsigned popcount_all(const uint32_t *set, unsigned warps)
{
    unsigned n = 0;
    for (unsigned i = 0; i < warps; i++) {
        uint32_t x = set[i] - (set[i] >> 1 & 0x55555555u);
        x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
        n += ((x + (x >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
    }
    return n;
}

/* `scale`: granules that one stands for. */
static void add_use(struct mg_use *u, double scale, double uses, unsigned threads, double bytes, bool sector)
{
    u->sampled |= scale > 1;
    u->uses += uses * bytes * scale;
    u->threads += threads * bytes * scale;
    u->bytes += bytes * scale;
    u->sectors += sector ? scale : 0;
}

/* What several sites of a block, of granules `from` to `to`, which are one, wrote and read. */
static void exchange(struct mg_facts *f, const struct mg_advise_block *b, const struct mg_grain *from,
                     const struct mg_grain *to, unsigned warps)
{
    uint32_t wrote[MG_MAX_THREADS / 32] = {0}, read[MG_MAX_THREADS / 32] = {0};
    for (; from < to; from++) {
        const uint32_t *threads = mg__grain_threads(b, from);
        uint32_t *all_of = f->sites[from->site].site->direction == MG_DIR_LOAD ? read : wrote;
        for (unsigned w = 0; w < warps; w++)
            all_of[w] |= threads[w];
    }
    unsigned all = 0, writers = popcount_all(wrote, warps);
    for (unsigned w = 0; w < warps; w++) {
        all += (read[w] & ~wrote[w]) != 0;
        f->in_place |= writers && read[w];
    }
    f->global_exchange |= writers && (all || (popcount_all(read, warps) && writers > 1));
}

static void use_block(struct mg_facts *f, const struct mg_advise_block *b, uint64_t *last_site, uint64_t *last_group)
{
    unsigned shift = f->seen->sites.shift;
    const unsigned warps = b->nwarps;
    const double bytes = 1u << shift, scale = ldexp(1, (int)b->level);
    for (uint32_t i = 0; i < f->nsites; i++) {
        last_site[i] = UINT64_MAX;
        f->sites[i].use.moved += (double)b->moved[i];
        f->groups[f->sites[i].group].use.moved += (double)b->moved[i];
    }
    for (uint32_t g = 0; g < f->ngroups; g++)
        last_group[g] = UINT64_MAX;
    for (uint32_t i = 0, end; i < b->ngrains; i = end) {
        uint64_t key = b->grains[i].key, sector = key << shift >> 5;
        bool loads = false, stores = false;
        for (end = i; end < b->ngrains && b->grains[end].key == key; end++)
            *(f->sites[b->grains[end].site].site->direction == MG_DIR_LOAD ? &loads : &stores) = true;
        for (uint32_t k = i; k < end; k++) {
            const struct mg_grain *g = &b->grains[k];
            struct mg_site_fact *s = &f->sites[g->site];
            unsigned all = popcount_all(mg__grain_threads(b, g), warps);
            double uses = g->uses;
            add_use(&s->use, scale, uses, all, bytes, last_site[g->site] != sector);
            last_site[g->site] = sector;
            /* The group's share is taken at its first site of the granule, for all of its sites. */
            bool first = true, alone = true;
            for (uint32_t m = i; m < k; m++)
                first &= f->sites[b->grains[m].site].group != s->group;
            if (!first)
                continue;
            uint32_t threads[MG_MAX_THREADS / 32];
            for (uint32_t m = k + 1; m < end; m++) {
                if (f->sites[b->grains[m].site].group != s->group)
                    continue;
                if (alone)
                    memcpy(threads, mg__grain_threads(b, g), warps * sizeof(*threads));
                alone = false;
                uses += b->grains[m].uses;
                for (unsigned w = 0; w < warps; w++)
                    threads[w] |= mg__grain_threads(b, &b->grains[m])[w];
            }
            all = alone ? all : popcount_all(threads, warps);
            add_use(&f->groups[s->group].use, scale, uses, all, bytes, last_group[s->group] != sector);
            last_group[s->group] = sector;
        }
        if (loads && stores)
            exchange(f, b, b->grains + i, b->grains + end, warps);
    }
    for (uint32_t i = 0; i < f->nsites; i++)
        f->sites[i].use.blocks += last_site[i] != UINT64_MAX;
    for (uint32_t g = 0; g < f->ngroups; g++)
        f->groups[g].use.blocks += last_group[g] != UINT64_MAX;
}

/* The most used granule of each group of atomics, over the sampled blocks, scaled to all. */
static int by_group_and_key(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

static bool find_hottest(struct mg_facts *f)
{
    MG_VEC(struct { uint64_t v[3]; }) all = {0};
    struct {
        uint64_t v[3];
    } one;
    for (unsigned s = 0; s < f->seen->nsampled; s++) {
        const struct mg_advise_block *b = f->seen->blocks[s];
        for (uint32_t i = 0; b && i < b->ngrains; i++) {
            const struct mg_site_fact *site = &f->sites[b->grains[i].site];
            if (site->site->direction != MG_DIR_ATOMIC)
                continue;
            one.v[0] = site->group;
            one.v[1] = b->grains[i].key;
            one.v[2] = b->grains[i].uses;
            if (!mg__vec_grow((void **)&all.at, &all.capacity, all.count + 1, sizeof(*all.at))) {
                mg__vec_free(&all);
                return false;
            }
            memcpy(&all.at[all.count++], &one, sizeof(one));
        }
    }
    if (all.count > 1)
        qsort(all.at, all.count, sizeof(*all.at), by_group_and_key);
    double scale = f->sampled_blocks > 0 ? (double)f->seen->nblocks / f->sampled_blocks : 0;
    for (size_t i = 0, end; i < all.count; i = end) {
        double uses = 0;
        for (end = i; end < all.count && all.at[end].v[0] == all.at[i].v[0] && all.at[end].v[1] == all.at[i].v[1];
             end++)
            uses += (double)all.at[end].v[2];
        struct mg_advise_group *g = &f->groups[all.at[i].v[0]];
        g->hottest = MG_MAX(g->hottest, uses * scale);
        g->granules++;
    }
    mg__vec_free(&all);
    return true;
}

static bool gather_sites(struct mg_facts *f)
{
    const struct mg_seen *seen = f->seen;
    f->nsites = seen->sites.count;
    f->sites = mg__arena_array(&f->arena, (size_t)f->nsites + 1, sizeof(*f->sites));
    uint32_t *parent = mg__arena_array(&f->arena, (size_t)f->nsites + 1, sizeof(*parent));
    uint64_t *last = mg__arena_array(&f->arena, 2 * (size_t)f->nsites + 2, sizeof(*last));
    f->groups = mg__arena_array(&f->arena, (size_t)f->nsites + 1, sizeof(*f->groups));
    if (!f->sites || !parent || !last || !f->groups)
        return false;
    for (uint32_t i = 0; i < f->nsites; i++) {
        parent[i] = i;
        f->sites[i].site = &seen->sites.at[i];
        f->sites[i].width = 4;
        mg__facts_find_pattern(f, i);
    }
    for (uint32_t i = 0; i < f->info->ninsns; i++)
        if (seen->sites.of[i] != UINT32_MAX)
            add_tried(&f->sites[seen->sites.of[i]].sum, &seen->insns[i]);
    for (unsigned s = 0; s < seen->nsampled; s++) {
        struct mg_advise_block *b = seen->blocks[s];
        if (b && !mg__block_sort(b))
            return false;
        f->sampled_blocks += b != NULL;
    }
    unite_sites(f, parent);
    for (uint32_t i = 0; i < f->nsites; i++) {
        uint32_t r = root(parent, i);
        if (r == i) {
            f->groups[f->ngroups].direction = f->sites[i].site->direction;
            f->groups[f->ngroups].first = i;
            f->sites[i].group = f->ngroups++;
        } else {
            f->sites[i].group = f->sites[r].group; /* a root comes before its others */
        }
        struct mg_advise_group *g = &f->groups[f->sites[i].group];
        g->moved += f->sites[i].sum.moved;
        g->bytes += f->sites[i].sum.bytes;
        g->touched += f->sites[i].sum.touched;
        g->ideal += f->sites[i].sum.ideal;
        g->requests += f->sites[i].sum.requests;
        g->staged += f->sites[i].ideal_staged;
    }
    for (unsigned s = 0; s < seen->nsampled; s++)
        if (seen->blocks[s])
            use_block(f, seen->blocks[s], last, last + f->nsites + 1);
    mg__facts_find_steps(f, seen->blocks[seen->nsampled / 2]);
    return find_hottest(f);
}

/* ---- shared memory ---- */
/* A sample stands for what was counted exactly. */
static bool find_scales(struct mg_facts *f)
{
    f->scale = mg__arena_array(&f->arena, (size_t)f->info->ninsns + 1, sizeof(*f->scale));
    for (uint32_t i = 0; f->scale && i < f->info->ninsns; i++) {
        const struct mg_shapes *set = &f->seen->shared[i];
        const struct mg_tried *t = &f->seen->insns[i];
        double kept = 0;
        for (uint32_t k = 0; (set->level || f->seen->parted) && k < set->count; k++)
            kept += (double)set->at[k].taken * (double)set->at[k].times;
        f->scale[i] = kept > 0 ? (double)(t->wavefronts + t->const_passes) / kept : ldexp(1, (int)set->level);
    }
    return f->scale != NULL;
}

/* Whether an instruction is of a header that comes with the toolkit, wherever it was inlined. */
static bool of_library(const struct mg_facts *f, uint32_t insn)
{
    const struct mg_ptx_place place = mg__ptx_place(f->info->module, f->info->insns[insn].insn->loc);
    return mg__file_is_system(place.header[0] ? place.header : place.file);
}

/* Wavefronts above the ideal of a source line's accesses to a variable; of a loop that was unrolled they are many. */
struct of_line {
    uint32_t var, line, insn; /* its worst one */
    const char *file;
    double sum, most;
};
typedef MG_VEC(struct of_line) of_lines;

static double add_to_line(const struct mg_facts *f, of_lines *lines, uint32_t var, uint32_t insn, double excess,
                          uint32_t *worst)
{
    struct of_line new = {.var = var, .insn = insn};
    mg__site_place(f->info, insn, &new.file, &new.line);
    size_t k = 0;
    while (k < lines->count &&
           (lines->at[k].var != var || lines->at[k].line != new.line || strcmp(lines->at[k].file, new.file) != 0))
        k++;
    *worst = insn;
    if (k == lines->count && !mg__vec_push(lines, new))
        return excess;
    struct of_line *l = &lines->at[k];
    l->sum += excess;
    if (excess > l->most) {
        l->most = excess;
        l->insn = insn;
    }
    *worst = l->insn;
    return l->sum;
}

static bool gather_vars(struct mg_facts *f)
{
    uint32_t n = f->info->nshared_vars;
    f->vars = mg__arena_array(&f->arena, (size_t)n + 1, sizeof(*f->vars));
    of_lines lines = {0};
    struct sums { /* in fractions where a sample stands for all */
        double wavefronts, ideal, loads, stores, atomics, worst;
    } *sums = mg__arena_array(&f->arena, (size_t)n + 1, sizeof(*sums));
    if (!f->vars || !sums)
        return false;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_shapes *set = &f->seen->shared[i];
        double scale = f->scale[i], ideal = 0;
        const bool library = set->count && of_library(f, i);
        for (uint32_t k = 0; f->seen->parted && k < set->count; k++)
            ideal += (double)set->at[k].ideal * (double)set->at[k].times;
        const double ideal_scale = ideal > 0 ? (double)f->seen->insns[i].wavefronts_ideal / ideal : scale;
        for (uint32_t k = 0; k < set->count; k++) {
            const struct mg_advise_shape *s = &set->at[k];
            if (s->var < 0 || (uint32_t)s->var >= n)
                continue;
            struct sums *v = &sums[s->var];
            double times = (double)s->times * scale, excess = s->taken > s->ideal ? (s->taken - s->ideal) * times : 0;
            v->wavefronts += s->taken * times;
            v->ideal += s->ideal * (double)s->times * ideal_scale;
            *(s->kind == MG_ACCESS_LD                                    ? &v->loads
              : s->kind == MG_ACCESS_ST || s->kind == MG_ACCESS_CP_ASYNC ? &v->stores
                                                                         : &v->atomics) += times;
            uint32_t worst = i;
            const double of_line = excess > 0 ? add_to_line(f, &lines, (uint32_t)s->var, i, excess, &worst) : 0;
            if (of_line > v->worst || !f->vars[s->var].used) {
                v->worst = of_line;
                f->vars[s->var].worst = worst;
            }
            f->vars[s->var].library = library && (s->kind == MG_ACCESS_LD || s->kind == MG_ACCESS_ST) &&
                                      (f->vars[s->var].library || !f->vars[s->var].used);
            f->vars[s->var].used = true;
        }
    }
    mg__vec_free(&lines);
    for (uint32_t i = 0; i < n; i++) {
        f->vars[i].wavefronts = mg__facts_round(sums[i].wavefronts);
        f->vars[i].ideal = mg__facts_round(sums[i].ideal);
        f->vars[i].loads = mg__facts_round(sums[i].loads);
        f->vars[i].stores = mg__facts_round(sums[i].stores);
        f->vars[i].atomics = mg__facts_round(sums[i].atomics);
    }
    for (unsigned s = 0; s < f->seen->nsampled; s++) {
        const struct mg_advise_block *b = f->seen->blocks[s];
        for (uint32_t i = 0; b && i < n; i++) {
            const struct mg_shared_var *var = &f->info->shared_vars[i];
            for (uint64_t w = var->offset / 4; w < ((uint64_t)var->offset + var->size + 3) / 4 && w < b->nwords; w++) {
                const struct mg_word *word = &b->words[w];
                f->vars[i].words += word->writes > 0;
                f->vars[i].writes += word->writes;
                f->vars[i].reads += word->reads;
                f->vars[i].by_other_thread += word->by_other_thread;
                f->vars[i].by_other_warp += word->by_other_warp;
            }
        }
    }
    return true;
}

/* ---- of groups; and the launch's time ---- */
double mg__facts_distinct(const struct mg_use *use, uint64_t bytes)
{
    return use->uses > 0 ? (double)bytes * (use->bytes / use->uses) : (double)bytes;
}

double mg__facts_once(const struct mg_advise_group *g)
{
    double once = g->use.uses > 0 ? (double)g->bytes * (g->use.sectors / g->use.uses) : (double)g->moved;
    return MG_MIN(once, (double)g->moved);
}

static void take_time(struct mg_facts *f)
{
    const struct mg_time_result *r = mg__time_result(f->seen->time);
    f->known = r->known;
    f->seconds = r->known ? mg__time_of_kernel(r) : 0;
    f->dram = r->dram_read + r->dram_write;
    for (unsigned k = 0; k < MG_TIME_PARTS; k++)
        f->part[k] = r->known ? r->part[k] : 0;
}

static void occupy(struct mg_facts *f)
{
    f->query = mg_arch_query(f->threads, f->seen->regs, f->info->shared_static, f->info->shared_dynamic);
    f->query.shared_optin = f->info->shared_dynamic;
    f->has_occupancy = mg_arch_occupancy(f->arch, &f->query, &f->occupancy) == MG_OK && f->occupancy.blocks > 0;
}

bool mg__facts_gather(struct mg_facts *f, const struct mg_seen *seen)
{
    memset(f, 0, sizeof(*f));
    mg__arena_init(&f->arena);
    f->seen = seen;
    f->info = seen->info;
    f->arch = seen->arch;
    f->threads = seen->info->block.x * seen->info->block.y * seen->info->block.z;
    f->warps = (f->threads + 31) / 32;
    if (!f->arch || !f->arch->board)
        return false;
    count_instructions(f);
    if (!gather_sites(f) || !find_scales(f) || !gather_vars(f) || !mg__facts_tiles(f))
        return false;
    take_time(f);
    occupy(f);
    return true;
}

void mg__facts_free(struct mg_facts *f)
{
    for (size_t i = 0; i < f->items.count; i++) {
        free(f->items.at[i].values);
        free(f->items.at[i].predicted);
    }
    mg__vec_free(&f->items);
    mg__arena_free(&f->arena);
}

const struct mg_advise_group *mg__facts_most_read(const struct mg_facts *f)
{
    const struct mg_advise_group *best = NULL;
    for (uint32_t g = 0; g < f->ngroups; g++) {
        const struct mg_advise_group *group = &f->groups[g];
        if (group->direction == MG_DIR_LOAD && group->use.bytes > 0 && group->use.threads >= 1.5 * group->use.bytes &&
            (!best || group->use.uses * best->use.bytes > best->use.uses * group->use.bytes))
            best = group;
    }
    return best;
}

double mg__facts_uses(const struct mg_advise_group *g)
{
    return g ? g->use.uses / g->use.bytes : 0;
}

/* ---- names ---- */
const char *mg__facts_array(struct mg_facts *f, const struct mg_advise_site *site)
{
    if (site->global) {
        char *name = mg__report_demangle(site->global->name);
        const char *copy = name ? mg__arena_strdup(&f->arena, name) : NULL;
        free(name);
        return copy ? copy : "";
    }
    return site->param >= 0 ? mg__advise_text(f, "parameter %d", site->param + 1) : "";
}

const char *mg__facts_variable(struct mg_facts *f, uint32_t var)
{
    const char *name = f->info->shared_vars[var].name;
    if (!name || name[0] == '(')
        return "dynamic shared memory";
    char *own = mg__report_variable_name(name);
    const char *copy = own ? mg__arena_strdup(&f->arena, own) : NULL;
    free(own);
    return copy ? copy : name;
}

const char *mg__facts_pattern(struct mg_facts *f, const struct mg_site_fact *s)
{
    switch (s->pattern) {
    case MG_PATTERN_NONE:
        return s->sum.requests ? "one lane" : "not executed";
    case MG_PATTERN_UNIFORM:
        return "one address";
    case MG_PATTERN_UNIT:
        return s->sum.touched == s->sum.ideal ? "contiguous"
               : s->aligned <= 0.95           ? "contiguous, not aligned"
                                              : "contiguous, with idle lanes between";
    case MG_PATTERN_STRIDED:
        return mg__advise_text(f, "stride of %lld bytes", (long long)s->stride);
    case MG_PATTERN_FEW:
        return "a few addresses a warp";
    case MG_PATTERN_RUNS:
        return "contiguous in pieces";
    default:
        return "scattered";
    }
}
