/* guard.c - what the host does to managed and pinned memory that work under way uses, for the checks (check/early.c).
 *
 * The host's loads and stores are ordinary instructions. So between two calls of the program the pages of such bytes
 * are protected: those that a kernel or a copy writes from all accesses, those that it reads from stores. An access
 * faults, is noted if it means such a byte, with its program counter and its callers, and goes on: its pages are
 * opened, the processor is asked for one step, and after it they are closed again. The next call opens all, and tells
 * the checks.
 *
 * What must keep working:
 *
 *   system calls   given such memory the kernel would say EFAULT. While pages are closed all calls of the program's
 *                  thread come as SIGSYS first (Linux, "Syscall User Dispatch"). Simple ones are made here, with
 *                  all pages open; before any other one the guard is given up until the program's next call of CUDA.
 *   threads        that dispatch is a thread's own, so the guard is up only while the program has one thread, beside
 *                  those of our pool. It cannot get another meanwhile: that takes a system call.
 *   signals        handlers that others have for SIGSEGV, SIGTRAP and SIGSYS are kept, and called for what is not ours.
 *                  The guard stays down if a handler or the thread blocks one of these.
 *   time           a step costs some tens of microseconds: after STEPS_MOST between two calls, or STEPS_EVER of them,
 *                  pages stay open.
 *
 * Left out: memory that the program allocated itself and registered (its pages have other things on them), several
 * threads, other systems than Linux on x86-64 from 5.11 on. There nothing is claimed.
 */
#define _GNU_SOURCE
#include "cudart/cudart.h"

#include <dirent.h>
#include <unistd.h>

/* The only one of the program: beside it there are those of our pools alone. */
static bool is_alone(void)
{
    DIR *tasks = opendir("/proc/self/task");
    bool alone = tasks != NULL;
    int own = gettid();
    for (struct dirent *d; alone && (d = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        if (d->d_name[0] == '.' || atoi(d->d_name) == own)
            continue;
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", d->d_name);
        FILE *f = fopen(path, "re");
        alone = f && fgets(name, sizeof(name), f) && !strcmp(name, MG_POOL_THREAD_NAME "\n");
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return alone;
}

bool mg__cudart_alone(void)
{
    const struct cudart_device *one = mg__cudart_next(NULL);
    return one && !mg__cudart_next(one) && is_alone();
}

#if defined(__x86_64__) && defined(__linux__)
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { PAGE = 4096, SPANS = 2048, RUNS = 64, TOUCHES = 64, CALLERS = 12, OPEN = 4 };
enum { STEPS_MOST = 2048, STEPS_EVER = 20000 };
enum { DISPATCH = 59, DISPATCH_ON = 1, DISPATCHED = 2 }; /* linux/prctl.h and SYS_USER_DISPATCH, since Linux 5.11 */
enum { TRAP_FLAG = 0x100, WRITES = 2 };                  /* of the processor's flags; of a page fault's error code */

struct run { /* of pages */
    uintptr_t from, to;
    int protection;
};
struct touch {
    uintptr_t address, pc;
    bool writes;
    int ncallers;
    void *callers[CALLERS];
};
/* The process's: signals are, too. While it is up the program has one thread, which is the only one to come here. */
static struct {
    atomic_bool up, waiting;       /* waiting: touches are to be told */
    volatile unsigned char blocks; /* what the kernel looks at: 1: system calls come as SIGSYS */
    struct mg_check_flight spans[SPANS];
    struct run runs[RUNS];
    struct touch touches[TOUCHES];
    size_t nspans, nruns, ntouches, nopen;
    uintptr_t open[OPEN];
    unsigned steps, ever;
} guard;
static _Thread_local bool dispatched;

/* System calls that are never dispatched, as the kernel is told of this range; the first is what handlers return to. It
 * is written as libgcc's unwinder knows it. */
extern const char calls_begin[] __asm__("mg__guard_calls") __attribute__((visibility("hidden")));
extern const char calls_end[] __asm__("mg__guard_calls_end") __attribute__((visibility("hidden")));
extern void handler_returns(void) __asm__("mg__guard_returns") __attribute__((visibility("hidden")));
extern long call(long number, long a, long b, long c, long d, long e, long f) __asm__("mg__guard_call")
    __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
        ".balign 16\n"
        ".globl mg__guard_calls, mg__guard_calls_end, mg__guard_returns, mg__guard_call\n"
        ".hidden mg__guard_calls, mg__guard_calls_end, mg__guard_returns, mg__guard_call\n"
        "mg__guard_calls:\n"
        "nop\n"
        ".type mg__guard_returns, @function\n"
        "mg__guard_returns:\n"
        "mov $15, %rax\n" /* rt_sigreturn */
        "syscall\n"
        ".type mg__guard_call, @function\n"
        "mg__guard_call:\n"
        "mov %rdi, %rax\n"
        "mov %rsi, %rdi\n"
        "mov %rdx, %rsi\n"
        "mov %rcx, %rdx\n"
        "mov %r8, %r10\n"
        "mov %r9, %r8\n"
        "mov 8(%rsp), %r9\n"
        "syscall\n"
        "ret\n"
        "nop\n"
        "mg__guard_calls_end:\n"
        ".popsection\n");

#define IN_HANDLER static __attribute__((no_sanitize("address", "thread", "undefined")))

/* ---- pages ---- */
IN_HANDLER void protect(uintptr_t from, uintptr_t to, int protection)
{
    (void)call(SYS_mprotect, (long)from, (long)(to - from), protection, 0, 0, 0);
}

IN_HANDLER void open_all(void)
{
    for (size_t i = 0; i < guard.nruns; i++)
        protect(guard.runs[i].from, guard.runs[i].to, PROT_READ | PROT_WRITE);
    guard.nopen = 0;
}

IN_HANDLER void close_all(void)
{
    for (size_t i = 0; i < guard.nruns; i++)
        protect(guard.runs[i].from, guard.runs[i].to, guard.runs[i].protection);
}

IN_HANDLER const struct run *run_at(uintptr_t from, uintptr_t to)
{
    for (size_t i = 0; i < guard.nruns; i++)
        if (from < guard.runs[i].to && guard.runs[i].from < to)
            return &guard.runs[i];
    return NULL;
}

IN_HANDLER void take_down(void)
{
    guard.blocks = 0;
    open_all();
    atomic_store(&guard.up, false);
}

/* ---- what is seen ---- */
/* The first of the bytes [from, to) that are in flight, if they are read not for reading alone; UINT64_MAX: none. */
IN_HANDLER uint64_t in_flight(uint64_t from, uint64_t to, bool writes)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < guard.nspans; i++) {
        const struct mg_check_flight *s = &guard.spans[i];
        uint64_t at = from > s->from ? from : s->from;
        if ((writes || s->writes) && from < s->to && s->from < to && at < least)
            least = at;
    }
    return least;
}

IN_HANDLER void note(uint64_t from, uint64_t to, bool writes, uintptr_t pc)
{
    uint64_t at = in_flight(from, to, writes);
    for (size_t i = 0; i < guard.ntouches; i++)
        if (guard.touches[i].pc == pc && guard.touches[i].writes == writes)
            return;
    if (at == UINT64_MAX || guard.ntouches == TOUCHES)
        return;
    void *frames[CALLERS + 4];
    int n = backtrace(frames, CALLERS + 4), k = 0;
    struct touch *t = &guard.touches[guard.ntouches++];
    *t = (struct touch){.address = at, .pc = pc, .writes = writes};
    while (k < n && (uintptr_t)frames[k] != pc) /* ours */
        k++;
    while (++k < n && t->ncallers < CALLERS)
        t->callers[t->ncallers++] = frames[k];
    atomic_store(&guard.waiting, true);
}

/* ---- signals ---- */
struct action { /* as the kernel has it: the C library would put in its own place to return to */
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
enum { RESTORER = 0x04000000 };
static struct action before[3];
static const int ours[3] = {SIGSEGV, SIGTRAP, SIGSYS};

IN_HANDLER void pass_on(int number, siginfo_t *info, void *context)
{
    const struct action *a = &before[number == SIGSEGV ? 0 : number == SIGTRAP ? 1 : 2];
    if ((uintptr_t)a->handler == 1) /* SIG_IGN */
        return;
    if (a->handler) { /* not SIG_DFL */
        a->handler(number, info, context);
        return;
    }
    struct action plain = {.flags = RESTORER, .restorer = handler_returns};
    take_down();
    (void)call(SYS_rt_sigaction, number, (long)&plain, 0, 8, 0, 0);
    if (number != SIGSEGV || info->si_code <= 0) /* else it faults again */
        (void)call(SYS_tgkill, getpid(), gettid(), number, 0, 0, 0);
}

IN_HANDLER void on_fault(int number, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t at = (uintptr_t)info->si_addr, page = at & ~(uintptr_t)(PAGE - 1);
    if (!atomic_load(&guard.up) || info->si_code != SEGV_ACCERR || !run_at(at, at + 1)) {
        pass_on(number, info, context);
        return;
    }
    note(at, at + 1, r[REG_ERR] & WRITES, (uintptr_t)r[REG_RIP]);
    guard.ever++;
    if (++guard.steps > STEPS_MOST || guard.nopen == OPEN) {
        take_down();
        return;
    }
    protect(page, page + PAGE, PROT_READ | PROT_WRITE);
    guard.open[guard.nopen++] = page;
    r[REG_EFL] |= TRAP_FLAG;
}

IN_HANDLER void on_step(int number, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (info->si_code != TRAP_TRACE || !(r[REG_EFL] & TRAP_FLAG)) {
        pass_on(number, info, context);
        return;
    }
    r[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    for (size_t i = 0; atomic_load(&guard.up) && i < guard.nopen; i++) {
        const struct run *run = run_at(guard.open[i], guard.open[i] + 1);
        if (run)
            protect(guard.open[i], guard.open[i] + PAGE, run->protection);
    }
    guard.nopen = 0;
}

/* Calls that neither make threads or processes nor change signals, and that can be made from a handler. */
IN_HANDLER bool is_simple(const greg_t *r, long number)
{
    switch (number) {
    case SYS_read:
    case SYS_write:
    case SYS_readv:
    case SYS_writev:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_sendto:
    case SYS_recvfrom:
    case SYS_open:
    case SYS_openat:
    case SYS_close:
    case SYS_stat:
    case SYS_fstat:
    case SYS_lstat:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_access:
    case SYS_faccessat:
    case SYS_lseek:
    case SYS_readlink:
    case SYS_getcwd:
    case SYS_getdents64:
    case SYS_uname:
    case SYS_brk:
    case SYS_madvise:
    case SYS_ioctl:
    case SYS_fcntl:
    case SYS_fsync:
    case SYS_poll:
    case SYS_select:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_clock_gettime:
    case SYS_gettimeofday:
    case SYS_time:
    case SYS_futex:
    case SYS_sched_yield:
    case SYS_getpid:
    case SYS_gettid:
    case SYS_getuid:
    case SYS_getrandom:
        return true;
    case SYS_mmap: /* elsewhere */
        return !(r[REG_R10] & MAP_FIXED);
    case SYS_munmap:
    case SYS_mprotect:
        return !run_at((uintptr_t)r[REG_RDI], (uintptr_t)r[REG_RDI] + (uintptr_t)r[REG_RSI]);
    default:
        return false;
    }
}

IN_HANDLER void on_call(int number, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    long n = info->si_syscall;
    if (info->si_code != DISPATCHED) {
        pass_on(number, info, context);
        return;
    }
    if (atomic_load(&guard.up) && n == SYS_rt_sigreturn) { /* a handler of the program ends: from where that may be */
        r[REG_RIP] = (greg_t)(uintptr_t)handler_returns;
        return;
    }
    guard.blocks = 0; /* handlers of the program may run meanwhile */
    if (!atomic_load(&guard.up) || !is_simple(r, n)) {
        take_down();
        r[REG_RIP] -= 2; /* to the call itself */
        return;
    }
    open_all();
    uint64_t buffer = (uint64_t)r[REG_RSI], bytes = (uint64_t)r[REG_RDX];
    if (n == SYS_write || n == SYS_pwrite64 || n == SYS_sendto)
        note(buffer, buffer + bytes, false, (uintptr_t)r[REG_RIP]);
    long result = call(n, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
    if ((n == SYS_read || n == SYS_pread64 || n == SYS_recvfrom) && result > 0)
        note(buffer, buffer + (uint64_t)result, true, (uintptr_t)r[REG_RIP]);
    r[REG_RAX] = result;
    if (atomic_load(&guard.up)) {
        close_all();
        guard.blocks = 1;
    }
}

/* Whether our handlers are there, and will be called. */
static bool signals_fit(void)
{
    static void (*const handlers[3])(int, siginfo_t *, void *) = {on_fault, on_step, on_call};
    struct action now;
    uint64_t blocked = 0, needed = 0;
    for (size_t i = 0; i < 3; i++) {
        needed |= 1ull << (ours[i] - 1);
        if (call(SYS_rt_sigaction, ours[i], 0, (long)&now, 8, 0, 0))
            return false;
        if (now.handler == handlers[i])
            continue;
        /* A call may wait for long, and handlers of the program run meanwhile; a step is over at once. */
        struct action mine = {handlers[i], SA_SIGINFO | SA_ONSTACK | RESTORER | (i == 2 ? SA_NODEFER : 0),
                              handler_returns, i == 2 ? 0 : ~0ull};
        before[i] = now;
        if (call(SYS_rt_sigaction, ours[i], (long)&mine, 0, 8, 0, 0))
            return false;
    }
    if (call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&blocked, 8, 0, 0) || blocked & needed)
        return false;
    for (int k = 1; k <= 64; k++)
        if (!(needed >> (k - 1) & 1) && !call(SYS_rt_sigaction, k, 0, (long)&now, 8, 0, 0) &&
            (uintptr_t)now.handler > 1 && now.mask & needed)
            return false;
    return true;
}

/* ---- up and down ---- */
static bool dispatch(void)
{
    dispatched = dispatched || !prctl(DISPATCH, DISPATCH_ON, (unsigned long)(uintptr_t)calls_begin,
                                      (unsigned long)(calls_end - calls_begin), &guard.blocks);
    return dispatched;
}

bool mg__cudart_guard_works(void)
{
    void *frame;
    (void)backtrace(&frame, 1); /* which loads what it needs */
    return dispatch();
}

static int by_from(const void *a, const void *b)
{
    const struct mg_check_flight *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* The pages of the spans, which are in order: a page that is written and read is closed for all. */
static void make_runs(void)
{
    guard.nruns = 0;
    for (size_t i = 0; i < guard.nspans; i++) {
        const struct mg_check_flight *s = &guard.spans[i];
        struct run *last = guard.nruns ? &guard.runs[guard.nruns - 1] : NULL;
        struct run run = {s->from & ~(uint64_t)(PAGE - 1), (s->to + PAGE - 1) & ~(uint64_t)(PAGE - 1),
                          s->writes ? PROT_NONE : PROT_READ};
        if (last && last->protection != run.protection && run.from < last->to) {
            if (last->protection == PROT_NONE)
                run.from = last->to;
            else if ((last->to = run.from) == last->from)
                guard.nruns--;
        }
        last = guard.nruns ? &guard.runs[guard.nruns - 1] : NULL;
        if (run.from >= run.to)
            continue;
        if (last && last->protection == run.protection && run.from <= last->to)
            last->to = MG_MAX(last->to, run.to);
        else if (guard.nruns < RUNS)
            guard.runs[guard.nruns++] = run;
    }
}

void mg__cudart_guard_up(void)
{
    bool flies = false;
    struct cudart_device *d = NULL;
    if (atomic_load(&guard.up)) /* one entry point called another */
        return;
    while (!flies && (d = mg__cudart_next(d)) != NULL)
        flies = mg__check_flies(d->device->check);
    if (!flies || guard.ever > STEPS_EVER || !is_alone() || !signals_fit() || !dispatch())
        return;
    guard.nspans = 0;
    for (d = NULL; (d = mg__cudart_next(d)) != NULL;) {
        if (!mg__queue_idle(d->device))
            return;
        guard.nspans += mg__check_in_flight(d->device->check, guard.spans + guard.nspans, SPANS - guard.nspans);
    }
    qsort(guard.spans, guard.nspans, sizeof(guard.spans[0]), by_from);
    make_runs();
    guard.steps = 0;
    guard.nopen = 0;
    close_all();
    atomic_store(&guard.up, true);
    guard.blocks = 1;
}

/* Of a library of the system: what it was called by is the program's. */
static bool of_the_system(const Dl_info *info)
{
    return !strncmp(info->dli_fname, "/lib", 4) || !strncmp(info->dli_fname, "/usr/lib", 8);
}

static void tell(const struct touch *t)
{
    void *frames[CALLERS + 1] = {(void *)(t->pc + 1)}; /* as a return address would be */
    Dl_info at, own;
    char file[4096] = "";
    int n = 1, k = 0;
    for (; n <= t->ncallers; n++)
        frames[n] = t->callers[n - 1];
    while (k < n && dladdr(frames[k], &at) && of_the_system(&at))
        k++;
    if (k < n && dladdr((void *)tell, &own) && dladdr(frames[k], &at) && at.dli_fbase == own.dli_fbase)
        return; /* we were at it ourselves */
    uint32_t line = mg__cudart_line_of(frames + k, MG_MIN(n - k, 6), file, sizeof(file));
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        mg__check_touched(d->device->check, t->address, t->writes, file, line);
}

void mg__cudart_guard_down(void)
{
    if (atomic_load(&guard.up))
        take_down();
    if (!atomic_load(&guard.waiting))
        return;
    for (size_t i = 0; i < guard.ntouches; i++)
        tell(&guard.touches[i]);
    guard.ntouches = 0;
    atomic_store(&guard.waiting, false);
}
#else
bool mg__cudart_guard_works(void)
{
    return false;
}

void mg__cudart_guard_up(void)
{
}

void mg__cudart_guard_down(void)
{
}
#endif
