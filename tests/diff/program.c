/* program.c - see program.h.
 *
 * A program has 16 registers of 32 bits, 8 of 64, 8 floats, 3 doubles, 4 of 16 bits and 8 predicates, which begin with
 * what lanes, threads, blocks and memory have, and end in memory. In between stand statements from the tables below,
 * under guards, in branches that lanes may take differently and in loops that they may leave at different times.
 *
 * Threads must not race, or two engines may rightly differ: a thread writes to memory of its own, reads of others only
 * what nobody writes or, between two barriers, shared memory; sums are atomic and nobody looks at them. Operations of
 * whole warps and barriers stand only where all threads come by.
 *
 * To add an instruction, add a row (and to plain.c, where it can be said in plain C): $d $r $s are a 32-bit register to
 * write, to read, or to read or a constant; $D $L $M the same of 64 bits, $f $g of floats, $q of doubles, $h of 16
 * bits, $p $P of predicates; $n is a number below 32.
 */
#include "program.h"
#include "plain.h"

static const char *const values[] = {
    "add.u32 $d, $s, $s;",
    "sub.s32 $d, $s, $s;",
    "mul.lo.u32 $d, $r, $s;",
    "mad.lo.s32 $d, $s, $s, $s;",
    "min.s32 $d, $s, $s;",
    "max.u32 $d, $r, $s;",
    "and.b32 $d, $s, $s;",
    "or.b32 $d, $s, $s;",
    "xor.b32 $d, $s, $s;",
    "shl.b32 $d, $r, $s;",
    "shl.b32 $d, $r, $n;",
    "shr.u32 $d, $r, $s;",
    "shr.s32 $d, $r, $n;",
    "not.b32 $d, $r;",
    "neg.s32 $d, $r;",
    "abs.s32 $d, $r;",
    "popc.b32 $d, $r;",
    "clz.b32 $d, $r;",
    "brev.b32 $d, $r;",
    "bfe.u32 $d, $r, $s, $n;",
    "bfe.s32 $d, $r, $n, $n;",
    "bfi.b32 $d, $r, $r, $n, $n;",
    "prmt.b32 $d, $r, $r, $s;",
    "lop3.b32 $d, $r, $s, $r, 0x6a;",
    "shf.l.wrap.b32 $d, $r, $r, $s;",
    "shf.r.clamp.b32 $d, $r, $r, $s;",
    "sad.u32 $d, $r, $s, $r;",
    "div.u32 $d, $r, $s;",
    "rem.s32 $d, $r, $s;",
    "div.s32 $d, $r, $n;",
    "mul.hi.u32 $d, $r, $s;",
    "mul.hi.s32 $d, $r, $s;",
    "mul24.lo.s32 $d, $r, $s;",
    "dp4a.s32.u32 $d, $r, $r, $s;",
    "selp.b32 $d, $s, $s, $P;",
    "slct.s32.s32 $d, $r, $s, $r;",
    "bfind.u32 $d, $r;",
    "fns.b32 $d, $r, $n, 2;",
    "add.cc.u32 $d, $r, $s; addc.u32 $d, $r, $s;",
    "sub.cc.u32 $d, $r, $s; subc.u32 $d, $r, 7;",
    "add.cc.u32 $d, $r, $s; addc.cc.u32 $d, $r, $s; addc.cc.u32 $d, $r, $s; addc.u32 $d, $r, $s;",
    "sub.cc.u32 $d, $r, $s; subc.cc.u32 $d, $r, $s; subc.cc.u32 $d, $r, $s; subc.u32 $d, $r, $s;",
    "add.cc.u64 $D, $L, $M; addc.cc.u64 $D, $L, $L; addc.u32 $d, $r, 0;",
    "sub.cc.u64 $D, $L, $M; subc.cc.u64 $D, $L, $L; subc.u32 $d, $r, 0;",
    "add.cc.s32 $d, $r, $s; addc.s64 $D, $L, $M;",
    "mad.lo.cc.u32 $d, $r, $s, $r; madc.hi.u32 $d, $r, $s, $r;",
    "mad.lo.cc.u32 $d, $r, $r, $s; madc.hi.cc.u32 $d, $r, $s, $r; madc.lo.cc.s32 $d, $r, $s, $s; addc.u32 $d, $r, 0;",
    "mad.lo.cc.u64 $D, $L, $L, $M; madc.hi.cc.u64 $D, $L, $L, $L; addc.u64 $D, $L, 0;",
    "mad.hi.cc.s32 $d, $r, $s, $r; madc.hi.s32 $d, $r, $s, $r;",
    "sub.cc.u32 $d, $r, $s; addc.cc.u32 $d, $r, $s; subc.u32 $d, $r, $s;",
    "add.cc.u32 $d, $r, $s; subc.cc.u32 $d, $r, $s; addc.u32 $d, $r, $s;",
    "sub.cc.s32 $d, $r, $s; madc.lo.cc.s32 $d, $r, $s, $r; subc.s64 $D, $L, $M;",
    "mad.lo.cc.u32 $d, $r, $s, $r; subc.cc.u32 $d, $r, $s; madc.hi.u32 $d, $r, $s, $r;",
    "sub.cc.u64 $D, $L, $M; addc.u64 $D, $L, $L;",
    "mov.u32 $d, $s;",
    "add.u64 $D, $L, $M;",
    "sub.s64 $D, $L, $M;",
    "mul.lo.u64 $D, $L, $M;",
    "mul.hi.u64 $D, $L, $L;",
    "mul.wide.u32 $D, $r, $s;",
    "mul.wide.s32 $D, $r, $s;",
    "mad.wide.u32 $D, $r, $n, $L;",
    "mad.wide.s32 $D, $r, $s, $L;",
    "mad.lo.s64 $D, $L, $L, $M;",
    "shl.b64 $D, $L, $n;",
    "shr.u64 $D, $L, $s;",
    "shr.s64 $D, $L, $n;",
    "and.b64 $D, $L, $M;",
    "xor.b64 $D, $L, $L;",
    "cvt.u64.u32 $D, $r;",
    "cvt.s64.s32 $D, $r;",
    "cvt.u32.u64 $d, $L;",
    "min.s64 $D, $L, $M;",
    "max.u64 $D, $L, $L;",
    "popc.b64 $d, $L;",
    "div.u64 $D, $L, $M;",
    "selp.b64 $D, $L, $M, $P;",
    "mov.b64 $D, {$r, $r};",
    "mov.b64 {$d, $d}, $L;",
    "mov.u64 $D, $M;",
    "neg.s64 $D, $L;",
    "cvt.u16.u32 $h, $r;",
    "cvt.u32.u16 $d, $h;",
    "cvt.s32.s16 $d, $h;",
    "add.s16 $h, $h, $h;",
    "mul.wide.u16 $d, $h, $h;",
    "mul.lo.s16 $h, $h, $h;",
    "shr.s16 $h, $h, 3;",
    "max.u16 $h, $h, $h;",
    "mov.b32 $d, {$h, $h};",
    "mov.b32 {$h, $h}, $r;",
    "lop3.or.b32 $d|$p, $r, $s, $r, 0x28, $P;",
    "lop3.and.b32 _|$p, $r, $s, $r, 0xd4, !$P;",
    "cvt.pack.sat.s4.s32.b32 $d, $r, $s, $r;",
    "mov.b128 %w0, {$L, $L}; mov.b128 {$d, $d, $d, _}, %w0;",
    "mov.b128 %w0, {$r, $r, $s, $r}; mov.b128 %w1, %w0; mov.b128 {$D, $D}, %w1;",
    "cvt.u32.u8 $d, $r;",
    "cvt.s32.s8 $d, $r;",
    "cvt.s8.s32 $d, $r;",
    "add.f32 $f, $g, $g;",
    "add.rn.ftz.f32 $f, $g, $g;",
    "sub.f32 $f, $g, $g;",
    "mul.f32 $f, $g, $g;",
    "mul.rz.f32 $f, $g, $g;",
    "fma.rn.f32 $f, $g, $g, $g;",
    "fma.rm.ftz.f32 $f, $g, $g, $g;",
    "div.rn.f32 $f, $g, $g;",
    "div.approx.f32 $f, $g, $g;",
    "div.full.ftz.f32 $f, $g, $g;",
    "sqrt.rn.f32 $f, $g;",
    "sqrt.approx.f32 $f, $g;",
    "rcp.approx.ftz.f32 $f, $g;",
    "rcp.rn.f32 $f, $g;",
    "rsqrt.approx.f32 $f, $g;",
    "ex2.approx.ftz.f32 $f, $g;",
    "lg2.approx.f32 $f, $g;",
    "sin.approx.f32 $f, $g;",
    "cos.approx.f32 $f, $g;",
    "tanh.approx.f32 $f, $g;",
    "min.f32 $f, $g, $g;",
    "max.NaN.f32 $f, $g, $g;",
    "neg.f32 $f, $g;",
    "abs.f32 $f, $g;",
    "copysign.f32 $f, $g, $g;",
    "cvt.rn.f32.s32 $f, $r;",
    "cvt.rn.f32.u32 $f, $r;",
    "cvt.rzi.s32.f32 $d, $g;",
    "cvt.rni.u32.f32 $d, $g;",
    "cvt.rmi.f32.f32 $f, $g;",
    "cvt.sat.f32.f32 $f, $g;",
    "add.sat.f32 $f, $g, $g;",
    "mov.b32 $d, $f;",
    "mov.b32 $f, $r;",
    "selp.f32 $f, $g, $g, $P;",
    "cvt.rn.f16.f32 $h, $g;",
    "cvt.f32.f16 $f, $h;",
    "add.f16x2 $d, $r, $r;",
    "fma.rn.f16x2 $d, $r, $r, $r;",
    "mul.f16 $h, $h, $h;",
    "cvt.rn.bf16x2.f32 $d, $g, $g;",
    "cvt.rn.bf16.f32 $h, $g;",
    "max.f16x2 $d, $r, $r;",
    "cvt.f64.f32 $q, $g;",
    "cvt.rn.f32.f64 $f, $q;",
    "add.f64 $q, $q, $q;",
    "mul.f64 $q, $q, $q;",
    "fma.rn.f64 $q, $q, $q, $q;",
    "div.rn.f64 $q, $q, $q;",
    "sqrt.rn.f64 $q, $q;",
    "cvt.rn.f64.s64 $q, $L;",
    "cvt.rzi.s64.f64 $D, $q;",
    "min.f64 $q, $q, $q;",
    "setp.lt.s32 $p, $r, $s;",
    "setp.eq.u32 $p, $r, $s;",
    "setp.ge.u32 $p|$p, $r, $s;",
    "setp.ne.and.s32 $p|$p, $r, $s, $P;",
    "setp.gt.or.u64 $p, $L, $M, $P;",
    "setp.lo.xor.u32 $p, $r, $s, !$P;",
    "setp.lt.f32 $p, $g, $g;",
    "setp.neu.and.f32 $p, $g, $g, $P;",
    "setp.num.f32 $p|$p, $g, $g;",
    "setp.ge.f64 $p, $q, $q;",
    "and.pred $p, $P, $P;",
    "or.pred $p, $P, $P;",
    "xor.pred $p, $P, $P;",
    "not.pred $p, $P;",
    "mov.pred $p, $P;",
    "setp.eq.s32 $p, $r, $n;",
    "set.lt.u32.s32 $d, $r, $s;",
    "setp.lt.u32 $p, %lane, $n;",
    "setp.ge.u32 $p, %tx, $n;",
    "testp.finite.f32 $p, $g;",
    "mov.u32 $d, %tid.x;",
    "mov.u32 $d, %tid.y;",
    "mov.u32 $d, %laneid;",
    "mov.u32 $d, %ctaid.x;",
    "mov.u32 $d, %ntid.x;",
    "mov.u32 $d, %lanemask_lt;",
    "mov.u32 $d, %warpid;",
    "mul.lo.u32 $d, %tx, $n;",
    /* indices taken apart */
    "and.b32 $d, %tx, 31;",
    "and.b32 $d, %tx, 15;",
    "and.b32 $d, %gid, 7;",
    "and.b32 $d, %tx, -16;",
    "shr.u32 $d, %tx, 5;",
    "shr.u32 $d, %gid, 4;",
    "shr.s32 $d, %tx, 3;",
    "shr.s32 %y0, %gid, 31; shr.u32 %y0, %y0, 27; add.s32 %y0, %y0, %gid; shr.s32 $d, %y0, 5; and.b32 %y0, %y0, -32; "
    "sub.s32 $d, %gid, %y0;",
    "and.b32 %y0, %tx, 15; shr.u32 %y1, %tx, 4; mad.lo.u32 %y0, %y0, 17, %y1; mad.wide.u32 %x0, %y0, 4, %in; "
    "ld.global.u32 $d, [%x0+$4];",
    "and.b32 %y0, %tx, 7; shr.u32 %y1, %tx, 3; mad.lo.u32 %y0, %y1, %u, %y0; mad.wide.u32 %x0, %y0, 8, %in; "
    "ld.global.u64 $D, [%x0+$8];",
    "and.b32 %y0, %lane, 15; xor.b32 %y0, %y0, 15; mad.wide.u32 %x0, %y0, 2, %in; ld.global.s16 $d, [%x0+$8];",
    "not.b32 %y0, %lane; add.s32 %y0, %y0, 40; mad.wide.s32 %x0, %y0, 4, %in; ld.global.u32 $d, [%x0];",
    "neg.s32 %y0, %tx; and.b32 %y1, %y0, -32; add.s32 %y0, %y0, 2047; cvt.s64.s32 %x0, %y0; add.u64 %x0, %x0, %in; "
    "ld.global.u8 $d, [%x0];",
    "mad.lo.u32 $d, %ty, $n, %tx;",
    "shl.b32 $d, %lane, 2;",
    "activemask.b32 $d;",
    "activemask.b32 %y0; vote.sync.ballot.b32 $d, $P, %y0;",
    "activemask.b32 %y0; vote.sync.any.pred $p, $P, %y0;",
    /* memory that is only read */
    "ld.global.u32 $d, [%in+$4];",
    "ld.global.u64 $D, [%in+$8];",
    "ld.global.f32 $f, [%in+$4];",
    "ld.const.u32 $d, [konst+$8];",
    "mad.wide.u32 %x0, %tx, 4, %in; ld.global.u32 $d, [%x0+$4];",
    "mad.wide.u32 %x0, %gid, 4, %in; ld.global.u32 $d, [%x0+$4]; ld.global.u32 $d, [%x0];",
    "mad.wide.u32 %x0, %lane, 8, %in; ld.global.u64 $D, [%x0+$8];",
    "mad.wide.u32 %x0, %ty, 16, %in; ld.global.v4.u32 {$d, $d, $d, $d}, [%x0];",
    "mad.wide.u32 %x0, %tx, 16, %in; ld.global.v4.u32 {$d, $d, $d, $d}, [%x0+16];",
    "mad.wide.u32 %x0, %tx, 8, %in; ld.global.v2.f32 {$f, $f}, [%x0];",
    "mad.wide.u32 %x0, %lane, 1, %in; ld.global.u8 $d, [%x0+$8];",
    "mad.wide.u32 %x0, %tx, 2, %in; ld.global.s16 $d, [%x0+$8];",
    "mad.wide.u32 %x0, %lane, 12, %in; ld.global.u32 $d, [%x0];",
    "mul.lo.u32 %y0, %tx, %u; mad.wide.u32 %x0, %y0, 4, %in; ld.global.u32 $d, [%x0];",
    "mad.lo.u32 %y0, %ty, %u, %tx; mad.wide.u32 %x0, %y0, 4, %in; ld.global.u32 $d, [%x0];",
    "and.b32 %y0, $r, 0x1ffc; cvt.u64.u32 %x0, %y0; add.u64 %x0, %x0, %in; ld.global.u32 $d, [%x0+$4];",
    "and.b32 %y0, $r, 0xff8; cvt.u64.u32 %x0, %y0; add.u64 %x0, %x0, %in; ld.global.v2.u32 {$d, $d}, [%x0];",
    "and.b32 %y0, $r, 0xfff; cvt.u64.u32 %x0, %y0; add.u64 %x0, %x0, %in; ld.global.s8 $d, [%x0]; ld.u8 $d, [%x0+1];",
    "ld.global.nc.u32 $d, [%in+$4];",
    /* memory of one's own */
    "st.global.u32 [%own+$4], $r;",
    "st.global.u64 [%own+$8], $L;",
    "st.global.v2.u32 [%own+8], {$r, $r};",
    "st.global.v4.f32 [%own+16], {$f, $f, $f, $f};",
    "st.global.u8 [%own+$8], $r;",
    "st.global.u16 [%own+$8], $h;",
    "ld.global.u32 $d, [%own+$4];",
    "ld.global.v4.u32 {$d, $d, $d, $d}, [%own+16];",
    "st.u32 [%own+$4], $r; ld.u32 $d, [%own];",
    "mad.wide.u32 %x0, %gid, 4, %flat; st.global.u32 [%x0], $r; ld.global.u32 $d, [%x0];",
    "st.shared.u32 [%so], $r;",
    "st.shared.v2.u32 [%so+8], {$r, $r};",
    "st.shared.f32 [%so+4], $f;",
    "ld.shared.u32 $d, [%so+4];",
    "ld.shared.v4.u32 {$d, $d, $d, $d}, [%so];",
    "ld.shared.u64 $D, [%so+8];",
    "st.local.u32 [%lo+$8], $r; ld.local.u32 $d, [%lo+$4];",
    "and.b32 %y0, $r, 0x3c; add.u32 %y0, %y0, %lo; st.local.u32 [%y0], $r; ld.local.s8 $d, [%y0+1];",
    "and.b32 %y0, $r, 0x38; add.u32 %y0, %y0, %lo; st.local.u64 [%y0], $L; ld.local.v2.u32 {$d, $d}, [%y0];",
    "and.b32 %y0, $r, 0x3c; add.u32 %y0, %y0, %lo; cvt.u64.u32 %x0, %y0; st.local.u16 [%x0+2], $h; "
    "ld.local.u32 $d, [%x0];",
    "and.b32 %y0, $r, 0x30; add.u32 %y0, %y0, %lo; ld.local.v4.f32 {$f, $f, $f, $f}, [%y0]; st.local.f32 [%y0+4], $f;",
    "st.local.v4.u32 [%lo+16], {$r, $r, $r, $r}; ld.local.u64 $D, [%lo+24]; ld.local.s16 $d, [%lo+18];",
    "st.local.v2.u64 [%lo+32], {$L, $L}; ld.local.v4.u32 {$d, $d, $d, $d}, [%lo+32]; st.local.u8 [%lo+33], $r;",
    "cvt.u64.u32 %x0, %lo; cvta.local.u64 %x0, %x0; st.u64 [%x0+$8], $L; ld.local.u64 $D, [%lo+8]; "
    "ld.v4.u32 {$d, $d, $d, $d}, [%x0+16];",
    "st.shared.u32 [%so], $r; ld.shared.u32 $d, [%so]; st.shared.u32 [%so+12], $d; ld.shared.f32 $f, [%so+12];",
    "red.shared.add.u32 [counts+$4], 3;",
    "and.b32 %y0, $r, 0x3c; mov.u32 %y1, counts; add.u32 %y0, %y0, %y1; red.shared.add.u32 [%y0], 1;",
    "red.global.add.u32 [%sums+$4], $r;",
    "and.b32 %y0, $r, 0x7c; cvt.u64.u32 %x0, %y0; add.u64 %x0, %x0, %sums; red.global.max.u32 [%x0+128], $r;",
    "atom.global.add.u32 $d, [%own], $r;",
    "mov.b128 %w0, {$L, $L}; st.global.b128 [%own+16], %w0;",
    "ld.global.b128 %w0, [%own+16]; mov.b128 {$D, _}, %w0;",
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], $r; call.uni (b), helper, (a); ld.param.b32 $d, [b]; }",
};
/* What polls counts as waiting for others: in a loop, after a while, diverged lanes no longer wait for it, and after
 * how long an engine may choose. */
static const char *const polls[] = {
    "ld.volatile.global.u32 $d, [%in+$4];",
    "ld.relaxed.gpu.global.u64 $D, [%own+$8];",
    "atom.global.exch.b32 $d, [%own+$4], $r;",
    "ld.global.u32 %y0, [%own]; atom.global.cas.b32 $d, [%own], %y0, $r;",
    "atom.global.cas.b64 $D, [%own+$8], $L, $L;",
    "mov.b128 %w1, {$L, $L}; ld.shared.b128 %w0, [%so]; atom.shared.cas.b128 %w1, [%so], %w0, %w1; mov.b128 {$D, $D}, "
    "%w1;",
    "mov.b128 %w1, {$L, $L}; atom.global.exch.b128 %w0, [%own], %w1; mov.b128 {_, $D}, %w0;",
};
static const char *const whole_warp[] = {
    "shfl.sync.bfly.b32 $d, $r, $n, 31, -1;",
    "shfl.sync.up.b32 $d|$p, $r, $n, 0, -1;",
    "shfl.sync.down.b32 $d|$p, $r, 1, 31, -1;",
    "shfl.sync.idx.b32 $d, $r, $r, 31, -1;",
    "vote.sync.all.pred $p, $P, -1;",
    "vote.sync.ballot.b32 $d, $P, -1;",
    "match.any.sync.b32 $d, %ty, -1;",
    "match.all.sync.b32 $d|$p, $r, -1;",
    "redux.sync.add.u32 $d, $r, -1;",
    "redux.sync.min.s32 $d, $r, -1;",
    "bar.warp.sync -1;",
};
static const char *const whole_block[] = {
    "bar.sync 0;",
    "st.shared.u32 [%so], $r; bar.sync 0; and.b32 %y0, $r, 0xffc; mov.u32 %y1, tile; add.u32 %y0, %y0, %y1; "
    "ld.shared.u32 $d, [%y0]; bar.sync 0;",
    "st.shared.f32 [%so+4], $f; bar.sync 0; mov.u32 %y1, tile; mad.lo.u32 %y0, %ty, 16, %y1; ld.shared.f32 $f, "
    "[%y0+4]; ld.shared.u32 $d, [%y0+20]; bar.sync 0;",
    "bar.sync 0; mov.u32 %y1, tile; xor.b32 %y0, %tx, 1; mad.lo.u32 %y0, %y0, 16, %y1; ld.shared.u32 $d, [%y0]; "
    "bar.sync 0;",
    "bar.red.popc.u32 $d, 0, $P;",
    "barrier.sync 1; membar.cta;",
};

/* A value that is set late or not at all: in an arm that not all lanes take, in a round of a loop, as a copy of a
 * register with one definition that goes on to other values, or of something that never changes. A flag says whether it
 * was, and who reads the value looks at the flag. $# is the number that all of them share; the source comes first. */
static const char *const late_sources[] = {
    "add.u32 %k$#, $r, $s; add.s64 %e$#, $L, $M;",     "xor.b32 %k$#, $r, $s; mul.lo.u64 %e$#, $L, $M;",
    "ld.global.u32 %k$#, [%in+$4]; mov.u64 %e$#, $M;", "mad.lo.u32 %k$#, $r, $s, $r; mad.wide.u32 %e$#, $r, $s, $L;",
    "mov.u32 %k$#, $r; cvt.u64.u32 %e$#, $r;",
};
static const char *const late_copies[] = {
    "mov.u32 %v$#, %k$#; mov.u32 %j$#, %v$#; mov.u64 %z$#, %e$#; mov.u32 %g$#, 1;",
    "mov.b32 %v$#, %k$#; mov.u64 %z$#, %e$#; sub.u32 %j$#, %v$#, $s; mov.u32 %g$#, 1;",
    "mov.u32 %v$#, %tid.x; mov.u32 %j$#, %k$#; ld.param.u64 %z$#, [p3]; mov.u32 %g$#, 1;",
    "mov.u32 %v$#, 77; mov.u32 %j$#, %v$#; mov.u64 %z$#, 1234567; mov.u32 %g$#, 1;",
    "mov.b64 {%v$#, %j$#}, %e$#; mov.b64 %z$#, {%k$#, %v$#}; mov.u32 %g$#, 1;",
    "mov.u32 %v$#, $r; mov.u32 %j$#, %k$#; mov.u64 %z$#, $L; mov.u32 %g$#, 1;",
};
static const char *const late_reads[] = {
    "setp.ne.u32 %pc, %g$#, 0; selp.b32 $d, %v$#, $s, %pc;",
    "setp.ne.u32 %pc, %g$#, 0; selp.b32 $d, %j$#, $s, %pc; selp.b64 $D, %z$#, $L, %pc;",
    "setp.ne.u32 %pc, %g$#, 0; @%pc mad.lo.u32 $d, %v$#, 3, %j$#;",
    "setp.ne.u32 %pc, %g$#, 0; @%pc add.u64 $D, %z$#, $M;",
    "setp.ne.u32 %pc, %g$#, 0; @%pc st.global.v2.u32 [%own+8], {%j$#, %v$#};",
};
/* Loads for all of which only some lanes have a use: what the others have loaded must not count. $# is a number of
 * their own, so that each register is written once. */
static const char *const chosen[] = {
    "ld.global.u32 %m$#, [%in+$4]; setp.lt.s32 %o$#, $r, $s; add.u32 %n$#, %m$#, $s; selp.b32 $d, %n$#, $s, %o$#;",
    "setp.lt.s32 %o$#, $r, $s; ld.global.u32 %m$#, [%in+$4]; xor.b32 %n$#, %m$#, %m$#; selp.b32 $d, $s, %n$#, %o$#;",
    "setp.ge.s32 %o$#, $r, $s; ld.shared.u32 %m$#, [%so+4]; shl.b32 %n$#, %m$#, 3; selp.b32 $d, %n$#, $s, %o$#; "
    "selp.b32 $d, %m$#, $d, %o$#;",
    "ld.global.v2.u32 {%m$#, %n$#}, [%in+$8]; setp.ne.s32 %o$#, $r, $s; @%o$# bra LEFT$#; mad.lo.u32 $d, %m$#, 5, "
    "%n$#;\nLEFT$#: not.b32 $d, $r;",
    "ld.global.u32 %m$#, [%in+$4]; setp.lt.s32 %o$#, %m$#, $s; add.u32 %n$#, %m$#, 1; selp.b32 $d, %n$#, $s, %o$#;",
    "ld.global.u32 %m$#, [%in+$4]; setp.lt.s32 %o$#, $r, $s; selp.b32 %n$#, %m$#, $s, %o$#; add.u32 $d, %m$#, %n$#;",
};
/* One warp waits for another, one block for the one before it; $@ and $& are offsets of what this row has for itself.
 */
static const char *const waits[] = {
    "sub.u32 %y0, %so, %tiles; shr.u32 %y1, %y0, 9; shl.b32 %y1, %y1, 2; st.shared.u32 [%so+4], $r; bar.warp.sync -1; "
    "membar.cta; mov.u32 %y2, flags; add.u32 %y1, %y1, %y2; st.volatile.shared.u32 [%y1+$@], 1; add.u32 %y0, %y0, 512; "
    "setp.ge.u32 %pc, %y0, %all; @%pc and.b32 %y0, %y0, 511; shr.u32 %y1, %y0, 9; shl.b32 %y1, %y1, 2; add.u32 %y1, "
    "%y1, %y2;\nWAIT$#: ld.volatile.shared.u32 %y2, [%y1+$@]; setp.ne.u32 %pc, %y2, 1; @%pc bra WAIT$#; membar.cta; "
    "add.u32 %y0, %y0, %tiles; ld.shared.u32 $d, [%y0+4]; bar.sync 0;",
    "add.u64 %x1, %flat, $&; mad.wide.u32 %x0, %gid, 4, %x1; st.global.u32 [%x0+4096], $r; membar.gl; bar.sync 0; "
    "mov.u32 %y3, %ctaid.x; mad.wide.u32 %x1, %y3, 4, %x1; st.volatile.global.u32 [%x1+8192], 1; setp.eq.u32 %pc, %y3, "
    "0; @%pc bra FIRST$#;\nWAIT$#: ld.volatile.global.u32 %y2, [%x1+8188]; setp.ne.u32 %pc, %y2, 1; @%pc bra WAIT$#; "
    "membar.gl; shr.u32 %y0, %all, 2; cvt.u64.u32 %x1, %y0; sub.u64 %x0, %x0, %x1; ld.global.u32 $d, "
    "[%x0+4096];\nFIRST$#: bar.sync 0;",
};
enum { CHOICES = 4, WAIT_STEP = 8192 };

struct maker {
    struct program *p;
    uint64_t state;
    unsigned ids;
    bool exits; /* some threads may be gone */
    bool plain;
    unsigned lates, waits, choices; /* so far */
    unsigned number;       /* what $# stands for */
    bool leaves;           /* lanes may leave the loop, or its round, by themselves */
};

static unsigned pick(struct maker *m, unsigned n)
{
    m->state = m->state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(m->state >> 33) % n;
}

static void constant(struct maker *m, struct mg_strbuf *t)
{
    static const uint32_t odd[] = {0,  1,   2,          3,          4,          8,          16, 31,
                                   32, 255, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0, 12, 100};
    mg__strbuf_printf(t, "%d", (int32_t)(pick(m, 8) ? odd[pick(m, MG_COUNT(odd))] : pick(m, 1u << 30)));
}

static void expand(struct maker *m, struct mg_strbuf *t, const char *row)
{
    static const uint32_t floats[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x40490fdb, 0x7f800000,
                                      0xff800000, 0x7fc00000, 1,          0x00800000, 0x7f7fffff, 0x4f000000};
    for (; *row; row++) {
        if (*row != '$') {
            mg__strbuf_append(t, row, 1);
            continue;
        }
        switch (*++row) {
        case 's':
            if (pick(m, 3) == 0) {
                constant(m, t);
                break;
            }
            __attribute__((fallthrough));
        case 'd':
        case 'r':
            mg__strbuf_printf(t, "%%r%u", pick(m, 16));
            break;
        case 'M':
            if (pick(m, 3) == 0) {
                constant(m, t);
                break;
            }
            __attribute__((fallthrough));
        case 'D':
        case 'L':
            mg__strbuf_printf(t, "%%d%u", pick(m, 8));
            break;
        case 'g':
            if (pick(m, 4) == 0) {
                mg__strbuf_printf(t, "0f%08X", floats[pick(m, MG_COUNT(floats))]);
                break;
            }
            __attribute__((fallthrough));
        case 'f':
            mg__strbuf_printf(t, "%%f%u", pick(m, 8));
            break;
        case 'q':
            mg__strbuf_printf(t, "%%q%u", pick(m, 3));
            break;
        case 'h':
            mg__strbuf_printf(t, "%%h%u", pick(m, 4));
            break;
        case 'p':
        case 'P':
            mg__strbuf_printf(t, "%%p%u", pick(m, 8));
            break;
        case 'n':
            mg__strbuf_printf(t, "%u", pick(m, 32));
            break;
        case '#':
            mg__strbuf_printf(t, "%u", m->number);
            break;
        case '@': /* eight warps have words of 4 bytes */
            mg__strbuf_printf(t, "%u", m->number * 32);
            break;
        case '&':
            mg__strbuf_printf(t, "%u", m->number * WAIT_STEP);
            break;
        default: /* 4, 8: an offset */
            mg__strbuf_printf(t, "%u", (unsigned)(*row - '0') * pick(m, 7));
            break;
        }
    }
}

static struct stmt *new_stmt(struct maker *m, enum stmt_kind kind, struct mg_strbuf *head)
{
    struct stmt *s = mg__arena_alloc(&m->p->arena, sizeof *s);
    *s = (struct stmt){.kind = (uint8_t)kind, .id = ++m->ids};
    s->head = mg__arena_strdup(&m->p->arena, head->at ? head->at : "");
    mg__strbuf_free(head);
    return s;
}

static struct stmt *line(struct maker *m, const char *row)
{
    struct mg_strbuf t = {0};
    expand(m, &t, row);
    return new_stmt(m, STMT_LINE, &t);
}

/* A row that plain.c knows, if it has to. */
static const char *choose(struct maker *m, const char *const *rows, unsigned n)
{
    const char *row = rows[pick(m, n)];
    for (unsigned k = 0; m->plain && k < 40 && !plain_knows(row); k++)
        row = rows[pick(m, n)];
    return row;
}

static void append(struct stmt *to, unsigned side, struct stmt *s)
{
    mg__vec_push(&to->list[side], s);
}

static void append_read(struct maker *m, struct stmt *to)
{
    if (pick(m, 2))
        append(to, 0, line(m, late_reads[pick(m, MG_COUNT(late_reads))]));
}

/* The source of a late value, and an arm that makes it; around them others, among them such as read it. In a loop of
 * its own, with the counter %c`counter`, rounds differ in what they bring and in who takes the arm. */
static struct stmt *late_value(struct maker *m, unsigned counter)
{
    struct mg_strbuf none = {0}, t = {0}, from = {0};
    struct stmt *all = new_stmt(m, STMT_IF, &none), *source, *arm;
    all->bare = true;
    m->number = m->lates++;
    append_read(m, all);
    if (counter) {
        mg__strbuf_printf(&t, "and.b32 %%y0, %%c%u, %u; setp.%s.u32 %%pc, %%y0, 0;", counter, 1 + pick(m, 3),
                          pick(m, 2) ? "eq" : "ne");
        mg__strbuf_printf(&from, "mul.lo.u32 %%y0, %%c%u, -1640531527;", counter);
        expand(m, &from, " add.u32 %k$#, %y0, $r; mad.wide.u32 %e$#, %k$#, 3, $L;");
        source = new_stmt(m, STMT_LINE, &from);
    } else {
        expand(m, &t, pick(m, 2) ? "not.pred %pc, $P;" : "setp.lt.s32 %pc, $r, $s;");
        source = line(m, late_sources[pick(m, MG_COUNT(late_sources))]);
    }
    source->stays = true;
    append(all, 0, source);
    arm = new_stmt(m, STMT_IF, &t);
    append(arm, 0, line(m, late_copies[pick(m, MG_COUNT(late_copies))]));
    if (pick(m, 2)) {
        unsigned side = pick(m, 2);
        append(arm, side, line(m, choose(m, values, MG_COUNT(values))));
    }
    append(all, 0, arm);
    append_read(m, all);
    return all;
}

/* With a loop around it, or without; what comes last is given back, and the rest stands in the list already. */
static struct stmt *late_values(struct maker *m, struct stmt *to, unsigned side, unsigned depth)
{
    struct mg_strbuf t = {0};
    if (!depth || pick(m, 3) == 0)
        return late_value(m, 0);
    expand(m, &t, "and.b32 %y0, $r, 7;");
    mg__strbuf_printf(&t, " add.u32 %%l%u, %%y0, 1; mov.u32 %%c%u, 0;", depth, depth);
    struct stmt *s = new_stmt(m, STMT_LOOP, &t);
    s->test_first = pick(m, 2);
    append(s, 0, late_value(m, depth));
    append(to, side, s);
    m->number = m->lates - 1;
    return line(m, late_reads[pick(m, MG_COUNT(late_reads))]);
}

static void jump_table(struct maker *m, struct mg_strbuf *t)
{
    unsigned l = ++m->ids;
    mg__strbuf_printf(t, "{ T%u: .branchtargets A%u, B%u, C%u, B%u;\n", l, l, l, l, l);
    expand(m, t, "and.b32 %y0, $r, 3;");
    mg__strbuf_printf(t, " brx.idx %%y0, T%u;\nA%u: ", l, l);
    expand(m, t, "xor.b32 $d, $r, $s;");
    mg__strbuf_printf(t, " bra J%u;\nB%u: ", l, l);
    expand(m, t, "add.u32 $d, $r, $s;");
    mg__strbuf_printf(t, "\nC%u: ", l);
    expand(m, t, "sub.u32 $d, $r, $s; mov.u32 $d, $r;");
    mg__strbuf_printf(t, "\nJ%u: }", l);
}

static void condition(struct maker *m, struct mg_strbuf *t)
{
    expand(m, t, pick(m, 2) ? "not.pred %pc, $P;" : "setp.lt.s32 %pc, $r, $s;");
}

/* `together`: all threads of the block come by here. */
static void make_list(struct maker *m, struct stmt *to, unsigned side, unsigned n, unsigned depth, bool together,
                      bool loop)
{
    for (unsigned i = 0; i < n; i++) {
        struct mg_strbuf t = {0};
        unsigned what = pick(m, 40);
        struct stmt *s;
        if (what < 4 && depth) {
            bool uniform = pick(m, 3) == 0;
            if (uniform)
                mg__strbuf_printf(&t, "and.b32 %%y0, %%u, %u; setp.ne.u32 %%pc, %%y0, 0;", 1u << pick(m, 3));
            else
                condition(m, &t);
            s = new_stmt(m, STMT_IF, &t);
            if (pick(m, 3) == 0) {
                uniform = false;
                condition(m, &t);
                s->second = mg__arena_strdup(&m->p->arena, t.at);
                s->either = pick(m, 2);
                mg__strbuf_free(&t);
            }
            make_list(m, s, 0, 1 + pick(m, 4), depth - 1, together && uniform, loop);
            if (pick(m, 2))
                make_list(m, s, 1, 1 + pick(m, 3), depth - 1, together && uniform, loop);
        } else if (what < 7 && depth) {
            bool uniform = pick(m, 2) == 0;
            if (uniform)
                mg__strbuf_printf(&t, "mov.u32 %%l%u, %u; mov.u32 %%c%u, 0;", depth, 1 + pick(m, 6), depth);
            else
                expand(m, &t, "and.b32 %y0, $r, 7;"),
                    mg__strbuf_printf(&t, " add.u32 %%l%u, %%y0, 1; mov.u32 %%c%u, 0;", depth, depth);
            s = new_stmt(m, STMT_LOOP, &t);
            s->test_first = pick(m, 2);
            const bool leaves = m->leaves;
            m->leaves = !(together && uniform);
            make_list(m, s, 0, 2 + pick(m, 6), depth - 1, together && uniform, true);
            m->leaves = leaves;
            s->list[1].count = 0;
        } else if (what == 7 && together && !m->exits) {
            expand(m, &t, choose(m, whole_warp, MG_COUNT(whole_warp)));
            s = new_stmt(m, STMT_LINE, &t);
        } else if (what < 10 && together) {
            expand(m, &t, choose(m, whole_block, MG_COUNT(whole_block)));
            s = new_stmt(m, STMT_LINE, &t);
        } else if (what == 10 && pick(m, 8) == 0 && !loop) {
            expand(m, &t, pick(m, 2) ? "@$P ret;" : "@!$P exit;");
            m->exits = true;
            s = new_stmt(m, STMT_LINE, &t);
        } else if (what >= 12 && what < (m->plain ? 16 : 13) && m->lates < MOST_LATES) {
            s = late_values(m, to, side, depth);
        } else if (what >= 16 && what < 20 && m->lates) {
            m->number = pick(m, m->lates);
            s = line(m, late_reads[pick(m, MG_COUNT(late_reads))]);
        } else if (what == 20 && together && !loop && !m->exits && m->waits < MOST_WAITS) {
            m->number = m->waits++;
            s = line(m, waits[pick(m, MG_COUNT(waits))]);
        } else if (what == 21 && m->choices < CHOICES) {
            m->number = m->choices++;
            s = line(m, chosen[pick(m, MG_COUNT(chosen))]);
        } else if (what >= 22 && what < 25 && m->leaves) {
            condition(m, &t);
            s = new_stmt(m, pick(m, 2) ? STMT_BREAK : STMT_CONTINUE, &t);
        } else if (what == 11 && pick(m, 3) == 0) {
            jump_table(m, &t);
            s = new_stmt(m, STMT_LINE, &t);
        } else {
            bool poll = !loop && pick(m, 16) == 0;
            const char *row = poll ? choose(m, polls, MG_COUNT(polls)) : choose(m, values, MG_COUNT(values));
            if (row[0] != '{' && pick(m, 6) == 0) { /* only its last instruction is guarded: the others prepare */
                const char *last = row, *end = row + strlen(row) - 1;
                for (const char *at = row; at < end; at++)
                    if (*at == ';')
                        last = at + 2;
                char before[256];
                snprintf(before, sizeof before, "%.*s", (int)(last - row), row);
                expand(m, &t, before);
                expand(m, &t, pick(m, 2) ? "@$P " : "@!$P ");
                expand(m, &t, last);
            } else {
                expand(m, &t, row);
            }
            s = new_stmt(m, STMT_LINE, &t);
        }
        mg__vec_push(&to->list[side], s);
    }
}

void program_make(struct program *p, uint64_t seed, bool plain)
{
    static const struct mg_dim3 blocks[] = {{32, 1, 1}, {64, 1, 1}, {256, 1, 1}, {16, 16, 1}, {8, 8, 1},   {16, 4, 1},
                                            {4, 8, 2},  {32, 4, 1}, {2, 16, 1},  {64, 2, 1},  {10, 16, 1}, {96, 1, 1},
                                            {1, 64, 1}, {8, 2, 6},  {33, 1, 1},  {7, 5, 1}};
    struct maker m = {.p = p, .state = seed * 0x9e3779b97f4a7c15ull + 1, .plain = plain};
    struct mg_strbuf none = {0};
    memset(p, 0, sizeof *p);
    mg__arena_init(&p->arena);
    p->seed = seed;
    pick(&m, 2);
    p->block = blocks[pick(&m, pick(&m, 4) ? 10 : MG_COUNT(blocks))];
    p->grid = (struct mg_dim3){1 + pick(&m, 4), 1, 1};
    p->root = new_stmt(&m, STMT_IF, &none);
    unsigned size = pick(&m, 40); /* most are small: many small ones find more than a few large ones in the same time */
    if (plain)
        size /= 3;
    p->depth = size == 0 ? 3 : size < 6 ? 2 : 1;
    make_list(&m, p->root, 0,
              size == 0  ? 5 + pick(&m, 22)
              : size < 6 ? 2 + pick(&m, 6)
                         : 1 + pick(&m, 4),
              p->depth, true, false);
}

static void free_lists(struct stmt *s)
{
    for (unsigned side = 0; side < 2; side++) {
        for (size_t i = 0; i < s->list[side].count; i++)
            free_lists(s->list[side].at[i]);
        mg__vec_free(&s->list[side]);
    }
}

void program_free(struct program *p)
{
    free_lists(p->root);
    mg__arena_free(&p->arena);
}

static struct stmt *walk(struct stmt *s, size_t *left)
{
    for (unsigned side = 0; side < 2; side++)
        for (size_t i = 0; i < s->list[side].count; i++) {
            struct stmt *in = s->list[side].at[i];
            if ((*left)-- == 0)
                return in;
            if ((in = walk(in, left)) != NULL)
                return in;
        }
    return NULL;
}

struct stmt *program_at(const struct program *p, size_t index)
{
    return walk(p->root, &index);
}
