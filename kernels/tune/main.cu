/* main.cu - margay-tune: the shapes that were considered for the best rungs, timed.
 *
 *     margay-tune [OPERATION...]
 *
 * Prints, as Markdown, a table for each operation whose kernel has numbers to choose; docs/tuning/<op>.md shows it and
 * says what was concluded. It is for those who change a kernel or bring the collection to another GPU. Each cell is the
 * median of 21 runs, of short ones of 189, the second-level cache overwritten before each. An operation more: tune.h.
 */
#include "tune.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPS = 21, SHORT_REPS = 189, FLUSH_BYTES = 256 << 20, ALLOCATIONS = 32 };

static const char usage[] = "usage: margay-tune [OPERATION...]\n"
                            "\n"
                            "Times the shapes that were considered for the best rungs, on a GPU, and prints the\n"
                            "tables of docs/tuning/. Without OPERATION: all of these:\n"
                            "\n "
#define TUNE(name) " " #name
#include "tune.def"
#undef TUNE
                            "\n";

static const struct {
    const char *name;
    void (*run)(void);
} operations[] = {
#define TUNE(name) {#name, tune_##name},
#include "tune.def"
#undef TUNE
};

static const float SHORT_MS = 0.05f;

static struct {
    float tolerance;
    int columns, next; /* the next cell to be printed */
    bool open;         /* a row is */
    void *expected[TUNE_COLUMNS];
} table;
static void *allocations[ALLOCATIONS], *flush;
static int allocated;
static unsigned *differences; /* on the device */
static bool any_wrong;

static void need(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fflush(stdout);
    fprintf(stderr, "margay-tune: error: %s: %s\n", what, cudaGetErrorString(error));
    exit(2);
}

/* bench/cublas.c asks. */
bool bench_on_simulator(void)
{
    return getenv("MARGAY_MODE") != NULL;
}

void *tune_alloc(size_t bytes)
{
    if (allocated == ALLOCATIONS)
        need(cudaErrorMemoryAllocation, "too many buffers in a table");
    need(cudaMalloc(&allocations[allocated], bytes ? bytes : 1), "device memory");
    return allocations[allocated++];
}

__global__ static void fill(uint32_t *to, int64_t n, uint32_t seed, bool floats)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        uint32_t x = static_cast<uint32_t>(i) * 0x9e3779b9u + seed * 0x846ca68bu;
        x = (x ^ (x >> 16)) * 0x85ebca6bu;
        x = (x ^ (x >> 13)) * 0xc2b2ae35u;
        x ^= x >> 16;
        to[i] = floats ? __float_as_uint(static_cast<float>(static_cast<int32_t>(x) >> 8) * 0x1p-23f) : x;
    }
}

float *tune_random_f32(int64_t n, uint32_t seed)
{
    uint32_t *to = static_cast<uint32_t *>(tune_alloc(static_cast<size_t>(n) * 4));
    fill<<<1024, 256>>>(to, n, seed, true);
    return reinterpret_cast<float *>(to);
}

uint32_t *tune_random_u32(int64_t n, uint32_t seed)
{
    uint32_t *to = static_cast<uint32_t *>(tune_alloc(static_cast<size_t>(n) * 4));
    fill<<<1024, 256>>>(to, n, seed, false);
    return to;
}

__global__ static void compare(const uint32_t *a, const uint32_t *b, size_t n, float tolerance, unsigned *count)
{
    unsigned mine = 0;
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n;
         i += gridDim.x * static_cast<size_t>(blockDim.x)) {
        float x = __uint_as_float(a[i]), y = __uint_as_float(b[i]);
        bool near = fabsf(x - y) <= tolerance * fmaxf(1.0f, fmaxf(fabsf(x), fabsf(y)));
        mine += a[i] != b[i] && !(tolerance > 0.0f && near);
    }
    if (mine)
        atomicAdd(count, mine);
}

static void end_row(void)
{
    for (; table.open && table.next < table.columns; table.next++)
        printf(" - |");
    if (table.open)
        putchar('\n');
    table.open = false;
    fflush(stdout);
}

static void end_table(void)
{
    end_row();
    while (allocated > 0)
        cudaFree(allocations[--allocated]);
    memset(&table, 0, sizeof table);
}

void tune_table(const char *title, const char *unit, float tolerance, const char *const *columns, int count)
{
    end_table();
    table.tolerance = tolerance;
    table.columns = count < TUNE_COLUMNS ? count : TUNE_COLUMNS;
    printf("\n%s, in %s:\n\n| |", title, unit);
    for (int i = 0; i < table.columns; i++)
        printf(" %s |", columns[i]);
    printf("\n| --- |");
    for (int i = 0; i < table.columns; i++)
        printf(" ---: |");
    putchar('\n');
}

void tune_row(const char *name)
{
    end_row();
    printf("| %s |", name);
    table.open = true;
    table.next = 0;
}

static int ascending(const void *a, const void *b)
{
    float x = *static_cast<const float *>(a), y = *static_cast<const float *>(b);
    return (x > y) - (x < y);
}

/* Whether the output is that of the first row. */
static bool right(int column, const void *output, size_t words)
{
    unsigned count = 0;
    if (!table.expected[column]) {
        table.expected[column] = tune_alloc(words * 4);
        need(cudaMemcpy(table.expected[column], output, words * 4, cudaMemcpyDeviceToDevice), "a copy");
        return true;
    }
    need(cudaMemset(differences, 0, sizeof count), "comparing");
    compare<<<1024, 256>>>(static_cast<const uint32_t *>(output), static_cast<const uint32_t *>(table.expected[column]),
                           words, table.tolerance, differences);
    need(cudaMemcpy(&count, differences, sizeof count, cudaMemcpyDeviceToHost), "comparing");
    return count == 0;
}

void tune_cell_of(int column, void *output, size_t words, double work, tune_launch *launch, const void *context)
{
    float ms[SHORT_REPS];
    int reps = REPS;
    cudaEvent_t begin, end;
    if (column >= table.columns || column < table.next)
        return;
    for (; table.next < column; table.next++)
        printf(" - |");
    if (output)
        need(cudaMemset(output, 0xff, words * 4), "spoiling the output");
    int status = launch(context);
    need(cudaDeviceSynchronize(), "a launch");
    if (status) {
        (void)cudaGetLastError();
        return;
    }
    bool ok = !output || right(column, output, words);
    any_wrong = any_wrong || !ok;
    if (bench_on_simulator()) { /* nothing to time: it shows that all shapes run */
        printf(" %s |", ok ? "ok" : "wrong");
        table.next++;
        return;
    }
    need(cudaEventCreate(&begin), "an event");
    need(cudaEventCreate(&end), "an event");
    for (int i = 0; i < reps; i++) {
        cudaMemsetAsync(flush, i, FLUSH_BYTES, NULL);
        cudaEventRecord(begin, NULL);
        launch(context);
        cudaEventRecord(end, NULL);
        need(cudaEventSynchronize(end), "timing");
        need(cudaEventElapsedTime(&ms[i], begin, end), "timing");
        if (i == REPS / 2 && ms[i] < SHORT_MS)
            reps = SHORT_REPS;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    qsort(ms, static_cast<size_t>(reps), sizeof *ms, ascending);
    double rate = work / (1e-3 * ms[reps / 2]);
    printf(rate < 1000 ? " %.2f%s |" : " %.0f%s |", rate, ok ? "" : " wrong");
    table.next++;
}

int main(int argc, char **argv)
{
    struct cudaDeviceProp prop;
    char date[16];
    time_t now = time(NULL);
    struct tm tm;
    size_t count = sizeof operations / sizeof *operations;
    for (int i = 1; i < argc; i++) {
        bool known = false;
        for (size_t o = 0; o < count; o++)
            known = known || !strcmp(argv[i], operations[o].name);
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(usage, stdout);
            return 0;
        }
        if (!known) {
            fprintf(stderr, "margay-tune: error: no such operation: %s; see margay-tune --help\n", argv[i]);
            return 2;
        }
    }
    need(cudaGetDeviceProperties(&prop, 0), "no GPU");
    need(cudaMalloc(&flush, bench_on_simulator() ? 1 : FLUSH_BYTES), "device memory");
    need(cudaMalloc(&differences, sizeof *differences), "device memory");
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &tm));
    for (size_t o = 0; o < count; o++) {
        bool wanted = argc == 1;
        for (int i = 1; i < argc; i++)
            wanted = wanted || !strcmp(argv[i], operations[o].name);
        if (!wanted)
            continue;
        printf("## %s\n\n`margay-tune %s` on %s, %s, medians of %d runs, of short ones %d:\n", operations[o].name, operations[o].name,
               prop.name, date, REPS, SHORT_REPS);
        operations[o].run();
        end_table();
        putchar('\n');
    }
    cudaFree(flush);
    cudaFree(differences);
    return any_wrong;
}
