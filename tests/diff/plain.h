/* plain.h - what a PTX program does, said a second time: one thread after the other, in plain C. */
#ifndef MG_TESTS_DIFF_PLAIN_H
#define MG_TESTS_DIFF_PLAIN_H
#include "base/base.h"

struct plain_region { /* of global memory: what a program may reach */
    uint8_t *at;
    size_t size;
};
enum plain_result {
    PLAIN_DONE,
    PLAIN_UNKNOWN, /* it holds something that is not modelled, or whose result PTX leaves open: *why says what */
    PLAIN_FAULT    /* an access that leaves the regions or is misaligned; nobody can go on; it does not end */
};
/* Runs the one kernel of `ptx` with four parameters of 64 bits. */
enum plain_result plain_run(const char *ptx, struct mg_dim3 grid, struct mg_dim3 block, const uint64_t params[4],
                            const struct plain_region *regions, size_t nregions, struct mg_strbuf *why);
/* The same, and asks `watch` before each instruction of each thread: plain_priv.h has what it may look at. */
struct p_machine;
struct p_thread;
typedef void plain_watcher(void *arg, const struct p_machine *machine, struct p_thread *thread);
enum plain_result plain_run_watched(const char *ptx, struct mg_dim3 grid, struct mg_dim3 block,
                                    const uint64_t params[4], const struct plain_region *regions, size_t nregions,
                                    struct mg_strbuf *why, plain_watcher *watch, void *arg);
/* Whether it knows all instructions of a line, however their operands turn out. */
bool plain_knows(const char *line);
#endif
