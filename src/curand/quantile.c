/* quantile.c - the normal distribution's quantile, which makes one normal number of one uniform one.
 *
 * A first guess by M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 26.2.23, good to 4.5e-4, and
 * steps of Halley's method, which take the error to its third power: one is enough for f32, two for f64.
 */
#include "curand/words.h"

#include <math.h>

static const long double sqrt_half = 0.707106781186547524400844362104849039L;
static const long double sqrt_two_pi = 2.506628274631000502415765284811045253L;

/* For p up to 1/2, where the result is not positive. */
static double guess(double p)
{
    double t = sqrt(-2 * log(p));
    return (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
}

double mg__normal_quantile(double p)
{
    long double x;
    if (p == 0.5)
        return 0;
    if (p > 0.5)
        return -mg__normal_quantile(1 - p);
    x = (long double)guess(p);
    for (int i = 0; i < 2; i++) {
        long double below = p > 0.25 ? 0.5L * erfl(x * sqrt_half) + (0.5L - (long double)p) /* nothing is lost near 0 */
                                     : 0.5L * erfcl(-x * sqrt_half) - (long double)p;
        long double error = below * sqrt_two_pi * expl(x * x / 2);
        x -= error / (1 + x * error / 2);
    }
    return (double)x;
}

float mg__normal_quantile_float(double p)
{
    double x, error;
    if (p == 0.5)
        return 0;
    if (p > 0.5)
        return -mg__normal_quantile_float(1 - p);
    x = guess(p);
    error = p > 0.25 ? 0.5 * erf(x * (double)sqrt_half) + (0.5 - p) : 0.5 * erfc(-x * (double)sqrt_half) - p;
    error *= (double)sqrt_two_pi * exp(x * x / 2);
    return (float)(x - error / (1 + x * error / 2));
}
