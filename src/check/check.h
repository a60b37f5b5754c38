/* check.h - what is wrong with a program's kernels: races, missed barriers, reads of unwritten memory, accesses out of
 * bounds, launches that no device takes. An observer of the engine, told by the CUDA runtime what the host does.
 *
 * Every function may be called from any thread; the callers' order is the program's order. `check` may be NULL
 * everywhere but in the observer: then nothing happens.
 */
#ifndef MG_CHECK_H
#define MG_CHECK_H
#include "arch/arch.h"
#include "report/report.h"
#include "simt/observe.h"

struct mg_check;
enum { /* what is looked for */
       MG_CHECK_RACE = 1,
       MG_CHECK_BARRIER = 2,
       MG_CHECK_INIT = 4,
       MG_CHECK_BOUNDS = 8,
       MG_CHECK_LAUNCH = 16,
       MG_CHECK_LEAKS = 32,
       MG_CHECK_PEDANTIC = 64, /* of races: those by the letter alone */
       MG_CHECK_LONG = 128,    /* for tests: each lane of each access by itself, which finds the same */
       MG_CHECK_ALL = 31
};
/* "race,init,leaks,pedantic": the bits; 0 when a word is none of them. */
unsigned mg__check_parse(const char *list);
/* `found` gets each finding, valid during the call: at the end of its launch, or at once when the host is to blame. */
enum mg_status mg__check_create(unsigned checks, void (*found)(void *arg, const struct mg_report_finding *finding),
                                void *arg, struct mg_check **check);
void mg__check_destroy(struct mg_check *check);
struct mg_observer mg__check_observer(struct mg_check *check);
/* The kernel about to be launched is not observed: what it writes is not known, so all memory counts as written. */
void mg__check_unobserved(struct mg_check *check);

/* ---- what the host does ---- */
enum mg_check_memory {
    MG_CHECK_DEVICE,
    MG_CHECK_MANAGED,
    MG_CHECK_MANAGED_VARIABLE, /* __managed__: it lives as long as its module */
    MG_CHECK_PINNED,
    MG_CHECK_HOST /* the program's own, registered, or another device's */
};
void mg__check_allocated(struct mg_check *check, uint64_t address, uint64_t size, enum mg_check_memory kind);
void mg__check_freed(struct mg_check *check, uint64_t address);
void mg__check_bad_free(struct mg_check *check, const char *call, uint64_t address);
void mg__check_filled(struct mg_check *check, uint64_t address, uint64_t size); /* by cudaMemset or from the host */
void mg__check_copied(struct mg_check *check, uint64_t to, uint64_t from, uint64_t size);
/* A library that the host computes reads device memory; `call` lives for ever. */
void mg__check_read(struct mg_check *check, const char *call, uint64_t from, uint64_t size);
/* A copy or fill that was refused. Bytes [address, address+size) were to be device memory
 * (or, `device` false, host's). */
void mg__check_bad_range(struct mg_check *check, const char *call, uint64_t address, uint64_t size, bool device);
void mg__check_ended(struct mg_check *check); /* the program ends: leaks */

/* ---- streams: what orders launches and copies of one stream with those of another ----
 * Stream 0 is the legacy default stream; `blocking` ones wait for it and it for them. */
void mg__check_stream_made(struct mg_check *check, uint64_t stream, bool blocking);
void mg__check_stream_gone(struct mg_check *check, uint64_t stream);
void mg__check_host_waited(struct mg_check *check, uint64_t stream, bool all);
void mg__check_event_recorded(struct mg_check *check, uint64_t event, uint64_t stream);
void mg__check_event_waited(struct mg_check *check, uint64_t event, uint64_t stream, bool host);
void mg__check_event_gone(struct mg_check *check, uint64_t event);
/* Around each launch, copy or fill, one at a time: what is done is done in this stream. `call` lives for ever; `waits`:
 * the host goes on when it is over. */
void mg__check_begins(struct mg_check *check, const char *call, uint64_t stream, bool waits);
void mg__check_ends(struct mg_check *check);
/* Before a launch begins, on its thread; `dependent`: it may do so before the one in front of it in its stream has
 * ended (programmatic dependent launch). */
void mg__check_launches(struct mg_check *check, uint64_t stream, bool dependent);
/* The allocation begins, or is about to end, in the order of a stream: a piece of work that uses all of it. */
void mg__check_in_order(struct mg_check *check, const char *call, uint64_t stream, uint64_t address);

/* ---- the host's own loads and stores: race/host ----
 * Nobody sees them but who watches pages of managed and pinned memory, and says so before it is allocated. Then the
 * checks keep what work uses of it until the host has waited for that work. */
void mg__check_watched(struct mg_check *check);
bool mg__check_flies(struct mg_check *check); /* there is such work */
struct mg_check_flight {                      /* bytes that it uses */
    uint64_t from, to;
    bool writes;
};
size_t mg__check_in_flight(struct mg_check *check, struct mg_check_flight *out, size_t most);
/* The host has loaded or stored what is in flight, at a line that is known (not 0) or is not. */
void mg__check_touched(struct mg_check *check, uint64_t address, bool writes, const char *file, uint32_t line);
/* What the stream was given so far may be known to the host from now on, in a way that is not followed. */
void mg__check_host_told(struct mg_check *check, uint64_t stream);

/* Who can say which line of the program makes the call under way: it and its file, at most `size` bytes of it; 0: not
 * known. Findings about the host's calls have it then. `frames` are where the call is made, how many, to be asked for a
 * line when it is wanted: to find one takes milliseconds. */
#define MG_CHECK_FRAMES 6
struct mg_check_asked {
    uint32_t (*line)(char *file, size_t size);
    int (*frames)(void *frames[MG_CHECK_FRAMES]);
    uint32_t (*line_of)(void *const *frames, int n, char *file, size_t size);
};
void mg__check_asks(struct mg_check *check, const struct mg_check_asked *asked);

/* ---- calls that fail ---- */
enum mg_check_call { MG_CHECK_CALL_FAILED, MG_CHECK_CALL_HANDLE, MG_CHECK_CALL_SHAPE };
/* Whether the line that the call came from is worth looking for; `from` is the address that it returns to. */
bool mg__check_wants_call(struct mg_check *check, const char *call, uint64_t from);
/* `call` and `error`, its name, live for ever. */
void mg__check_call_failed(struct mg_check *check, enum mg_check_call kind, const char *call, const char *error,
                           uint64_t from, const char *file, uint32_t line);
/* The program asked for the last error (NULL), or for what this one is. */
void mg__check_call_looked(struct mg_check *check, const char *error);

/* ---- launches that are refused ---- */
/* What mg_arch_launch_check found, and how it said it. `kernel` is mangled. */
void mg__check_refused(struct mg_check *check, const char *kernel, const struct mg_arch *arch,
                       const struct mg_launch_shape *shape, enum mg_launch_fault fault, const char *message);
#endif
