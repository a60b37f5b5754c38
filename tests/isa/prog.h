/* prog.h - PTX programs with their expectation: what the operations of src/sem alone do not show.
 *
 * A program is the body of a kernel `run(in, out, buf)`. Its wrapper gives it
 *     %t, %n     the thread's number in the grid, the number of threads
 *     %a %b %c   the low 32 bits of the thread's first three input slots;  %da %db  its first two, 64 bits
 *     %out       where its four output slots are;  %buf  a scratch buffer of PROG_BUF bytes, with a pattern in it
 *     %r0 … %r31 (b32), %d0 … %d31 (b64), %h0 … %h15 (b16), %f0 … %f7 (f32), %g0 … %g7 (f64), %p0 … %p7
 * and its C function says what output and buffer must hold afterwards. Nothing here knows who runs it, so that the
 * same programs can be tried on a GPU.
 */
#ifndef MG_TEST_PROG_H
#define MG_TEST_PROG_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PROG_BUF = 65536, PROG_SLOTS = 4 };

struct env {
    uint32_t n, grid, block;
    const uint64_t *in; /* PROG_SLOTS a thread */
    uint64_t *out;      /* likewise */
    uint8_t *buf;
};
#define EACH(i) for (uint32_t i = 0; i < e->n; i++)
#define IN(i, k) e->in[PROG_SLOTS * (i) + (k)]
#define A(i) (uint32_t)IN(i, 0)
#define B(i) (uint32_t)IN(i, 1)
#define C(i) (uint32_t)IN(i, 2)
#define OUT(i, k) e->out[PROG_SLOTS * (i) + (k)]

struct prog {
    const char *name;
    uint32_t grid, block, shared; /* shared: dynamic, bytes */
    const char *decl;             /* at module scope */
    const char *body;
    void (*expect)(struct env *e);
};
#define PROG(id, grid, block, shared, decl, body)                                                                      \
    static void expect_##id(struct env *e);                                                                            \
    static const struct prog prog_##id = {#id, grid, block, shared, decl, body, expect_##id};                          \
    static void expect_##id(struct env *e)

struct prog_list {
    const struct prog *const *at;
    size_t count;
};
extern const struct prog_list prog_memory, prog_warp, prog_control, prog_values, prog_wgmma;

void prog_ptx(FILE *out, const struct prog *p);
void prog_inputs(const struct prog *p, uint64_t *in, uint8_t *buf);

/* Atomic operations, made from a table: every operation, type and space, as atom and as red. */
struct atomic_case {
    char text[64]; /* "atom.shared.add.u32" */
    char op[8], type[8], space[8];
    bool red;
};
size_t atomic_cases(struct atomic_case *cases, size_t room);
void atomic_ptx(FILE *out, const struct atomic_case *c); /* a kernel run(in, out, buf), as above; 64 threads a block */
/* The expected outputs of a thread: [0] the old value (0 for red), [1] what memory holds after. */
void atomic_inputs(const struct atomic_case *c, uint64_t *in, uint32_t n);
bool atomic_expect(const struct atomic_case *c, uint32_t thread, const uint64_t in[4], uint64_t out[2]);
#endif
