/* ptx_priv.h - the parser's inside: tokens, the parser's state, and who parses what.
 *
 * One pass over the text, one token of look-ahead, no backtracking. Files by what they read: lex.c (characters),
 * expr.c (constant expressions), parse.c (module scope), decl.c (declarations and initialisers), body.c (scopes,
 * labels, statements), insn.c (operands), modifier.c (dotted opcodes), place.c (whose line), print.c (the way back).
 * A parse function returns false after it has recorded a failure; the failure then travels up untouched.
 */
#ifndef MG_PTX_PRIV_H
#define MG_PTX_PRIV_H
#include "ptx/ptx.h"

/* Limits that hostile text runs into. Everything else is bounded by the length of the text. */
enum {
    MG_PTX_MAX_TOKEN = 65535,
    MG_PTX_MAX_DEPTH = 128,          /* nested scopes, braces of an initialiser, parentheses */
    MG_PTX_MAX_VECTOR = 1024,        /* elements of one {…} operand */
    MG_PTX_MAX_OPERANDS = 255,       /* of an instruction */
    MG_PTX_MAX_REGS = 1 << 20,       /* of a function */
    MG_PTX_MAX_INNER_REGS = 1 << 20, /* declared as ranges in inner scopes, a module */
    MG_PTX_MAX_INLINED = 1024,       /* call sites of one location */
    MG_PTX_MAX_FILE = 1 << 16        /* largest index of a .file */
};
#define MG_PTX_MAX_INIT (UINT64_C(1) << 30) /* bytes of all initialised variables */
#define MG_PTX_MAX_VAR (UINT64_C(1) << 46)  /* bytes of one variable */

enum tok_kind {
    TOK_END,
    TOK_IDENT,  /* name, %name, _ */
    TOK_DOT,    /* .word or .word::word, text with the dot */
    TOK_INT,    /* value in `ival`; `is_unsigned` by suffix or size */
    TOK_FLOAT,  /* bits in `ival`; `wide` for those of a double */
    TOK_STRING, /* text without the quotes */
    TOK_PUNCT   /* one character, or one of << >> <= >= == != && || */
};
struct tok {
    enum tok_kind kind;
    const char *at;
    uint32_t length;
    uint32_t line;
    const char *line_start;
    uint32_t punct; /* TOK_PUNCT: c, or c1 | c2 << 8 */
    uint64_t ival;
    bool is_unsigned, wide;
};

enum sym_kind { SYM_REG, SYM_VECREG, SYM_VAR };
struct sym { /* a name in a function's scopes */
    enum sym_kind kind;
    uint8_t width;  /* VECREG: elements, registers index … index+width-1 */
    uint32_t depth; /* of the scope that declares it; 1 is the function's own */
    uint32_t index; /* register */
    const struct mg_ptx_var *var;
    const char *name;
    uint32_t length;
    struct sym *shadowed;      /* what the name meant outside */
    struct sym *next_in_scope; /* for undoing */
};
struct range { /* .reg .b32 %r<100> in the function's own scope: registers come to life when they are first named */
    uint32_t count;
    uint8_t type, width;
};
struct scope {
    uint32_t id;
    struct sym *syms;
};
enum mark_kind { MARK_LABEL, MARK_TABLE, MARK_PROTO };
struct mark { /* a label, or a label that names a .branchtargets, .calltargets or .callprototype */
    enum mark_kind kind;
    uint32_t index;
};
struct pending {                   /* a use of a mark, resolved at the function's end */
    uint32_t scope, operand, slot; /* slot: UINT32_MAX for an operand, else the entry of table `operand` */
    bool other;                    /* any mark but a label is wanted */
    struct tok tok;
};
struct module_name {
    struct mg_ptx_func *func;
    struct mg_ptx_var *var;
};
struct pending_table {
    const char *name;
    MG_VEC(uint32_t) labels;
    MG_VEC(const struct mg_ptx_func *) funcs;
};

struct parser {
    const char *text, *end; /* all of it */
    const char *at;         /* behind `tok` */
    const char *line_start;
    uint32_t line;
    struct tok tok; /* the current token */

    struct mg_ptx_module *module;
    struct mg_diag *diag;
    enum mg_status status;
    unsigned depth; /* of expressions and initialisers */
    uint64_t init_bytes, inner_regs;

    /* module lists while they grow */
    MG_VEC(struct mg_ptx_var *) vars;
    MG_VEC(struct mg_ptx_func *) funcs;
    MG_VEC(struct mg_ptx_loc) locs;
    MG_VEC(const char *) files;
    MG_VEC(struct mg_ptx_alias) aliases;

    struct mg_arena temp;    /* lives as long as the parse */
    struct mg_strtab insns;  /* opcode text -> decoded struct mg_ptx_insn */
    struct mg_strtab sregs;  /* "%tid.x" -> struct sreg_entry */
    struct mg_strtab loc_at; /* (file, line, column) -> newest index + 1 */
    struct mg_strtab loc_of; /* the whole struct mg_ptx_loc -> index + 1 */

    /* the function being parsed; its lists while they grow */
    struct mg_ptx_func *func;
    struct mg_arena scratch; /* lives as long as the function's parse */
    struct mg_strtab syms, ranges, marks;
    MG_VEC(struct scope) scopes;
    MG_VEC(uint32_t) parents; /* scope id -> the id of the scope around it */
    MG_VEC(struct mg_ptx_reg) regs;
    MG_VEC(struct mg_ptx_var *) func_vars;
    MG_VEC(struct mg_ptx_insn) code;
    MG_VEC(struct mg_ptx_opnd) operands;
    MG_VEC(struct mg_ptx_table) tables;
    MG_VEC(struct mg_ptx_proto) protos;
    MG_VEC(struct pending) pending;
    MG_VEC(struct mg_ptx_opnd) elems; /* of the instruction being parsed */
    uint32_t loc;
};

/* lex.c */
bool mg__ptx_next(struct parser *p); /* reads the next token into p->tok */
bool mg__ptx_fail(struct parser *p, const char *format, ...) MG_PRINTF(2, 3);
bool mg__ptx_fail_at(struct parser *p, const struct tok *tok, const char *format, ...) MG_PRINTF(3, 4);
bool mg__ptx_hint(struct parser *p, const char *format, ...) MG_PRINTF(2, 3);
bool mg__ptx_nomem(struct parser *p);
bool mg__ptx_skip_braces(struct parser *p); /* from the current `{` to behind its `}`, whatever is inside */
bool mg__ptx_skip_line(struct parser *p);
bool mg__ptx_dot(const struct tok *tok, const char *word); /* is it this `.word`? */
bool mg__ptx_punct(const struct tok *tok, uint32_t punct);
bool mg__ptx_accept(struct parser *p, uint32_t punct, bool *found); /* skips it if it is there */
bool mg__ptx_expect(struct parser *p, uint32_t punct, const char *where);

/* expr.c */
struct value {
    bool is_float, wide, is_unsigned;
    uint64_t bits;
};
bool mg__ptx_expr(struct parser *p, struct value *value);
bool mg__ptx_expr_after(struct parser *p, struct value *value); /* a `+ …` or `- …` tail of a symbol, if there is one */
bool mg__ptx_uint(struct parser *p, uint64_t limit, const char *what, uint32_t *value);

/* parse.c */
struct module_name *mg__ptx_module_name(struct parser *p, const char *name, size_t length);
/* The index of a location, an equal one's if there is one. */
bool mg__ptx_intern_loc(struct parser *p, const struct mg_ptx_loc *loc, uint32_t *index);
/* copies.c: once all of the module is there. */
bool mg__ptx_copy_called(struct parser *p);
bool mg__ptx_directive_loc(struct parser *p);
bool mg__ptx_directive_pragma(struct parser *p);
bool mg__ptx_directive_file(struct parser *p);
bool mg__ptx_param_list(struct parser *p, struct mg_ptx_func *func, struct mg_ptx_var ***list, size_t *count);

/* decl.c */
bool mg__ptx_space_word(const struct tok *tok, enum mg_ptx_space *space);
bool mg__ptx_declare(struct parser *p, enum mg_ptx_linkage linkage); /* .global … ; at either scope */
bool mg__ptx_formal(struct parser *p, struct mg_ptx_func *func, struct mg_ptx_var **var); /* one of a list */
struct mg_ptx_var *mg__ptx_new_var(struct parser *p);

/* body.c */
bool mg__ptx_body(struct parser *p, struct mg_ptx_func *func); /* from `{` to behind its `}` */
struct sym *mg__ptx_lookup(struct parser *p, const char *name, size_t length);
bool mg__ptx_define(struct parser *p, const struct tok *name, struct sym **sym);
bool mg__ptx_declare_regs(struct parser *p);
bool mg__ptx_define_reg(struct parser *p, const struct tok *name, uint8_t type, unsigned width, uint32_t *index);
void mg__ptx_body_free(struct parser *p);

/* insn.c */
bool mg__ptx_insn(struct parser *p, int32_t guard, bool guard_negate);
bool mg__ptx_predicate(struct parser *p, uint32_t *index);

/* modifier.c */
bool mg__ptx_decode(struct parser *p, const char *text, size_t length, const struct mg_ptx_insn **insn);
/* `parts`: a type of less than a byte is one too. */
bool mg__ptx_type_word(const char *word, size_t length, bool parts, enum mg_ptx_type *type);

/* isa.c */
uint8_t mg__ptx_algebra(enum mg_ptx_opcode opcode);      /* enum mg_ptx_algebra */
bool mg__ptx_splits(const struct mg_ptx_insn *insn);     /* its modifiers read */
const char *mg__ptx_operands(const struct mg_ptx_insn *insn); /* its form's letters (isa.def); NULL: not executed */
struct sreg_entry {
    const char *name;
    uint8_t sreg, dim;
};
extern const struct sreg_entry mg__ptx_sregs[];
extern const size_t mg__ptx_nsregs;
/* The row whose name is the longest leading run of whole parts of `text`; *used: its length. INVALID: none. */
enum mg_ptx_opcode mg__ptx_find_opcode(const char *text, size_t length, size_t *used);

#define P2(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
#define MG_TRY(call)      \
    do {                  \
        if (!(call))      \
            return false; \
    } while (0)
#endif
