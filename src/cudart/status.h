/* status.h - what a program's machine code does with a status behind the call that returned it (x86-64). */
#ifndef MG_CUDART_STATUS_H
#define MG_CUDART_STATUS_H
#include <stdint.h>

enum mg_status_use {
    MG_STATUS_LOST,     /* overwritten, or left where the next call overwrites it */
    MG_STATUS_READ,     /* compared, kept, passed on; or the code is none that is known here */
    MG_STATUS_RETURNED, /* still there where the function returns: its caller may look */
};
/* `code`: the instruction behind the call; the status is in %eax. */
enum mg_status_use mg__cudart_status_use(const uint8_t *code);
#endif
