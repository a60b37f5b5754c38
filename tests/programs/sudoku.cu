// sudoku.cu - by elimination and depth-first search on a stack of its own, a thread a puzzle
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

struct board {
    unsigned char cell[16];
};

__host__ __device__ bool fits(const board &b, int at, int v)
{
    int r = at / 4, c = at % 4;
    for (int i = 0; i < 4; i++)
        if (b.cell[r * 4 + i] == v || b.cell[i * 4 + c] == v ||
            b.cell[(r / 2 * 2 + i / 2) * 4 + c / 2 * 2 + i % 2] == v)
            return false;
    return true;
}

__host__ __device__ int solutions(board b)
{
    int empty[16], n = 0, depth = 0, found = 0;
    for (int i = 0; i < 16; i++)
        if (!b.cell[i])
            empty[n++] = i;
    while (depth >= 0) {
        if (depth == n) {
            found++;
            depth--;
            continue;
        }
        int v = b.cell[empty[depth]];
        b.cell[empty[depth]] = 0;
        do
            v++;
        while (v <= 4 && !fits(b, empty[depth], v));
        if (v > 4) {
            depth--;
        } else {
            b.cell[empty[depth]] = v;
            depth++;
        }
    }
    return found;
}

__global__ void solve(const board *boards, int *found, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        found[i] = solutions(boards[i]);
}

int main()
{
    const int n = 24;
    const unsigned char full[16] = {1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 2, 1};
    std::vector<board> boards(n);
    std::vector<int> got(n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 16; k++)
            boards[i].cell[k] = (k * 7 + i) % 16 < 6 ? full[k] : 0;
    board *d;
    int *found;
    CK(cudaMalloc(&d, n * sizeof(board)));
    CK(cudaMalloc(&found, n * sizeof(int)));
    CK(cudaMemcpy(d, boards.data(), n * sizeof(board), cudaMemcpyHostToDevice));
    solve<<<1, 32>>>(d, found, n);
    CK(cudaMemcpy(got.data(), found, n * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++)
        good &= got[i] == solutions(boards[i]) && got[i] >= 1;
    CK(cudaFree(d));
    CK(cudaFree(found));
    return finish(good);
}
