/* longest.c - which launch is judged: of a kernel's launches in one shape a report shows the one that the estimate says
 * takes longest (report/advices.c), and so no other need be judged. The first one is, and each that takes longer than
 * all before it.
 *
 * That many shapes are remembered; launches of further ones are judged all.
 */
#include "advise/advise_priv.h"

enum { SHAPES = 4096 };

struct mg_longest {
    struct mg_arena arena;
    struct mg_strtab seconds; /* by kernel and shape: of the longest launch so far */
};

struct mg_longest *mg__longest_create(void)
{
    struct mg_longest *l = malloc(sizeof(*l));
    if (!l)
        return NULL;
    mg__arena_init(&l->arena);
    mg__strtab_init(&l->seconds, &l->arena);
    return l;
}

void mg__longest_free(struct mg_longest *l)
{
    if (l)
        mg__arena_free(&l->arena);
    free(l);
}

bool mg__longest_is(struct mg_longest *l, const struct mg_launch_info *info, double seconds)
{
    const uint32_t shape[] = {info->grid.x,  info->grid.y,  info->grid.z,        info->block.x,
                              info->block.y, info->block.z, info->shared_static, info->shared_dynamic};
    const size_t length = strlen(info->kernel);
    char own[256], *key = length + sizeof(shape) <= sizeof(own) ? own : malloc(length + sizeof(shape));
    if (!key)
        return true;
    memcpy(key, shape, sizeof(shape));
    memcpy(key + sizeof(shape), info->kernel, length);
    double *most = mg__strtab_get(&l->seconds, key, length + sizeof(shape));
    const bool longest = !most || seconds > *most;
    if (!most && l->seconds.count < SHAPES) {
        most = mg__arena_alloc(&l->arena, sizeof(*most));
        if (most && !mg__strtab_put(&l->seconds, key, length + sizeof(shape), most))
            most = NULL;
    }
    if (most && longest)
        *most = seconds;
    if (key != own)
        free(key);
    return longest;
}
