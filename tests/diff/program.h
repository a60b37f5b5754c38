/* program.h - random PTX programs as trees of statements, so that parts can be taken away again. */
#ifndef MG_TESTS_DIFF_PROGRAM_H
#define MG_TESTS_DIFF_PROGRAM_H
#include "base/base.h"

#define IN_BYTES (1u << 16)
#define OUT_BYTES (1u << 19)   /* a half of it 1024 threads of 256 bytes, the other half words in their order */
#define SUMS_BYTES 4096u
#define TILE_BYTES 4608u       /* of shared memory: 256 threads of 16 bytes, and what may be read behind them */

enum { MOST_LATES = 6, MOST_WAITS = 3 }; /* of a program: values that are set late, and waits */

enum stmt_kind { STMT_LINE, STMT_IF, STMT_LOOP, STMT_BREAK, STMT_CONTINUE };
struct stmt {
    uint8_t kind;
    bool off;    /* taken away, with all that is in it */
    bool bare;   /* IF: only its first list is left, LOOP: only its body, once */
    bool test_first;
    bool stays;  /* what stands behind it in its list needs it: it goes with the list alone */
    unsigned id; /* of its labels */
    char *head;  /* LINE: the instructions; IF, BREAK, CONTINUE: what sets %pc; LOOP: what sets its counter and limit */
    char *second; /* IF: another condition, looked at where the first is false, if `either`, or else true; NULL: none */
    bool either;
    MG_VEC(struct stmt *) list[2];
};
struct program {
    struct mg_arena arena;
    struct stmt *root; /* an IF of which only the first list counts */
    struct mg_dim3 grid, block;
    unsigned depth; /* of its branches and loops */
    uint64_t seed;
};
/* `plain`: of instructions that plain.c knows, apart from what it finds out later. */
void program_make(struct program *p, uint64_t seed, bool plain);
void program_free(struct program *p);
bool program_text(const struct program *p, struct mg_strbuf *out);
/* All statements, the outer ones first; NULL at the end. */
struct stmt *program_at(const struct program *p, size_t index);
#endif
