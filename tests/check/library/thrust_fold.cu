/* thrust_fold.cu - sums, extremes and running sums of Thrust, by key too. */
#include <algorithm>
#include <numeric>
#include <thrust/adjacent_difference.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/inner_product.h>
#include <thrust/logical.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/transform_reduce.h>

#include "held.h"

struct square {
    __host__ __device__ long long operator()(int x) const { return (long long)x * x; }
};
struct is_odd {
    __host__ __device__ bool operator()(int x) const { return x & 1; }
};

template <typename T> static std::vector<T> back(const thrust::device_vector<T> &d)
{
    std::vector<T> h(d.size());
    thrust::copy(d.begin(), d.end(), h.begin());
    return h;
}

static void folds(const std::vector<int> &h)
{
    size_t n = h.size();
    thrust::device_vector<int> d = h;
    long long sum = 0, squares = 0, odd = 0;
    for (int x : h) {
        sum += x;
        squares += (long long)x * x;
        odd += x & 1;
    }
    hold(thrust::reduce(d.begin(), d.end(), 0ll) == sum, "reduce");
    hold(thrust::transform_reduce(d.begin(), d.end(), square(), 0ll, thrust::plus<long long>()) == squares,
         "transform_reduce");
    hold(thrust::inner_product(d.begin(), d.end(), d.begin(), 0ll) == squares, "inner_product");
    hold(thrust::count_if(d.begin(), d.end(), is_odd()) == odd, "count_if");
    hold(thrust::max_element(d.begin(), d.end()) - d.begin() == std::max_element(h.begin(), h.end()) - h.begin(),
         "max_element");
    auto both = thrust::minmax_element(d.begin(), d.end());
    hold(*both.first == *std::min_element(h.begin(), h.end()), "minmax_element");
    hold(thrust::any_of(d.begin(), d.end(), is_odd()) == (odd > 0), "any_of");
    thrust::device_vector<int> out(n);
    std::vector<int> want(n);
    thrust::adjacent_difference(d.begin(), d.end(), out.begin());
    std::adjacent_difference(h.begin(), h.end(), want.begin());
    hold(back(out) == want, "adjacent_difference");
}

static void scans(const std::vector<int> &h)
{
    size_t n = h.size();
    thrust::device_vector<int> d = h, out(n);
    std::vector<int> want(n), keys(n), key_sums, key_names;
    thrust::inclusive_scan(d.begin(), d.end(), out.begin());
    std::partial_sum(h.begin(), h.end(), want.begin());
    hold(back(out) == want, "inclusive_scan");
    thrust::exclusive_scan(d.begin(), d.end(), d.begin(), 5);
    int before = 5;
    for (size_t i = 0; i < n; i++) {
        want[i] = before;
        before += h[i];
    }
    hold(back(d) == want, "exclusive_scan in place");
    for (size_t i = 0; i < n; i++)
        keys[i] = (int)(i / 37);
    thrust::device_vector<int> dk = keys, dv = h, ok(n), ov(n);
    auto end = thrust::reduce_by_key(dk.begin(), dk.end(), dv.begin(), ok.begin(), ov.begin());
    for (size_t i = 0; i < n; i++) {
        if (i % 37 == 0)
            key_sums.push_back(0);
        key_sums.back() += h[i];
        want[i] = key_sums.back();
    }
    ov.resize(end.second - ov.begin());
    hold(back(ov) == key_sums, "reduce_by_key");
    thrust::inclusive_scan_by_key(dk.begin(), dk.end(), dv.begin(), out.begin());
    hold(back(out) == want, "inclusive_scan_by_key");
}

int main()
{
    folds(numbers(500, 1000));
    folds(numbers(20000, 1000));
    scans(numbers(500, 1000));
    scans(numbers(20000, 1000));
    puts("PASS");
}
