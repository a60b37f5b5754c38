/* crash.c - when the process dies by a signal: of a defect of ours, which is said; or of one that ends launches first.
 *
 * A defect of ours would otherwise look like one of the program: it shares our process, so its buffered output goes
 * down with us, and the command could only say that the program was ended by a signal. So faults are caught where
 * nobody else catches them. One is ours if the thread runs a kernel (the launching thread, or one of the pool's, which
 * carry our name), or if it stands in this library and is no matter of memory: a bad pointer that the program passed to
 * cudaMemcpy is the program's, and ends it as it would with any other library. A fault that is not ours goes on as if
 * we were not there.
 *
 * The handler takes no lock and no memory, but for flushing stdio, which is not safe in a handler and worth it all the
 * same: the process is lost, and an alarm ends it if the flush hangs. Left out: an overflow of the host's stack, where
 * no handler can run.
 */
#define _GNU_SOURCE
#include "cudart/cudart.h"

#include <signal.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { FLUSH_SECONDS = 2, END_SECONDS = 5, AGAIN_NS = 500000000 };

_Thread_local const char *mg__cudart_running;

static atomic_int running; /* turns of launches, of all threads */
static int ending;         /* the signal that we die of */

static void flush_hangs(int signal)
{
    (void)signal;
    kill(getpid(), ending);
}

static void end_by(int number)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    sigaction(number, &plain, NULL);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
}

/* At the latest after so many seconds. */
static void end_within(int number, unsigned seconds)
{
    struct sigaction alarmed = {.sa_handler = flush_hangs};
    ending = number;
    sigaction(SIGALRM, &alarmed, NULL);
    alarm(seconds);
}

/* A launch is under way, though it may be between two of its turns. */
static bool busy(void)
{
    bool any = atomic_load(&running) != 0;
    for (struct cudart_device *d = NULL; !any && (d = mg__cudart_next(d)) != NULL;)
        any = !mg__queue_idle(d->device);
    return any;
}

/* Whoever is in a hurry sends it again; but one that is sent to the process and to its group comes twice at once. */
static void on_end(int number)
{
    static _Atomic uint64_t first;
    uint64_t now = mg__time_ns(), none = 0;
    bool again = !atomic_compare_exchange_strong(&first, &none, now);
    if (again ? now - none > AGAIN_NS : !busy() || mg__cudart.pid != (int)getpid()) {
        end_by(number);
        raise(number);
    } else if (!again) {
        mg__simt_interrupt(number);
        end_within(number, END_SECONDS);
    }
}

/* What a launch has found is lost if the process dies in the middle of it. So signals that would end the program end
 * its launches first; not those that the program handles, or ignores, when it launches first. */
static void catch_ends(void)
{
    struct sigaction action = {.sa_handler = on_end}, old;
    for (size_t i = 0; i < MG_COUNT(ends); i++)
        if (sigaction(ends[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
            sigaction(ends[i], &action, NULL);
}

void mg__cudart_runs(const struct mg_device_kernel *kernel)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, catch_ends);
    atomic_fetch_add(&running, kernel ? 1 : -1);
    mg__cudart_running = kernel ? kernel->name : NULL;
}

void mg__cudart_end_if_asked(void)
{
    const int number = mg__simt_interrupted();
    if (!number || atomic_load(&running) || mg__cudart.pid != (int)getpid())
        return;
    fflush(NULL);
    end_by(number);
    raise(number);
}

/* Where this library lies; the linker's names for its ends. */
extern const char start_of_library[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char end_of_text[] __asm__("etext") __attribute__((visibility("hidden")));

static uintptr_t program_counter(const void *context)
{
    const ucontext_t *u = context;
#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)u->uc_mcontext.pc;
#else
    (void)u;
    return 0;
#endif
}

static bool of_our_pool(void)
{
    char name[16] = "";
    return prctl(PR_GET_NAME, name) == 0 && !strcmp(name, MG_POOL_THREAD_NAME);
}

static bool is_ours(int signal, const siginfo_t *info, uintptr_t pc)
{
    bool sent = info->si_code <= 0; /* by kill and its kin; abort sends, too */
    if (sent && (signal != SIGABRT || info->si_pid != getpid()))
        return false;
    if (mg__cudart_running || of_our_pool())
        return true;
    bool inside = pc >= (uintptr_t)start_of_library && pc < (uintptr_t)end_of_text;
    return inside && (signal == SIGFPE || signal == SIGILL);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    static atomic_int first;
    uintptr_t pc = program_counter(context);
    if (!is_ours(number, info, pc)) {
        end_by(number);
        if (info->si_code <= 0)
            raise(number);
        return; /* to what faulted, which does so again */
    }
    if (atomic_exchange(&first, 1)) /* another thread is at it, and ends us all */
        for (;;)
            pause();
    struct mg_diag diag;
    memset(&diag, 0, sizeof(diag));
    diag.status = MG_ERR_INTERNAL;
    size_t at = pc - (uintptr_t)start_of_library;
    bool inside = pc >= (uintptr_t)start_of_library && pc < (uintptr_t)end_of_text;
    snprintf(diag.message, sizeof(diag.message), "Margay itself failed: signal %d (%s) at %s0x%zx", number,
             number == SIGSEGV  ? "a bad address"
             : number == SIGBUS ? "a bad page"
             : number == SIGFPE ? "a bad division"
             : number == SIGILL ? "a bad instruction"
                                : "a broken assumption",
             inside ? "libmargay_cuda+" : "", inside ? at : (size_t)pc);
    snprintf(diag.hint, sizeof(diag.hint),
             "This is a defect of Margay %s, not of your program: please report it. "
             "MARGAY_ENGINE=interp may get past it.",
             MG_VERSION_STRING);
    mg__report_crash(mg__cudart.process.report, mg__cudart_running ? mg__cudart_running : "", &diag);
    end_by(number);
    end_within(number, FLUSH_SECONDS);
    fflush(NULL);
    if (info->si_code <= 0)
        raise(number);
}

void mg__cudart_catch_crashes(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK}, old;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < MG_COUNT(caught); i++)
        if (sigaction(caught[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
            sigaction(caught[i], &action, NULL);
}
