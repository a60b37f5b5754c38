// inline_ptx.cu - instructions written in asm statements, their registers and predicates of their own
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
#include "kit.cuh"

__device__ unsigned lop(unsigned a, unsigned b, unsigned c)
{
    unsigned d;
    asm("lop3.b32 %0,%1,%2,%3,0x96;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
__device__ unsigned prmt(unsigned a, unsigned b, unsigned s)
{
    unsigned d;
    asm("prmt.b32 %0,%1,%2,%3;" : "=r"(d) : "r"(a), "r"(b), "r"(s));
    return d;
}
__device__ unsigned bfe(unsigned a, int p, int l)
{
    unsigned d;
    asm("bfe.u32 %0,%1,%2,%3;" : "=r"(d) : "r"(a), "r"(p), "r"(l));
    return d;
}
__device__ unsigned long long wide(unsigned a, unsigned b)
{
    unsigned long long d;
    asm("mul.wide.u32 %0,%1,%2;" : "=l"(d) : "r"(a), "r"(b));
    return d;
}
__device__ unsigned carry(unsigned a, unsigned b, unsigned c, unsigned d, unsigned *hi)
{
    unsigned lo;
    asm("add.cc.u32 %0,%2,%3;\n\taddc.u32 %1,%4,%5;" : "=r"(lo), "=r"(*hi) : "r"(a), "r"(b), "r"(c), "r"(d));
    return lo;
}
__device__ unsigned madc(unsigned a, unsigned b, unsigned c)
{
    unsigned lo, hi;
    asm("mad.lo.cc.u32 %0,%2,%3,%4;\n\tmadc.hi.u32 %1,%2,%3,0;" : "=r"(lo), "=r"(hi) : "r"(a), "r"(b), "r"(c));
    return lo ^ hi;
}
__device__ int vote(int p)
{
    int d;
    asm volatile("{.reg .pred p,q;\n\tsetp.ne.s32 p,%1,0;\n\tvote.sync.any.pred q,p,0xffffffff;\n\tselp.s32 %0,1,0,q;}"
                 : "=r"(d)
                 : "r"(p));
    return d;
}
__global__ void all(const unsigned *in, unsigned *o, unsigned long long *w, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n], hi;
    o[i] = lop(a, b, c);
    o[n + i] = prmt(a, b, c & 0x7777);
    o[2 * n + i] = bfe(a, b % 32, c % 20);
    w[i] = wide(a, b);
    o[3 * n + i] = carry(a, b, c, a, &hi);
    o[4 * n + i] = hi;
    o[5 * n + i] = madc(a, b, c);
    unsigned lane, sm;
    asm volatile("mov.u32 %0,%%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0,%%smid;" : "=r"(sm));
    o[6 * n + i] = lane + (sm >= 132 ? 1000 : 0);
    o[7 * n + i] = vote(i % 64 == 5);
    unsigned r;
    asm("shf.l.wrap.b32 %0,%1,%2,%3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[8 * n + i] = r;
    asm("{ .reg .b32 t; bfind.u32 t,%1; add.u32 %0,t,1; }" : "=r"(r) : "r"(a >> (c % 31)));
    o[9 * n + i] = r;
    float f;
    asm("cvt.rna.tf32.f32 %0,%1;" : "=r"(r) : "f"(__uint_as_float(a & 0x3fffffff)));
    o[10 * n + i] = r;
    asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(f) : "f"((float)(a % 10)));
    o[11 * n + i] = (unsigned)f;
    unsigned long long gt;
    asm volatile("mov.u64 %0,%%globaltimer;" : "=l"(gt));
    int dp;
    asm("dp2a.lo.s32.s32 %0,%1,%2,%3;" : "=r"(dp) : "r"(a), "r"(b), "r"(c));
    o[12 * n + i] = dp;
    int v4;
    asm("vabsdiff4.u32.u32.u32.add %0,%1,%2,%3;" : "=r"(v4) : "r"(a), "r"(b), "r"(0));
    o[13 * n + i] = v4 + (gt == 0);
    asm volatile("{ .reg .pred p; setp.gt.u32 p,%1,%2; @p st.global.u32 [%0],%1; @!p st.global.u32 [%0],%2; }" ::"l"(
                     o + 14 * n + i),
                 "r"(a), "r"(b)
                 : "memory");
}
int main()
{
    int n = 256;
    std::vector<unsigned> in(n);
    for (int i = 0; i < n; i++)
        in[i] = mixed(i);
    device<unsigned> d(in), o(15 * n);
    device<unsigned long long> w(n);
    all<<<2, 128>>>(d, o, w, n);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    auto g = o.get();
    auto gw = w.get();
    for (int i = 0; i < n; i++) {
        unsigned a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n];
        EXPECT(g[i] == (a ^ b ^ c));
        unsigned p = 0;
        for (int k = 0; k < 4; k++) {
            int s = c >> (4 * k) & 7;
            unsigned by = s < 4 ? a >> (8 * s) & 255 : b >> (8 * (s - 4)) & 255;
            p |= by << 8 * k;
        }
        EXPECT(g[n + i] == p);
        unsigned len = c % 20;
        EXPECT(g[2 * n + i] == (len ? (unsigned)(((unsigned long long)a >> (b % 32)) & ((1ull << len) - 1)) : 0));
        EXPECT(gw[i] == (unsigned long long)a * b);
        unsigned long long s = ((unsigned long long)c << 32 | a) + ((unsigned long long)a << 32 | b);
        EXPECT(g[3 * n + i] == (unsigned)s && g[4 * n + i] == s >> 32);
        unsigned long long m = (unsigned long long)a * b;
        unsigned lo = (unsigned)m + c, hi = (unsigned)(m >> 32) + (lo < c);
        EXPECT(g[5 * n + i] == (lo ^ hi));
        EXPECT(g[6 * n + i] == (unsigned)i % 32);
        EXPECT(g[7 * n + i] == (unsigned)(i % 64 < 32));
        unsigned sh = c & 31;
        EXPECT(g[8 * n + i] == (sh ? b << sh | a >> (32 - sh) : b));
        unsigned x = a >> (c % 31);
        EXPECT(g[9 * n + i] == (x ? 32 - (unsigned)__builtin_clz(x) : 0));
        EXPECT((g[10 * n + i] & 0x1fff) == 0);
        EXPECT(g[11 * n + i] == 1u << (a % 10));
        int dp = (int)c;
        dp += (short)(a & 0xffff) * (signed char)(b & 255) + (short)(a >> 16) * (signed char)(b >> 8 & 255);
        EXPECT((int)g[12 * n + i] == dp);
        unsigned v = 0;
        for (int k = 0; k < 4; k++)
            v += abs((int)(a >> 8 * k & 255) - (int)(b >> 8 * k & 255));
        EXPECT(g[13 * n + i] == v);
        EXPECT(g[14 * n + i] == std::max(a, b));
    }
    puts(good ? "PASS" : "FAIL");
    return !good;
}
