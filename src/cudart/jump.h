/* jump.h - names that are jumps: what stands behind the entry points of libcudart.so and libcuda.so.1.
 *
 * MG_ENTRY makes a label in libmargay_cuda.so that goes to a hidden function there; MG_EXPORT makes a public name of a
 * library that goes to such a label. No argument is touched, so that they serve functions of every type.
 */
#ifndef MG_JUMP_H
#define MG_JUMP_H

#if defined(__x86_64__)
#define MG_LANDING "endbr64\n\t"
#define MG_JUMP "jmp "
#define MG_OTHER_LIBRARY "@PLT"
#define MG_SAY(flag) "movq " #flag "@gottpoff(%rip), %r11\n\tmovb $1, %fs:(%r11)\n\t"
#elif defined(__aarch64__)
#define MG_LANDING "bti c\n\t"
#define MG_JUMP "b "
#define MG_OTHER_LIBRARY ""
#define MG_SAY(flag)                                                                \
    "adrp x16, :gottprel:" #flag "\n\tldr x16, [x16, :gottprel_lo12:" #flag "]\n\t" \
    "mrs x17, tpidr_el0\n\tadd x16, x16, x17\n\tmov w17, #1\n\tstrb w17, [x16]\n\t"
#else
#error "jump.h needs the jump instruction of this processor"
#endif

#define MG_CUDART_ENTRY(name, in) "mg__entry_" #name "_" #in
#define MG_LABEL(label) \
    ".text\n\t.p2align 4\n\t.globl " label "\n\t.type " label ", %function\n" label ":\n\t" MG_LANDING
#define MG_LABEL_ENDS(label) "\n\t.size " label ", .-" label "\n"
/* `flag`, one byte of the thread's, is set on the way if the row's note says that its default stream is the thread's.
 */
#define MG_ENTRY(label, target, note, flag)                                               \
    __asm__(MG_LABEL(label) ".ifeqs " #note ", \"per-thread default stream\"\n\t" MG_SAY( \
        flag) ".endif\n\t" MG_JUMP target MG_LABEL_ENDS(label));
#define MG_EXPORT(name, label) __asm__(MG_LABEL(name) MG_JUMP label MG_OTHER_LIBRARY MG_LABEL_ENDS(name));
#endif
