/* cache.c - kept code: a file a kernel (base/cache.c), named by its key, which the file repeats. What is damaged is
 * refused by its checksum (object.c).
 */
#include <cpuid.h>

#include "jit/jit_priv.h"

#define SUFFIX ".mgk"

bool mg__jit_cache_get(const char *given, const uint64_t key[2], char **bytes, size_t *size)
{
    char path[MG_CACHE_PATH];
    struct mg_jit_header h;
    *bytes = NULL;
    if (!mg__cache_path(given, key, SUFFIX, path) || !mg__cache_get(path, bytes, size))
        return false;
    bool good = *size >= sizeof h;
    if (good) {
        memcpy(&h, *bytes, sizeof h);
        good = h.key[0] == key[0] && h.key[1] == key[1];
    }
    if (!good) {
        free(*bytes);
        *bytes = NULL;
    }
    return good;
}

void mg__jit_cache_put(const char *given, const uint64_t key[2], const char *bytes, size_t size)
{
    char path[MG_CACHE_PATH];
    if (mg__cache_path(given, key, SUFFIX, path))
        mg__cache_put(path, bytes, size);
}

uint64_t mg__jit_processor(void)
{
    unsigned leaf[8][4] = {{0}};
    __get_cpuid(0, &leaf[0][0], &leaf[0][1], &leaf[0][2], &leaf[0][3]);
    __get_cpuid(1, &leaf[1][0], &leaf[1][1], &leaf[1][2], &leaf[1][3]);
    leaf[1][1] = 0; /* the number of the core that we run on */
    __get_cpuid_count(7, 0, &leaf[2][0], &leaf[2][1], &leaf[2][2], &leaf[2][3]);
    __get_cpuid_count(7, 1, &leaf[3][0], &leaf[3][1], &leaf[3][2], &leaf[3][3]);
    __get_cpuid(0x80000001u, &leaf[4][0], &leaf[4][1], &leaf[4][2], &leaf[4][3]);
    leaf[5][0] = mg__isa();
    return mg__hash(leaf, sizeof leaf);
}
