/* Machine code, whatever the bytes say, beside PTX that was executed as often as the bytes say: the model of time must
 * come to an end with a number, of the launch and of changes to it.
 *
 * The first bytes are counts and changes. Then five bytes an instruction: which of native.def, or none; the predicate
 * and the scoreboards; the PTX line; how far a branch goes; how long it stalls.
 */
#include <math.h>

#include "arch/arch.h"
#include "ptx/ptx.h"
#include "time/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
                           ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .f32 %f<6>; .reg .b64 %d<6>;\n"
                           ".shared .align 4 .b8 tile[4096];\n"
                           "ld.param.u64 %d1, [p];\n"
                           "ld.param.u32 %r1, [n];\n"
                           "mov.u32 %r2, %tid.x;\n"
                           "mul.wide.u32 %d2, %r2, 4;\n"
                           "add.s64 %d3, %d1, %d2;\n"
                           "mov.u32 %r3, tile;\n"
                           "shl.b32 %r4, %r2, 2;\n"
                           "add.s32 %r5, %r3, %r4;\n"
                           "mov.u32 %r6, 0;\n"
                           "LOOP:\n"
                           "ld.global.f32 %f1, [%d3];\n"
                           "fma.rn.f32 %f2, %f1, %f1, %f2;\n"
                           "st.shared.f32 [%r5], %f2;\n"
                           "TAKE: atom.global.cas.b32 %r8, [%d1], 0, 1;\n"
                           "setp.ne.s32 %p3, %r8, 0;\n"
                           "@%p3 bra TAKE;\n"
                           "bar.sync 0;\n" /* who has the lock waits here for those that want it */
                           "atom.global.exch.b32 %r9, [%d1], 0;\n"
                           "setp.gt.u32 %p2, %r2, 7;\n"
                           "@%p2 bra SKIP;\n"
                           "ld.shared.f32 %f3, [%r5];\n"
                           "add.f32 %f2, %f2, %f3;\n"
                           "shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1;\n"
                           "SKIP:\n"
                           "add.s32 %r6, %r6, 1;\n"
                           "setp.lt.u32 %p1, %r6, %r1;\n"
                           "@%p1 bra LOOP;\n"
                           "red.global.add.f32 [%d1], %f2;\n"
                           "cp.async.ca.shared.global [%r5], [%d3], 4;\n"
                           "cp.async.commit_group;\n"
                           "cp.async.wait_group 0;\n"
                           "st.global.f32 [%d3], %f2;\n"
                           "ret;\n}\n";
static const uint16_t codes[] = {
#define NATIVE(code, kind, pipe, interval, latency) code,
#include "time/native.def"
    0x1ff};
enum { HEAD = 64, EACH = 5, MOST = 4096 };

struct bytes {
    const uint8_t *at;
    size_t left;
};

static unsigned next(struct bytes *b)
{
    if (!b->left)
        return 0;
    b->left--;
    return *b->at++;
}

/* By line. A mark of the word: the guard is "always", the branch one as PTX has them. */
static uint32_t make_code(struct bytes *b, uint64_t (*words)[2], uint32_t *lines)
{
    uint32_t n = 0;
    for (; n < MOST && b->left >= EACH; n++) {
        unsigned code = codes[next(b) % MG_COUNT(codes)], how = next(b);
        lines[n] = next(b) % 48;
        int64_t units = 4 * (int64_t)(int8_t)next(b), offset = units >> 8;
        unsigned stall = next(b);
        uint64_t far = (uint64_t)offset & ((UINT64_C(1) << 48) - 1);
        words[n][0] = code | (uint64_t)(how & 1 ? 7 : 2) << 12 | (uint64_t)(units & 255) << 16 | far << 34;
        words[n][1] = far >> 30 | (uint64_t)(how & 2 ? 7 : 1) << 23 | (uint64_t)(stall & 15) << 41 |
                      (uint64_t)(how >> 2 & 7) << 46 | (uint64_t)(how >> 5 & 7) << 49 | (uint64_t)(stall >> 2) << 52;
    }
    return n;
}

static void tell_accesses(const struct mg_observer *o, void *worker, const struct mg_launch_info *info, struct bytes *b)
{
    uint64_t address[32];
    for (uint32_t i = 0; i < info->ninsns; i++) {
        const struct mg_ptx_insn *insn = info->insns[i].insn;
        struct mg_access a = {.insn = i, .width = 4, .element = 4, .times = 1, .shared_var = -1, .address = address};
        if (!mg__ptx_accesses(insn))
            continue;
        a.space = insn->space == MG_SPACE_SHARED ? MG_SPACE_SHARED : MG_SPACE_GLOBAL;
        a.kind = insn->access == MG_ACCESSES_LOAD    ? MG_ACCESS_LD
                 : insn->access == MG_ACCESSES_STORE ? MG_ACCESS_ST
                 : insn->access == MG_ACCESSES_COPY  ? MG_ACCESS_CP_ASYNC
                                                     : MG_ACCESS_RED;
        unsigned stride = next(b);
        a.mask = stride & 1 ? UINT32_MAX : 0x11u;
        for (unsigned k = 0; k < 32; k++)
            address[k] = (a.space == MG_SPACE_SHARED ? 0 : 1 << 20) + (uint64_t)4 * (k * stride % 1024);
        for (a.block = 0; a.block < 3; a.block++)
            o->access(worker, &a);
    }
}

static float factor(struct bytes *b)
{
    unsigned byte = next(b);
    return byte == 255 ? 1e30f : byte == 254 ? 1e-30f : (float)byte / 16;
}

static void ask(struct mg_time *time, uint32_t ninsns, struct bytes *b)
{
    struct mg_time_edit *edits = calloc(ninsns, sizeof(*edits));
    struct mg_time_addition added[4];
    double seconds = 0;
    for (uint32_t i = 0; edits && i < ninsns; i++)
        edits[i] = (struct mg_time_edit){.times = 1, .wavefronts = 1, .sectors = 1, .past = 1, .dram = 1};
    for (unsigned k = 0; edits && k < 4; k++) {
        struct mg_time_edit *e = &edits[next(b) % ninsns];
        unsigned how = next(b);
        *(how & 1 ? &e->times : how & 2 ? &e->sectors : how & 4 ? &e->wavefronts : &e->past) = factor(b);
        e->chain = (uint8_t)(how >> 3 & 3);
        e->ahead = how & 32;
        e->to = how & 64 ? MG_SPACE_SHARED : how & 128 ? MG_SPACE_GLOBAL : 0;
        e->to_cost = e->to ? factor(b) : 0;
        added[k] = (struct mg_time_addition){.before = next(b) % ninsns,
                                             .what = (uint8_t)(next(b) % (MG_TIME_NEW_ATOMIC + 1)),
                                             .times = factor(b),
                                             .cost = factor(b),
                                             .dram = factor(b)};
    }
    struct mg_time_change change = {.edits = edits, .added = added, .nadded = next(b) % 5, .warps = next(b) % 4};
    if (edits && mg__time_changed(time, &change, &seconds) && !(seconds >= 0 && isfinite(seconds)))
        __builtin_trap();
    free(edits);
}

static void run(struct mg_time *time, const struct mg_launch_info *info, struct bytes *b)
{
    const struct mg_observer o = mg__time_observer(time);
    struct mg_insn_counts *counts = calloc(info->ninsns, sizeof(*counts));
    void *state;
    if (!counts || o.launch_begin(o.self, info, 1, &state))
        __builtin_trap();
    void *worker = o.worker_begin(state, 0);
    for (uint32_t i = 0; i < info->ninsns; i++) {
        unsigned byte = next(b);
        counts[i].warps = (uint64_t)(byte & 15) << (byte == 255 ? 50 : byte >> 6);
        counts[i].threads = 32 * counts[i].warps;
        counts[i].divergent = byte & 1 ? counts[i].warps / 2 : 0;
    }
    tell_accesses(&o, worker, info, b);
    o.counts(worker, counts, info->ninsns);
    o.worker_end(state, worker);
    o.launch_end(state, MG_OK);
    free(counts);
    const struct mg_time_result *r = mg__time_result(time);
    if (r->known && !(r->seconds > 0 && isfinite(r->seconds) && r->least <= r->seconds && r->most >= r->seconds))
        __builtin_trap();
    ask(time, info->ninsns, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct mg_ptx_module *ptx; /* the same each time */
    static uint64_t words[MOST][2];
    static uint32_t lines[MOST];
    struct mg_diag diag;
    if (!ptx && mg__ptx_parse(text, sizeof(text) - 1, &ptx, &diag))
        __builtin_trap();
    const struct mg_ptx_func *f = mg__ptx_find_func(ptx, "k");
    struct mg_insn_info *insns = calloc(f->ninsns, sizeof(*insns));
    struct mg_time *time = mg__time_create(mg_arch_find(90));
    if (!insns || !time)
        __builtin_trap();
    for (size_t i = 0; i < f->ninsns; i++)
        insns[i] = (struct mg_insn_info){f, &f->insns[i], "", 0};
    struct bytes b = {data, size};
    struct mg_launch_info info = {.kernel = "k",
                                  .grid = {1 + next(&b) % 200, 1, 1},
                                  .block = {32 * (1 + next(&b) % 4), 1, 1},
                                  .module = ptx,
                                  .insns = insns,
                                  .ninsns = (uint32_t)f->ninsns,
                                  .device_cc = 90,
                                  .func = f,
                                  .shared_static = 4096};
    struct bytes head = {b.at, b.left < HEAD + 64 ? b.left : HEAD + 64};
    b.at += head.left;
    b.left -= head.left;
    const struct mg_time_native native = {words, lines, make_code(&b, words, lines)};
    mg__time_regs(time, 32);
    if (native.n)
        mg__time_native(time, &native);
    mg__time_keep(time);
    run(time, &info, &head);
    mg__time_destroy(time);
    free(insns);
    return 0;
}
