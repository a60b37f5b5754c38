/* cases.cuh - small kernels with one fault each, and how they are run.
 *
 * A kernel is a template over `bool fault`: name<true> has the fault, name<false> is its twin that is right. What must be
 * found stands in the same file, as a comment on the line where it must be found:
 *
 *     // EXPECT: race/write-read tile    check/kind, and the variable if it has a name; * matches anything
 *     // OTHER                           the other line that the findings of this kernel name
 *     // CALL                            what was inlined here is at fault, and the findings say so
 *     // FIX: __threadfence()            what the findings advise has this word in it
 *     // ALSO: init/shared               may be found here too, but need not (a line of its own belongs to the one above)
 *
 * Where a race is expected, race/in-step may be found as well: what is missing between warps is missing within one. Nothing
 * else may be found in name<true>, and nothing at all in name<false>. A CASE launches the kernel; what is expected
 * within a CASE is a finding of the host side, which has no kernel. test_check.py reads the comments.
 *
 *     program list                 the cases, a line each: its name and its flags
 *     program fault|right NAME     runs one
 *     program right                runs the twins of all
 *     program fault                runs the faults of all but those with flags
 */
#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

enum {
    ALONE = 1, /* ends the context, or is a finding of the host side: in a process of its own */
    HANGS = 2, /* would not end on a GPU */
    LEAKS = 4, /* needs --leaks */
    PEDANTIC = 8, /* needs --pedantic */
};

struct Case {
    const char *name;
    void (*fault)(), (*right)();
    unsigned flags;
};
static std::vector<Case> &cases()
{
    static std::vector<Case> all;
    return all;
}
struct Register {
    Register(const char *name, void (*fault)(), void (*right)(), unsigned flags)
    {
        cases().push_back({name, fault, right, flags});
    }
};
#define CASE(name, flags)                                                                                              \
    template <bool fault> static void case_##name();                                                                   \
    static Register register_##name(#name, case_##name<true>, case_##name<false>, flags);                              \
    template <bool fault> static void case_##name()

/* Device memory that lives until the case ends: cleared, or as it comes. */
static std::vector<void *> &owned()
{
    static std::vector<void *> all;
    return all;
}
template <typename T = int> static T *fresh(size_t n)
{
    void *p = nullptr;
    cudaMalloc(&p, n * sizeof(T));
    owned().push_back(p);
    return static_cast<T *>(p);
}
template <typename T = int> static T *zeros(size_t n)
{
    T *p = fresh<T>(n);
    cudaMemset(p, 0, n * sizeof(T));
    return p;
}

/* The host reads the result. */
template <typename T> static void fetch(const T *from, size_t n)
{
    std::vector<T> host(n);
    cudaMemcpy(host.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost);
}

static void run(const char *how, const Case &c)
{
    (strcmp(how, "fault") ? c.right : c.fault)();
    cudaError_t launch = cudaGetLastError(), sync = cudaDeviceSynchronize();
    printf("%s %s: %s, %s\n", how, c.name, cudaGetErrorName(launch), cudaGetErrorName(sync));
    fflush(stdout);
    for (void *p : owned())
        cudaFree(p);
    owned().clear();
    cudaGetLastError();
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "list";
    bool any = false;
    for (const Case &c : cases()) {
        if (argc > 2 ? strcmp(argv[2], c.name) != 0 : !strcmp(how, "fault") && c.flags)
            continue;
        any = true;
        if (!strcmp(how, "list"))
            printf("%s%s%s%s%s\n", c.name, c.flags & ALONE ? " ALONE" : "", c.flags & HANGS ? " HANGS" : "",
                   c.flags & LEAKS ? " LEAKS" : "", c.flags & PEDANTIC ? " PEDANTIC" : "");
        else
            run(how, c);
    }
    return any ? 0 : 3;
}
