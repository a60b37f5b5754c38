// Speech: the best path's score through a hidden Markov model of 16 states: a thread a sequence with its scores in a
// local array, the same unrolled into registers, and a state a thread with scores in shared memory.
#include "kit.cuh"
const int S = 16, T = 24;
__global__ void locals(const int *trans, const int *emit, const uint8_t *obs, int *out, int n, int live)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v[S], u[S];
    for (int s = 0; s < live; s++)
        v[s] = 0;
    for (int t = 0; t < T; t++) {
        int o = obs[i * T + t];
        for (int s = 0; s < live; s++) {
            int best = -1 << 30;
            for (int p = 0; p < live; p++)
                best = max(best, v[p] + trans[p * S + s]);
            u[s] = best + emit[s * 32 + o];
        }
        for (int s = 0; s < live; s++)
            v[s] = u[s];
    }
    int best = v[0];
    for (int s = 1; s < live; s++)
        best = max(best, v[s]);
    out[i] = best;
}
__global__ void registers(const int *trans, const int *emit, const uint8_t *obs, int *out, int n)
{
    __shared__ int tr[S * S];
    for (int k = threadIdx.x; k < S * S; k += blockDim.x)
        tr[k] = trans[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v[S], u[S];
#pragma unroll
    for (int s = 0; s < S; s++)
        v[s] = 0;
#pragma unroll 1
    for (int t = 0; t < T; t++) {
        int o = obs[t * n + i];
#pragma unroll
        for (int s = 0; s < S; s++) {
            int best = -1 << 30;
#pragma unroll
            for (int p = 0; p < S; p++)
                best = max(best, v[p] + tr[p * S + s]);
            u[s] = best + emit[s * 32 + o];
        }
#pragma unroll
        for (int s = 0; s < S; s++)
            v[s] = u[s];
    }
    int best = v[0];
#pragma unroll
    for (int s = 1; s < S; s++)
        best = max(best, v[s]);
    out[i] = best;
}
__global__ void states(const int *trans, const int *emit, const uint8_t *obs, int *out, int n)
{
    __shared__ int v[2][8][S];
    __shared__ int em[S][32];
    int s = threadIdx.x, q = threadIdx.y, i = blockIdx.x * 8 + q;
    for (int k = q * S + s; k < S * 32; k += 128)
        em[k / 32][k % 32] = emit[k];
    int tr[S];
    for (int p = 0; p < S; p++)
        tr[p] = trans[p * S + s];
    v[0][q][s] = 0;
    __syncthreads();
    for (int t = 0; t < T; t++) {
        int o = obs[i * T + t], best = -1 << 30;
        for (int p = 0; p < S; p++)
            best = max(best, v[t & 1][q][p] + tr[p]);
        v[~t & 1][q][s] = best + em[s][o];
        __syncthreads();
    }
    if (s == 0) {
        int best = v[T & 1][q][0];
        for (int p = 1; p < S; p++)
            best = max(best, v[T & 1][q][p]);
        out[i] = best;
    }
}
int main()
{
    int n = 65536;
    std::vector<int> tr(S * S), em(S * 32), want(n);
    std::vector<uint8_t> obs(n * T), ot(n * T);
    for (auto &x : tr)
        x = -(int)(rnd() % 500);
    for (auto &x : em)
        x = -(int)(rnd() % 900);
    for (auto &x : obs)
        x = rnd() & 31;
    for (int i = 0; i < n; i++) {
        int v[S] = {0}, u[S];
        for (int t = 0; t < T; t++) {
            ot[t * n + i] = obs[i * T + t];
            for (int s = 0; s < S; s++) {
                int b = -1 << 30;
                for (int p = 0; p < S; p++)
                    b = std::max(b, v[p] + tr[p * S + s]);
                u[s] = b + em[s * 32 + obs[i * T + t]];
            }
            memcpy(v, u, sizeof v);
        }
        int b = v[0];
        for (int s = 1; s < S; s++)
            b = std::max(b, v[s]);
        want[i] = b;
    }
    int *dt = up(tr), *de = up(em), *a = room<int>(n), *b = room<int>(n), *c = room<int>(n);
    uint8_t *dobs = up(obs), *dot = up(ot);
    locals<<<n / 64, 64>>>(dt, de, dobs, a, n, S);
    registers<<<n / 64, 64>>>(dt, de, dot, b, n);
    states<<<n / 8, dim3(S, 8)>>>(dt, de, dobs, c, n);
    same("locals", down(a, n), want);
    same("registers", down(b, n), want);
    same("states", down(c, n), want);
    return verdict();
}
