/* textures.c - instructions of textures and surfaces: eight lanes beside two rows of texels, worked by hand. Objects
 * are a device's, which margay.h has no calls for. */
#include "device/device.h"
#include "simt/texture.h"
#include "textures.h"

const char textures_text[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .entry run(.param .u64 tex_, .param .u64 surf_, .param .u64 out_)\n"
    "{ .reg .b32 %t, %x, %r<8>; .reg .f32 %f<8>, %u, %v; .reg .b64 %tex, %surf, %out, %at;\n"
    "ld.param.u64 %tex, [tex_]; ld.param.u64 %surf, [surf_]; ld.param.u64 %out, [out_]; mov.u32 %t, %tid.x;\n"
    "cvt.rn.f32.u32 %u, %t; add.f32 %u, %u, 0f3f800000; mov.f32 %v, 0f3f800000;\n" /* (t + 1, 1): between four texels */
    "tex.2d.v4.f32.f32 {%f0, _, _, _}, [%tex, {%u, %v}];\n"
    "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%tex, {%u, %v}];\n"
    "txq.width.b32 %r0, [%tex]; suq.height.b32 %r1, [%surf]; shl.b32 %x, %t, 2; mul.lo.u32 %r2, %t, 3; mov.u32 %r3, "
    "1;\n"
    "sust.b.2d.b32.trap [%surf, {%x, %r3}], %r2; sured.b.add.2d.u32.trap [%surf, {%x, %r3}], 5;\n"
    "suld.b.2d.b32.trap %r4, [%surf, {%x, %r3}];\n"
    "mad.wide.u32 %at, %t, 32, %out; st.global.v4.f32 [%at], {%f0, %f1, %f2, %f3};\n"
    "mov.b32 %r5, %f4; st.global.v4.b32 [%at+16], {%r5, %r0, %r1, %r4}; ret; }\n";

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

static bool right(const uint32_t (*out)[8])
{
    bool good = true;
    for (unsigned t = 0; t < 8; t++) { /* texels are x + 10 y; beyond the edge they go on */
        const float x = (float)t, next = (float)MG_MIN(t + 1, 7u);
        good &= as_float(out[t][0]) == (x + next) / 2 + 5;
        good &= as_float(out[t][1]) == x + 10 && as_float(out[t][2]) == next + 10 && as_float(out[t][3]) == next;
        good &= as_float(out[t][4]) == x && out[t][5] == 8 && out[t][6] == 2 && out[t][7] == 3 * t + 5;
    }
    return good;
}

static bool run(struct mg_device *device)
{
    const struct mg_device_image image = {textures_text, sizeof(textures_text), true};
    const struct mg_device_code code = {.images = &image, .nimages = 1};
    struct mg_device_module *module;
    struct mg_device_kernel *kernel;
    struct mg_device_outcome outcome;
    struct mg_diag diag;
    uint64_t texels, out, handles[2];
    if (mg__device_load(device, &code, &module, &diag) || mg__device_kernel(module, "run", &kernel) ||
        mg__mem_alloc(device->simt, 64, 256, &texels) || mg__mem_alloc(device->simt, 256, 256, &out))
        return false;
    for (unsigned i = 0; i < 16; i++)
        ((float *)(uintptr_t)texels)[i] = (float)(i % 8 + 10 * (i / 8));
    struct mg_texture t = {.base = texels,
                           .pitch = 32,
                           .slice = 64,
                           .width = 8,
                           .height = 2,
                           .depth = 1,
                           .bits = 32,
                           .channels = 1,
                           .kind = MG_TEXEL_FLOAT,
                           .linear = true,
                           .address = {MG_TEXTURE_CLAMP, MG_TEXTURE_CLAMP, MG_TEXTURE_CLAMP}};
    uint64_t surface;
    if (mg__texture_make(device->simt, &t, &handles[0]) || mg__mem_alloc(device->simt, 64, 256, &surface))
        return false;
    t.base = surface;
    t.surface = true;
    if (mg__texture_make(device->simt, &t, &handles[1]))
        return false;
    void *args[] = {&handles[0], &handles[1], &out};
    const struct mg_device_launch launch = {.grid = {1, 1, 1}, .block = {8, 1, 1}, .args = args};
    if (mg__device_launch(kernel, &launch, &outcome))
        return false;
    return right((const uint32_t(*)[8])(uintptr_t)out);
}

bool textures_are_right(void)
{
    const struct mg_device_options options = {.threads = 1};
    struct mg_device *device;
    struct mg_diag diag;
    if (mg__device_create(&options, &device, &diag))
        return false;
    bool good = run(device);
    mg__device_destroy(device);
    return good;
}
