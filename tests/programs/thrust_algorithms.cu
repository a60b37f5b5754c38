// thrust_algorithms.cu - sort, reduce, transform, scan, unique and a counting iterator
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#include <algorithm>
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

static int finish(bool good)
{
    puts(good ? "PASS" : "FAIL");
    return !good;
}

struct square {
    __host__ __device__ int operator()(int x) const
    {
        return x * x;
    }
};

int main()
{
    const int n = 300;
    std::vector<int> host(n), sorted, scanned(n);
    for (int i = 0; i < n; i++)
        host[i] = i * 57 % 97;
    thrust::device_vector<int> v(host.begin(), host.end()), s(n);
    bool good = thrust::reduce(v.begin(), v.end()) == std::accumulate(host.begin(), host.end(), 0);
    good &= thrust::transform_reduce(v.begin(), v.end(), square(), 0, thrust::plus<int>()) ==
            std::inner_product(host.begin(), host.end(), host.begin(), 0);
    thrust::inclusive_scan(v.begin(), v.end(), s.begin());
    thrust::copy(s.begin(), s.end(), scanned.begin());
    for (int i = 0, sum = 0; i < n; i++)
        good &= scanned[i] == (sum += host[i]);
    thrust::sort(v.begin(), v.end());
    int different = thrust::unique(v.begin(), v.end()) - v.begin();
    sorted.resize(different);
    thrust::copy(v.begin(), v.begin() + different, sorted.begin());
    std::sort(host.begin(), host.end());
    host.erase(std::unique(host.begin(), host.end()), host.end());
    good &= sorted == host;
    thrust::counting_iterator<int> first(1);
    good &= thrust::reduce(first, first + 100) == 5050;
    return finish(good);
}
