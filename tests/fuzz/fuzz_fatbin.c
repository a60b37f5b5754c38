/* The fatbin reader on any bytes: what it accepts, it must be able to walk, choose from and unpack. Needs mg_fatbin. */
#include "fatbin/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mg_fatbin fatbin;
    struct mg_fatbin_entry entry;
    struct mg_diag diag = {0};
    char *text;
    size_t length;
    enum mg_status status = mg__fatbin_open(data, size, &fatbin, &diag);
    while (!status && !(status = mg__fatbin_next(&fatbin, &entry, &diag))) {
        if (entry.unpacked_size > (1u << 20)) /* the limit itself is a unit test's; here it would only cost time */
            continue;
        if (!mg__fatbin_text(&entry, &text, &length, &diag)) {
            if (length > entry.unpacked_size || text[length] != '\0')
                __builtin_trap();
            free(text);
        }
    }
    if (!mg__fatbin_choose(data, size, 90, &entry, &diag) && (entry.kind != MG_FATBIN_PTX || entry.sm > 90))
        __builtin_trap();
    return 0;
}
