/* program_text.c - a random program as PTX: its statements, and around them what it names, declared and given values,
 * and written to memory at the end.
 */
#include "program.h"

/* Where lanes for which the IF's condition holds begin, and others do not come. */
static void put_conditions(const struct stmt *s, const char *other, struct mg_strbuf *t)
{
    if (s->second && s->either)
        mg__strbuf_printf(t, "%s\n@%%pc bra THEN%u;\n%s\n@!%%pc bra %s%u;\nTHEN%u:\n", s->head, s->id, s->second, other,
                          s->id, s->id);
    else if (s->second)
        mg__strbuf_printf(t, "%s\n@!%%pc bra %s%u;\n%s\n@!%%pc bra %s%u;\n", s->head, other, s->id, s->second, other,
                          s->id);
    else
        mg__strbuf_printf(t, "%s\n@!%%pc bra %s%u;\n", s->head, other, s->id);
}

/* `level`: depth left, as make_list had it; `around`: the loop that it is in, or NULL. */
static void put(const struct stmt *s, unsigned level, const struct stmt *around, struct mg_strbuf *t)
{
    if (s->off)
        return;
    if (s->kind == STMT_BREAK || s->kind == STMT_CONTINUE) {
        if (around)
            mg__strbuf_printf(t, "%s\n@%%pc bra %s%u;\n", s->head, s->kind == STMT_BREAK ? "END" : "NEXT", around->id);
        return;
    }
    if (s->kind == STMT_LINE) {
        mg__strbuf_printf(t, "%s\n", s->head);
        return;
    }
    bool branch = s->kind == STMT_IF && !s->bare, loop = s->kind == STMT_LOOP && !s->bare,
         other = branch && s->list[1].count;
    if (branch)
        put_conditions(s, other ? "ELSE" : "END", t);
    if (s->kind == STMT_LOOP)
        around = s->bare ? NULL : s;
    if (loop)
        mg__strbuf_printf(t, "%s\nLOOP%u:\n", s->head, s->id);
    if (loop && s->test_first)
        mg__strbuf_printf(t, "setp.ge.u32 %%pc, %%c%u, %%l%u;\n@%%pc bra END%u;\n", level, level, s->id);
    for (size_t i = 0; i < s->list[0].count; i++)
        put(s->list[0].at[i], level - 1, around, t);
    if (other) {
        mg__strbuf_printf(t, "bra END%u;\nELSE%u:\n", s->id, s->id);
        for (size_t i = 0; i < s->list[1].count; i++)
            put(s->list[1].at[i], level - 1, around, t);
    }
    if (loop) {
        mg__strbuf_printf(t, "NEXT%u:\nadd.u32 %%c%u, %%c%u, 1;\n", s->id, level, level);
        if (s->test_first)
            mg__strbuf_printf(t, "bra LOOP%u;\n", s->id);
        else
            mg__strbuf_printf(t, "setp.lt.u32 %%pc, %%c%u, %%l%u;\n@%%pc bra LOOP%u;\n", level, level, s->id);
    }
    if (branch || loop)
        mg__strbuf_printf(t, "END%u:\n", s->id);
}

/* ---- what a program begins and ends with: only what it names, for most of the time goes into compiling ---- */
struct names {
    uint32_t r, d, f, q, h, p; /* a bit each */
    uint32_t g, c;             /* flags of late values, counters of loops */
    bool tile, counts, flags, mine, konst, helper;
};

static void read_names(const char *at, struct names *n)
{
    *n = (struct names){.tile = strstr(at, "tile") || strstr(at, "%so"),
                        .counts = strstr(at, "counts"),
                        .flags = strstr(at, "flags"),
                        .mine = strstr(at, "%lo"),
                        .konst = strstr(at, "konst"),
                        .helper = strstr(at, "helper")};
    for (; (at = strchr(at, '%')) != NULL; at++) {
        uint32_t *set = at[1] == 'r'   ? &n->r
                        : at[1] == 'd' ? &n->d
                        : at[1] == 'f' ? &n->f
                        : at[1] == 'q' ? &n->q
                        : at[1] == 'h' ? &n->h
                        : at[1] == 'p' ? &n->p
                        : at[1] == 'g' ? &n->g
                        : at[1] == 'c' ? &n->c
                                       : NULL;
        if (set && at[2] >= '0' && at[2] <= '9')
            *set |= 1u << strtoul(at + 2, NULL, 10) % 32;
    }
}

static void declare(const struct names *n, struct mg_strbuf *t)
{
    mg__strbuf_printf(t, ".version 8.3\n.target sm_90\n.address_size 64\n");
    if (n->konst)
        mg__strbuf_printf(t, ".const .align 8 .u32 konst[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};\n");
    if (n->tile)
        mg__strbuf_printf(t, ".shared .align 16 .b8 tile[%u];\n", TILE_BYTES);
    if (n->counts)
        mg__strbuf_printf(t, ".shared .align 16 .b8 counts[128];\n");
    if (n->flags)
        mg__strbuf_printf(t, ".shared .align 16 .b8 flags[%u];\n", MOST_WAITS * 32);
    if (n->helper)
        mg__strbuf_printf(t, ".func (.param .b32 b) helper(.param .b32 a)\n{\n.reg .b32 %%x<4>; .reg .pred "
                             "%%q;\nld.param.b32 %%x0, [a]; setp.lt.s32 %%q, %%x0, 0; @%%q neg.s32 %%x0, %%x0;\n"
                             "@%%q bra N; mad.lo.u32 %%x0, %%x0, 5, 1;\nN: st.param.b32 [b], %%x0; ret;\n}\n");
    mg__strbuf_printf(t,
                      ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{\n"
                      ".reg .pred %%p<8>; .reg .pred %%pc; .reg .b16 %%h<4>; .reg .f32 %%f<8>; .reg .f64 %%q<4>; .reg "
                      ".b32 %%r<16>; .reg .b64 %%d<8>;\n"
                      ".reg .b32 %%y<4>; .reg .b64 %%x<4>; .reg .b128 %%w<2>; .reg .b32 %%c<5>; .reg .b32 %%l<5>; .reg "
                      ".b64 %%in, %%out, %%own, %%flat, %%sums;\n"
                      ".reg .b32 %%tx, %%ty, %%lane, %%gid, %%so, %%u, %%lo, %%all, %%tiles;\n"
                      ".reg .b32 %%k<6>, %%v<6>, %%j<6>, %%g<6>; .reg .b64 %%e<6>, %%z<6>;%s\n"
                      ".reg .b32 %%m<4>, %%n<4>; .reg .pred %%o<4>;\n",
                      n->mine ? " .local .align 16 .b8 mine[64];" : "");
}

/* Addresses, the thread's number, and shared and local memory that begin with something everywhere. */
static void begin(const struct names *n, struct mg_strbuf *t)
{
    mg__strbuf_printf(
        t,
        "ld.param.u64 %%in, [p0]; ld.param.u64 %%out, [p1]; ld.param.u64 %%sums, [p2]; ld.param.u32 %%u, [p3];\n"
        "mov.u32 %%tx, %%tid.x; mov.u32 %%ty, %%tid.y; mov.u32 %%lane, %%laneid;%s\n"
        "mov.u32 %%y0, %%ntid.x; mad.lo.u32 %%y1, %%ty, %%y0, %%tx; mov.u32 %%y2, %%ntid.y; mul.lo.u32 %%y0, %%y0, "
        "%%y2; mov.u32 %%y3, %%tid.z;\n"
        "mad.lo.u32 %%y1, %%y3, %%y0, %%y1; mov.u32 %%y3, %%ntid.z; mul.lo.u32 %%y0, %%y0, %%y3; shl.b32 %%all, %%y0, "
        "4;\n"
        "mov.u32 %%y3, %%ctaid.x; mad.lo.u32 %%gid, %%y3, %%y0, %%y1; mad.wide.u32 %%own, %%gid, 256, %%out; add.u64 "
        "%%flat, %%out, %u;\n",
        n->mine ? " mov.u32 %lo, mine;" : "", OUT_BYTES / 2);
    if (n->tile)
        mg__strbuf_printf(t,
                          "mov.u32 %%tiles, tile; mov.u32 %%so, tile; mad.lo.u32 %%so, %%y1, 16, %%so; mov.u32 %%y2, "
                          "0; mul.lo.u32 %%y1, "
                          "%%y1, 16; mul.lo.u32 %%y0, %%y0, 16;\n"
                          "ZERO: mov.u32 %%y3, tile; add.u32 %%y3, %%y3, %%y1; st.shared.v4.u32 [%%y3], {%%y1, %%y2, "
                          "%%y2, %%y1}; add.u32 %%y1, %%y1, %%y0;\n"
                          "setp.lt.u32 %%pc, %%y1, %u; @%%pc bra ZERO;\n",
                          TILE_BYTES);
    for (unsigned i = 0; n->mine && i < 4; i++)
        mg__strbuf_printf(t, "st.local.v4.u32 [mine+%u], {0, 0, 0, 0};\n", 16 * i);
    for (unsigned i = 0; n->counts && i < 8; i++)
        mg__strbuf_printf(t, "st.shared.v4.u32 [counts+%u], {0, 0, 0, 0};\n", 16 * i);
    for (unsigned i = 0; n->flags && i < MOST_WAITS * 2; i++)
        mg__strbuf_printf(t, "st.shared.v4.u32 [flags+%u], {0, 0, 0, 0};\n", 16 * i);
    if (n->tile || n->counts || n->flags)
        mg__strbuf_printf(t, "bar.sync 0;\n");
    for (unsigned i = 0; i < MOST_LATES; i++)
        if (n->g >> i & 1)
            mg__strbuf_printf(t, "mov.u32 %%g%u, 0;\n", i);
    for (unsigned i = 0; i < 5; i++) /* for loops of which only the body is left */
        if (n->c >> i & 1)
            mg__strbuf_printf(t, "mov.u32 %%c%u, 0;\n", i);
}

static void set_registers(const struct names *n, struct mg_strbuf *t)
{
    uint32_t from = n->r; /* and those that others are made of */
    for (unsigned i = 0; i < 8; i++) {
        if (n->d >> i & 1)
            from |= 0x101u << i;
        if (n->p >> i & 1)
            from |= 0x21u << i;
        if ((n->f | n->q | n->h) >> i & 1)
            from |= 1u << i;
    }
    for (unsigned i = 0; i < 16; i++)
        if (from >> i & 1)
            mg__strbuf_printf(t,
                              i % 4 == 0   ? "ld.global.u32 %%r%u, [%%in+%u];\n"
                              : i % 4 == 1 ? "mad.lo.u32 %%r%u, %%gid, %u, 5;\n"
                              : i % 4 == 2 ? "mad.lo.u32 %%r%u, %%lane, %u, %%u;\n"
                                           : "mad.lo.u32 %%r%u, %%gid, -17%u, 77;\n",
                              i, 4 * i);
    if (from & 8)
        mg__strbuf_printf(t, "mul.lo.u32 %%r3, %%r3, 1664525;\n");
    for (unsigned i = 0; i < 8; i++) {
        if (n->d >> i & 1)
            mg__strbuf_printf(t, "mul.wide.s32 %%d%u, %%r%u, %%r%u;\n", i, i, i + 8);
        if (n->p >> i & 1)
            mg__strbuf_printf(t, "setp.%s.s32 %%p%u, %%r%u, %%r%u;\n", i % 2 ? "lt" : "ge", i, i, i + 5);
        if (n->f >> i & 1)
            mg__strbuf_printf(t, i % 2 ? "cvt.rn.f32.s32 %%f%u, %%r%u;\n" : "mov.b32 %%f%u, %%r%u;\n", i, i);
        if (i < 4 && n->q >> i & 1)
            mg__strbuf_printf(t, "cvt.rn.f64.s32 %%q%u, %%r%u;\n", i, i);
        if (i < 4 && n->h >> i & 1)
            mg__strbuf_printf(t, "cvt.u16.u32 %%h%u, %%r%u;\n", i, i);
    }
    if (from & 2)
        mg__strbuf_printf(t, "mad.wide.u32 %%x0, %%gid, 4, %%in; ld.global.u32 %%r1, [%%x0];\n");
}

static void end(const struct names *n, struct mg_strbuf *t)
{
    if (n->tile || n->counts)
        mg__strbuf_printf(t, "bar.sync 0;\n"); /* what others may still read of shared memory */
    for (unsigned i = 0; i < 16; i++)
        if (n->r >> i & 1)
            mg__strbuf_printf(t, "st.global.u32 [%%own+%u], %%r%u;\n", 64 + 4 * i, i);
    for (unsigned i = 0; i < 8; i++) {
        if (n->d >> i & 1)
            mg__strbuf_printf(t, "st.global.u64 [%%own+%u], %%d%u;\n", 128 + 8 * i, i);
        if (n->f >> i & 1)
            mg__strbuf_printf(t, "st.global.f32 [%%own+%u], %%f%u;\n", 192 + 4 * i, i);
    }
    if (n->p)
        mg__strbuf_printf(t, "mov.u32 %%y0, 0;\n");
    for (unsigned i = 0; i < 8; i++)
        if (n->p >> i & 1)
            mg__strbuf_printf(t, "selp.u32 %%y1, %u, 0, %%p%u; or.b32 %%y0, %%y0, %%y1;\n", 1u << i, i);
    if (n->p)
        mg__strbuf_printf(t, "st.global.u32 [%%own+224], %%y0;\n");
    for (unsigned i = 0; i < 4; i++) {
        if (n->h >> i & 1)
            mg__strbuf_printf(t, "st.global.u16 [%%own+%u], %%h%u;\n", 228 + 2 * i, i);
        if (n->q >> i & 1)
            mg__strbuf_printf(t, "st.global.f64 [%%own+%u], %%q%u;\n", i < 2 ? 240 + 8 * i : 56, i);
    }
    if (n->counts)
        mg__strbuf_printf(t, "ld.shared.u32 %%y0, [counts+4]; st.global.u32 [%%own+236], %%y0;\n");
    mg__strbuf_printf(t, "ret;\n}\n");
}

bool program_text(const struct program *p, struct mg_strbuf *t)
{
    struct mg_strbuf body = {0};
    struct names n;
    put(&(struct stmt){.kind = STMT_IF,
                       .bare = true,
                       .list = {{p->root->list[0].at, p->root->list[0].count, p->root->list[0].capacity}}},
        p->depth + 1, NULL, &body);
    bool good = mg__strbuf_printf(&body, "\n");
    read_names(body.at ? body.at : "", &n);
    declare(&n, t);
    begin(&n, t);
    set_registers(&n, t);
    good = good && mg__strbuf_append(t, body.at, body.count);
    end(&n, t);
    mg__strbuf_free(&body);
    return good && t->at[t->count - 2] == '}';
}
