/* number.c - numbers of the types that GPU libraries take, as doubles and back.
 *
 * Every type's values are doubles, so reading is exact; writing rounds once, to the nearest and ties to even. The 8-bit
 * floats saturate, as the libraries' conversions do; half and bfloat16 overflow to infinity.
 */
#include "hosted/hosted.h"

#include <math.h>
#include <string.h>

/* A binary floating-point format of at most 16 bits. */
struct format {
    unsigned mantissa;
    int bias;
    unsigned bits, largest; /* in all; the largest finite number's */
    bool infinite;          /* there are infinities, and what overflows becomes one */
    unsigned nan;
};

static const struct format *format_of(int type)
{
    static const struct format half = {10, 15, 16, 0x7bff, true, 0x7e00}, brain = {7, 127, 16, 0x7f7f, true, 0x7fc0},
                               e4m3 = {3, 7, 8, 0x7e, false, 0x7f}, e5m2 = {2, 15, 8, 0x7b, false, 0x7f};
    return type == MG_R_16F    ? &half
           : type == MG_R_16BF ? &brain
           : type == MG_R_E4M3 ? &e4m3
           : type == MG_R_E5M2 ? &e5m2
                               : NULL;
}

static double decode(const struct format *f, int type, unsigned bits)
{
    unsigned sign = bits >> (f->bits - 1), rest = bits & ((1u << (f->bits - 1)) - 1);
    unsigned mantissa = rest & ((1u << f->mantissa) - 1);
    int exponent = (int)(rest >> f->mantissa);
    double value;
    if (type == MG_R_E4M3 ? rest == 0x7f : rest > (type == MG_R_E5M2 ? 0x7cu : f->largest + 1))
        value = NAN;
    else if (type != MG_R_E4M3 && rest == f->largest + 1)
        value = INFINITY;
    else if (exponent)
        value = ldexp((double)(mantissa + (1u << f->mantissa)), exponent - f->bias - (int)f->mantissa);
    else
        value = ldexp((double)mantissa, 1 - f->bias - (int)f->mantissa);
    return sign ? -value : value;
}

static unsigned encode(const struct format *f, double value)
{
    unsigned sign = signbit(value) ? 1u << (f->bits - 1) : 0, bits;
    double size = fabs(value);
    if (isnan(value))
        return f->nan;
    int exponent = size > 0 && isfinite(size) ? ilogb(size) : 0, least = 1 - f->bias;
    if (exponent < least || size == 0)
        exponent = least;
    /* The carry of a number that is rounded up goes into the exponent, where it belongs. */
    double scaled = isinf(size) || exponent > f->bias + 1 ? INFINITY : rint(ldexp(size, (int)f->mantissa - exponent));
    if (isinf(scaled))
        bits = f->infinite ? f->largest + 1 : f->largest;
    else
        bits = ((unsigned)(exponent - least) << f->mantissa) + (unsigned)scaled;
    if (bits > f->largest)
        bits = f->infinite ? f->largest + 1 : f->largest;
    return sign | bits;
}

size_t mg__number_size(int type)
{
    switch (type) {
    case MG_R_8I:
    case MG_R_8U:
    case MG_R_E4M3:
    case MG_R_E5M2:
        return 1;
    case MG_R_16F:
    case MG_R_16BF:
        return 2;
    case MG_R_32F:
    case MG_R_32I:
        return 4;
    case MG_R_64F:
    case MG_C_32F:
        return 8;
    case MG_C_64F:
        return 16;
    default:
        return 0;
    }
}

bool mg__number_complex(int type)
{
    return type == MG_C_32F || type == MG_C_64F;
}

void mg__number_get(int type, const void *from, double value[2])
{
    const struct format *format = format_of(type);
    float f[2] = {0, 0};
    int32_t i;
    uint16_t bits = 0;
    value[1] = 0;
    if (format) {
        memcpy(&bits, from, format->bits / 8); /* little-endian, as the device */
        value[0] = decode(format, type, bits);
    } else if (type == MG_R_32F || type == MG_C_32F) {
        memcpy(f, from, mg__number_size(type));
        value[0] = (double)f[0];
        value[1] = (double)f[1];
    } else if (type == MG_R_64F || type == MG_C_64F) {
        memcpy(value, from, mg__number_size(type));
    } else if (type == MG_R_32I) {
        memcpy(&i, from, sizeof(i));
        value[0] = i;
    } else {
        value[0] = type == MG_R_8I ? (double)*(const int8_t *)from : (double)*(const uint8_t *)from;
    }
}

static int32_t whole(double value, double least, double most)
{
    return isnan(value) ? 0 : (int32_t)fmin(fmax(rint(value), least), most);
}

void mg__number_put(int type, void *to, const double value[2])
{
    const struct format *format = format_of(type);
    float f[2] = {(float)value[0], (float)value[1]};
    int32_t i;
    if (format) {
        uint16_t bits = (uint16_t)encode(format, value[0]);
        memcpy(to, &bits, format->bits / 8);
    } else if (type == MG_R_32F || type == MG_C_32F) {
        memcpy(to, f, mg__number_size(type));
    } else if (type == MG_R_64F || type == MG_C_64F) {
        memcpy(to, value, mg__number_size(type));
    } else if (type == MG_R_32I) {
        i = whole(value[0], INT32_MIN, INT32_MAX);
        memcpy(to, &i, sizeof(i));
    } else {
        *(uint8_t *)to = (uint8_t)(type == MG_R_8I ? whole(value[0], -128, 127) : whole(value[0], 0, 255));
    }
}

void mg__number_copy(int to_type, void *to, int from_type, const void *from, size_t n, int64_t step)
{
    size_t width = mg__number_size(to_type), read = mg__number_size(from_type);
    double value[2];
    if (to_type == from_type && step == 1) {
        memmove(to, from, n * width);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        mg__number_get(from_type, (const char *)from + (int64_t)i * step * (int64_t)read, value);
        mg__number_put(to_type, (char *)to + i * width, value);
    }
}
