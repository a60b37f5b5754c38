/* plain_priv.h - what plain.c and its reader share. */
#ifndef MG_TESTS_DIFF_PLAIN_PRIV_H
#define MG_TESTS_DIFF_PLAIN_PRIV_H
#include "plain.h"

enum p_op {
    P_NONE,
    P_ADD,
    P_ADDC,
    P_SUB,
    P_SUBC,
    P_MUL,
    P_MAD,
    P_MADC,
    P_MIN,
    P_MAX,
    P_AND,
    P_OR,
    P_XOR,
    P_NOT,
    P_SHL,
    P_SHR,
    P_NEG,
    P_ABS,
    P_POPC,
    P_CLZ,
    P_BREV,
    P_BFE,
    P_BFI,
    P_PRMT,
    P_LOP3,
    P_SHF,
    P_SAD,
    P_DIV,
    P_REM,
    P_SELP,
    P_SLCT,
    P_MOV,
    P_CVT,
    P_SETP,
    P_LD,
    P_ST,
    P_RED,
    P_ATOM,
    P_BRA,
    P_BRX,
    P_RET,
    P_BAR,
    P_SHFL,
    P_VOTE,
    P_MEMBAR,
    P_REDUX
};
enum p_word {
    W_LO,
    W_HI,
    W_WIDE,
    W_CC,
    W_EQ,
    W_NE,
    W_LT,
    W_LE,
    W_GT,
    W_GE,
    W_LS,
    W_HS,
    W_AND,
    W_OR,
    W_XOR,
    W_POPC,
    W_L,
    W_R,
    W_WRAP,
    W_CLAMP,
    W_SYNC,
    W_BFLY,
    W_UP,
    W_DOWN,
    W_IDX,
    W_ALL,
    W_ANY,
    W_BALLOT,
    W_GLOBAL,
    W_SHARED,
    W_CONST,
    W_PARAM,
    W_LOCAL,
    W_VOLATILE,
    W_NC,
    W_V2,
    W_V4,
    W_CTA,
    W_GL,
    W_ADD,
    W_MAX,
    W_MIN,
    W_RED,
    W_UNI,
    W_WARP,
    W_RN,
    W_RELAXED,
    W_ACQUIRE,
    W_RELEASE,
    W_GPU,
    P_WORDS
};
enum { P_MOST = 4096, P_REGS = 256, P_VARS = 16, P_BYTES = 16384 };
struct p_type {
    uint8_t bits; /* of a predicate 1 */
    bool is_signed, is_float;
};
struct p_opnd {
    enum { O_NONE, O_REG, O_IMM, O_SPECIAL, O_ADDR, O_VEC, O_PAIR, O_SINK, O_LABEL } kind;
    int reg; /* ADDR: its base, or -1; SPECIAL: which */
    bool negate;
    int64_t imm;      /* LABEL: the instruction; SPECIAL: x, y or z */
    int first, count; /* VEC and PAIR: p_code.parts */
    const char *name; /* LABEL: of a table, its list */
};
struct p_insn {
    uint8_t op;
    struct p_type type[2];
    uint64_t words;
    int guard;
    bool guard_negate;
    int nops;
    struct p_opnd ops[6];
    const char *text;
};
struct p_label {
    const char *name;
    int length, at;
    const char *table;
};
struct p_var {
    char name[16];
    uint32_t at;
};
struct p_code {
    struct p_insn insns[P_MOST];
    struct p_opnd parts[P_MOST];
    struct p_label labels[P_MOST];
    struct {
        char name[16];
        uint8_t bits;
    } regs[P_REGS];
    struct p_var vars[P_VARS];
    uint8_t constants[P_BYTES];
    uint32_t shared_bytes, const_bytes, local_bytes;
    int ninsns, nparts, nlabels, nregs, nvars;
    const char *where; /* what was read last */
};
static inline bool p_has(const struct p_insn *i, enum p_word word)
{
    return i->words >> word & 1;
}
typedef uint64_t u64;

enum p_state { GOES, WAITS, ENDED };
struct p_thread {
    int at;
    enum p_state state;
    bool carry;
    uint32_t id[3];
    u64 (*regs)[2];
    uint8_t *local;
};
struct p_machine {
    const struct p_code *code;
    struct mg_dim3 grid, block;
    uint32_t ctaid, nthreads;
    const u64 *params;
    const struct plain_region *regions;
    size_t nregions;
    struct p_thread *threads;
    uint8_t *shared;
    enum plain_result result;
    struct mg_strbuf *why;
    plain_watcher *watch; /* or NULL */
    void *watch_arg;
};
void p_stop(struct p_machine *m, enum plain_result result, const char *why, const struct p_insn *i);
/* The operand as the type takes it, extended to 64 bits as its sign wants. */
u64 p_get(const struct p_machine *m, const struct p_thread *t, const struct p_opnd *o, struct p_type type);
void p_put(struct p_machine *m, struct p_thread *t, const struct p_opnd *o, u64 v, struct p_type type);
static inline const struct p_opnd *p_part(const struct p_machine *m, const struct p_opnd *o, int k)
{
    return o->kind == O_VEC || o->kind == O_PAIR ? &m->code->parts[o->first + k] : o;
}
bool p_meet(struct p_machine *m); /* whoever has waited for those that wait now goes on; false: nobody */
bool p_read(struct p_code *code, const char *ptx);
int p_target(const struct p_code *code, const char *table, unsigned index); /* of brx; -1: none */
#endif
