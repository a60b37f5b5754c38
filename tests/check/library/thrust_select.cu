/* thrust_select.cu - what Thrust picks out, removes, parts and moves. */
#include <algorithm>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/gather.h>
#include <thrust/partition.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include "held.h"

struct is_odd {
    __host__ __device__ bool operator()(int x) const { return x & 1; }
};
struct pixel {
    char red;
    int weight;
};
struct lighten {
    __host__ __device__ pixel operator()(int x) const { return {(char)(x & 127), x}; }
};
struct weight_of {
    __host__ __device__ int operator()(pixel p) const { return p.weight + p.red; }
};

template <typename T> static std::vector<T> back(const thrust::device_vector<T> &d)
{
    std::vector<T> h(d.size());
    thrust::copy(d.begin(), d.end(), h.begin());
    return h;
}

static void picks(const std::vector<int> &h)
{
    size_t n = h.size();
    thrust::device_vector<int> d = h, out(n);
    std::vector<int> want;
    std::copy_if(h.begin(), h.end(), std::back_inserter(want), is_odd());
    out.resize(thrust::copy_if(d.begin(), d.end(), out.begin(), is_odd()) - out.begin());
    hold(back(out) == want, "copy_if");
    d.resize(thrust::remove_if(d.begin(), d.end(), is_odd()) - d.begin());
    want.clear();
    std::remove_copy_if(h.begin(), h.end(), std::back_inserter(want), is_odd());
    hold(back(d) == want, "remove_if");
    d = h;
    thrust::stable_partition(d.begin(), d.end(), is_odd());
    want = h;
    std::stable_partition(want.begin(), want.end(), is_odd());
    hold(back(d) == want, "stable_partition");
    d = h;
    auto middle = thrust::partition(d.begin(), d.end(), is_odd());
    hold(middle - d.begin() == std::count_if(h.begin(), h.end(), is_odd()), "partition");
    std::vector<int> names = h, numbered(n);
    for (size_t i = 0; i < n; i++) {
        names[i] /= 300;
        numbered[i] = (int)i;
    }
    thrust::device_vector<int> dk = names, dv = numbered;
    auto end = thrust::unique_by_key(dk.begin(), dk.end(), dv.begin());
    dv.resize(end.second - dv.begin());
    want.clear();
    for (size_t i = 0; i < n; i++)
        if (!i || names[i] != names[i - 1])
            want.push_back((int)i);
    hold(back(dv) == want, "unique_by_key");
}

static void moves(const std::vector<int> &h)
{
    size_t n = h.size();
    thrust::device_vector<int> d = h, map(n), out(n);
    thrust::sequence(map.begin(), map.end());
    thrust::reverse(map.begin(), map.end());
    thrust::gather(map.begin(), map.end(), d.begin(), out.begin());
    std::vector<int> want(h.rbegin(), h.rend());
    hold(back(out) == want, "gather");
    thrust::scatter(out.begin(), out.end(), map.begin(), d.begin());
    hold(back(d) == h, "scatter");
    thrust::device_vector<pixel> picture(n); /* 3 of 8 bytes are nobody's */
    thrust::transform(d.begin(), d.end(), picture.begin(), lighten());
    thrust::device_vector<pixel> second = picture;
    thrust::transform(second.begin(), second.end(), out.begin(), weight_of());
    for (size_t i = 0; i < n; i++)
        want[i] = h[i] + (h[i] & 127);
    hold(back(out) == want, "transform");
    thrust::replace_if(out.begin(), out.end(), is_odd(), 0);
    for (int &x : want)
        x = x & 1 ? 0 : x;
    hold(back(out) == want, "replace_if");
}

int main()
{
    picks(numbers(700, 1000));
    picks(numbers(20000, 1000));
    moves(numbers(5000, 1000));
    puts("PASS");
}
