/* own_flags.cu - a recurrence whose elements say by themselves whether they are there: a NaN is not. Nothing else is handed over
 * with them, so they need no fence. */
#include <cmath>
#include <cstdio>

enum { N = 256, BACK = 5 };

/* Each element is made of those before it, as soon as they are there; others of its warp may wait for it meanwhile. */
__global__ void follow(volatile double *x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, first = i < BACK ? 0 : i - BACK;
    double sum = 1;
    int at = first;
    for (bool done = false; !done;) {
        while (at < i) {
            const double before = x[at];
            if (isnan(before))
                break;
            sum += before / (1 + i - at);
            at++;
        }
        if (at == i) {
            x[i] = sum;
            done = true;
        }
    }
}

int main()
{
    static double got[N], want[N];
    double *x;
    cudaMalloc(&x, sizeof got);
    cudaMemset(x, 0xff, sizeof got);
    follow<<<N / 64, 64>>>(x);
    if (cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    cudaFree(x);
    for (int i = 0; i < N; i++) {
        want[i] = 1;
        for (int k = i < BACK ? 0 : i - BACK; k < i; k++)
            want[i] += want[k] / (1 + i - k);
        if (!(fabs(got[i] - want[i]) <= 1e-12 * want[i])) {
            printf("element %d is %g, and not %g\n", i, got[i], want[i]);
            return 1;
        }
    }
    puts("PASS");
    return 0;
}
