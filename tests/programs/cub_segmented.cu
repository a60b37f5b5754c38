// cub_segmented.cu - segments of different lengths, summed and sorted by CUB
#include <cub/cub.cuh>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
#include "kit.cuh"

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
