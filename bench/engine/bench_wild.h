/* bench_wild.h - the cases of `--only wild`: one row each, and plain C for it (wild_plain.c). */
#ifndef BENCH_WILD_H
#define BENCH_WILD_H

#include "bench.h"

/* name of case and kernel; what its buffers are filled with (wild.c), and how many bytes they have; block; grid;
 * launches (more than 1: n is the number of each) or n; the result's bytes, in buffer 0 */
#define WILD_CASES(CASE)                                                                                           \
    CASE(fp8_convert, "0f", (4 * 8192, 4 * 8192), (256, 1), (32, 1), 1, 256)                                       \
    CASE(collatz, "0i", (4 * 16384, 4 * 16384), (256, 1), (64, 1), 1, 10000)                                       \
    CASE(monte_carlo, "0i", (4 * 16384, 4 * 16384), (128, 1), (128, 1), 1, 4)                                      \
    CASE(recursion, "0i", (4 * 4096, 4 * 4096), (128, 1), (32, 1), 1, 7)                                           \
    CASE(search_shared, "0si", (4 * 8192, 4 * 1024, 4 * 8192 * 16), (128, 1), (64, 1), 1, 16)                      \
    CASE(hash_keys, "0tk", (4 * 16384, 1 << 20, 4 * 16385), (128, 1), (128, 1), 1, 16384)                          \
    CASE(string_match, "0tw", (4 * 32768, 4 * 32768 + 64, 64), (256, 1), (128, 1), 1, 12)                          \
    CASE(private_counters, "0i", (4 * 64, 128 * 64 * 100), (128, 1), (64, 1), 1, 100)                              \
    CASE(transpose_heads, "0id", (4 << 19, 4 << 19, 24), (256, 1), (256, 1), 1, 1 << 19)                           \
    CASE(reverse_bytes, "0i", (256 * 3000, 256 * 3000), (256, 1), (64, 1), 1, 3000)                                \
    CASE(reverse_rows, "0i", (8 * 8192 * 30, 8 * 8192 * 30), (256, 1), (32, 1), 1, 30)                             \
    CASE(blur_bytes, "0i", (512 * 512, 512 * 512), (32, 8), (16, 64), 1, 512)                                      \
    CASE(depthwise_half, "0ii", (4 * 48 * 64 * 64, 48 * 64 * 64, 48 * 9), (256, 1), (768, 1), 1, 64)               \
    CASE(radix_pass, "0i0r", (4 * 65536, 4 * 65536, 4 * 16 * 256, 64), (256, 1), (256, 1), 1, 8)                   \
    CASE(bitonic, "0i", (4 * 512 * 32, 4 * 512 * 32), (256, 1), (32, 1), 1, 512)                                   \
    CASE(aes, "0iai", (16 * 16384, 16 * 16384, 4096, 16 * 11), (256, 1), (64, 1), 1, 10)                           \
    CASE(sha256, "0ii", (32 * 8192, 64 * 8192, 256), (128, 1), (64, 1), 1, 64)                                     \
    CASE(spmv, "0kcff", (4 * 16384, 4 * 16385, 4 << 20, 4 << 20, 4 * 16384), (128, 1), (128, 1), 1, 16384)         \
    CASE(bfs, "1kc0", (4 * 32768, 4 * 32769, 4 << 21, 4 * 64), (256, 1), (128, 1), 8, 8)                           \
    CASE(kmeans, "0ff0", (4 * 65536, 8 * 65536, 8 * 16, 64), (256, 1), (256, 1), 1, 16)                            \
    CASE(reduce_by_key, "0ni", (4 * 8192, 4 << 18, 4 << 18), (256, 1), (64, 1), 1, 1 << 18)                        \
    CASE(priority_queue, "0i", (4 * 8192, 4 * 8192 * 64), (128, 1), (64, 1), 1, 64)                                \
    CASE(diagonals, "gtt", (4 * 1025 * 1025, 1024, 1024), (16, 1), (1, 1), 4096, 4096)                             \
    CASE(launch_empty, "0", (4 * 32), (1, 1), (1, 1), 10000, 10000)                                                \
    CASE(launch_small, "0", (4 * 32), (32, 1), (1, 1), 10000, 10000)                                               \
    CASE(matvec_rows, "0ff", (4 * 2048, 4 * 2048 * 512, 4 * 512), (128, 1), (16, 1), 1, 512)                       \
    CASE(warp_gemv, "0ff", (4 * 1024, 4 * 1024 * 1024, 4 * 1024), (256, 1), (128, 1), 1, 1024)                     \
    CASE(lu, "0f", (4 * 256 * 256, 4 * 256 * 256), (16, 16), (256, 1), 1, 16)                                      \
    CASE(triangular, "0ff", (4 * 8192 * 32, 4 * 1024, 4 * 8192 * 32), (256, 1), (32, 1), 1, 32)                    \
    CASE(cholesky, "0D", (8 * 65536, 8 * 65536), (64, 1), (32, 1), 1, 64)                                          \
    CASE(shuffle_sum, "0i", (4 * 64, 4 << 20), (256, 1), (64, 1), 1, 1 << 20)                                      \
    CASE(stencil_f64, "0D", (8 * 32768, 8 * 38 * 38 * 38), (256, 1), (128, 1), 1, 38)                              \
    CASE(wave3d, "0ff", (4 * 128 * 128 * 128, 4 * 128 * 128 * 128, 4 * 128 * 128 * 128), (32, 8), (4, 16), 1, 128) \
    CASE(heat_tile, "0f", (4 * 512 * 512, 4 * 514 * 514), (32, 4), (16, 32), 1, 512)                               \
    CASE(deposit, "0fi", (4 * 64 * 64, 4 * 65536, 4 * 65536), (256, 1), (256, 1), 1, 64)                           \
    CASE(nbody, "0f", (16 * 2048, 16 * 2048), (256, 1), (8, 1), 1, 2048)                                           \
    CASE(particles, "0fkc", (4 * 16384, 16 * 16384, 4 * 16385, 4 << 20), (128, 1), (128, 1), 1, 16384)             \
    CASE(spin_lock, "0i0", (8, 4 * 64 * 32 * 100, 4), (32, 1), (64, 1), 1, 100)                                    \
    CASE(grid_barrier, "ii0", (4 * 8192, 4 * 8192, 4), (128, 1), (8, 1), 1, 100)                                   \
    CASE(cluster_stencil, "0f", (4 * 65536, 4 * 65536), (256, 1), (256, 1), 1, 20)                                 \
    CASE(cluster_histogram, "0i", (4 * 1024, 4 << 18), (256, 1), (64, 1), 1, 1 << 18)

#define CASE(name, ...) void wild_##name(void *const *buffers, int n);
WILD_CASES(CASE)
#undef CASE
#endif
