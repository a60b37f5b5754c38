/* grid.cuh - grids of few blocks: what more of them can do, and what they cannot. */
#include <cooperative_groups.h>

/* Each value is made of the one before. */
// ADVISE few_chains: nothing
__global__ void few_chains(float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i * 1e-3f;
    for (int k = 0; k < n; k++)
        x = sinf(x) * 1.1f + 0.3f;
    c[i] = x;
}

// ADVISE chain_a_block: nothing
__global__ void chain_a_block(float *c, int n)
{
    float x = blockIdx.x * 1e-3f;
    for (int k = 0; k < n; k++)
        x = sinf(x) * 1.1f + 0.3f;
    c[blockIdx.x] = x;
}

/* Each thread goes down a tree of its own, with a stack of where it has yet to go. */
// ADVISE few_stacks: gather without=more-blocks
__global__ void few_stacks(int *c, const int *a, int n)
{
    int stack[32], top = 1, sum = 0, i = blockIdx.x * blockDim.x + threadIdx.x;
    stack[0] = i;
    for (int k = 0; k < n && top; k++) {
        int at = a[stack[--top]] & (N - 1);
        sum += at & 7;
        if (top < 30) {
            stack[top++] = at;
            if (at & 1)
                stack[top++] = at / 2;
        }
    }
    c[i] = sum;
}

/* Managed memory that the host has written. */
// ADVISE pages_of_host: prefetch
__global__ void pages_of_host(float *c, const float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] += a[i];
}

/* The same, after the host has sent it ahead. */
// ADVISE pages_ahead: nothing without=prefetch
__global__ void pages_ahead(float *c, const float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] += a[i];
}

/* Sums can be added up in parts, and so can the greatest be found. */
// ADVISE few_sums: more-blocks blocks=8
__global__ void few_sums(float *c, const float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float sum = 0, most = 0;
    for (int k = i; k < N; k += n) {
        sum += a[k];
        most = fmaxf(most, a[k]);
    }
    c[i] = sum + most;
}

/* The place in a ring that goes round is known beforehand. */
// ADVISE few_rings: more-blocks blocks=8
__global__ void few_rings(float *c, const float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, at = 0;
    float sum = 0;
#pragma unroll 1
    for (int k = i; k < N; k += n) {
        sum += a[k] * (at + 1);
        at = at == 2 ? 0 : at + 1;
    }
    c[i] = sum;
}

/* Each step reads what all threads of the block made in the one before. */
// ADVISE steps_of_a_block: nothing
__global__ void steps_of_a_block(float *c, const float *a, int n)
{
    __shared__ float best[2][64];
    int i = threadIdx.x;
    best[0][i] = a[i];
    for (int k = 1; k < n; k++) {
        __syncthreads();
        float most = 0;
        for (int j = 0; j < 64; j++)
            most = fmaxf(most, best[~k & 1][(i + j) & 63] + 1);
        best[k & 1][i] = most;
    }
    c[i] = best[~n & 1][i];
}

/* The same of a grid, which meets in each step. */
// ADVISE steps_of_a_grid: nothing
__global__ void steps_of_a_grid(const float *a, float *c)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    c[i] = a[i];
    for (int k = 0; k < 40; k++) {
        grid.sync();
        float next = c[(i + 1) % n] + c[(i + n - 1) % n];
        grid.sync();
        c[i] = next;
    }
}

/* Two reads of a byte by neighbours, the second of which finds what the first one brought: a tile takes as long. The
 * grid ends inside a block. */
// ADVISE neighbours: nothing without=stage
__global__ void neighbours(int *c, const unsigned long long *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = i && a[i] != a[i - 1];
}

/* Of the lanes that try the swap together one wins, however they are numbered. */
// ADVISE push_all: nothing without=divergence
__global__ void push_all(unsigned *next, unsigned *head)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, old = 0, seen;
    do {
        seen = old;
        next[i] = seen;
        old = atomicCAS(head, seen, i + 1);
    } while (old != seen);
}

/* 25 lanes hold a matrix, and hand its elements round: they cannot be others. */
// ADVISE matrix_a_warp: nothing without=divergence
__global__ void matrix_a_warp(int *c, const int *a)
{
    int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (lane >= 25)
        return;
    int v = a[warp * 32 + lane];
    for (int k = 0; k < 200; k++)
        v = (v ^ __shfl_sync(0x1ffffffu, v, lane % 5 * 5 + lane / 5)) * 5 + k;
    c[warp * 32 + lane] = v;
}

/* The last warp has 4 of 32 lanes to do: no other numbering fills it. */
// ADVISE last_warp: nothing
__global__ void last_warp(float *c, const float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = a[i];
    for (int k = 0; k < 200; k++)
        v = v * 1.0001f + .5f / (1 + v * v);
    c[i] = v;
}

/* What whole numbers take is done with each element, and four of them at once take as long. */
// ADVISE whole_numbers: nothing without=vectors
__global__ void whole_numbers(unsigned *c, const unsigned *a, unsigned divisor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = a[i];
    for (int k = 0; k < 24; k++)
        v = (v ^ v >> 3) * 2654435761u % (divisor + v);
    c[i] = v;
}
/* The same of what no load brought. */
// ADVISE made_of_index: nothing without=vectors
__global__ void made_of_index(unsigned *c, unsigned divisor)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = i;
    for (int k = 0; k < 24; k++)
        v = (v ^ v >> 3) * 2654435761u % (divisor + v);
    c[i] = v;
}
/* The same of a loop that ends where its values say so, and of which what is stored says how long it was. */
// ADVISE steps_to_leave: nothing without=vectors
__global__ void steps_to_leave(unsigned short *c, int most)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = (i / 1024) * 1e-3f;
    int k = 0;
    for (; k < most && v < 1e6f; k++)
        v = v * v + 0.2501f;
    c[i] = (unsigned short)k;
}
/* Lanes hand values on step by step, and join none: each pair of strings takes its own steps. */
// ADVISE along_diagonals: nothing small=vectors
__global__ void along_diagonals(unsigned char *c, const unsigned char *a, const unsigned char *b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const int mine = a[i], theirs = b[i];
    int left = lane + 1, above = lane;
#pragma unroll
    for (int k = 0; k < 63; k++) {
        const int diagonal = above, other = __shfl_sync(~0u, theirs, k - lane & 31);
        above = __shfl_up_sync(~0u, left, 1);
        left = min(min(left, above) + 1, diagonal + (mine != other));
    }
    c[i] = (unsigned char)left;
}
