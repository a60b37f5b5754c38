/* driver.c - asks a real GPU what it is, through the CUDA driver's library, which is there where a GPU is. */
#include "device_cmd.h"

#include <dlfcn.h>

enum { ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76 };

enum mg_status mg__driver_ask(unsigned index, struct mg_driver_device *device, struct mg_diag *diag)
{
    int (*init)(unsigned), (*count)(int *), (*get)(int *, int), (*name)(char *, int, int),
        (*attribute)(int *, int, int);
    int (*memory)(size_t *, int);
    struct {
        const char *symbol;
        void *to;
    } entries[] = {
        {"cuInit", &init},
        {"cuDeviceGetCount", &count},
        {"cuDeviceGet", &get},
        {"cuDeviceGetName", &name},
        {"cuDeviceGetAttribute", &attribute},
        {"cuDeviceTotalMem_v2", &memory},
    };
    int devices = 0, handle = 0, major = 0, minor = 0, error;
    size_t bytes = 0;
    memset(device, 0, sizeof(*device));
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return mg__diag_set(diag, MG_ERR_NOT_FOUND, "there is no CUDA driver on this machine (libcuda.so.1)");
    for (size_t i = 0; i < MG_COUNT(entries); i++) {
        void *symbol = dlsym(library, entries[i].symbol);
        if (!symbol) {
            dlclose(library);
            return mg__diag_set(diag, MG_ERR_UNSUPPORTED, "the CUDA driver has no %s", entries[i].symbol);
        }
        memcpy(entries[i].to, &symbol, sizeof(symbol));
    }
    /* The library stays loaded: the driver leaves threads behind. */
    if ((error = init(0)) != 0 || (error = count(&devices)) != 0)
        return mg__diag_set(diag, MG_ERR_NOT_FOUND, "the CUDA driver cannot be used: error %d", error);
    if (index >= (unsigned)devices)
        return mg__diag_set(diag, MG_ERR_NOT_FOUND, "there is no GPU %u: this machine has %d, counted from 0", index,
                            devices);
    if ((error = get(&handle, (int)index)) != 0 ||
        (error = name(device->name, (int)sizeof(device->name) - 1, handle)) != 0 ||
        (error = attribute(&major, ATTRIBUTE_MAJOR, handle)) != 0 ||
        (error = attribute(&minor, ATTRIBUTE_MINOR, handle)) != 0 || (error = memory(&bytes, handle)) != 0)
        return mg__diag_set(diag, MG_ERR_NOT_FOUND, "GPU %u does not answer: error %d", index, error);
    device->cc = (unsigned)(major * 10 + minor);
    device->memory = bytes;
    for (int i = 1; i < MG_DRIVER_ATTRIBUTES; i++)
        device->known[i] = attribute(&device->attribute[i], i, handle) == 0;
    return MG_OK;
}
