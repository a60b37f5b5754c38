// nbody.cu - forces through tiles of bodies in shared memory, two steps of leapfrog
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
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

const int BLOCK = 64;

__host__ __device__ float3 pull(float3 a, float4 p, float4 q)
{
    float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
    float d2 = dx * dx + dy * dy + dz * dz + 0.01f, inverse = 1 / sqrtf(d2), s = q.w * inverse * inverse * inverse;
    a.x += dx * s;
    a.y += dy * s;
    a.z += dz * s;
    return a;
}

__global__ void step(const float4 *p, float4 *next, float3 *v, int n, float dt)
{
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 me = i < n ? p[i] : make_float4(0, 0, 0, 0);
    float3 a = make_float3(0, 0, 0);
    for (int from = 0; from < n; from += BLOCK) {
        tile[threadIdx.x] = from + threadIdx.x < n ? p[from + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
            a = pull(a, me, tile[k]);
        __syncthreads();
    }
    if (i >= n)
        return;
    v[i] = make_float3(v[i].x + a.x * dt, v[i].y + a.y * dt, v[i].z + a.z * dt);
    next[i] = make_float4(me.x + v[i].x * dt, me.y + v[i].y * dt, me.z + v[i].z * dt, me.w);
}

int main()
{
    const int n = 100;
    const float dt = 0.01f;
    std::vector<float4> p(n), q(n), got(n);
    std::vector<float3> v(n);
    for (int i = 0; i < n; i++)
        p[i] = make_float4((i * 7) % 31 * 0.1f, (i * 13) % 29 * 0.1f, (i * 3) % 23 * 0.1f, 1 + i % 3);
    float4 *d[2];
    float3 *dv;
    for (auto &x : d)
        CK(cudaMalloc(&x, n * sizeof(float4)));
    CK(cudaMalloc(&dv, n * sizeof(float3)));
    CK(cudaMemset(dv, 0, n * sizeof(float3)));
    CK(cudaMemcpy(d[0], p.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    for (int s = 0; s < 2; s++) {
        step<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d[s], d[1 - s], dv, n, dt);
        for (int i = 0; i < n; i++) {
            float3 a = make_float3(0, 0, 0);
            for (int k = 0; k < n; k++)
                a = pull(a, p[i], p[k]);
            v[i] = make_float3(v[i].x + a.x * dt, v[i].y + a.y * dt, v[i].z + a.z * dt);
            q[i] = make_float4(p[i].x + v[i].x * dt, p[i].y + v[i].y * dt, p[i].z + v[i].z * dt, p[i].w);
        }
        p.swap(q);
    }
    CK(cudaMemcpy(got.data(), d[0], n * sizeof(float4), cudaMemcpyDeviceToHost));
    float worst = 0;
    for (int i = 0; i < n; i++)
        worst = std::max(worst, fabsf(got[i].x - p[i].x) + fabsf(got[i].y - p[i].y) + fabsf(got[i].z - p[i].z));
    for (auto x : d)
        CK(cudaFree(x));
    CK(cudaFree(dv));
    return finish(worst < 1e-3f);
}
