// Maps: which of 128 triangles' edges lie left of points: a polygon by lane from constant memory, all lanes at one
// edge, edges from shared memory by lane.
#include "kit.cuh"
const int E = 256;
struct Edge {
    float a, b, c;
};
__constant__ Edge edges_c[E];
__global__ void by_lane(const float2 *p, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 q = p[i];
    int in = 0;
    for (int k = 0; k < 32; k++) {
        Edge e = edges_c[(i * 7 + k * 3) & (E - 1)];
        in += e.a * q.x + e.b * q.y > e.c;
    }
    out[i] = in;
}
__global__ void by_lane_shared(const float2 *p, int *out, int n)
{
    __shared__ Edge s[E];
    if (threadIdx.x < E)
        s[threadIdx.x] = edges_c[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 q = p[i];
    int in = 0;
    for (int k = 0; k < 32; k++) {
        Edge e = s[(i * 7 + k * 3) & (E - 1)];
        in += e.a * q.x + e.b * q.y > e.c;
    }
    out[i] = in;
}
__global__ void together(const float2 *p, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 q = p[i];
    int in = 0;
    for (int k = 0; k < E; k++) {
        Edge e = edges_c[k];
        in += e.a * q.x + e.b * q.y > e.c;
    }
    out[i] = in;
}
int main()
{
    int n = 1 << 20;
    std::vector<float2> p(n);
    std::vector<Edge> e(E);
    std::vector<int> w1(n), w2(n);
    for (auto &v : p) {
        v.x = (int)(unit() * 64);
        v.y = (int)(unit() * 64);
    }
    for (auto &v : e) {
        v.a = (int)(rnd() % 17) - 8;
        v.b = (int)(rnd() % 17) - 8;
        v.c = (int)(rnd() % 400) - 200 + .5f;
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 32; k++) {
            Edge x = e[(i * 7 + k * 3) & (E - 1)];
            w1[i] += x.a * p[i].x + x.b * p[i].y > x.c;
        }
        for (int k = 0; k < E; k++)
            w2[i] += e[k].a * p[i].x + e[k].b * p[i].y > e[k].c;
    }
    float2 *d = up(p);
    int *a = room<int>(n), *b = room<int>(n), *c = room<int>(n);
    CK(cudaMemcpyToSymbol(edges_c, e.data(), sizeof edges_c));
    by_lane<<<n / 256, 256>>>(d, a, n);
    by_lane_shared<<<n / 256, 256>>>(d, b, n);
    together<<<n / 256, 256>>>(d, c, n);
    same("by_lane", down(a, n), w1);
    same("by_lane_shared", down(b, n), w1);
    same("together", down(c, n), w2);
    return verdict();
}
