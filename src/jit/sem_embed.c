/* sem_embed.c - the two bitcodes of src/sem (sem_bitcode.c), with fused multiply-add and F16C and without, as bytes. */
#define EMBED(name, file)                                                                                    \
    __asm__(".section .rodata\n.balign 16\n.globl " #name "\n.hidden " #name "\n" #name ":\n.incbin \"" file \
            "\"\n.globl " #name "_end\n.hidden " #name "_end\n" #name "_end:\n.byte 0\n.previous\n");
EMBED(mg_sem_bitcode_fma, MG_SEM_BITCODE "/sem_fma.bc")
EMBED(mg_sem_bitcode_plain, MG_SEM_BITCODE "/sem_plain.bc")
typedef int mg_sem_embed; /* a file of asm alone is not C */
