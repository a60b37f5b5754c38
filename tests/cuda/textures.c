/* textures.c - an array, a texture and a surface through the driver: what a kernel reads and writes there. */
#include "check.h"

#define KERNELS                                                                                                \
    ".version 7.8\n.target sm_80\n.address_size 64\n"                                                          \
    ".visible .entry reads(.param .u64 t, .param .u64 out)\n"                                                  \
    "{\n .reg .b64 %rd<6>;\n .reg .b32 %r<4>;\n .reg .f32 %f<8>;\n"                                            \
    " ld.param.u64 %rd1, [t];\n ld.param.u64 %rd2, [out];\n mov.u32 %r1, %tid.x;\n cvt.rn.f32.u32 %f1, %r1;\n" \
    " add.f32 %f1, %f1, 0f3F800000;\n mov.f32 %f2, 0f3FC00000;\n"                                              \
    " tex.2d.v4.f32.f32 {%f3, %f4, _, _}, [%rd1, {%f1, %f2}];\n mul.wide.u32 %rd3, %r1, 8;\n"                  \
    " add.s64 %rd4, %rd2, %rd3;\n st.global.v2.f32 [%rd4], {%f3, %f4};\n ret;\n}\n"                            \
    ".visible .entry writes(.param .u64 s)\n"                                                                  \
    "{\n .reg .b64 %rd<3>;\n .reg .b32 %r<6>;\n ld.param.u64 %rd1, [s];\n mov.u32 %r1, %tid.x;\n"              \
    " shl.b32 %r2, %r1, 3;\n mov.u32 %r3, %ctaid.x;\n mov.u32 %r4, 0;\n"                                       \
    " sust.b.2d.v2.b32.trap [%rd1, {%r2, %r3}], {%r1, %r3};\n ret;\n}\n"

int main(void)
{
    enum { W = 8, H = 4 };
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction reads, writes;
    CUarray array, none;
    CUtexObject texture;
    CUsurfObject surface;
    CUdeviceptr out;
    float data[H][W][2], got[7][2];
    unsigned raw[H][W][2];
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, KERNELS));
    OK(cuModuleGetFunction(&reads, module, "reads"));
    OK(cuModuleGetFunction(&writes, module, "writes"));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            data[y][x][0] = (float)(x + 10 * y), data[y][x][1] = (float)-x;
    CUDA_ARRAY3D_DESCRIPTOR form = {.Width = W,
                                    .Height = H,
                                    .Format = CU_AD_FORMAT_FLOAT,
                                    .NumChannels = 2,
                                    .Flags = CUDA_ARRAY3D_SURFACE_LDST},
                            same;
    OK(cuArray3DCreate(&array, &form));
    OK(cuArray3DGetDescriptor(&same, array));
    TRUE(same.Width == W && same.Height == H && same.Format == CU_AD_FORMAT_FLOAT && same.NumChannels == 2 &&
         same.Flags == CUDA_ARRAY3D_SURFACE_LDST);
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = data,
                          .srcPitch = sizeof(data[0]),
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = sizeof(data[0]),
                          .Height = H};
    OK(cuMemcpy2D(&copy));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP},
                             .filterMode = CU_TR_FILTER_MODE_LINEAR};
    OK(cuTexObjectCreate(&texture, &resource, &how, NULL));
    OK(cuMemAlloc(&out, sizeof(got)));
    void *args[] = {&texture, &out};
    OK(cuLaunchKernel(reads, 1, 1, 1, 7, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(got, out, sizeof(got)));
    for (int x = 0; x < 7; x++) /* half-way between two texels of the second row */
        TRUE(got[x][0] == (float)x + 10.5f && got[x][1] == (float)-x - 0.5f);
    OK(cuTexObjectDestroy(texture));
    /* its bits as integers, without a filter: the kernel takes them for what they are */
    CUDA_RESOURCE_VIEW_DESC bits = {.format = CU_RES_VIEW_FORMAT_UINT_2X32, .width = W, .height = H}, asked;
    how.filterMode = CU_TR_FILTER_MODE_POINT;
    how.flags = CU_TRSF_READ_AS_INTEGER;
    OK(cuTexObjectCreate(&texture, &resource, &how, &bits));
    OK(cuLaunchKernel(reads, 1, 1, 1, 7, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(got, out, sizeof(got)));
    for (int x = 0; x < 7; x++)
        TRUE(got[x][0] == (float)x + 11 && got[x][1] == (float)-x - 1);
    OK(cuTexObjectGetResourceViewDesc(&asked, texture));
    TRUE(asked.format == bits.format && asked.width == W && asked.height == H);
    OK(cuTexObjectDestroy(texture));
    OK(cuSurfObjectCreate(&surface, &resource));
    void *surface_args[] = {&surface};
    OK(cuLaunchKernel(writes, H, 1, 1, W, 1, 1, 0, NULL, surface_args, NULL));
    copy = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = array,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = raw,
                           .dstPitch = sizeof(raw[0]),
                           .WidthInBytes = sizeof(raw[0]),
                           .Height = H};
    OK(cuMemcpy2D(&copy));
    for (unsigned y = 0; y < H; y++)
        for (unsigned x = 0; x < W; x++)
            TRUE(raw[y][x][0] == x && raw[y][x][1] == y);
    OK(cuMemcpyAtoH(raw, array, 8, 16));
    TRUE(raw[0][0][0] == 1 && raw[0][1][0] == 2);
    form.NumChannels = 3;
    WANT(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&none, &form));
    OK(cuSurfObjectDestroy(surface));
    OK(cuSurfObjectDestroy(surface)); /* again */
    /* one that is gone */
    OK(cuLaunchKernel(writes, 1, 1, 1, 1, 1, 1, 0, NULL, surface_args, NULL));
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    return DONE();
}
