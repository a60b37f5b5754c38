/* cub_device.cu - CUB over the whole device: each algorithm in one tile and in several. */
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

#include "held.h"

/* CUB asks twice: for the size of its workspace, and to do the work. */
template <typename Call> static void twice(const char *what, Call call)
{
    void *work = nullptr;
    size_t bytes = 0;
    hold(call(work, bytes) == cudaSuccess, what);
    hold(cudaMalloc(&work, bytes) == cudaSuccess, what);
    hold(call(work, bytes) == cudaSuccess, what);
    done(what);
    cudaFree(work);
}
struct is_odd {
    __host__ __device__ bool operator()(int x) const { return x & 1; }
};
struct less_last_digit {
    __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; }
};

static void sorts(int n)
{
    std::vector<int> h = numbers(n, 1 << 20), values(n), order(n);
    std::iota(values.begin(), values.end(), 0);
    order = values;
    int *keys = to_device(h), *sorted = to_device(h), *in = to_device(values), *out = to_device(values);
    twice("DeviceRadixSort", [&](void *w, size_t &b) {
        return cub::DeviceRadixSort::SortPairs(w, b, keys, sorted, in, out, n);
    });
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return h[a] < h[b]; });
    hold(to_host(out, n) == order, "DeviceRadixSort");
    twice("DeviceMergeSort", [&](void *w, size_t &b) {
        return cub::DeviceMergeSort::StableSortKeys(w, b, keys, n, less_last_digit());
    });
    std::stable_sort(h.begin(), h.end(), less_last_digit());
    hold(to_host(keys, n) == h, "DeviceMergeSort");
    for (int *p : {keys, sorted, in, out})
        cudaFree(p);
}

static void folds(int n)
{
    std::vector<int> h = numbers(n, 1000), want(n);
    int *in = to_device(h), *out = to_device(want);
    cub::KeyValuePair<int, int> *best = nullptr;
    cudaMalloc((void **)&best, sizeof(*best));
    twice("DeviceReduce::Sum", [&](void *w, size_t &b) { return cub::DeviceReduce::Sum(w, b, in, out, n); });
    hold(to_host(out, 1)[0] == std::accumulate(h.begin(), h.end(), 0), "DeviceReduce::Sum");
    twice("DeviceReduce::Min", [&](void *w, size_t &b) { return cub::DeviceReduce::Min(w, b, in, out, n); });
    hold(to_host(out, 1)[0] == *std::min_element(h.begin(), h.end()), "DeviceReduce::Min");
    twice("DeviceScan", [&](void *w, size_t &b) { return cub::DeviceScan::ExclusiveSum(w, b, in, out, n); });
    int before = 0;
    for (int i = 0; i < n; i++) {
        want[i] = before;
        before += h[i];
    }
    hold(to_host(out, n) == want, "DeviceScan");
    std::vector<int> ends = {0, n / 3, n / 3, n}, sums(3);
    int *offsets = to_device(ends);
    twice("DeviceSegmentedReduce", [&](void *w, size_t &b) {
        return cub::DeviceSegmentedReduce::Sum(w, b, in, out, 3, offsets, offsets + 1);
    });
    for (int s = 0; s < 3; s++)
        sums[s] = std::accumulate(h.begin() + ends[s], h.begin() + ends[s + 1], 0);
    hold(to_host(out, 3) == sums, "DeviceSegmentedReduce");
    cudaFree(best);
    for (int *p : {in, out, offsets})
        cudaFree(p);
}

static void picks(int n)
{
    std::vector<int> h = numbers(n, 1000), want, runs;
    for (int &x : h)
        x /= 400; /* with repetitions */
    std::vector<char> marks(n);
    for (int i = 0; i < n; i++)
        marks[i] = i % 3 == 0;
    int *in = to_device(h), *out = to_device(h), *lengths = to_device(h), *count = to_device(std::vector<int>(1));
    char *flags = to_device(marks);
    twice("DeviceSelect::Flagged", [&](void *w, size_t &b) {
        return cub::DeviceSelect::Flagged(w, b, in, flags, out, count, n);
    });
    for (int i = 0; i < n; i += 3)
        want.push_back(h[i]);
    hold(to_host(out, to_host(count, 1)[0]) == want, "DeviceSelect::Flagged");
    twice("DeviceSelect::Unique", [&](void *w, size_t &b) { return cub::DeviceSelect::Unique(w, b, in, out, count, n); });
    want.clear();
    std::unique_copy(h.begin(), h.end(), std::back_inserter(want));
    hold(to_host(out, to_host(count, 1)[0]) == want, "DeviceSelect::Unique");
    twice("DeviceRunLengthEncode", [&](void *w, size_t &b) {
        return cub::DeviceRunLengthEncode::Encode(w, b, in, out, lengths, count, n);
    });
    for (int i = 0; i < n; i++) {
        if (!i || h[i] != h[i - 1])
            runs.push_back(0);
        runs.back()++;
    }
    hold(to_host(lengths, to_host(count, 1)[0]) == runs, "DeviceRunLengthEncode");
    twice("DevicePartition::If", [&](void *w, size_t &b) {
        return cub::DevicePartition::If(w, b, in, out, count, n, is_odd());
    });
    hold(to_host(count, 1)[0] == std::count_if(h.begin(), h.end(), is_odd()), "DevicePartition::If");
    for (int *p : {in, out, lengths, count})
        cudaFree(p);
    cudaFree(flags);
}

static void histogram(int n)
{
    std::vector<int> h = numbers(n, 64), want(64);
    for (int x : h)
        want[x]++;
    int *in = to_device(h), *bins = to_device(want);
    twice("DeviceHistogram", [&](void *w, size_t &b) {
        return cub::DeviceHistogram::HistogramEven(w, b, in, bins, 65, 0, 64, n);
    });
    hold(to_host(bins, 64) == want, "DeviceHistogram");
    cudaFree(in);
    cudaFree(bins);
}

int main()
{
    for (int n : {200, 20000}) {
        sorts(n);
        folds(n);
        picks(n);
        histogram(n);
    }
    puts("PASS");
}
