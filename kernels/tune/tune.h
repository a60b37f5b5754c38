/* tune.h - what a file <op>.cu here uses to time the shapes of an operation's kernel.
 *
 * A file defines `extern "C" void tune_<op>(void)` and has a row in tune.def: TUNE(<op>). It makes one or more tables:
 * columns are sizes, rows are shapes. The first row is what the others are held to: a cell whose output differs from
 * the first row's in its column by more than the table's tolerance is printed as "wrong". Rows without an output of
 * that kind, such as a copy, are not looked at.
 *
 *     tune_table("gemm", "TFLOP/s", 1e-5f, sizes, 2);
 *     tune_row("cuBLAS");
 *     tune_cell(0, output, count, work, [&] { return launch(...); });
 *     tune_cell(1, ...);
 *
 * Template files of the collection are included as they are; nothing of a kernel is written here again.
 */
#ifndef MG_TUNE_H
#define MG_TUNE_H
#include "bench.h"

#include <cuda_runtime.h>

enum { TUNE_COLUMNS = 6 };

/* A table of the operation, rates in `unit`. `tolerance`: of floats, relative to the larger of both and 1; 0: equal
 * bits. */
void tune_table(const char *title, const char *unit, float tolerance, const char *const *columns, int count);
void tune_row(const char *name);

/* One measurement: `work` / seconds is printed. `output` of `words` 32-bit words is spoilt before a first run and
 * compared after it; NULL: not looked at. `launch` returns 0, or else the cell is left out. */
typedef int tune_launch(const void *context);
void tune_cell_of(int column, void *output, size_t words, double work, tune_launch *launch, const void *context);

template <typename Launch>
static inline void tune_cell(int column, void *output, size_t words, double work, const Launch &launch)
{
    tune_cell_of(
        column, output, words, work,
        [](const void *of) { return static_cast<int>((*static_cast<const Launch *>(of))()); }, &launch);
}

/* Device memory that lives as long as the table; ends the program where there is none left. */
void *tune_alloc(size_t bytes);
float *tune_random_f32(int64_t n, uint32_t seed);
uint32_t *tune_random_u32(int64_t n, uint32_t seed);

#define TUNE(name) extern "C" void tune_##name(void);
#include "tune.def"
#undef TUNE
#endif
