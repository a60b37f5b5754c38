/* ipc.c - memory and events of one process that others on this machine use, where each runs under Margay.
 *
 * Memory that is exported becomes part of a file without a name (simt/memory.c), which another process opens through
 * /proc and maps at an address of its own choice; so writes of the one are seen by the other, and nothing is copied. An
 * exported event has two numbers in such a file: how often it was recorded, and up to which of those its streams came.
 * A wait is for the number that there is when it is called. What a handle says is not believed: the file's own words
 * are compared with it. Who may open another's files under /proc is the system's to say: processes of one user.
 *
 * The checks know nothing of what other processes do: such memory counts as written, and no order is claimed.
 */
#define _GNU_SOURCE /* memfd_create */
#include "cudart/cudart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MEMORY = 0x4d474d45, EVENT = 0x4d474556, PAGE = 4096 };
struct words { /* at the end of the file of a device's memory, and all of an event's */
    uint64_t nonce[2];
    uint64_t end; /* of the memory; an event: 0 */
    _Atomic uint64_t recorded, over;
};
struct handle {
    uint32_t kind;
    int32_t pid, file;
    uint32_t reserved;
    uint64_t nonce[2];
    uint64_t offset, size; /* of the allocation in the file */
    uint64_t words;        /* where they are */
    uint64_t pad;
};
_Static_assert(sizeof(struct handle) == sizeof(struct cu_ipc), "a handle is 64 bytes");
struct opened { /* another process's memory */
    struct opened *next;
    struct handle handle;
    void *map;
    size_t mapped;
    uint64_t address;
    unsigned uses;
    struct cudart_device *device;
};
struct event { /* of this process or another's, with the same words */
    struct event *next;
    void *event; /* the handle here */
    struct words *words;
    int file; /* -1: another's */
};
static struct opened *openeds; /* under the lock of the process */
static struct event *events;
static atomic_uint nevents;
static struct words *shared[CUDART_CONTEXTS]; /* by context: of its memory's file */

/* ---- files ---- */
static bool fill_nonce(uint64_t nonce[2])
{
    return getrandom(nonce, 2 * sizeof(*nonce), 0) == 2 * sizeof(*nonce);
}

/* The file that a handle names, and its words; -1: there is none such. */
static int open_file(const struct handle *h, uint32_t kind, struct words **words)
{
    char path[64];
    struct stat s;
    if (h->kind != kind || h->pid <= 0 || h->file < 0 || h->words % PAGE)
        return -1;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", h->pid, h->file);
    int file = stat(path, &s) || !S_ISREG(s.st_mode) ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return -1;
    const uint64_t end = !fstat(file, &s) && s.st_size > 0 ? (uint64_t)s.st_size : 0;
    void *at = end >= PAGE && h->words <= end - PAGE
                   ? mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)h->words)
                   : MAP_FAILED;
    *words = at == MAP_FAILED ? NULL : at;
    if (*words && !memcmp((*words)->nonce, h->nonce, sizeof(h->nonce)))
        return file;
    if (*words)
        munmap(*words, PAGE);
    close(file);
    return -1;
}

/* ---- memory ---- */
static void tell_written(const struct cudart_device *device, uint64_t address, uint64_t size)
{
    struct mg_check *check = device->device->check;
    if (!check)
        return;
    mg__check_begins(check, mg__cudart_call.name, 0, true);
    mg__check_filled(check, address, size);
    mg__check_ends(check);
}

static int export_memory(struct handle *h, void *pointer)
{
    struct cudart_alloc alloc;
    uint64_t offset, end;
    int file;
    if (mg__cudart_classify(pointer, NULL, &alloc) != CUDART_DEVICE || alloc.mapped_in || alloc.of_graph)
        return cudaErrorInvalidValue;
    mg__queue_wait_all(alloc.device->device); /* no kernel is to write what is about to be moved */
    mg__cudart_lock();
    struct words **words = &shared[alloc.device->number];
    enum mg_status status = mg__mem_share(alloc.device->device->simt, alloc.address, &file, &offset, &end);
    if (!status && !*words) {
        void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)end);
        if (at == MAP_FAILED)
            status = MG_ERR_NOMEM;
        else
            *words = at;
        if (!status && !(*words)->end && !fill_nonce((*words)->nonce))
            status = MG_ERR_NOMEM;
        if (!status)
            (*words)->end = end;
    }
    if (!status)
        *h = (struct handle){.kind = MEMORY,
                             .pid = getpid(),
                             .file = file,
                             .nonce = {(*words)->nonce[0], (*words)->nonce[1]},
                             .offset = offset,
                             .size = alloc.size,
                             .words = end};
    mg__cudart_unlock();
    if (status)
        return status == MG_ERR_NOMEM ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    tell_written(alloc.device, alloc.address, alloc.size);
    return 0;
}

static int import_memory(void **pointer, const struct handle *h)
{
    struct words *words;
    struct cudart_device *here = mg__cudart_here();
    int file = open_file(h, MEMORY, &words);
    if (file < 0)
        return cudaErrorInvalidValue;
    const uint64_t end = words->end, from = h->offset / PAGE * PAGE;
    munmap(words, PAGE);
    struct opened *o = calloc(1, sizeof(*o));
    const bool inside = h->size && h->offset < end && h->size <= end - h->offset;
    const size_t size = inside ? (size_t)(h->offset + h->size - from + PAGE - 1) / PAGE * PAGE : 0;
    void *map = o && inside ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)from) : MAP_FAILED;
    close(file);
    if (map == MAP_FAILED) {
        free(o);
        return inside ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    }
    *o = (struct opened){NULL, *h, map, size, (uint64_t)(uintptr_t)map + (h->offset - from), 1, here};
    if (mg__cudart_memory_open(here, o->address, h->size)) {
        munmap(map, size);
        free(o);
        return cudaErrorMemoryAllocation;
    }
    tell_written(here, o->address, h->size);
    mg__cudart_lock();
    o->next = openeds;
    openeds = o;
    mg__cudart_unlock();
    *pointer = (void *)(uintptr_t)o->address;
    return 0;
}

void mg__cudart_ipc_reset(const struct cudart_device *device)
{
    if (shared[device->number])
        munmap(shared[device->number], PAGE);
    shared[device->number] = NULL;
    for (struct opened **at = &openeds, *o; (o = *at) != NULL;) {
        if (o->device != device) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        munmap(o->map, o->mapped);
        free(o);
    }
}

int mg__cudaIpcGetMemHandle(struct cu_ipc *out, void *pointer)
{
    struct handle h;
    CUDART_ENTER();
    if (!out || !pointer)
        return mg__cudart_done(cudaErrorInvalidValue);
    int error = export_memory(&h, pointer);
    if (!error)
        memcpy(out, &h, sizeof(h));
    return mg__cudart_done(error);
}

int mg__cudaIpcOpenMemHandle(void **pointer, struct cu_ipc in, unsigned flags)
{
    enum { LAZY_PEER = 1 };
    struct handle h;
    CUDART_ENTER();
    if (!pointer || flags != LAZY_PEER)
        return mg__cudart_done(cudaErrorInvalidValue);
    memcpy(&h, &in, sizeof(h));
    if (h.kind == MEMORY && h.pid == getpid()) /* memory is another's, or it needs no handle */
        return mg__cudart_done(cudaErrorDeviceUninitialized);
    mg__cudart_lock();
    struct opened *o = openeds;
    while (o && memcmp(&o->handle, &h, sizeof(h)) != 0)
        o = o->next;
    if (o) {
        o->uses++;
        *pointer = (void *)(uintptr_t)o->address;
    }
    mg__cudart_unlock();
    return mg__cudart_done(o ? 0 : import_memory(pointer, &h));
}

int mg__cudaIpcCloseMemHandle(void *pointer)
{
    CUDART_ENTER();
    mg__cudart_lock();
    struct opened **at = &openeds;
    while (*at && (*at)->address != (uint64_t)(uintptr_t)pointer)
        at = &(*at)->next;
    struct opened *o = *at;
    const bool last = o && --o->uses == 0;
    if (last)
        *at = o->next;
    mg__cudart_unlock();
    if (!o)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (last) {
        int error = mg__cudart_wait_all(mg__cudart_here());
        mg__cudart_lock();
        mg__cudart_memory_close(o->address);
        mg__cudart_unlock();
        munmap(o->map, o->mapped);
        free(o);
        return mg__cudart_done(error);
    }
    return mg__cudart_done(0);
}

/* ---- events ---- */
static struct event *event_at(const void *event)
{
    struct event *e = events;
    while (e && e->event != event)
        e = e->next;
    return e;
}

static struct words *words_of(const void *event)
{
    if (!atomic_load(&nevents))
        return NULL;
    mg__cudart_lock();
    const struct event *e = event_at(event);
    struct words *w = e ? e->words : NULL;
    mg__cudart_unlock();
    return w;
}

static int keep_event(void *event, struct words *words, int file)
{
    struct event *e = malloc(sizeof(*e));
    if (!e)
        return cudaErrorMemoryAllocation;
    mg__cudart_lock();
    *e = (struct event){events, event, words, file};
    events = e;
    atomic_fetch_add(&nevents, 1);
    mg__cudart_unlock();
    return 0;
}

static int export_event(void *event, struct handle *h)
{
    mg__cudart_lock();
    const struct event *e = event_at(event);
    int file = e ? e->file : -2;
    struct words *w = e ? e->words : NULL;
    mg__cudart_unlock();
    if (file == -1)
        return cudaErrorInvalidResourceHandle; /* another's: its own process hands it on */
    if (!w) {
        file = memfd_create("margay-event", MFD_CLOEXEC);
        void *at = file >= 0 && !ftruncate(file, PAGE) ? mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                                                       : MAP_FAILED;
        w = at == MAP_FAILED ? NULL : at;
        if (!w || !fill_nonce(w->nonce) || keep_event(event, w, file)) {
            if (w)
                munmap(w, PAGE);
            if (file >= 0)
                close(file);
            return cudaErrorMemoryAllocation;
        }
    }
    *h = (struct handle){.kind = EVENT, .pid = getpid(), .file = file, .nonce = {w->nonce[0], w->nonce[1]}};
    return 0;
}

int mg__cudaIpcGetEventHandle(struct cu_ipc *out, void *event)
{
    struct handle h;
    unsigned flags;
    CUDART_ENTER();
    if (!out)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!mg__cudart_event_flags(event, &flags) || !(flags & CU_EVENT_INTERPROCESS))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    int error = export_event(event, &h);
    if (!error)
        memcpy(out, &h, sizeof(h));
    return mg__cudart_done(error);
}

int mg__cudaIpcOpenEventHandle(void **event, struct cu_ipc in)
{
    struct handle h;
    struct words *w;
    CUDART_ENTER();
    memcpy(&h, &in, sizeof(h));
    if (!event)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (h.kind == EVENT && h.pid == getpid())
        return mg__cudart_done(cudaErrorDeviceUninitialized);
    int file = open_file(&h, EVENT, &w);
    if (file < 0)
        return mg__cudart_done(cudaErrorMapBufferObjectFailed);
    close(file);
    int error = mg__cudaEventCreateWithFlags(event, CU_EVENT_NO_TIMING | CU_EVENT_INTERPROCESS);
    if (!error)
        error = keep_event(*event, w, -1);
    if (error)
        munmap(w, PAGE);
    return mg__cudart_done(error);
}

void mg__cudart_ipc_event_gone(const void *event)
{
    if (!atomic_load(&nevents))
        return;
    mg__cudart_lock();
    struct event **at = &events;
    while (*at && (*at)->event != event)
        at = &(*at)->next;
    struct event *e = *at;
    if (e)
        *at = e->next;
    mg__cudart_unlock();
    if (!e)
        return;
    atomic_fetch_sub(&nevents, 1);
    if (e->file >= 0) /* whoever has mapped it keeps it; waits that are under way have mappings of their own */
        close(e->file);
    munmap(e->words, PAGE);
    free(e);
}

/* A mapping of its own: the event may be destroyed before the stream comes to it. */
struct wait {
    struct words *words;
    uint64_t number;
};

static struct wait *new_wait(struct words *w, uint64_t number)
{
    struct wait *wait = malloc(sizeof(*wait));
    void *at = wait ? mremap(w, 0, PAGE, MREMAP_MAYMOVE) : MAP_FAILED; /* of shared pages: once more */
    if (at == MAP_FAILED) {
        free(wait);
        return NULL;
    }
    *wait = (struct wait){at, number};
    return wait;
}

static void tell_over(void *arg)
{
    struct wait *w = arg;
    uint64_t is = atomic_load(&w->words->over);
    while (is < w->number && !atomic_compare_exchange_weak(&w->words->over, &is, w->number)) {
    }
    munmap(w->words, PAGE);
    free(w);
}

static bool is_over(void *arg)
{
    const struct wait *w = arg;
    const bool over = atomic_load(&w->words->over) >= w->number;
    return over;
}

int mg__cudart_ipc_recorded(const void *event)
{
    struct words *w = words_of(event);
    struct wait *wait = w ? new_wait(w, atomic_fetch_add(&w->recorded, 1) + 1) : NULL;
    if (!w)
        return 0;
    if (wait && !mg__queue_call(mg__cudart_call.device->device, mg__cudart_call.order, tell_over, wait))
        return 0;
    if (wait)
        tell_over(wait);
    return cudaErrorMemoryAllocation;
}

int mg__cudart_ipc_wait(const void *event)
{
    struct words *w = words_of(event);
    const uint64_t number = w ? atomic_load(&w->recorded) : 0;
    if (!w || atomic_load(&w->over) >= number)
        return 0;
    struct wait *wait = new_wait(w, number);
    if (wait && !mg__queue_until(mg__cudart_call.device->device, mg__cudart_call.order, is_over, wait))
        return 0;
    free(wait);
    return cudaErrorMemoryAllocation;
}

bool mg__cudart_ipc_over(const void *event, bool wait)
{
    struct words *w = words_of(event);
    const uint64_t number = w ? atomic_load(&w->recorded) : 0;
    const struct timespec pause = {0, 200000};
    while (w && atomic_load(&w->over) < number) {
        if (!wait)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}
