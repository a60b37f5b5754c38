/* texture.h - textures and surfaces: what an object is to the engine, and what its places hold.
 *
 * An object is a view of memory: rows of texels of one to four channels, in slices (of a volume, layers, faces). The
 * skins make them and hand their handles to kernels; a handle is a number that is not used again.
 */
#ifndef MG_SIMT_TEXTURE_H
#define MG_SIMT_TEXTURE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "margay/margay.h"

enum mg_texture_address { MG_TEXTURE_WRAP, MG_TEXTURE_CLAMP, MG_TEXTURE_MIRROR, MG_TEXTURE_BORDER };
enum mg_texture_kind { MG_TEXEL_SIGNED, MG_TEXEL_UNSIGNED, MG_TEXEL_FLOAT };
struct mg_texture {
    uint64_t base; /* an address of the device */
    uint64_t pitch, slice;
    uint32_t width, height,
        depth; /* texels; 1 where there is no such dimension. depth: of a volume, or layers, or faces */
    uint8_t bits, channels, kind; /* 8, 16 or 32; 1, 2 or 4; enum mg_texture_kind */
    bool surface;                 /* texels are read and written as they are */
    bool linear, normalized;      /* filter; coordinates are parts of the size */
    bool unit;                    /* integers are read as numbers from 0, or -1, to 1 */
    bool layered, volume;
    uint8_t address[3]; /* enum mg_texture_address */
    uint8_t levels;     /* of a mipmap, each half the one before, behind it in memory; 0 or 1: there is the one */
    bool mip_linear;    /* between two levels */
    bool anisotropic;   /* by gradients, in a way that is not known */
    int16_t bias, least, most; /* of a level that is asked for, in 256ths */
    float border[4];
};
struct mg_simt;
enum mg_status mg__texture_make(struct mg_simt *simt, const struct mg_texture *texture, uint64_t *handle);
bool mg__texture_drop(struct mg_simt *simt, uint64_t handle); /* false: there is none */
bool mg__texture_get(struct mg_simt *simt, uint64_t handle, struct mg_texture *texture);
void mg__textures_free(struct mg_simt *simt);

/* What tex reads at coordinates (of a layered one, `layer` beside them): four channels, as bits. */
struct mg_texture_point {
    float x, y, z;
    int layer;
};
void mg__texture_sample(const struct mg_texture *texture, const struct mg_texture_point *at, uint32_t out[4]);
/* Of a mipmap: its level `k` by itself; all bytes from `base` on. How arrays lay them out is asked here, too. */
enum { MG_TEXTURE_ROW = 32, MG_TEXTURE_LEVEL = 512 }; /* a row and a level begin at multiples of these */
struct mg_texture mg__texture_level(const struct mg_texture *texture, unsigned k);
uint64_t mg__texture_bytes(const struct mg_texture *texture);
/* At a level: as the program names it, or of two gradients of so many coordinates; in 256ths, before the bias. */
int mg__texture_named(float level);
int mg__texture_steep(const struct mg_texture *texture, const float *dx, const float *dy, unsigned n);
void mg__texture_sample_at(const struct mg_texture *texture, const struct mg_texture_point *at, int level,
                           uint32_t out[4]);
/* At whole coordinates, without a filter. */
void mg__texture_fetch(const struct mg_texture *texture, const int64_t at[3], uint32_t out[4]);
/* One channel of the four texels that a linear filter would take, from the lower left on against the clock. */
void mg__texture_gather(const struct mg_texture *texture, const struct mg_texture_point *at, unsigned channel,
                        uint32_t out[4]);
/* Of a cube: its face is the layer of the result, which has x and y from 0 to 1. */
struct mg_texture_point mg__texture_face(const struct mg_texture_point *direction);
#endif
