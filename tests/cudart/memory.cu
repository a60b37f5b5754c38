// memory.cu - what every call on memory returns, right and wrong use alike.
// EXPECT: ok
#include "check.h"

__device__ int symbol[4];

static void copies(char *h, char *pinned, char *d, char *d2, char *managed)
{
    // Rows: the destination; columns: the source; pageable, pinned, device, managed, symbol. By cudaMemcpyKind.
    static const int want[5][5][5] = {
        {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
        {{1, 1, 1, 1, 1}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
        {{1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}},
        {{1, 1, 1, 1, 1}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}},
        {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
    };
    void *s;
    OK(cudaGetSymbolAddress(&s, symbol));
    void *to[] = {h + 2048, pinned + 500, d2, managed + 500, s};
    const void *from[] = {h, pinned, d, managed, s};
    for (int kind = 0; kind < 5; kind++)
        for (int a = 0; a < 5; a++)
            for (int b = 0; b < 5; b++)
                IS(cudaMemcpy(to[a], from[b], 8, (cudaMemcpyKind)kind), want[kind][a][b]);
    IS(cudaMemcpy(0, d, 8, cudaMemcpyDeviceToHost), 1);
    IS(cudaMemcpy(d, 0, 8, cudaMemcpyHostToDevice), 1);
    IS(cudaMemcpy(d, h, 4, (cudaMemcpyKind)9), 21);
    OK(cudaMemcpy(0, 0, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(d, h, 1000, cudaMemcpyHostToDevice));
    IS(cudaMemcpy(d, h, 1001, cudaMemcpyHostToDevice), 1);
    IS(cudaMemcpy(d + 1, h, 1000, cudaMemcpyHostToDevice), 1);
    OK(cudaMemcpy(d + 999, h, 1, cudaMemcpyHostToDevice));
    IS(cudaMemset(d, 0, 1001), 1);
    OK(cudaMemset(0, 0, 0));
    IS(cudaMemset(0, 0, 4), 1);
    IS(cudaMemset(h, 0, 4), 1);
    OK(cudaMemset(pinned, 0, 4));
    OK(cudaMemcpyPeer(d, 0, managed, 0, 8));
    IS(cudaMemcpyPeer(d, 1, managed, 0, 8), 101);
}

static void boxes(char *h, char *d)
{
    IS(cudaMemcpy2D(d, 16, h, 16, 32, 4, cudaMemcpyHostToDevice), 12);
    IS(cudaMemcpy2D(d, 32, h, 32, 16, 40, cudaMemcpyHostToDevice), 1);
    OK(cudaMemcpy2D(d, 32, h, 32, 16, 31, cudaMemcpyHostToDevice));
    IS(cudaMemcpy2D(d, 32, h, 32, 32, 32, cudaMemcpyHostToDevice), 1);
    for (int i = 0; i < 4096; i++)
        h[i] = (char)i;
    char *p;
    size_t pitch = 0;
    for (int width = 1; width < 2000; width += 499) {
        OK(cudaMallocPitch(&p, &pitch, width, 10));
        TRUE(pitch == (width + 511) / 512 * 512u);
        OK(cudaFree(p));
    }
    p = (char *)1;
    OK(cudaMallocPitch(&p, &pitch, 0, 10));
    TRUE(!p && !pitch);
    OK(cudaMallocPitch(&p, &pitch, 20, 3));
    OK(cudaMemset2D(p, pitch, 9, 20, 3));
    OK(cudaMemcpy2D(p + 2, pitch, h, 10, 10, 3, cudaMemcpyHostToDevice));
    char back[3 * 20];
    OK(cudaMemcpy2D(back, 20, p, pitch, 20, 3, cudaMemcpyDeviceToHost));
    TRUE(back[0] == 9 && back[2] == 0 && back[11] == 9 && back[12] == 9 && back[20 + 2] == 10 && back[40 + 11] == 29);
    OK(cudaFree(p));

    cudaPitchedPtr box;
    OK(cudaMalloc3D(&box, make_cudaExtent(8, 4, 3)));
    OK(cudaMemset3D(box, 1, make_cudaExtent(8, 4, 3)));
    cudaMemcpy3DParms parms = {};
    char cube[2][2][4] = {{"abc", "def"}, {"ghi", "jkl"}};
    parms.srcPtr = make_cudaPitchedPtr(cube, 4, 4, 2);
    parms.dstPtr = box;
    parms.dstPos = make_cudaPos(3, 1, 1);
    parms.extent = make_cudaExtent(4, 2, 2);
    parms.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&parms));
    char all[3][4][8];
    parms = {};
    parms.srcPtr = box;
    parms.dstPtr = make_cudaPitchedPtr(all, 8, 8, 4);
    parms.extent = make_cudaExtent(8, 4, 3);
    parms.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&parms));
    TRUE(all[0][0][0] == 1 && all[1][1][2] == 1 && all[1][1][3] == 'a' && all[1][2][4] == 'e' && all[2][2][5] == 'l');
    OK(cudaFree(box.ptr));
}

static void pointers(char *h, char *pinned, char *d, char *managed)
{
    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, h));
    TRUE(a.type == cudaMemoryTypeUnregistered && a.device == -2 && !a.devicePointer && a.hostPointer == h);
    OK(cudaPointerGetAttributes(&a, pinned + 10));
    TRUE(a.type == cudaMemoryTypeHost && a.device == 0 && a.devicePointer == pinned + 10 && a.hostPointer == pinned + 10);
    OK(cudaPointerGetAttributes(&a, d + 10));
    TRUE(a.type == cudaMemoryTypeDevice && a.device == 0 && a.devicePointer == d + 10 && !a.hostPointer);
    OK(cudaPointerGetAttributes(&a, managed));
    TRUE(a.type == cudaMemoryTypeManaged && a.devicePointer == managed && a.hostPointer == managed);
    void *dp;
    unsigned flags;
    OK(cudaHostGetDevicePointer(&dp, pinned, 0));
    TRUE(dp == pinned);
    IS(cudaHostGetDevicePointer(&dp, h, 0), 1);
    OK(cudaHostGetFlags(&flags, pinned));
    TRUE(flags == 2);
    IS(cudaHostGetFlags(&flags, h), 1);
}

int main()
{
    char *h = (char *)malloc(4096), *pinned, *d, *d2, *managed, *z = (char *)1;
    OK(cudaMalloc(&d, 1000));
    OK(cudaMalloc(&d2, 1000));
    OK(cudaMallocHost(&pinned, 1000));
    OK(cudaMallocManaged(&managed, 1000));
    TRUE((size_t)d % 512 == 0 && (size_t)managed % 512 == 0);
    OK(cudaMalloc(&z, 0));
    TRUE(!z);
    IS(cudaMalloc((void **)0, 4), 1);
    z = (char *)1;
    IS(cudaMalloc(&z, 1ull << 45), 2);
    TRUE(!z);
    IS(cudaMalloc(&z, ~0ull), 2);
    IS(cudaGetLastError(), 2);
    OK(cudaMallocManaged(&z, 0));
    OK(cudaMallocHost(&z, 0));
    IS(cudaMallocManaged(&z, 4, 7), 1);
    copies(h, pinned, d, d2, managed);
    boxes(h, d);
    pointers(h, pinned, d, managed);

    cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, there = {cudaMemLocationTypeDevice, 1};
    IS(cudaMemPrefetchAsync(h, 4, here, 0, 0), 1);
    OK(cudaMemPrefetchAsync(managed, 4, here, 0, 0));
    IS(cudaMemPrefetchAsync(managed, 4, there, 0, 0), 101);
    OK(cudaMemAdvise(managed, 4, cudaMemAdviseSetReadMostly, here));
    IS(cudaMemAdvise(d, 4, cudaMemAdviseSetReadMostly, here), 1);

    OK(cudaFree(0));
    IS(cudaFree(d + 8), 1);
    IS(cudaFree(h), 1);
    IS(cudaFree(pinned), 1);
    IS(cudaFreeHost(d), 1);
    IS(cudaFreeHost(h), 1);
    OK(cudaFreeHost(0));
    OK(cudaFree(d2));
    IS(cudaFree(d2), 1);
    IS(cudaMemcpy(d2, h, 8, cudaMemcpyHostToDevice), 1);
    IS(cudaFreeHost(managed), 1);
    OK(cudaFreeAsync(d, 0));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(managed));
    OK(cudaHostRegister(h, 4096, 0));
    IS(cudaHostRegister(h, 4096, 0), 712);
    OK(cudaHostUnregister(h));
    IS(cudaHostUnregister(h), 713);
    IS(cudaHostRegister(0, 4096, 0), 1);

    cudaMemPool_t pool;
    int reuse = 0;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
    TRUE(reuse == 1);
    unsigned long long keep = 1 << 20, kept = 0;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
    TRUE(kept == keep);
    OK(cudaMallocAsync(&d, 100, 0));
    OK(cudaMemcpyAsync(d, h, 100, cudaMemcpyHostToDevice, 0));
    OK(cudaFreeAsync(d, 0));
    size_t free0, free1, total;
    OK(cudaMemGetInfo(&free0, &total));
    OK(cudaMalloc(&d, 1 << 20));
    OK(cudaMemGetInfo(&free1, &total));
    TRUE(free0 - free1 >= 1 << 20 && free0 <= total);
    free(h);
    DONE();
}
