// base64.cu - three bytes become four letters, a thread a group, the rest filled with =
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static int finish(bool good)
{
    puts(good ? "PASS" : "FAIL");
    return !good;
}

__global__ void encode(const unsigned char *in, int n, char *out)
{
    const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (3 * g >= n)
        return;
    int left = min(n - 3 * g, 3);
    unsigned v = in[3 * g] << 16 | (left > 1 ? in[3 * g + 1] << 8 : 0) | (left > 2 ? in[3 * g + 2] : 0);
    for (int k = 0; k < 4; k++)
        out[4 * g + k] = k <= left ? letters[v >> (18 - 6 * k) & 63] : '=';
}

int main()
{
    const char *text = "Many hands make light work.", *want = "TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcmsu";
    bool good = true;
    for (int cut = 0; cut < 3; cut++) {
        int n = strlen(text) - cut, groups = (n + 2) / 3;
        std::vector<char> got(4 * groups);
        unsigned char *in;
        char *out;
        CK(cudaMalloc(&in, n));
        CK(cudaMalloc(&out, 4 * groups));
        CK(cudaMemcpy(in, text, n, cudaMemcpyHostToDevice));
        encode<<<1, 32>>>(in, n, out);
        CK(cudaMemcpy(got.data(), out, 4 * groups, cudaMemcpyDeviceToHost));
        good &= !memcmp(got.data(), want, 4 * groups - 4);
        good &= std::count(got.begin(), got.end(), '=') == cut;
        CK(cudaFree(in));
        CK(cudaFree(out));
    }
    return finish(good);
}
