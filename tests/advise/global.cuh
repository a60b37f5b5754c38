/* global.cuh - kernels whose first advice is about accesses to global and constant memory (kernels.cu). */
/* ---- the wrong way round ---- */

// ADVISE add_by_columns: swap twin=add_by_rows
__global__ void add_by_columns(float *c, const float *a, const float *b)
{
    int row = blockIdx.x * 16 + threadIdx.x, col = blockIdx.y * 16 + threadIdx.y;
    c[row * W + col] = a[row * W + col] + b[row * W + col];
}

// ADVISE add_by_rows: nothing
__global__ void add_by_rows(float *c, const float *a, const float *b)
{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    c[row * W + col] = a[row * W + col] + b[row * W + col];
}

/* One step of an elimination: rows along x, from the middle of a sector on, and two elements of the array read by many. */
// ADVISE eliminate: swap
__global__ void eliminate(float *a, int k)
{
    int i = blockIdx.x * 16 + threadIdx.x + k + 1, j = blockIdx.y * 16 + threadIdx.y + k + 1;
    a[i * W + j] -= a[i * W + k] * a[k * W + j];
}

// ADVISE write_columns: swap twin=write_rows
__global__ void write_columns(float *out)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[x * W + y] = x * 0.5f + y;
}
__global__ void write_rows(float *out)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[y * W + x] = x * 0.5f + y;
}

// ADVISE copy_chunks: swap says=advance_by_the_number_of_threads twin=copy_strided
__global__ void copy_chunks(float *out, const float *in)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; k++)
        out[t * 16 + k] = in[t * 16 + k] * 3;
}
__global__ void copy_strided(float *out, const float *in)
{
    int t = blockIdx.x * blockDim.x * 16 + threadIdx.x;
    for (int k = 0; k < 16; k++)
        out[t + k * blockDim.x] = in[t + k * blockDim.x] * 3;
}
/* Each step needs the one before: it is the array that has to be turned, not the walk. */
// ADVISE filter_rows: swap says=its_steps_wait_for_one_another
__global__ void filter_rows(float *out, const float *in, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float held = 0;
    for (int k = 0; k < n; k++) {
        held = held * 0.75f + in[t * n + k];
        out[t * n + k] = held;
    }
}

/* A thread sums a row: its own order is wanted, so a tile must change it. */
// ADVISE sum_rows: stage-order verdict=pay twin=sum_rows_tiled
__global__ void sum_rows(float *out, const float *in)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 64; k++)
        sum += in[row * 64 + k];
    out[row] = sum;
}

// ADVISE sum_rows_tiled: nothing verdict=already
__global__ void sum_rows_tiled(float *out, const float *in)
{
    __shared__ float tile[128][33];
    int t = threadIdx.x, row = blockIdx.x * 128;
    float sum = 0;
    for (int c = 0; c < 64; c += 32) {
        for (int r = t / 32; r < 128; r += 4)
            tile[r][t % 32] = in[(row + r) * 64 + c + t % 32];
        __syncthreads();
        for (int k = 0; k < 32; k++)
            sum += tile[t][k];
        __syncthreads();
    }
    out[row + t] = sum;
}

/* ---- records ---- */
struct particle {
    float x, y, z, w;
};

// ADVISE sum_fields: vectorise twin=sum_vector
__global__ void sum_fields(float *out, const float *in)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) & NEAR;
    int k = i & 1023;
    out[i] = in[4 * k] + in[4 * k + 1] + in[4 * k + 2] + in[4 * k + 3];
}
__global__ void sum_vector(float *out, const float4 *in)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) & NEAR;
    float4 v = in[i & 1023];
    out[i] = v.x + v.y + v.z + v.w;
}

// ADVISE one_field: fields twin=one_array
__global__ void one_field(float *out, const particle *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i].y * 2;
}
__global__ void one_array(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2;
}

/* All fields are used: a tile would help, separate arrays need none. */
struct point {
    float x, y, z;
};
// ADVISE lengths: fields twin=lengths_apart
__global__ void lengths(float *out, const point *in)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) & NEAR;
    int k = i & 1023;
    out[i] = in[k].x * in[k].x + in[k].y * in[k].y + in[k].z * in[k].z;
}
__global__ void lengths_apart(float *out, const float *x, const float *y, const float *z)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) & NEAR;
    int k = i & 1023;
    out[i] = x[k] * x[k] + y[k] * y[k] + z[k] * z[k];
}

// ADVISE every_32nd: fields twin=packed
__global__ void every_32nd(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * 32] * 2;
}
__global__ void packed(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2;
}

/* All lanes read one element: one sector, and no reason for a tile. */
// ADVISE broadcast: nothing
__global__ void broadcast(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[blockIdx.x] * threadIdx.x;
}

/* ---- where accesses start ---- */

// ADVISE shifted: align twin=aligned
__global__ void shifted(float *out, const float *in)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) & NEAR;
    out[i + 1] = in[i + 1] * 2;
}
__global__ void aligned(float *out, const float *in)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) & NEAR;
    out[i] = in[i] * 2;
}

// ADVISE narrow_block: widen twin=wide_block
__global__ void narrow_block(float *out, const float *in)
{
    int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 64 + threadIdx.y;
    out[y * W + x] = in[y * W + x] * 2;
}

__global__ void wide_block(float *out, const float *in)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[y * W + x] = in[y * W + x] * 2;
}

/* Threads along y alone: what lies between them belongs to other blocks. */
// ADVISE column_block: widen twin=wide_block
__global__ void column_block(float *out, const float *in)
{
    int x = blockIdx.x, y = blockIdx.y * 256 + threadIdx.y;
    out[y * W + x] = in[y * W + x] * 2;
}

/* A block goes down a column of pairs, which are no records of a row's length. */
// ADVISE column_of_pairs: widen twin=columns_of_pairs
__global__ void column_of_pairs(float2 *out, const float2 *in)
{
    int i = threadIdx.x * (W / 2) + blockIdx.x;
    float2 v = in[i];
    out[i] = make_float2(v.x + v.y, v.x - v.y);
}
__global__ void columns_of_pairs(float2 *out, const float2 *in)
{
    for (int row = threadIdx.x / 4; row < 256; row += 64) {
        int i = row * (W / 2) + blockIdx.x * 4 + threadIdx.x % 4;
        float2 v = in[i];
        out[i] = make_float2(v.x + v.y, v.x - v.y);
    }
}

/* Bins one after the other, in each an element for each block: as far apart as a record is long, and none. */
// ADVISE column_of_bins: widen without=fields
__global__ void column_of_bins(int *out, const int *in)
{
    int sum = 0;
    for (int i = threadIdx.x; i < N / 128; i += blockDim.x)
        sum += in[i * gridDim.x + blockIdx.x];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ADVISE gather: gather
__global__ void gather(float *out, const float *in, const int *index)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[index[i]];
}

/* A sector anywhere, of which each thread uses all: no order and no tile make fewer of them. */
// ADVISE whole_sectors: nothing
__global__ void whole_sectors(int *out, const uint4 *in)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 *at = in + (i * 2654435761u >> 15) * 2;
    uint4 low = at[0];
    uint4 high = at[1];
    out[i] = (low.x & high.x) + (low.y & high.y) + (low.z & high.z) + (low.w & high.w);
}

/* ---- reuse ---- */

/* A small table is as near in the first cache as in shared memory: 6.4 us on an H200, and so is look_up_shared. */
// ADVISE look_up: gather
__global__ void look_up(float *out, const int *index, const float *table)
{
    int i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    for (int k = 0; k < 8; k++)
        out[i + k * blockDim.x] = table[index[i + k * blockDim.x] & 255];
}

/* A table in constant memory, and coefficients there: the one is read at as many places as there are lanes, the others
 * at one. */
__constant__ float constants[256];
// ADVISE look_up_constant: constant verdict=pay twin=look_up_shared
__global__ void look_up_constant(float *out, const int *index)
{
    int i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    for (int k = 0; k < 8; k++)
        out[i + k * blockDim.x] = constants[index[i + k * blockDim.x] & 255];
}
/* So many different accesses by one instruction that a sample of them is kept: the same in every run. */
// ADVISE look_up_constant_often: constant verdict=pay
__global__ void look_up_constant_often(float *out, const int *index)
{
    int i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 8; k++)
        out[i + k * blockDim.x] = constants[index[i + k * blockDim.x] >> 7 & 255];
}
// ADVISE look_up_shared: nothing
__global__ void look_up_shared(float *out, const int *index, const float *table)
{
    __shared__ float mine[256];
    int i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    mine[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 8; k++)
        out[i + k * blockDim.x] = mine[index[i + k * blockDim.x] & 255];
}
// ADVISE coefficients: nothing
__global__ void coefficients(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0, v = in[i];
#pragma unroll 1
    for (int k = 0; k < 8; k++)
        sum = sum * v + constants[k];
    out[i] = sum;
}

/* Three points: what a tile saves, its barrier costs. */
// ADVISE smooth3: nothing verdict=no
__global__ void smooth3(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 8;
    out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}
// ADVISE smooth3_tiled: nothing verdict=needed
__global__ void smooth3_tiled(float *out, const float *in)
{
    __shared__ float tile[258];
    int t = threadIdx.x, i = blockIdx.x * 256 + t + 8;
    tile[t + 1] = in[i];
    if (t == 0)
        tile[0] = in[i - 1];
    if (t == 255)
        tile[257] = in[i + 1];
    __syncthreads();
    out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3;
}

/* A tile with its halo, filled in one loop over its 34 x 18 elements: rows end in the middle of a warp. */
// ADVISE blur3x3_tiled: coarsen says=use_each_word_of_the_tile
__global__ void blur3x3_tiled(float *out, const float *in)
{
    __shared__ float tile[18][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 18 * 34; k += 512) {
        int from = (blockIdx.y * 16 + k / 34) * W + blockIdx.x * 32 + k % 34;
        tile[k / 34][k % 34] = from < W * W ? in[from] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            sum += tile[threadIdx.y + r][threadIdx.x + c];
    out[y * W + x] = sum / 9;
}

// ADVISE stencil9: nothing
__global__ void stencil9(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 16;
    float sum = 0;
    for (int k = -4; k <= 4; k++)
        sum += in[i + k];
    out[i] = sum;
}

__global__ void stencil9_tiled(float *out, const float *in)
{
    __shared__ float tile[272]; /* from a sector's start on: four of the eight before the first are not used */
    int t = threadIdx.x, i = blockIdx.x * 256 + t + 16;
    for (int k = t; k < 272; k += 256)
        tile[k] = in[i - t + k - 8];
    __syncthreads();
    float sum = 0;
    for (int k = 4; k <= 12; k++)
        sum += tile[t + k];
    out[i] = sum;
}

// ADVISE blur5x5: stage
__global__ void blur5x5(float *out, const float *in)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < 2 || y < 2 || x >= W - 2 || y >= W - 2)
        return;
    float sum = 0;
    for (int r = -2; r <= 2; r++)
        for (int c = -2; c <= 2; c++)
            sum += in[(y + r) * W + x + c];
    out[y * W + x] = sum / 25;
}

/* A block reads the top of a tree many times, and of the rest what its keys lead to: no tile can be filled with that. */
struct node {
    int child[2], value;
};
// ADVISE walk_tree: gather without=stage
__global__ void walk_tree(int *out, const int *keys, const node *tree)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = 0, found = 0;
    unsigned key = (unsigned)keys[i] * 2654435761u;
    for (int depth = 8 + key % 9; depth > 0; depth--, key >>= 1) {
        found += tree[at].value;
        at = tree[at].child[key & 1];
    }
    out[i] = found;
}
/* The fields of a node are neighbours in one line of the source, which makes no walk along the array of it. */
// ADVISE walk_fields: divergence without=stage-order
__global__ void walk_fields(int *out, const int *keys, const node *tree)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = 0, found = 0;
    unsigned key = (unsigned)keys[i] * 2654435761u;
    for (int depth = 8 + key % 9; depth > 0; depth--, key >>= 1) {
        node n = tree[at];
        found += n.value;
        at = key & 1 ? n.child[1] : n.child[0];
    }
    out[i] = found;
}
