/* nvrtc_text.h - the source text of programs that NVRTC compiles, for reports. */
#ifndef MG_CUDA_NVRTC_TEXT_H
#define MG_CUDA_NVRTC_TEXT_H
#include <stddef.h>

/* Keeps the text of a program and of the headers that it was given. Without memory nothing is kept. */
void mg__nvrtc_keep(const void *program, const char *text, const char *name, int nheaders, const char *const *headers,
                    const char *const *names);
void mg__nvrtc_forget(const void *program);
/* It was compiled just now: names without a folder are below the one that the process is in. */
void mg__nvrtc_compiled(const void *program);
/* `ptx`, which ends with a zero, and behind it the texts of those of its files that are the program's; malloc'd, with
 * a zero behind that *length does not count. NULL where there is nothing to add. */
char *mg__nvrtc_with_texts(const void *program, const char *ptx, size_t *length);
#endif
