/* array.h - CUDA arrays, textures and surfaces of the runtime and the driver. */
#ifndef MG_CUDART_ARRAY_H
#define MG_CUDART_ARRAY_H
#include "cudart/cudart.h"
#include "simt/texture.h"

enum { CU_ARRAY_LAYERED = 1, CU_ARRAY_SURFACE = 2, CU_ARRAY_CUBE = 4, CU_ARRAY_GATHER = 8 };
/* Memory of the device, row by row; what stands where is nobody's to know. */
struct cudart_array {
    struct cudart_array *next;
    struct cudart_device *device;
    struct cu_channel_desc channels;
    struct cu_extent extent; /* as it was asked for: 0 where there is no such dimension */
    unsigned flags;
    size_t texel, pitch, slice; /* bytes */
    void *memory;
    bool part; /* a level: the memory is the mipmap's */
};
/* Arrays of one kind in one piece of memory, each half the one before (simt/texture.h says where they lie). */
struct cudart_mipmap {
    struct cudart_mipmap *next;
    void *memory;
    unsigned count;
    struct cudart_array *levels[];
};
struct cudart_mipmap *mg__cudart_mipmap_known(const void *handle); /* NULL: none of ours */
int mg__cudart_mipmap_make(const struct cu_channel_desc *channels, struct cu_extent extent, unsigned flags,
                           unsigned levels, struct cudart_mipmap **made);
int mg__cudart_mipmap_free(struct cudart_mipmap *mipmap);
struct cudart_array *mg__cudart_array_known(const void *handle); /* NULL: none of ours */
int mg__cudart_array_make(const struct cu_channel_desc *channels, struct cu_extent extent, unsigned flags,
                          struct cudart_array **made);
int mg__cudart_array_free(struct cudart_array *array);
int mg__cudaGetMipmappedArrayLevel(void **array, void *mipmap, unsigned level);
/* A part of it, its place and size in bytes along x. */
int mg__cudart_array_box(const struct cudart_array *array, struct cu_pos pos, struct cu_extent size,
                         struct cudart_box *box);

struct cu_resource_desc { /* cudaResourceDesc */
    int type;             /* CU_RESOURCE_… */
    union {
        void *array; /* or a mipmapped one */
        struct {
            void *at;
            struct cu_channel_desc channels;
            size_t size;
        } linear;
        struct {
            void *at;
            struct cu_channel_desc channels;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    };
    unsigned flags;
};
enum { CU_RESOURCE_ARRAY, CU_RESOURCE_MIPMAPPED, CU_RESOURCE_LINEAR, CU_RESOURCE_PITCHED };
struct cu_texture_desc { /* cudaTextureDesc */
    int address[3], filter, read, srgb;
    float border[4];
    int normalized;
    unsigned anisotropy;
    int mip_filter;
    float mip_bias, mip_least, mip_most;
    int no_trilinear, seamless;
};
struct cu_view_desc { /* cudaResourceViewDesc, CUDA_RESOURCE_VIEW_DESC */
    int format;       /* 0: the array's own */
    size_t width, height, depth;
    unsigned first_level, last_level, first_layer, last_layer; /* behind them some have reserved words */
};
/* What its texels are read as; false: the array's own, or no format of channels. */
bool mg__cudart_view_channels(const struct cu_view_desc *view, struct cu_channel_desc *channels);
int mg__cudaCreateTextureObject(uint64_t *object, const struct cu_resource_desc *r, const struct cu_texture_desc *t,
                                const struct cu_view_desc *view);
int mg__cudaGetTextureObjectResourceDesc(struct cu_resource_desc *r, uint64_t object);
int mg__cudaGetTextureObjectTextureDesc(struct cu_texture_desc *d, uint64_t object);
int mg__cudaGetTextureObjectResourceViewDesc(struct cu_view_desc *view, uint64_t object);
int mg__cudaDestroyTextureObject(uint64_t object);
int mg__cudaCreateSurfaceObject(uint64_t *object, const struct cu_resource_desc *r);
int mg__cudaDestroySurfaceObject(uint64_t object);
#endif
