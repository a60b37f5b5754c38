/* random.cu - cuRAND's sequences: digests of what an H200 (driver 580, CUDA 13.0, cuRAND 10.4) gave for the same calls, two
 * in a row, with seeds, offsets and orderings; on the device and on the host. Normal numbers, which differ in the last
 * bits, by their first values there and by their moments. And what is refused.
 */
#include <cmath>
#include <cstdio>
#include <cstdint>
#include <cstring>
#include <vector>

#include <curand.h>

static int failures;
static void expect(bool good, const char *what, int a = 0, int b = 0, int c = 0)
{
    if (!good && failures++ < 20)
        printf("FAIL %s %d %d %d\n", what, a, b, c);
}
#define OK(call) expect((call) == CURAND_STATUS_SUCCESS, #call)

enum { BITS, UNIFORM, DOUBLES };
static const struct {
    int type, ordering, variant, what; /* ordering 0: none is named */
    uint64_t digest;
} answers[] = {
    {101, 0, 0, BITS, 0x4ba385152c094bdfull},
    {101, 0, 0, UNIFORM, 0x6eb67873fa770eedull},
    {101, 0, 0, DOUBLES, 0x12ad6f62ad8c7758ull},
    {101, 0, 1, BITS, 0x1906b27b030ccf87ull},
    {101, 0, 1, UNIFORM, 0xacc4c7234530027aull},
    {101, 0, 1, DOUBLES, 0x65fae817ba54a438ull},
    {101, 0, 2, BITS, 0x1ff67564f97500d5ull},
    {101, 0, 2, UNIFORM, 0x8bc169047e96fbfdull},
    {101, 0, 2, DOUBLES, 0x38fa67b5e97c9a68ull},
    {101, 0, 3, BITS, 0xf273716e648ee6f0ull},
    {101, 0, 3, UNIFORM, 0x67976613dedec7ddull},
    {101, 0, 3, DOUBLES, 0xf603426af81f44eaull},
    {101, 100, 0, BITS, 0x4ba385152c094bdfull},
    {101, 100, 0, DOUBLES, 0x12ad6f62ad8c7758ull},
    {101, 100, 1, BITS, 0x1906b27b030ccf87ull},
    {101, 100, 1, DOUBLES, 0x65fae817ba54a438ull},
    {101, 101, 0, BITS, 0x4ba385152c094bdfull},
    {101, 101, 0, DOUBLES, 0x12ad6f62ad8c7758ull},
    {101, 101, 1, BITS, 0x1906b27b030ccf87ull},
    {101, 101, 1, DOUBLES, 0x65fae817ba54a438ull},
    {101, 103, 0, BITS, 0x4ba385152c094bdfull},
    {101, 103, 0, DOUBLES, 0x12ad6f62ad8c7758ull},
    {101, 103, 1, BITS, 0x1906b27b030ccf87ull},
    {101, 103, 1, DOUBLES, 0x65fae817ba54a438ull},
    {121, 0, 0, BITS, 0x4f9ac6331ec09c50ull},
    {121, 0, 0, UNIFORM, 0x8061463a52e6cb3dull},
    {121, 0, 0, DOUBLES, 0xff9f2220c8c0fa39ull},
    {121, 0, 1, BITS, 0x70467030d1956c2full},
    {121, 0, 1, UNIFORM, 0x9d3979e08658c93bull},
    {121, 0, 1, DOUBLES, 0xfa0f1cc822990fb4ull},
    {121, 0, 2, BITS, 0x7c35716612067797ull},
    {121, 0, 2, UNIFORM, 0xf42353d0eeca9b9cull},
    {121, 0, 2, DOUBLES, 0x73a1e54808aaea3dull},
    {121, 0, 3, BITS, 0x778323501f60c79aull},
    {121, 0, 3, UNIFORM, 0x47bd79fe1e7389d4ull},
    {121, 0, 3, DOUBLES, 0x79909157a015177bull},
    {121, 100, 0, BITS, 0x4f9ac6331ec09c50ull},
    {121, 100, 0, DOUBLES, 0xff9f2220c8c0fa39ull},
    {121, 100, 1, BITS, 0x70467030d1956c2full},
    {121, 100, 1, DOUBLES, 0xfa0f1cc822990fb4ull},
    {121, 101, 0, BITS, 0x4f9ac6331ec09c50ull},
    {121, 101, 0, DOUBLES, 0xff9f2220c8c0fa39ull},
    {121, 101, 1, BITS, 0x70467030d1956c2full},
    {121, 101, 1, DOUBLES, 0xfa0f1cc822990fb4ull},
    {121, 103, 0, BITS, 0x2a336d7f042c470cull},
    {121, 103, 0, DOUBLES, 0x6d61ae0d7822079full},
    {121, 103, 1, BITS, 0x1678f2e42c6cca20ull},
    {121, 103, 1, DOUBLES, 0xa384f4808e9f29f1ull},
    {161, 0, 0, BITS, 0xb9723721eb8252c6ull},
    {161, 0, 0, UNIFORM, 0x377f2553e0d5691aull},
    {161, 0, 0, DOUBLES, 0xbd62a7e7eda7f46dull},
    {161, 0, 1, BITS, 0x188409d647980154ull},
    {161, 0, 1, UNIFORM, 0x8b295624555e8b0bull},
    {161, 0, 1, DOUBLES, 0x572b37bea505899aull},
    {161, 0, 2, BITS, 0x53876d51b21e7867ull},
    {161, 0, 2, UNIFORM, 0x5435f3028c929769ull},
    {161, 0, 2, DOUBLES, 0xe7a57dfb56a7d097ull},
    {161, 0, 3, BITS, 0x7d2f4705d17c9c85ull},
    {161, 0, 3, UNIFORM, 0x4a391ba1fa7639eeull},
    {161, 0, 3, DOUBLES, 0x8a8ae62c83f6f122ull},
    {161, 100, 0, BITS, 0xb9723721eb8252c6ull},
    {161, 100, 0, DOUBLES, 0xbd62a7e7eda7f46dull},
    {161, 100, 1, BITS, 0x188409d647980154ull},
    {161, 100, 1, DOUBLES, 0x572b37bea505899aull},
    {161, 101, 0, BITS, 0xb9723721eb8252c6ull},
    {161, 101, 0, DOUBLES, 0xbd62a7e7eda7f46dull},
    {161, 101, 1, BITS, 0x188409d647980154ull},
    {161, 101, 1, DOUBLES, 0x572b37bea505899aull},
    {161, 103, 0, BITS, 0xb9723721eb8252c6ull},
    {161, 103, 0, DOUBLES, 0xbd62a7e7eda7f46dull},
    {161, 103, 1, BITS, 0x188409d647980154ull},
    {161, 103, 1, DOUBLES, 0x572b37bea505899aull},
};

static int fill(curandGenerator_t g, int what, void *to, size_t n)
{
    return what == BITS      ? curandGenerate(g, (unsigned *)to, n)
           : what == UNIFORM ? curandGenerateUniform(g, (float *)to, n)
                             : curandGenerateUniformDouble(g, (double *)to, n);
}

/* Two calls, one after the other; FNV-1a of all bytes. */
static uint64_t digest(int type, int ordering, int variant, int what, bool device)
{
    size_t first = variant == 1 ? 262144 : 30000, second = variant == 1 ? 100000 : 3000;
    size_t size = (first + second) * (what == DOUBLES ? 8 : 4);
    std::vector<unsigned char> host(size);
    void *at = host.data();
    curandGenerator_t g;
    uint64_t hash = 1469598103934665603ull;
    if (device)
        cudaMalloc(&at, size);
    OK(device ? curandCreateGenerator(&g, (curandRngType_t)type) : curandCreateGeneratorHost(&g, (curandRngType_t)type));
    if (ordering)
        OK(curandSetGeneratorOrdering(g, (curandOrdering_t)ordering));
    if (variant >= 1)
        OK(curandSetPseudoRandomGeneratorSeed(g, 0x123456789abcdefull * variant));
    if (variant >= 2)
        OK(curandSetGeneratorOffset(g, variant == 2 ? 7 : 123457));
    expect(fill(g, what, at, first) == 0, "the first call");
    expect(fill(g, what, (char *)at + first * (what == DOUBLES ? 8 : 4), second) == 0, "the second call");
    if (device) {
        cudaMemcpy(host.data(), at, size, cudaMemcpyDeviceToHost);
        cudaFree(at);
    }
    OK(curandDestroyGenerator(g));
    for (unsigned char byte : host)
        hash = (hash ^ byte) * 1099511628211ull;
    return hash;
}

/* The first numbers of the H200, of mean 1.5 and deviation 2. */
static const struct {
    int type;
    float normal[3];
    double normal64[3];
} normals[] = {
    {101, {2.08507323f, 0.0632820129f, 1.69999385f}, {3.6420432111508543, 2.9169373517624697, 3.2887479502447468}},
    {121, {5.19214535f, -0.195849299f, 2.05469584f}, {5.1921455737739919, -0.19584964831894891, 2.054695852159945}},
    {161, {-0.349324822f, 3.48227501f, 0.535862803f}, {0.87920852799924698, 0.70466572736992938, 2.1584214025355366}},
};

static void normal()
{
    const int n = 200000;
    float *at;
    double *wide;
    cudaMalloc(&at, n * sizeof(float));
    cudaMalloc(&wide, n * sizeof(double));
    std::vector<float> have(n);
    std::vector<double> have64(n);
    for (const auto &row : normals) {
        curandGenerator_t g;
        OK(curandCreateGenerator(&g, (curandRngType_t)row.type));
        OK(curandGenerateNormal(g, at, n, 1.5f, 2.f));
        cudaMemcpy(have.data(), at, n * sizeof(float), cudaMemcpyDeviceToHost);
        double sum = 0, square = 0, third = 0, fourth = 0;
        for (float v : have) {
            double z = (v - 1.5) / 2;
            sum += z;
            square += z * z;
            third += z * z * z;
            fourth += z * z * z * z;
        }
        expect(fabs(sum / n) < .01 && fabs(square / n - 1) < .02 && fabs(third / n) < .05 && fabs(fourth / n - 3) < .1,
               "moments", row.type);
        for (int i = 0; i < 3; i++)
            expect(fabs(have[i] - row.normal[i]) < 5e-6, "normal", row.type, i);
        OK(curandDestroyGenerator(g));
        OK(curandCreateGenerator(&g, (curandRngType_t)row.type));
        OK(curandGenerateNormalDouble(g, wide, 1000, 1.5, 2.));
        cudaMemcpy(have64.data(), wide, 1000 * sizeof(double), cudaMemcpyDeviceToHost);
        for (int i = 0; i < 3; i++)
            expect(fabs(have64[i] - row.normal64[i]) < 2e-15, "normal double", row.type, i);
        OK(curandDestroyGenerator(g));
        OK(curandCreateGenerator(&g, (curandRngType_t)row.type));
        OK(curandGenerateLogNormal(g, at, 1000, 1.5f, 2.f));
        cudaMemcpy(have.data(), at, 1000 * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < 3; i++)
            expect(fabs(have[i] / exp(row.normal[i]) - 1) < 1e-5, "log-normal", row.type, i);
        OK(curandDestroyGenerator(g));
    }
    cudaFree(at);
    cudaFree(wide);
}

/* Philox gives four numbers at a turn; one word, and normal ones go on at the second of theirs. Of doubles, a turn takes
 * two steps of the counter: the same words, two by two. */
static void turns()
{
    curandGenerator_t g;
    unsigned word;
    float whole[8], rest[8];
    OK(curandCreateGeneratorHost(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    OK(curandGenerateNormal(g, whole, 8, 0, 1));
    OK(curandDestroyGenerator(g));
    OK(curandCreateGeneratorHost(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    OK(curandGenerate(g, &word, 1));
    OK(curandGenerateNormal(g, rest, 6, 0, 1));
    for (int i = 0; i < 6; i++)
        expect(rest[i] == whole[i + 1], "a turn goes on", i);
    OK(curandDestroyGenerator(g));
}

/* What has no digest of a device here: its numbers are those of the host's generator, which test_random.py holds to
 * NVIDIA's. */
static void both()
{
    const int n = 3 * 4001;
    for (int type : {141, 142, 201, 202, 203, 204}) {
        bool wide = type >= 203;
        std::vector<uint64_t> host(n), back(n);
        curandGenerator_t on_host, on_device;
        void *at;
        cudaMalloc(&at, n * sizeof(uint64_t));
        OK(curandCreateGeneratorHost(&on_host, (curandRngType_t)type));
        OK(curandCreateGenerator(&on_device, (curandRngType_t)type));
        for (curandGenerator_t g : {on_host, on_device}) {
            void *to = g == on_host ? host.data() : at;
            if (type >= 201)
                OK(curandSetQuasiRandomGeneratorDimensions(g, 3));
            OK(wide ? curandGenerateLongLong(g, (unsigned long long *)to, n) : curandGenerate(g, (unsigned *)to, n));
        }
        cudaMemcpy(back.data(), at, n * sizeof(uint64_t), cudaMemcpyDeviceToHost);
        expect(!memcmp(host.data(), back.data(), n * (wide ? 8 : 4)), "host and device", type);
        OK(curandDestroyGenerator(on_host));
        OK(curandDestroyGenerator(on_device));
        cudaFree(at);
    }
}

static void errors()
{
    curandGenerator_t g;
    float *at;
    int version = 0;
    cudaMalloc(&at, 64);
    OK(curandGetVersion(&version));
    expect(version >= 10300, "version", version);
    expect(curandGenerate(NULL, (unsigned *)at, 4) == CURAND_STATUS_NOT_INITIALIZED, "no generator");
    OK(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT));
    expect(curandGenerateNormal(g, at, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE, "an odd number of normal ones");
    expect(curandSetQuasiRandomGeneratorDimensions(g, 2) == CURAND_STATUS_TYPE_ERROR, "dimensions");
    expect(curandGenerateLongLong(g, (unsigned long long *)at, 2) == CURAND_STATUS_TYPE_ERROR, "64 bits");
    expect(curandGeneratePoisson(g, (unsigned *)at, 4, 5000) == CURAND_STATUS_TYPE_ERROR,
           "Poisson numbers of a large mean of XORWOW");
    OK(curandDestroyGenerator(g));
    OK(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_MRG32K3A)); /* as the device answers */
    expect(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_SEEDED) == CURAND_STATUS_OUT_OF_RANGE, "an ordering");
    OK(curandDestroyGenerator(g));
    cudaFree(at);
}

int main()
{
    for (const auto &a : answers)
        for (int device = a.variant ? 1 : 0; device < 2; device++)
            expect(digest(a.type, a.ordering, a.variant, a.what, device) == a.digest, "digest", a.type,
                   a.ordering * 10 + a.variant, a.what * 2 + device);
    normal();
    turns();
    both();
    errors();
    expect(cudaDeviceSynchronize() == cudaSuccess, "the device");
    printf(failures ? "%d wrong\n" : "PASS\n", failures);
    return failures != 0;
}
