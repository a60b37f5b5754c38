/* jit.c - the engine that compiles: looks a kernel up among kept code, else has it generated, and keeps it.
 *
 * The code generator, with LLVM, is a library of its own, loaded when a kernel is first compiled: a run that finds all
 * its kernels kept never pays for it. Kept code is found by a hash of the description that the code was made of
 * (simt/engine.h), of the processor, and of this build.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <time.h>

#include "jit/jit.h"
#include "jit/jit_priv.h"

struct jit {
    struct mg_engine engine;
    struct mg_jit_options options;
    pthread_mutex_t lock; /* of what follows */
    mg_jit_generate *generate;
    bool looked;
    struct mg_jit_stats stats;
    struct mg_strbuf *dump;
};

static const char *sentence(const char *name)
{
    static const struct {
        const char *name, *text;
    } all[] = {
#define MG_REASON(name, text) {#name, text},
#include "jit/reason.def"
#undef MG_REASON
    };
    for (unsigned k = 0; k < MG_COUNT(all); k++)
        if (strcmp(all[k].name, name) == 0)
            return all[k].text;
    return name;
}

static double seconds(void)
{
    return (double)mg__time_ns() * 1e-9;
}

/* ---- keys ---- */
static uint64_t mix(uint64_t h, const void *data, size_t size)
{
    const uint8_t *p = data;
    for (; size >= 8; p += 8, size -= 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        h = (h ^ v) * 0x9fb21c651e98df25u;
        h ^= h >> 29;
    }
    for (; size; p++, size--)
        h = (h ^ *p) * 0x100000001b3u;
    return h ^ h >> 32;
}

static uint64_t mix_number(uint64_t h, uint64_t v)
{
    return mix(h, &v, sizeof v);
}

static uint64_t mix_op(uint64_t h, const struct mg_engine_op *op)
{
    const int64_t fields[] = {op->kind,  op->effects, op->known,  op->dim,    op->row,           op->mode,
                              op->guard, op->invert,  op->insn,   op->target, op->meet,          op->ntargets,
                              op->falls, op->nin,     op->nout,   op->mem != NULL};
    h = mix(h, fields, sizeof fields);
    for (unsigned k = 0; k < op->nin; k++)
        h = mix_number(h, (uint64_t)(uint32_t)op->in[k].slot << 8 | op->in[k].bytes);
    for (unsigned k = 0; k < op->nout; k++)
        h = mix_number(h, (uint64_t)(uint32_t)op->out[k].slot << 8 | op->out[k].bytes);
    h = mix(h, op->targets, op->ntargets * sizeof *op->targets);
    if (op->mem) {
        const struct mg_engine_mem *m = op->mem;
        const int64_t more[] = {m->space, m->kind, m->width, m->vec, m->sext, m->offset};
        h = mix(h, more, sizeof more);
    }
    return h;
}

/* Of a device address only that it is one: it differs from process to process, and the code does not hold it. A slot of
 * the pool that starts a 64-bit constant is not told from a 32-bit one here, so words are hashed in pairs that matter:
 * a broadcast constant has equal neighbours at its own width. */
static uint64_t mix_pool(uint64_t h, const struct mg_engine_program *p)
{
    for (uint32_t i = 0; i < p->nops; i++) {
        const struct mg_engine_op *op = &p->ops[i];
        for (unsigned k = 0; k < op->nin; k++) {
            uint32_t slot = (uint32_t)op->in[k].slot;
            uint64_t v = 0;
            if (op->in[k].slot < 0 || slot < p->pool_at ||
                slot - p->pool_at + MG_MAX(op->in[k].bytes, 4u) > p->pool_bytes)
                continue;
            memcpy(&v, p->pool + (slot - p->pool_at), op->in[k].bytes == 8 ? 8 : 4);
            if (op->in[k].bytes == 8 && v >= (uint64_t)1 << 32 && v < (uint64_t)-1 << 32)
                v = (uint64_t)1 << 32;
            h = mix_number(mix_number(h, slot), v);
        }
    }
    return h;
}

void mg__jit_key(const struct mg_engine_program *p, enum mg_engine_effort effort, uint64_t key[2])
{
    for (unsigned side = 0; side < 2; side++) {
        uint64_t h = side ? 0x8ebc6af09c88c6e3u : 0x589965cc75374cc3u;
        const uint64_t numbers[] = {MG_JIT_VERSION,
                                    MG_ENGINE_VERSION,
                                    effort,
                                    p->nops,
                                    p->row,
                                    p->partial,
                                    p->ragged,
                                    p->function,
                                    p->pool_at,
                                    p->pool_bytes,
                                    p->frame_bytes,
                                    p->nfills,
                                    p->stride,
                                    sizeof(struct mg_engine_record),
                                    sizeof(struct mg_engine_warp)};
        h = mix(h, numbers, sizeof numbers);
        h = mix(h, MG_JIT_BUILD, strlen(MG_JIT_BUILD));
        h = mix_number(h, mg__jit_processor());
        for (uint32_t i = 0; i < p->nops; i++)
            h = mix_op(h, &p->ops[i]);
        for (uint32_t i = 0; i < p->nfills; i++) {
            const uint64_t fill[] = {(uint32_t)p->fills[i].slot, p->fills[i].kind, p->fills[i].bytes, p->fills[i].dim};
            h = mix(h, fill, sizeof fill);
        }
        key[side] = mix_pool(h, p);
    }
}

/* ---- the library with LLVM ---- */
static mg_jit_generate *open_generator(const char *path)
{
    void *library = path && path[0] == '/' ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = library ? dlsym(library, "mg_jit_generate_kernel") : NULL;
    const char *build = library ? dlsym(library, "mg_jit_generate_build") : NULL;
    mg_jit_generate *f = NULL;
    if (symbol && build && strcmp(build, MG_JIT_BUILD) == 0) /* not a library of another Margay that lies here */
        memcpy(&f, &symbol, sizeof f);
    return f;
}

/* Beside the library or the program that this code is part of, as built and as installed. */
static mg_jit_generate *find_generator(void)
{
    static const char *const folders[] = {"", "lib/", "../lib/", "../lib/margay/"};
    static const char here;
    char path[PATH_MAX], own[PATH_MAX];
    Dl_info info;
    mg_jit_generate *f = open_generator(getenv("MARGAY_JIT_LIBRARY"));
    if (!f && dladdr(&here, &info) && info.dli_fname && realpath(info.dli_fname, own) && strrchr(own, '/'))
        for (unsigned k = 0; k < MG_COUNT(folders) && !f; k++) {
            int n =
                snprintf(path, sizeof path, "%.*s/%slibmargay_jit.so", (int)(strrchr(own, '/') - own), own, folders[k]);
            f = n > 0 && (size_t)n < sizeof path ? open_generator(path) : NULL;
        }
    return f ? f : open_generator(MG_JIT_LIBRARY_INSTALLED);
}

static mg_jit_generate *generator_of(struct jit *j)
{
    pthread_mutex_lock(&j->lock);
    if (!j->looked)
        j->generate = find_generator();
    j->looked = true;
    mg_jit_generate *f = j->generate;
    pthread_mutex_unlock(&j->lock);
    return f;
}

static struct mg_engine_code *load_kept(struct jit *j, const struct mg_engine_program *p, const uint64_t key[2])
{
    char *bytes = NULL;
    size_t size = 0;
    double start = seconds();
    struct mg_engine_code *code =
        mg__jit_cache_get(j->options.cache, key, &bytes, &size) ? mg__jit_load(bytes, size) : NULL;
    free(bytes);
    if (!code)
        return NULL;
    const double took = seconds() - start;
    pthread_mutex_lock(&j->lock);
    j->stats.loaded++;
    j->stats.load_seconds += took;
    pthread_mutex_unlock(&j->lock);
    if (j->options.verbose)
        fprintf(stderr, "margay: %s: compiled before, loaded in %.1f ms\n", p->name, 1e3 * took);
    return code;
}

/* NULL: *name of reason.def says why. */
static struct mg_engine_code *generate(struct jit *j, const struct mg_engine_program *p, enum mg_engine_effort effort,
                                       const uint64_t key[2], bool keeps, const char **name)
{
    mg_jit_generate *f = generator_of(j);
    char *bytes = NULL;
    size_t size = 0;
    *name = "library";
    if (!f || !f(p, effort, key, &bytes, &size, name, j->dump))
        return NULL;
    struct mg_engine_code *code = mg__jit_load(bytes, size);
    *name = "load";
    if (code && keeps)
        mg__jit_cache_put(j->options.cache, key, bytes, size);
    free(bytes);
    return code;
}

static struct mg_engine_code *make(struct jit *j, const struct mg_engine_program *p, enum mg_engine_effort effort,
                                   const uint64_t key[2], bool keeps, const char **reason)
{
    const char *name = NULL;
    const double start = seconds();
    struct mg_engine_code *code = generate(j, p, effort, key, keeps, &name);
    const double took = seconds() - start;
    pthread_mutex_lock(&j->lock);
    if (code) {
        j->stats.compiled[effort]++;
        j->stats.compile_seconds[effort] += took;
    } else {
        j->stats.refused++;
        j->stats.faulty += strcmp(name, "verify") == 0 || strcmp(name, "load") == 0;
        *reason = sentence(name);
    }
    pthread_mutex_unlock(&j->lock);
    if (code && j->options.verbose)
        fprintf(stderr, "margay: %s: compiled %s in %.1f ms\n", p->name,
                effort == MG_ENGINE_QUICK ? "quickly" : "thoroughly", 1e3 * took);
    return code;
}

static struct mg_engine_code *compile(void *self, const struct mg_engine_program *p, enum mg_engine_effort effort,
                                      bool kept, const char **reason)
{
    struct jit *j = self;
    struct mg_engine_code *code = NULL;
    uint64_t key[2];
    mg__jit_key(p, effort, key);
    bool keeps = !j->options.cache || j->options.cache[0];
    if (keeps && !j->dump)
        code = load_kept(j, p, key);
    if (!code && !kept)
        code = make(j, p, effort, key, keeps, reason);
    return code;
}

/* LLVM is loaded and set up by the thread that runs the program: its own tables are taken down when the process ends,
 * and only what is registered behind them can wait for code that is being made (generate.c). */
static void prepare(void *self)
{
    mg_jit_generate *f = generator_of(self);
    const char *reason;
    if (f)
        f(NULL, MG_ENGINE_THOROUGH, NULL, NULL, NULL, &reason, NULL);
}

static void release(void *self, struct mg_engine_code *code)
{
    (void)self;
    mg__jit_unload(code);
}

static void say(void *self, const char *kernel, const char *text)
{
    struct jit *j = self;
    if (j->options.verbose)
        fprintf(stderr, "margay: %s runs interpreted: %s\n", kernel, text);
}

struct mg_engine *mg__jit_open(const struct mg_jit_options *options, const char **reason)
{
    struct jit *j = calloc(1, sizeof *j);
    if (!j) {
        *reason = sentence("memory");
        return NULL;
    }
    j->options = *options;
    pthread_mutex_init(&j->lock, NULL);
    j->engine = (struct mg_engine){.self = j,
                                   .patient = options->patient,
                                   .effort = options->quick ? MG_ENGINE_QUICK : MG_ENGINE_THOROUGH,
                                   .compile = compile,
                                   .prepare = prepare,
                                   .release = release,
                                   .say = say};
    return &j->engine;
}

void mg__jit_close(struct mg_engine *engine)
{
    if (!engine)
        return;
    struct jit *j = engine->self;
    pthread_mutex_destroy(&j->lock);
    free(j);
}

void mg__jit_stats(const struct mg_engine *engine, struct mg_jit_stats *stats)
{
    *stats = ((const struct jit *)engine->self)->stats;
}

void mg__jit_dump(struct mg_engine *engine, struct mg_strbuf *dump)
{
    ((struct jit *)engine->self)->dump = dump;
}
