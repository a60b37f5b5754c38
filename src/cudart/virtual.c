/* virtual.c - addresses that are reserved apart from the memory that is mapped there, as the driver has it (cuMem*).
 *
 * A reservation is address space of the process without access. Memory is a file without a name, so that it can be
 * mapped at several addresses at once, and is taken from the host when it is touched. Once a device is given access, a
 * mapping is an allocation like any other (memory.c). Addresses that are reserved and are none belong to nobody: copies
 * there are errors.
 */
#define _GNU_SOURCE /* memfd_create */
#include "cudart/cudart.h"

#include <sys/mman.h>
#include <unistd.h>

struct reservation {
    struct reservation *next;
    uint64_t address, size;
};
struct physical {
    struct physical *next;
    int file;
    uint64_t size;
    unsigned ordinal, mappings, handles;
};
struct mapping {
    struct mapping *next;
    uint64_t address, size;
    struct physical *of;
    bool open; /* a device has access */
};
static struct reservation *reservations; /* all under the lock of the process */
static struct physical *physicals;
static struct mapping *mappings;

static bool aligned(uint64_t value)
{
    return value % CUDART_GRANULE == 0;
}

bool mg__cudart_reserved(uint64_t address)
{
    const struct reservation *r = reservations;
    while (r && address - r->address >= r->size)
        r = r->next;
    return r;
}

/* ---- addresses ---- */
int mg__cudart_reserve(uint64_t *address, uint64_t size, uint64_t align)
{
    struct reservation *r = calloc(1, sizeof(*r));
    align = MG_MAX(align, (uint64_t)CUDART_GRANULE);
    void *at = r && size < SIZE_MAX / 2 - align
                   ? mmap(NULL, size + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                   : MAP_FAILED;
    if (at == MAP_FAILED) {
        free(r);
        return cudaErrorMemoryAllocation;
    }
    uint64_t whole = (uint64_t)(uintptr_t)at, begin = (whole + align - 1) / align * align;
    if (begin > whole)
        munmap(at, begin - whole);
    if (whole + align > begin)
        munmap((void *)(uintptr_t)(begin + size), whole + align - begin);
    mg__cudart_lock();
    *r = (struct reservation){reservations, begin, size};
    reservations = r;
    mg__cudart_unlock();
    *address = begin;
    return 0;
}

int mg__cudart_unreserve(uint64_t address, uint64_t size)
{
    int error = cudaErrorInvalidValue;
    mg__cudart_lock();
    const struct mapping *m = mappings;
    while (m && (m->address >= address + size || m->address + m->size <= address))
        m = m->next;
    struct reservation **at = &reservations;
    while (*at && ((*at)->address != address || (*at)->size != size))
        at = &(*at)->next;
    struct reservation *r = *at;
    if (r && !m) {
        *at = r->next;
        munmap((void *)(uintptr_t)address, size);
        free(r);
        error = 0;
    }
    mg__cudart_unlock();
    return error;
}

/* ---- memory ---- */
static struct physical **physical_at(uint64_t handle)
{
    struct physical **at = &physicals;
    while (*at && (uint64_t)(uintptr_t)*at != handle)
        at = &(*at)->next;
    return at;
}

int mg__cudart_physical_make(uint64_t *handle, uint64_t size, unsigned ordinal)
{
    const struct mg_device_options o = mg__cudart_options(ordinal);
    struct physical *p = calloc(1, sizeof(*p));
    int file = p && size <= mg__device_memory(&o) ? memfd_create("margay", MFD_CLOEXEC) : -1;
    if (file < 0 || ftruncate(file, (off_t)size)) {
        if (file >= 0)
            close(file);
        free(p);
        return cudaErrorMemoryAllocation;
    }
    mg__cudart_lock();
    *p = (struct physical){physicals, file, size, ordinal, 0, 1};
    physicals = p;
    mg__cudart_unlock();
    *handle = (uint64_t)(uintptr_t)p;
    return 0;
}

/* Under the lock: what nobody has a handle of, and is mapped nowhere, goes. */
static void forget(struct physical *p)
{
    if (p->handles || p->mappings)
        return;
    *physical_at((uint64_t)(uintptr_t)p) = p->next;
    close(p->file);
    free(p);
}

int mg__cudart_physical_release(uint64_t handle)
{
    mg__cudart_lock();
    struct physical *p = *physical_at(handle);
    bool known = p && p->handles;
    if (known) {
        p->handles--;
        forget(p);
    }
    mg__cudart_unlock();
    return known ? 0 : cudaErrorInvalidValue;
}

bool mg__cudart_physical_known(uint64_t handle, unsigned *ordinal)
{
    mg__cudart_lock();
    const struct physical *p = *physical_at(handle);
    bool known = p && p->handles;
    if (known)
        *ordinal = p->ordinal;
    mg__cudart_unlock();
    return known;
}

int mg__cudart_physical_of(uint64_t *handle, uint64_t address)
{
    mg__cudart_lock();
    struct mapping *m = mappings;
    while (m && address - m->address >= m->size)
        m = m->next;
    if (m) {
        m->of->handles++;
        *handle = (uint64_t)(uintptr_t)m->of;
    }
    mg__cudart_unlock();
    return m ? 0 : cudaErrorInvalidValue;
}

/* ---- mappings ---- */
/* In one reservation, and nothing is mapped there yet. */
static bool is_free(uint64_t address, uint64_t size)
{
    const struct reservation *r = reservations;
    while (r && (address < r->address || size > r->size || address - r->address > r->size - size))
        r = r->next;
    const struct mapping *m = mappings;
    while (m && (m->address >= address + size || m->address + m->size <= address))
        m = m->next;
    return r && !m;
}

int mg__cudart_map(uint64_t address, uint64_t size, uint64_t offset, uint64_t handle)
{
    int error = cudaErrorInvalidValue;
    struct mapping *m = calloc(1, sizeof(*m));
    if (!m)
        return cudaErrorMemoryAllocation;
    mg__cudart_lock();
    struct physical *p = *physical_at(handle);
    bool fits = p && p->handles && size && aligned(address) && aligned(size) && aligned(offset) && size <= p->size &&
                offset <= p->size - size;
    if (p && p->handles && (offset || size != p->size)) { /* it is mapped whole, as an H200's driver says */
        error = cudaErrorNotSupported;
    } else if (fits && is_free(address, size)) {
        bool done = mmap((void *)(uintptr_t)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, p->file, (off_t)offset) !=
                    MAP_FAILED;
        error = done ? 0 : cudaErrorMemoryAllocation;
    }
    if (!error) {
        *m = (struct mapping){mappings, address, size, p, false};
        mappings = m;
        p->mappings++;
    }
    mg__cudart_unlock();
    if (error)
        free(m);
    return error;
}

/* The range is one of whole mappings, without gaps. */
static bool is_mapped(uint64_t address, uint64_t size)
{
    uint64_t found = 0;
    for (const struct mapping *m = mappings; m; m = m->next)
        if (m->address >= address && m->address - address < size) {
            if (m->size > size - (m->address - address))
                return false;
            found += m->size;
        }
    return size && found == size;
}

static void shut(struct mapping *m)
{
    if (m->open)
        mg__cudart_memory_close(m->address);
    m->open = false;
    mprotect((void *)(uintptr_t)m->address, m->size, PROT_NONE);
}

static int open_for(struct mapping *m, struct cudart_device *device)
{
    int error = 0;
    if (!m->open) {
        if (mprotect((void *)(uintptr_t)m->address, m->size, PROT_READ | PROT_WRITE))
            return cudaErrorMemoryAllocation;
        error = mg__cudart_memory_open(device, m->address, m->size);
        m->open = !error;
    } else {
        mg__cudart_share(mg__cudart_memory_owner(m->address), device, m->address, m->size);
    }
    return error;
}

int mg__cudart_set_access(uint64_t address, uint64_t size, struct cudart_device *device, bool may)
{
    int error = mg__cudart_use(device);
    mg__cudart_lock();
    if (!error && !is_mapped(address, size))
        error = cudaErrorInvalidValue;
    for (struct mapping *m = mappings; m && !error; m = m->next)
        if (m->address - address < size) {
            if (may)
                error = open_for(m, device);
            else if (m->open)
                shut(m);
        }
    mg__cudart_unlock();
    return error;
}

/* What the device may do there: 0 or 3. MG: an address where nothing is mapped is an error. */
int mg__cudart_get_access(uint64_t address, bool *may)
{
    mg__cudart_lock();
    const struct mapping *m = mappings;
    while (m && address - m->address >= m->size)
        m = m->next;
    *may = m && m->open;
    mg__cudart_unlock();
    return m ? 0 : cudaErrorInvalidValue;
}

int mg__cudart_unmap(uint64_t address, uint64_t size)
{
    mg__cudart_lock();
    int error = is_mapped(address, size) ? 0 : cudaErrorInvalidValue;
    for (struct mapping **at = &mappings; *at && !error;) {
        struct mapping *m = *at;
        if (m->address - address >= size) {
            at = &m->next;
            continue;
        }
        shut(m);
        *at = m->next;
        mmap((void *)(uintptr_t)m->address, m->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0);
        m->of->mappings--;
        forget(m->of);
        free(m);
    }
    mg__cudart_unlock();
    return error;
}
