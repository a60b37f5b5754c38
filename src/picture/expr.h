/* expr.h - an access to shared memory as it stands in a program, `tile[ty][tx]`, and its address for each thread.
 *
 * For people who have an expression and no program. The declaration is one array of a type that CUDA has; the access is
 * its name, indices, and the component of a vector. Text is taken as it comes: what is wrong is said with its column,
 * and nothing is read past its end.
 */
#ifndef MG_PICTURE_EXPR_H
#define MG_PICTURE_EXPR_H
#include "base/base.h"

enum { MG_EXPR_DIMS = 8, MG_EXPR_LETS = 32, MG_EXPR_NAME = 64, MG_EXPR_TEXT = 4096 };

struct mg_expr_array { /* float2 tile[32][33] */
    char type[MG_EXPR_NAME], name[MG_EXPR_NAME];
    uint32_t element;   /* bytes */
    uint32_t component; /* of a vector: bytes of one of its components; else the same */
    uint32_t ndims, dims[MG_EXPR_DIMS];
    uint32_t size; /* bytes */
};
struct mg_expr_let { /* a variable of the program, such as a loop's counter */
    char name[MG_EXPR_NAME];
    int64_t value;
};
struct mg_expr {
    struct mg_expr_array array;
    struct mg_expr_let let[MG_EXPR_LETS];
    unsigned nlets;
    const char *text; /* the access; the caller's */
};
struct mg_expr_thread {
    struct mg_dim3 thread, block, block_dim, grid_dim;
};
struct mg_expr_place {
    uint32_t offset, width; /* bytes from the array's start; of the access */
    bool assigned;          /* an assignment stands behind it */
};

/* `let` may be NULL: "i=3, n=32". The diagnostic's file is the name of the option that is wrong, its excerpt the text.
 */
enum mg_status mg__expr_declare(const char *decl, struct mg_expr *expr, struct mg_diag *diag);
enum mg_status mg__expr_let(const char *let, struct mg_expr *expr, struct mg_diag *diag);
enum mg_status mg__expr_place(const struct mg_expr *expr, const struct mg_expr_thread *thread,
                              struct mg_expr_place *place, struct mg_diag *diag);
#endif
