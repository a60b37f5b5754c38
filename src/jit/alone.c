/* alone.c - what LLVM's archives would take from newer C libraries than the rest of Margay needs, for margay_jit_alone:
 * the generator with LLVM inside it, which runs where no LLVM is installed.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) uint32_t mg__alone_random(void) __asm__("arc4random"); /* glibc 2.36 */

uint32_t mg__alone_random(void)
{
    uint32_t value;
    while (getrandom(&value, sizeof(value), 0) != sizeof(value))
        if (errno != EINTR)
            abort();
    return value;
}
