/* source.h - the text of source files that travels inside PTX, as comments.
 *
 * A program that compiles a kernel at run time has its source in memory, or in a file that is gone when somebody wants
 * to read a report. So libnvrtc.so of ours writes it behind the PTX, where it stays with the code that is made of it:
 * in a cache that a package keeps, in a file, through the linker. A block is
 *
 *     //margay:source FILE SIZE
 *     //c2F4cHk=...
 *
 * FILE is the number of the .file entry, SIZE the bytes of the text, and the lines behind it the text in base64 (RFC
 * 4648): no byte of a text can end the comment. To other readers of PTX these are comments.
 *
 * This file needs nothing but the C library, so that libnvrtc.so can have it too.
 */
#ifndef MG_PTX_SOURCE_H
#define MG_PTX_SOURCE_H
#include <stdbool.h>
#include <stddef.h>

#define MG_PTX_SOURCE_MOST ((size_t)1 << 20) /* bytes of one text; a longer one is left out */

struct mg_ptx_source {
    unsigned file;     /* the number of its .file entry */
    size_t size;       /* bytes of the text */
    const char *lines; /* what holds it */
    size_t length;
};

/* The next block behind *at; false if there is none. Of hostile text too: nothing is read beyond `end`. */
bool mg__ptx_source_next(const char **at, const char *end, struct mg_ptx_source *source);
/* Its text, with a zero behind; malloc'd. NULL where it is damaged, or has a zero byte. */
char *mg__ptx_source_text(const struct mg_ptx_source *source);
/* The block of a text, with a zero behind; malloc'd. NULL: no memory, or too long. */
char *mg__ptx_source_block(unsigned file, const char *text, size_t size, size_t *length);
/* The bytes of a file's name as PTX has it in quotes: \" and \\, \t and its like, and three octal digits for a byte
 * that is not printable ASCII, as all of a Chinese name are. In place: no escape is shorter than its byte. NULL if a
 * byte is zero. */
char *mg__ptx_unescape(char *name);
#endif
