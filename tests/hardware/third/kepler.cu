// Astronomy: Kepler's equation E - e sin E = M in double precision: until it has converged, so many steps for all, and
// in float.
#include "kit.cuh"
__global__ void until(const double *m, const double *e, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double M = m[i], ec = e[i], E = M;
    for (int k = 0; k < 40; k++) {
        double f = E - ec * sin(E) - M, d = f / (1 - ec * cos(E));
        E -= d;
        if (fabs(d) < 1e-12)
            break;
    }
    out[i] = E;
}
__global__ void fixed_steps(const double *m, const double *e, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double M = m[i], ec = e[i], E = M;
    for (int k = 0; k < 6; k++) {
        double s, c;
        sincos(E, &s, &c);
        E -= (E - ec * s - M) / (1 - ec * c);
    }
    out[i] = E;
}
__global__ void singles(const double *m, const double *e, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float M = m[i], ec = e[i], E = M;
    for (int k = 0; k < 6; k++) {
        float s, c;
        sincosf(E, &s, &c);
        E -= (E - ec * s - M) / (1 - ec * c);
    }
    out[i] = E;
}
int main()
{
    int n = 2000000;
    std::vector<double> m(n), e(n), want(n);
    std::vector<float> wf(n);
    for (int i = 0; i < n; i++) {
        m[i] = 6.28 * unit();
        e[i] = 0.5 * unit();
        double E = m[i];
        for (int k = 0; k < 12; k++)
            E -= (E - e[i] * sin(E) - m[i]) / (1 - e[i] * cos(E));
        want[i] = E;
        wf[i] = E;
    }
    double *dm = up(m), *de = up(e), *a = room<double>(n), *b = room<double>(n);
    float *c = room<float>(n);
    until<<<(n + 255) / 256, 256>>>(dm, de, a, n);
    fixed_steps<<<(n + 255) / 256, 256>>>(dm, de, b, n);
    singles<<<(n + 255) / 256, 256>>>(dm, de, c, n);
    same("until", down(a, n), want, 1e-10);
    same("fixed", down(b, n), want, 1e-7);
    same("singles", down(c, n), wf, 1e-4);
    return verdict();
}
