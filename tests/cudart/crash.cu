// crash.cu - Margay itself dies: it says so and does not blame the program, whose output is saved; and a program that dies
// by itself does so as it would without Margay. The first is made by taking memory away from under the engine.
// CASE inside: EXIT: 139
// CASE inside: EXPECT: before
// CASE inside: EXPECT: half a line
// CASE inside: STDERR: margay: error: touch(int*): Margay itself failed: signal 11
// CASE inside: STDERR: not of your program
// CASE broken: EXIT: 134
// CASE broken: EXPECT: before
// CASE broken: EXPECT: half a line
// CASE broken: STDERR: margay: error: spin(int volatile*): Margay itself failed: signal 6
// CASE own: EXIT: 139
// CASE handled: EXPECT: before
// CASE handled: EXPECT: half a line
// CASE handled: EXPECT: own handler
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

__global__ void touch(int *p)
{
    p[threadIdx.x] = 1;
}

__global__ void spin(volatile int *p)
{
    for (unsigned i = 1; i != 0; i += 2) /* for ever, and it waits for nobody: the launch does not return */
        p[blockIdx.x] = i;
}

static sigjmp_buf back;
static void handler(int)
{
    siglongjmp(back, 1);
}

static pthread_t launcher;
static void *abort_launcher(void *p)
{
    while (!*(volatile int *)p) /* the kernel has begun */
        usleep(1000);
    pthread_kill(launcher, SIGABRT); /* what abort, and so a failed assertion of ours, does */
    return nullptr;
}

int main(int, char **argv)
{
    const char *what = argv[1];
    int *p;
    cudaMallocManaged(&p, 1 << 20);
    memset(p, 0, 1 << 20);
    printf("before\nhalf a line\n");
    if (!strcmp(what, "inside")) {
        mprotect((void *)(((size_t)p + 4095) & ~(size_t)4095), 65536, PROT_NONE);
        touch<<<1, 1024>>>(p + 4096);
    } else if (!strcmp(what, "broken")) {
        pthread_t other;
        launcher = pthread_self();
        pthread_create(&other, nullptr, abort_launcher, p);
        spin<<<2, 32>>>(p);
    } else if (!strcmp(what, "handled")) {
        signal(SIGSEGV, handler);
        if (!sigsetjmp(back, 1))
            *(volatile int *)8 = 1;
        printf("own handler\n");
        return 0;
    } else {
        *(volatile int *)8 = 1;
    }
    printf("went on\n");
    return 0;
}
