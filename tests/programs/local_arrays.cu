/* local_arrays.cu - arrays of a thread's own: of bytes to doubles, at one index in all lanes and at each lane's, read as
 * other types than they were written as, and through pointers that are not known to be local. Held to the host.
 */
#include "kit.cuh"

#include <cstring>

#define THREADS 100
#define WORDS 24

__host__ __device__ static unsigned mix(unsigned h, unsigned x)
{
    h = (h ^ x) * 0x9e3779b1u;
    return h ^ h >> 15;
}

/* Not inlined: of `p` nothing is known. */
__host__ __device__ __noinline__ static unsigned sum_of(const unsigned char *p, unsigned n, unsigned h)
{
    for (unsigned i = 0; i < n; i++)
        h = mix(h, p[i]);
    return h;
}

__host__ __device__ __noinline__ static void shift_all(double *p, unsigned n, double by)
{
    for (unsigned i = 0; i < n; i++)
        p[i] += by;
}

/* Of floats without a rounding but the sum's. */
template <typename T> __host__ __device__ static T step(T a, T b)
{
    return (T)0.5 == 0 ? (T)(a * 3 + b) : (T)(a * (T)0.5 + b * (T)0.25);
}

template <typename T> __host__ __device__ static unsigned of_elements(unsigned t, unsigned n, const unsigned *in)
{
    T own[WORDS];
    unsigned h = t;
    for (unsigned i = 0; i < n; i++)
        own[i] = (T)(in[(t + i) % 64] >> i % 7);
    for (unsigned i = 0; i < 2 * n; i++) { /* each lane at a place of its own, some of them not at all */
        unsigned k = in[(t * 5 + i) % 64] % n;
        if ((t + i) % 3)
            own[k] = step(own[k], own[(k + i) % n]);
        else if (t % 5 == 1)
            continue;
        h = mix(h, (unsigned)(long long)own[k]);
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned half[2] = {0, 0};
        memcpy(half, &own[i], sizeof(T) < 8 ? sizeof(T) : 8);
        h = mix(mix(h, half[0]), half[1]);
    }
    return sum_of((const unsigned char *)own, n * sizeof(T), h);
}

__host__ __device__ static unsigned of_thread(unsigned t, unsigned n, const unsigned *in)
{
    union {
        unsigned char byte[8 * WORDS];
        unsigned short half[4 * WORDS];
        double wide[WORDS];
        float4 four[WORDS / 2];
    } own;
    unsigned h = of_elements<unsigned char>(t, n, in);
    h = mix(h, of_elements<unsigned short>(t, n, in));
    h = mix(h, of_elements<unsigned>(t, n, in));
    h = mix(h, of_elements<unsigned long long>(t, n, in));
    h = mix(h, of_elements<float>(t, n, in));
    h = mix(h, of_elements<double>(t, n, in));
    for (unsigned i = 0; i < n / 2; i++) {
        float x = (float)(in[(t + i) % 64] & 1023);
        own.four[i] = float4{x, x + 1, -x, (float)t};
    }
    for (unsigned i = 0; i < n; i++)
        own.half[in[(i + t) % 64] % (4 * n)] ^= (unsigned short)(in[i] >> 3);
    for (unsigned i = 0; i < n; i++)
        own.byte[in[i] % (8 * n)] += (unsigned char)i;
    for (unsigned i = 0; i < n; i++)
        own.wide[i] = own.wide[i] == own.wide[i] ? own.wide[i] : 1;
    shift_all(own.wide, t % n, 0.5);
    return sum_of(own.byte, 8 * n, h);
}

__global__ void kernel(const unsigned *in, unsigned n, unsigned *out)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = of_thread(t, n, in);
}

int main()
{
    const unsigned blocks = 3, n = WORDS;
    std::vector<unsigned> in(64), out(blocks * THREADS);
    unsigned seed = 7;
    for (unsigned &x : in)
        x = seed = seed * 1664525u + 1013904223u;
    unsigned *d_in, *d_out;
    CK(cudaMalloc(&d_in, in.size() * 4));
    CK(cudaMalloc(&d_out, out.size() * 4));
    CK(cudaMemcpy(d_in, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
    kernel<<<blocks, THREADS>>>(d_in, n, d_out);
    CK(cudaMemcpy(out.data(), d_out, out.size() * 4, cudaMemcpyDeviceToHost));
    unsigned bad = 0;
    for (unsigned t = 0; t < out.size(); t++)
        bad += out[t] != of_thread(t, n, in.data());
    printf("%s\n%u of %zu threads differ\n", bad ? "FAIL" : "PASS", bad, out.size());
    return bad != 0;
}
