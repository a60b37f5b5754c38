/* hosted.h - how a library whose GPU code cannot run here computes on the host instead, in the order of a stream.
 *
 * cuBLAS, cuFFT and cuRAND are machine code for GPUs; the libraries of those names that Margay brings (src/hosted and
 * the rooms over it) compute with the processor. They find `margay_hosted` in the runtime that the process has, by
 * name: it runs a computation when the work that was given to its stream before is over, says in the report that it was
 * computed on the host, and tells the checks what it read and wrote.
 */
#ifndef MG_CUDART_HOSTED_H
#define MG_CUDART_HOSTED_H
#include <stdbool.h>
#include <stddef.h>

enum margay_hosted_use { MARGAY_HOSTED_READS = 1, MARGAY_HOSTED_WRITES = 2 };

/* What a computation asks before it touches device memory: `rows` pieces of `width` bytes, `pitch` bytes apart (a
 * negative one goes down). False: that is no memory of the device's; the user was told, and the computation must leave
 * it alone. `what` is the argument's name in the library's manual. */
struct margay_hosted_reach {
    bool (*touch)(struct margay_hosted_reach *reach, const char *what, const void *at, size_t width, size_t rows,
                  ptrdiff_t pitch, unsigned use);
    void (*fail)(struct margay_hosted_reach *reach); /* there was not enough memory of the host's */
};
struct margay_hosted {
    const char *library, *routine; /* live for ever */
    void *stream;                  /* a cudaStream_t */
    bool waits;                    /* the call is over when it returns: its result is the host's */
    void (*compute)(void *arg, struct margay_hosted_reach *reach); /* may not call CUDA */
    const void *arg; /* `size` bytes, copied where the computation cannot be done at once */
    size_t size;
};
/* 0, or the CUDA error: of the stream, of the device, or no memory. What `touch` refused is an illegal address, which
 * later calls return. */
typedef int margay_hosted_function(const struct margay_hosted *call);
extern margay_hosted_function margay_hosted;
/* `margay_hosted_missing`: the program called a routine that no library of Margay's has. Told once each. */
typedef void margay_hosted_missing_function(const char *routine, const char *status);
extern margay_hosted_missing_function margay_hosted_missing;
#endif
