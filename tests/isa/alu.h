/* alu.h - every operation of src/sem as PTX: instructions, the kernels that run them, the inputs they are fed.
 *
 * One list serves three comparisons: the engine against tests/sem's reference, src/sem against it, and src/sem against
 * what an H100 answered (tests/sem/h100.txt). An instruction that stands for more than one operation (carry chains,
 * lop3 with its immediate) is written as a few lines in alu.c.
 */
#ifndef MG_TEST_ALU_H
#define MG_TEST_ALU_H
#include "sem/sem.h"
#include <stddef.h>
#include <stdio.h>

struct alu_case {
    char text[96];     /* "add.rz.ftz.f32" */
    char operands[32]; /* "%d, %a, %b"; of a case with `body`, empty */
    const char *body;  /* the instructions instead, for those that take several */
    int op;            /* enum mg_sem_op */
    uint32_t mode;     /* SEM_* */
};
struct alu_list {
    struct alu_case *at;
    size_t count;
};
/* All cases, in the order of alu.def. false: out of memory, or an instruction that no row of sem.def matches:
 * *wrong. */
bool alu_cases(struct alu_list *list, char wrong[96]);
void alu_free(struct alu_list *list);

/* Writes a module with one kernel a case, k<first> …: (in, out), thread i reads four 64-bit slots at in + 32 i and
 * writes one at out + 8 i. */
void alu_module(FILE *out, const struct alu_case *cases, size_t first, size_t count);

/* The i-th of `n` inputs of a case: edge values crossed first, then random ones of several kinds. Slots beyond the
 * operation's carriers are zero. The same for every machine and run. */
void alu_input(const struct alu_case *c, uint32_t i, uint32_t n, uint64_t slots[4]);

/* Whether PTX or the hardware leaves one right answer: not so for the approximate instructions. */
bool alu_is_exact(const struct alu_case *c);

/* What tests/sem/h100.txt holds: a line "<hash> <text>" a case, the hash over the results of this many inputs. */
enum { ALU_H100_INPUTS = 2048 };
#define ALU_HASH_START 0xcbf29ce484222325u
uint64_t alu_hash(uint64_t hash, uint64_t result);
#endif
