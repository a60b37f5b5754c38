// cub_segmented.cu - segments of different lengths, summed and sorted by CUB
#include <cub/cub.cuh>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static bool good = true;
#define EXPECT(what)                                      \
    do {                                                  \
        if (!(what)) {                                    \
            printf("line %d: not %s\n", __LINE__, #what); \
            good = false;                                 \
        }                                                 \
    } while (0)

static unsigned mixed(unsigned v)
{
    v = (v ^ v >> 16) * 0x7feb352du;
    v = (v ^ v >> 15) * 0x846ca68bu;
    return v ^ v >> 16;
}

template <class T> struct device { // room there, cleared or filled
    T *p;
    size_t n;
    device(size_t count) : n(count)
    {
        CK(cudaMalloc(&p, n * sizeof(T)));
        CK(cudaMemset(p, 0, n * sizeof(T)));
    }
    device(const std::vector<T> &from) : n(from.size())
    {
        CK(cudaMalloc(&p, n * sizeof(T)));
        CK(cudaMemcpy(p, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~device() { cudaFree(p); }
    operator T *() const { return p; }
    std::vector<T> get() const
    {
        std::vector<T> all(n);
        CK(cudaMemcpy(all.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
        return all;
    }
    device(const device &) = delete;
};

template <class F> static void twice(F f) // asks for room, and then does it
{
    size_t bytes = 0;
    CK(f((void *)nullptr, bytes));
    device<char> room(bytes + 1);
    CK(f((void *)room.p, bytes));
    CK(cudaDeviceSynchronize());
}

int main()
{
    const int n = 20000;
    std::vector<int> start{0}, in(n);
    for (int i = 0; i < n; i++)
        in[i] = mixed(i) % 1000;
    while (start.back() < n) // short ones, sorted by half a warp, and long ones
        start.push_back(std::min<int>(n, start.back() + mixed(start.size()) % 300));
    const int segments = (int)start.size() - 1;
    device<int> from(start), data(in), sums(segments), sorted(n);
    twice([&](void *room, size_t &bytes) {
        return cub::DeviceSegmentedReduce::Sum(room, bytes, data.p, sums.p, segments, from.p, from.p + 1);
    });
    twice([&](void *room, size_t &bytes) {
        return cub::DeviceSegmentedSort::SortKeys(room, bytes, data.p, sorted.p, n, segments, from.p, from.p + 1);
    });
    std::vector<int> sum(segments), order = in;
    for (int s = 0; s < segments; s++) {
        sum[s] = std::accumulate(in.begin() + start[s], in.begin() + start[s + 1], 0);
        std::sort(order.begin() + start[s], order.begin() + start[s + 1]);
    }
    EXPECT(sums.get() == sum);
    EXPECT(sorted.get() == order);
    puts(good ? "PASS" : "FAIL");
    return !good;
}
