/* config.h - the random launch configurations that were put to a device (device.cu) and that the table is held to
 * (test_arch.c): both draw them from one seed, so that the recorded answers need no inputs beside them. */
#ifndef TEST_ARCH_CONFIG_H
#define TEST_ARCH_CONFIG_H
#include <stdint.h>

struct config {
    unsigned kernel, threads, dynamic; /* of the kernels; bytes */
    int carveout;                      /* percent; -1: not set */
};

static inline uint32_t config_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* `room`: the most dynamic shared memory of kernel i is room minus its static shared memory. */
static inline struct config config_next(uint64_t *seed, unsigned kernels, const unsigned *fixed, unsigned room)
{
    struct config c;
    uint32_t shape = config_random(seed);
    c.kernel = config_random(seed) % kernels;
    c.threads = 1 + config_random(seed) % 1024;
    if (shape % 2) /* whole warps, as people launch them */
        c.threads = (c.threads + 31) / 32 * 32;
    c.dynamic = config_random(seed) % (room - fixed[c.kernel] + 1);
    switch (shape / 2 % 8) {
    case 0:
    case 1:
    case 2:
        c.dynamic = 0;
        break;
    case 3:
    case 4:
        c.dynamic %= 16384;
        break;
    case 5: /* near the sizes where one block more or less fits */
        c.dynamic = room / (1 + c.dynamic % 16) - fixed[c.kernel] % 512;
        if (c.dynamic > room - fixed[c.kernel])
            c.dynamic = room - fixed[c.kernel];
        break;
    }
    c.carveout = shape / 16 % 4 ? -1 : (int)(config_random(seed) % 101);
    return c;
}
#endif
