/* fuzz_expr.c - three lines: a declaration, values of variables, an access; worked out for one thread. */
#include "picture/expr.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *line[3] = {text, "", ""};
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    for (unsigned i = 1; i < 3; i++) {
        char *newline = strchr(line[i - 1], '\n');
        if (newline) {
            *newline = 0;
            line[i] = newline + 1;
        }
    }
    struct mg_expr e = {.text = line[2]};
    struct mg_expr_place place;
    struct mg_diag diag;
    const struct mg_expr_thread thread = {{7, 2, 0}, {1, 0, 0}, {32, 8, 1}, {4, 1, 1}};
    if (mg__expr_declare(line[0], &e, &diag) == MG_OK && mg__expr_let(line[1], &e, &diag) == MG_OK &&
        mg__expr_place(&e, &thread, &place, &diag) == MG_OK && place.offset + place.width > e.array.size)
        abort();
    free(text);
    return 0;
}
