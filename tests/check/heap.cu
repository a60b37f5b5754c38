/* heap.cu - the heap of device-side malloc. cases.cuh says how to read it. */
#include "cases.cuh"

template <bool fault> __global__ void piece_not_written(int n, int *out)
{
    volatile int *p = (volatile int *)malloc(n * sizeof(int));
    for (int i = 0; i < n - (fault ? 1 : 0); i++)
        p[i] = i;
    int v = p[n - 1]; // EXPECT: init/heap
    if (v > 3)
        *out = v;
    free((void *)p);
}
CASE(piece_not_written, 0)
{
    piece_not_written<fault><<<1, 1>>>(16, zeros(1));
}

template <bool fault> __global__ void past_the_piece(int n, int *out)
{
    volatile int *p = (volatile int *)malloc(n * sizeof(int));
    for (int i = 0; fault ? i <= n : i < n; i++)
        p[i] = i; // EXPECT: bounds/heap
    *out = p[0];
    free((void *)p);
}
CASE(past_the_piece, 0)
{
    past_the_piece<fault><<<1, 1>>>(16, zeros(1));
}

/* A size that is no multiple of the heap's own granularity. */
template <bool fault> __global__ void past_an_odd_piece(int *out)
{
    volatile char *p = (volatile char *)malloc(13);
    p[fault ? 13 : 12] = 1; // EXPECT: bounds/heap
    *out = 1;
    free((void *)p);
}
CASE(past_an_odd_piece, 0)
{
    past_an_odd_piece<fault><<<1, 1>>>(zeros(1));
}

template <bool fault> __global__ void used_after_free(int *out)
{
    volatile int *p = (volatile int *)malloc(64);
    p[0] = threadIdx.x;
    if (!fault)
        *out = p[0];
    free((void *)p);
    if (fault)
        *out = p[0]; // EXPECT: bounds/heap
}
CASE(used_after_free, 0)
{
    used_after_free<fault><<<1, 1>>>(zeros(1));
}

template <bool fault> __global__ void freed_twice(int *out)
{
    int *p = (int *)malloc(64);
    *out = p != nullptr;
    free(p);
    free(fault ? p : nullptr); // EXPECT: bounds/heap-free
}
CASE(freed_twice, 0)
{
    freed_twice<fault><<<1, 1>>>(zeros(1));
}

template <bool fault> __global__ void freed_inside(int *out)
{
    int *p = (int *)malloc(64);
    *out = p != nullptr;
    free(fault ? p + 1 : p); // EXPECT: bounds/heap-free
}
CASE(freed_inside, 0)
{
    freed_inside<fault><<<1, 1>>>(zeros(1));
}

template <bool fault> __global__ void frees_the_hosts(int *out)
{
    if (fault)
        free(out); // EXPECT: bounds/heap-free
    else
        *out = 1;
}
CASE(frees_the_hosts, 0)
{
    frees_the_hosts<fault><<<1, 1>>>(zeros(1));
}

/* One element too many, where the next piece is another thread's. */
template <bool fault> __global__ void into_the_next(int *out, int n)
{
    int *p = (int *)malloc(n * sizeof(int)), sum = 0;
    for (int i = 0; i < n + fault; i++)
        p[i] = i; // EXPECT: bounds/heap
    for (int i = 0; i < n; i++)
        sum += p[i];
    out[threadIdx.x] = sum;
    free(p);
}
CASE(into_the_next, 0)
{
    into_the_next<fault><<<1, 32>>>(zeros(32), 16);
}

/* A piece for the block, which one thread gets and all fill. */
template <bool fault> __global__ void piece_of_the_block(int *out)
{
    __shared__ int *piece;
    if (threadIdx.x == 0)
        piece = (int *)malloc(64 * sizeof(int));
    __syncthreads();
    piece[threadIdx.x] = threadIdx.x; // OTHER
    if (!fault)
        __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = piece[63 - threadIdx.x]; // EXPECT: race/write-read
    __syncthreads();
    if (threadIdx.x == 0)
        free(piece);
}
CASE(piece_of_the_block, 0)
{
    piece_of_the_block<fault><<<2, 64>>>(zeros(128));
}

/* Pieces that are used again: what was there before is nobody's business. */
template <bool fault> __global__ void again_and_again(int *out)
{
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        int *p = (int *)malloc(32);
        p[0] = k;
        if (fault && k == 2)
            free(p);
        sum += p[0]; // EXPECT: bounds/heap
        if (!fault || k != 2)
            free(p);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
CASE(again_and_again, 0)
{
    again_and_again<fault><<<2, 64>>>(zeros(128));
}

/* A counter in a piece that one launch leaves to the next. */
template <bool fault> __global__ void leave_a_piece(int **where)
{
    *where = (int *)malloc(16);
    **where = 0;
}
template <bool fault> __global__ void all_count(int **where)
{
    if (fault)
        **where += threadIdx.x + 1; // EXPECT: race/*
    else
        atomicAdd(*where, threadIdx.x + 1);
    if (blockIdx.x > 1000)
        free(*where);
}
CASE(all_count, 0)
{
    int **where = zeros<int *>(1);
    leave_a_piece<fault><<<1, 1>>>(where);
    all_count<fault><<<2, 32>>>(where);
}

struct Node {
    Node *next;
    int value;
};
/* Lists of the threads' own: built, walked and freed by another launch. */
template <bool fault> __global__ void build(Node **heads, int n)
{
    Node *head = nullptr;
    for (int i = 0; i < n; i++) {
        Node *node = (Node *)malloc(sizeof(Node));
        node->next = head;
        if (!fault || i)
            node->value = i;
        head = node;
    }
    heads[threadIdx.x] = head;
}
template <bool fault> __global__ void walk(Node **heads, int *out)
{
    int sum = 0;
    for (Node *at = heads[threadIdx.x]; at;) {
        sum += at->value; // EXPECT: init/heap
        Node *next = at->next;
        free(at);
        at = next;
    }
    out[threadIdx.x] = sum;
}
CASE(lists, 0)
{
    Node **heads = zeros<Node *>(64);
    build<fault><<<1, 64>>>(heads, 5);
    walk<fault><<<1, 64>>>(heads, zeros(64));
}

template <bool fault> __global__ void not_given_back(int *out)
{
    // FIX: free()
    int *p = (int *)malloc(48); // EXPECT: bounds/leak
    p[0] = 3;
    out[threadIdx.x] = p[0];
    if (!fault)
        free(p);
}
CASE(not_given_back, ALONE | LEAKS)
{
    not_given_back<fault><<<1, 32>>>(zeros(32));
}
