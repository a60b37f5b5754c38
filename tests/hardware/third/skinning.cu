// Graphics: vertices moved by two of 128 bones each: bones by lane from constant memory, from global memory, from
// shared memory in rows of 12 and of 13 floats.
#include "kit.cuh"
const int B = 128;
__constant__ float bones_c[B * 12];
template <class F> __device__ inline float3 move(F bone, int b, float3 v)
{
    return make_float3(bone(b, 0) * v.x + bone(b, 1) * v.y + bone(b, 2) * v.z + bone(b, 3),
                       bone(b, 4) * v.x + bone(b, 5) * v.y + bone(b, 6) * v.z + bone(b, 7),
                       bone(b, 8) * v.x + bone(b, 9) * v.y + bone(b, 10) * v.z + bone(b, 11));
}
template <class F> __device__ inline float3 skin(F bone, uchar2 id, float w, float3 v)
{
    float3 p = move(bone, id.x, v), q = move(bone, id.y, v);
    return make_float3(w * p.x + (1 - w) * q.x, w * p.y + (1 - w) * q.y, w * p.z + (1 - w) * q.z);
}
__global__ void from_constant(const float3 *v, const uchar2 *id, const float *w, float3 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = skin([](int b, int k) { return bones_c[b * 12 + k]; }, id[i], w[i], v[i]);
}
__global__ void from_global(const float3 *v, const uchar2 *id, const float *w, const float *bones, float3 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = skin([=](int b, int k) { return bones[b * 12 + k]; }, id[i], w[i], v[i]);
}
template <int P>
__global__ void from_shared(const float3 *v, const uchar2 *id, const float *w, const float *bones, float3 *out, int n)
{
    __shared__ float s[B * P];
    for (int k = threadIdx.x; k < B * 12; k += blockDim.x)
        s[k / 12 * P + k % 12] = bones[k];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = skin([](int b, int k) { return s[b * P + k]; }, id[i], w[i], v[i]);
}
int main()
{
    int n = 3 << 20;
    std::vector<float3> v(n);
    std::vector<uchar2> id(n);
    std::vector<float> w(n), b(B * 12), want(3 * n);
    for (auto &x : b)
        x = unit() - .5f;
    for (int i = 0; i < n; i++) {
        v[i] = make_float3(unit(), unit(), unit());
        id[i].x = rnd() & 127;
        id[i].y = rnd() & 127;
        w[i] = unit();
    }
    for (int i = 0; i < n; i++)
        for (int r = 0; r < 3; r++) {
            float q[2];
            for (int k = 0; k < 2; k++) {
                float *m = &b[(k ? id[i].y : id[i].x) * 12 + r * 4];
                q[k] = m[0] * v[i].x + m[1] * v[i].y + m[2] * v[i].z + m[3];
            }
            want[3 * i + r] = w[i] * q[0] + (1 - w[i]) * q[1];
        }
    float3 *dv = up(v), *o[4];
    uchar2 *di = up(id);
    float *dw = up(w), *db = up(b);
    for (auto &p : o)
        p = room<float3>(n);
    CK(cudaMemcpyToSymbol(bones_c, b.data(), sizeof bones_c));
    from_constant<<<n / 256, 256>>>(dv, di, dw, o[0], n);
    from_global<<<n / 256, 256>>>(dv, di, dw, db, o[1], n);
    from_shared<12><<<1056, 256>>>(dv, di, dw, db, o[2], n);
    from_shared<13><<<1056, 256>>>(dv, di, dw, db, o[3], n);
    for (int k = 0; k < 4; k++)
        same("skin", down((float *)o[k], 3 * n), want, 1e-5);
    return verdict();
}
