/* thrust_order.cu - sorts of Thrust, of one and several tiles, and what works on what is sorted. */
#include <algorithm>
#include <numeric>
#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/merge.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include "held.h"

struct by_last_digit {
    __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; }
};

template <typename T> static std::vector<T> back(const thrust::device_vector<T> &d)
{
    std::vector<T> h(d.size());
    thrust::copy(d.begin(), d.end(), h.begin());
    return h;
}

static void sorts(size_t n)
{
    std::vector<int> h = numbers(n, 100000);
    thrust::device_vector<int> radix = h, merge = h, keys = h, values(n);
    std::vector<int> want = h, digits = h, order(n);
    thrust::sort(radix.begin(), radix.end());
    std::sort(want.begin(), want.end());
    hold(back(radix) == want, "sort");
    thrust::stable_sort(merge.begin(), merge.end(), by_last_digit());
    std::stable_sort(digits.begin(), digits.end(), by_last_digit());
    hold(back(merge) == digits, "stable_sort");
    for (size_t i = 0; i < n; i++)
        order[i] = (int)i;
    values = order;
    thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return h[a] < h[b]; });
    hold(back(values) == order, "stable_sort_by_key");
}

static void sorted_ranges(size_t n)
{
    std::vector<int> a = numbers(n, 5000, 7), b = numbers(n, 5000, 11), want;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    thrust::device_vector<int> da = a, db = b, out(2 * n);
    thrust::merge(da.begin(), da.end(), db.begin(), db.end(), out.begin());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(want));
    hold(back(out) == want, "merge");
    want.clear();
    auto end = thrust::set_intersection(da.begin(), da.end(), db.begin(), db.end(), out.begin());
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(want));
    out.resize(end - out.begin());
    hold(back(out) == want, "set_intersection");
    thrust::device_vector<int> found(n);
    thrust::lower_bound(da.begin(), da.end(), db.begin(), db.end(), found.begin());
    std::vector<int> place(n);
    for (size_t i = 0; i < n; i++)
        place[i] = (int)(std::lower_bound(a.begin(), a.end(), b[i]) - a.begin());
    hold(back(found) == place, "lower_bound");
    da.erase(thrust::unique(da.begin(), da.end()), da.end());
    a.erase(std::unique(a.begin(), a.end()), a.end());
    hold(back(da) == a, "unique");
}

int main()
{
    sorts(300);
    sorts(10000);
    sorted_ranges(3000);
    puts("PASS");
}
