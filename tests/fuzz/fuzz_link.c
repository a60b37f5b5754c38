/* Linking of parts, whatever the bytes, as cuLinkAddData and programs of several objects hand them over: a byte 1 parts
 * them, each is PTX or a fatbin. What the linker makes of them must be text that the parser takes, or it says why not.
 */
#include "device/link.h"
#include "fatbin/fatbin.h"
#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum mg_status add(struct mg_linker *linker, const char *bytes, size_t size, struct mg_diag *diag)
{
    struct mg_fatbin_entry entry;
    char *text;
    size_t length;
    if (size < 4 || memcmp(bytes, "\x50\xed\x55\xba", 4) != 0)
        return mg__link_add(linker, bytes, strnlen(bytes, size), diag);
    enum mg_status status = mg__fatbin_choose(bytes, size, 90, &entry, diag);
    if (!status && entry.unpacked_size > (1u << 20))
        return MG_OK;
    if (!status)
        status = mg__fatbin_text(&entry, &text, &length, diag);
    if (!status) {
        status = mg__link_add(linker, text, length, diag);
        free(text);
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mg_linker *linker;
    struct mg_ptx_module *ptx;
    struct mg_diag diag;
    char *text, *bytes = malloc(size + 1);
    size_t length;
    if (!bytes || mg__link_create(&linker))
        __builtin_trap();
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    memset(&diag, 0, sizeof(diag));
    enum mg_status status = MG_OK;
    for (size_t at = 0; at < size && !status;) {
        const char *end = memchr(bytes + at, 1, size - at);
        size_t n = end ? (size_t)(end - bytes) - at : size - at;
        bytes[at + n] = '\0';
        status = add(linker, bytes + at, n, &diag);
        at += n + 1;
    }
    if (!status)
        status = mg__link_finish(linker, &text, &length, &diag);
    mg__link_destroy(linker);
    if (!status) {
        if (text[length] != '\0')
            __builtin_trap();
        if (!mg__ptx_parse(text, length, &ptx, &diag))
            mg__ptx_free(ptx);
        free(text);
    } else if (!diag.message[0]) {
        __builtin_trap();
    }
    free(bytes);
    return 0;
}
