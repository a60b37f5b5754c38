// Phylogenetics: likelihoods of sites joined from two subtrees (4 states, double): records of four by site, planes of
// sites, a state a thread.
#include "kit.cuh"
struct V {
    double s[4];
};
__constant__ double pc[32];
__global__ void records(const V *l, const V *r, const double *p, V *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int a = 0; a < 4; a++) {
        double x = 0, y = 0;
        for (int b = 0; b < 4; b++) {
            x += p[a * 4 + b] * l[i].s[b];
            y += p[16 + a * 4 + b] * r[i].s[b];
        }
        out[i].s[a] = x * y;
    }
}
__global__ void planes(const double *l, const double *r, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double L[4], R[4];
    for (int b = 0; b < 4; b++) {
        L[b] = l[b * n + i];
        R[b] = r[b * n + i];
    }
    for (int a = 0; a < 4; a++) {
        double x = 0, y = 0;
        for (int b = 0; b < 4; b++) {
            x += pc[a * 4 + b] * L[b];
            y += pc[16 + a * 4 + b] * R[b];
        }
        out[a * n + i] = x * y;
    }
}
__global__ void state_each(const double *l, const double *r, const double *p, double *out, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, a = k & 3;
    if (k >= 4 * n)
        return;
    double mine = l[k], his = r[k], x = 0, y = 0;
    for (int b = 0; b < 4; b++) {
        x += pc[a * 4 + b] * __shfl_sync(~0u, mine, b, 4);
        y += pc[16 + a * 4 + b] * __shfl_sync(~0u, his, b, 4);
    }
    out[k] = x * y;
}
int main()
{
    int n = 3 << 20;
    std::vector<V> l(n), r(n);
    std::vector<double> p(32), lp(4 * n), rp(4 * n), want(4 * n), wp(4 * n);
    for (auto &v : p)
        v = unit();
    for (int i = 0; i < n; i++)
        for (int s = 0; s < 4; s++) {
            lp[s * n + i] = l[i].s[s] = unit();
            rp[s * n + i] = r[i].s[s] = unit();
        }
    for (int i = 0; i < n; i++)
        for (int a = 0; a < 4; a++) {
            double x = 0, y = 0;
            for (int b = 0; b < 4; b++) {
                x += p[a * 4 + b] * l[i].s[b];
                y += p[16 + a * 4 + b] * r[i].s[b];
            }
            wp[a * n + i] = want[i * 4 + a] = x * y;
        }
    V *dl = up(l), *dr = up(r), *a = room<V>(n);
    double *dp = up(p), *el = up(lp), *er = up(rp), *b = room<double>(4 * n), *c = room<double>(4 * n);
    CK(cudaMemcpyToSymbol(pc, p.data(), sizeof pc));
    records<<<n / 256, 256>>>(dl, dr, dp, a, n);
    planes<<<n / 256, 256>>>(el, er, b, n);
    state_each<<<n / 64, 256>>>((double *)dl, (double *)dr, dp, c, n);
    same("records", down((double *)a, 4 * n), want, 1e-12);
    same("planes", down(b, 4 * n), wp, 1e-12);
    same("state_each", down(c, 4 * n), want, 1e-12);
    return verdict();
}
