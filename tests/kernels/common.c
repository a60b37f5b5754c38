/* common.c - what belongs to no operation: statuses have names, and every operation lists rungs that are fit to be
 * shown. */
#include "test.h"

int main(void)
{
    test_begin();
    for (int i = MG_KERNELS_OK; i <= MG_KERNELS_ERR_DEVICE; i++) {
        CHECK(!strncmp(mg_kernels_status_name((enum mg_kernels_status)i), "MG_KERNELS_", 11), "status %d", i);
        CHECK(strlen(mg_kernels_status_text((enum mg_kernels_status)i)) > 5, "status %d", i);
    }
    CHECK(!strcmp(mg_kernels_status_name((enum mg_kernels_status)99), "unknown status"), "99");
    CHECK(!strcmp(mg_kernels_status_text((enum mg_kernels_status)-1), "unknown status"), "-1");
    size_t count = 0;
    const struct mg_operation *operations = mg_operations(&count);
    for (size_t i = 0; i < count; i++) {
        size_t rungs = 0;
        const struct mg_variant *v = operations[i].variants(&rungs);
        CHECK(rungs >= 3, "%s has %zu rungs", operations[i].name, rungs);
        for (size_t r = 0; r < rungs; r++) {
            CHECK(v[r].name && v[r].name[0] && v[r].idea && v[r].idea[0] && v[r].gain && v[r].gain[0], "%s rung %zu",
                  operations[i].name, r);
            for (size_t q = 0; q < r; q++)
                CHECK(strcmp(v[q].name, v[r].name) != 0, "%s: two rungs are called %s", operations[i].name, v[r].name);
        }
    }
    return test_end();
}
