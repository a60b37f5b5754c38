// naive_bayes.cu - a table of class by feature counted with atomics, then the best class of each sample
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

const int CLASSES = 3, FEATURES = 8;

__global__ void train(const unsigned char *sample, const int *label, int n, int *table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int f = 0; f < FEATURES; f++)
        if (sample[i] >> f & 1)
            atomicAdd(&table[label[i] * (FEATURES + 1) + f], 1);
    atomicAdd(&table[label[i] * (FEATURES + 1) + FEATURES], 1);
}

__host__ __device__ int best_class(unsigned char sample, const int *table)
{
    int best = 0;
    double most = -1e30;
    for (int c = 0; c < CLASSES; c++) {
        const int *t = table + c * (FEATURES + 1);
        double p = t[FEATURES];
        for (int f = 0; f < FEATURES; f++)
            p *= (sample >> f & 1 ? t[f] + 1.0 : t[FEATURES] - t[f] + 1.0) / (t[FEATURES] + 2.0);
        if (p > most) {
            most = p;
            best = c;
        }
    }
    return best;
}

__global__ void classify(const unsigned char *sample, int n, const int *table, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = best_class(sample[i], table);
}

int main()
{
    const int n = 200;
    std::vector<unsigned char> sample(n);
    std::vector<int> label(n), table(CLASSES * (FEATURES + 1)), out(n), gtable(table.size());
    for (int i = 0; i < n; i++) {
        label[i] = i % CLASSES;
        sample[i] = (0x0f << label[i] * 2) ^ (1 << i * 7 % 8);
        for (int f = 0; f < FEATURES; f++)
            table[label[i] * (FEATURES + 1) + f] += sample[i] >> f & 1;
        table[label[i] * (FEATURES + 1) + FEATURES]++;
    }
    unsigned char *d;
    int *dlabel, *dtable, *dout;
    CK(cudaMalloc(&d, n));
    CK(cudaMalloc(&dlabel, n * sizeof(int)));
    CK(cudaMalloc(&dtable, table.size() * sizeof(int)));
    CK(cudaMalloc(&dout, n * sizeof(int)));
    CK(cudaMemcpy(d, sample.data(), n, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dlabel, label.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemset(dtable, 0, table.size() * sizeof(int)));
    train<<<2, 128>>>(d, dlabel, n, dtable);
    classify<<<2, 128>>>(d, n, dtable, dout);
    CK(cudaMemcpy(gtable.data(), dtable, table.size() * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(out.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = gtable == table;
    for (int i = 0; i < n; i++)
        good &= out[i] == best_class(sample[i], table.data());
    for (void *p : {(void *)d, (void *)dlabel, (void *)dtable, (void *)dout})
        CK(cudaFree(p));
    return finish(good);
}
