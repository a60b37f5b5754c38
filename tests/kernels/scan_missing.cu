/* scan_missing.cu - a scan that looks back over tiles that nobody has taken yet: blocks take the last tile first, the
 * other way round than they start, and must sum what they wait for themselves. */
#include "scan/look_back.cuh"

extern "C" {
#include "test.h"
}

struct backwards {
    static constexpr unsigned PATIENCE = 2;
    static __device__ int64_t tile(unsigned *)
    {
        return gridDim.x - 1 - blockIdx.x;
    }
};

enum { THREADS = 64, VECTORS = 2, TILE = THREADS * VECTORS * 4, LARGEST = 40 * TILE + 5 };
static uint32_t x[LARGEST + 3], y[LARGEST], want[LARGEST];

static void size(int64_t n, size_t offset, bool exclusive)
{
    struct test_buffer from = test_upload(x, static_cast<size_t>(n) * 4, offset * 4),
                       to = test_alloc(static_cast<size_t>(n) * 4, offset * 4),
                       work = test_workspace(static_cast<size_t>(n / TILE + 3) * 8);
    scan_call<uint32_t> call = {nullptr,
                                exclusive,
                                n,
                                static_cast<const uint32_t *>(from.at),
                                static_cast<uint32_t *>(to.at),
                                work.at};
    enum mg_kernels_status status = scan_look_back<backwards, uint32_t, true, THREADS, VECTORS, 1, 0>(call);
    CHECK(status == MG_KERNELS_OK, "n %lld: %s", static_cast<long long>(n), mg_kernels_status_name(status));
    test_download(&to, y);
    mg_ref_scan_i32(exclusive ? MG_SCAN_EXCLUSIVE : MG_SCAN_INCLUSIVE, n, reinterpret_cast<int32_t *>(x),
                    reinterpret_cast<int32_t *>(want));
    int64_t i = 0;
    while (i < n && y[i] == want[i])
        i++;
    CHECK(i == n, "n %lld offset %zu: [%lld] is %u, not %u", static_cast<long long>(n), offset,
          static_cast<long long>(i), y[i], want[i]);
    test_free(&work, "workspace");
    test_free(&to, "y");
    test_free(&from, "x");
}

int main(void)
{
    uint32_t seed = 7;
    for (int64_t i = 0; i < LARGEST; i++)
        x[i] = test_random(&seed);
    for (size_t offset = 0; offset < 4; offset++) {
        size(LARGEST, offset, offset % 2);
        size(TILE + 1, offset, false);
        size(33 * TILE, offset, true);
    }
    return test_end();
}
