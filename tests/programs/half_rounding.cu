/* half_rounding.cu - sums, products and fused products of __half and __nv_bfloat16, one and two in a register: values of
 * all kinds, many of them ties, subnormal, or without end. Held to integers, which are exact.
 */
#include "kit.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define N (1 << 14)
enum { ADD, SUB, MUL, FMA, MIN, MAX, OPS };

struct format {
    int digits, bias; // stored digits of the significand
    unsigned infinity() const { return (2u * bias + 1) << digits; }
};
static const format F16 = {10, 15}, BF16 = {7, 127};

__extension__ typedef __int128 wide;

struct number { // m * 2^e
    wide m;
    int e;
};
static number value(unsigned h, format f)
{
    int e = h >> f.digits & (2 * f.bias + 1);
    wide m = (h & ((1 << f.digits) - 1)) | (e ? 1 << f.digits : 0);
    return {h & 0x8000 ? -m : m, (e ? e : 1) - f.bias - f.digits};
}

// a + b. One that lies further away than any digit that is kept counts as the least that is seen.
static number sum(number a, number b)
{
    if (a.m == 0 || b.m == 0)
        return a.m ? a : b;
    if (a.e < b.e)
        return sum(b, a);
    int apart = a.e - b.e;
    if (apart > 80) {
        b = {b.m > 0 ? 1 : -1, a.e - 80};
        apart = 80;
    }
    return {(a.m << apart) + b.m, b.e};
}

static unsigned rounded(number v, format f)
{
    unsigned sign = v.m < 0 ? 0x8000 : 0;
    wide m = v.m < 0 ? -v.m : v.m;
    int least = 1 - f.bias - f.digits, e = v.e;
    bool rest = false, half = false;
    while (e < least || m >> (f.digits + 1)) { // a digit less
        rest |= half;
        half = m & 1;
        m >>= 1;
        e++;
    }
    for (; m && e > least && !(m >> f.digits); e--)
        m <<= 1;
    m += half && (rest || (m & 1));
    // the implicit digit is one more of the exponent
    unsigned long long r = (unsigned long long)m + ((unsigned long long)(e - least) << f.digits);
    return sign | (r > f.infinity() ? f.infinity() : (unsigned)r);
}

static bool nan(unsigned h, format f)
{
    return (h & 0x7fff) > f.infinity();
}

static unsigned fused(unsigned a, unsigned b, unsigned c, format f)
{
    unsigned sign = (a ^ b) & 0x8000, end = f.infinity(), x = a & 0x7fff, y = b & 0x7fff, z = c & 0x7fff;
    if (nan(a, f) || nan(b, f) || nan(c, f) || (x == end && y == 0) || (x == 0 && y == end))
        return 0x7fff;
    bool endless = x == end || y == end;
    if (endless)
        return z == end && sign != (c & 0x8000) ? 0x7fff : sign | end;
    if (z == end)
        return c;
    number p = value(a, f), q = value(b, f), s = sum({p.m * q.m, p.e + q.e}, value(c, f));
    return s.m ? rounded(s, f) : sign & c;
}

static unsigned expected(int op, unsigned a, unsigned b, unsigned c, format f)
{
    const unsigned one = f.bias << f.digits;
    bool less = a & 0x8000 ? !(b & 0x8000) || a > b : !(b & 0x8000) && a < b;
    switch (op) {
    case ADD: return fused(a, one, b, f);
    case SUB: return nan(b, f) ? 0x7fff : fused(a, one, b ^ 0x8000, f);
    case MUL: return fused(a, b, (a ^ b) & 0x8000, f); // a zero of its own sign
    case FMA: return fused(a, b, c, f);
    default:
        if (nan(a, f) || nan(b, f))
            return nan(a, f) && nan(b, f) ? 0x7fff : nan(a, f) ? b : a;
        return less == (op == MIN) ? a : b;
    }
}

template <class T> __global__ void ones(const T *in, T *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T a = in[i], b = in[N + i], c = in[2 * N + i];
    out[ADD * N + i] = __hadd(a, b);
    out[SUB * N + i] = __hsub(a, b);
    out[MUL * N + i] = __hmul(a, b);
    out[FMA * N + i] = __hfma(a, b, c);
    out[MIN * N + i] = __hmin(a, b);
    out[MAX * N + i] = __hmax(a, b);
}

template <class T2> __global__ void twos(const T2 *in, T2 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = N / 2;
    T2 a = in[i], b = in[n + i], c = in[2 * n + i];
    out[ADD * n + i] = __hadd2(a, b);
    out[SUB * n + i] = __hsub2(a, b);
    out[MUL * n + i] = __hmul2(a, b);
    out[FMA * n + i] = __hfma2(a, b, c);
    out[MIN * n + i] = __hmin2(a, b);
    out[MAX * n + i] = __hmax2(a, b);
}

// Of any kind: all bits, few digits, exponents near one another, next to the least and the greatest.
static unsigned short some(unsigned seed, format f)
{
    unsigned r = mixed(seed), exponents = 2 * f.bias + 1, fraction = (1u << f.digits) - 1;
    unsigned e = r >> 16 & exponents, digits = r & fraction, sign = r & 0x8000;
    switch (r >> 28) {
    case 0: e = r >> 16 & 3; break;
    case 1: e = exponents - (r >> 16 & 3); break;
    case 2: digits = 0; break;
    case 3:
    case 4: digits &= fraction << (f.digits - 3); // fall through
    case 5:
    case 6:
    case 7: e = f.bias - 5 + (r >> 16 & 7); break;
    case 8: e = f.bias / 2 + (r >> 16 & 7); break;
    case 9: e = digits = 0; break;
    }
    return (unsigned short)(sign | e << f.digits | digits);
}

template <class T, class T2> static void hold(format f, const char *name)
{
    std::vector<unsigned short> in(3 * N);
    for (int i = 0; i < 3 * N; i++)
        in[i] = some(i * 3 + f.digits, f);
    for (int i = 0; i < N; i += 5) // the sum cancels, or nearly
        in[2 * N + i] = (unsigned short)(fused(in[i], in[N + i], 0, f) ^ 0x8000) + i / 5 % 3 - 1;
    device<unsigned short> from(in), to(OPS * N);
    for (int pairs = 0; pairs < 2; pairs++) {
        if (pairs)
            twos<<<N / 2 / 256, 256>>>((const T2 *)from.p, (T2 *)to.p);
        else
            ones<<<N / 256, 256>>>((const T *)from.p, (T *)to.p);
        CK(cudaGetLastError());
        std::vector<unsigned short> got = to.get();
        int wrong = 0;
        for (int op = 0; op < OPS; op++)
            for (int i = 0; i < N; i++) {
                unsigned a = in[i], b = in[N + i], c = in[2 * N + i], want = expected(op, a, b, c, f);
                if (got[op * N + i] != want && wrong++ < 5)
                    printf("%s, op %d, %d in a register, of %04x %04x %04x: %04x, not %04x\n", name, op, pairs + 1, a,
                           b, c, got[op * N + i], want);
            }
        EXPECT(wrong == 0);
    }
}

int main()
{
    hold<__half, __half2>(F16, "f16");
    hold<__nv_bfloat16, __nv_bfloat162>(BF16, "bf16");
    puts(good ? "PASS" : "FAIL");
    return !good;
}
