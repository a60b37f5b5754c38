// Networks: the longest prefix of addresses: a walk through a trie, a table of the first 16 bits with a second level,
// and that with sorted addresses.
#include "kit.cuh"
#include <algorithm>
struct Node {
    int child[2], hop;
};
__global__ void trie(const Node *t, const uint32_t *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t ip = a[i];
    int at = 0, hop = -1;
    for (int b = 31; at >= 0; b--) {
        Node v = t[at];
        if (v.hop >= 0)
            hop = v.hop;
        if (b < 8)
            break;
        at = v.child[ip >> b & 1];
    }
    out[i] = hop;
}
__global__ void table(const int *first, const int *second, const uint32_t *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t ip = a[i];
    int e = first[ip >> 16];
    if (e < -1)
        e = second[(-2 - e) * 256 + (ip >> 8 & 255)];
    out[i] = e;
}
int main()
{
    int n = 1 << 22, R = 20000;
    std::vector<Node> t(1, Node{{-1, -1}, -1});
    for (int r = 0; r < R; r++) {
        uint32_t p = rnd();
        int len = 6 + rnd() % 19, at = 0;
        for (int b = 0; b < len; b++) {
            int k = p >> (31 - b) & 1;
            if (t[at].child[k] < 0) {
                t[at].child[k] = (int)t.size();
                t.push_back(Node{{-1, -1}, -1});
            }
            at = t[at].child[k];
        }
        t[at].hop = r;
    }
    auto walk = [&](uint32_t ip, int stop) {
        int at = 0, hop = -1;
        for (int b = 31; at >= 0; b--) {
            if (t[at].hop >= 0)
                hop = t[at].hop;
            if (b < stop)
                break;
            at = t[at].child[ip >> b & 1];
        }
        return std::make_pair(at, hop);
    };
    std::vector<int> first(65536), second;
    for (int p = 0; p < 65536; p++) {
        auto v = walk((uint32_t)p << 16, 16);
        bool deep = v.first >= 0 && (t[v.first].child[0] >= 0 || t[v.first].child[1] >= 0);
        if (!deep)
            first[p] = v.second;
        else {
            first[p] = -2 - (int)(second.size() / 256);
            for (int q = 0; q < 256; q++)
                second.push_back(walk((uint32_t)p << 16 | q << 8, 8).second);
        }
    }
    std::vector<uint32_t> a(n), s;
    for (auto &v : a)
        v = rnd();
    s = a;
    std::sort(s.begin(), s.end());
    std::vector<int> want(n), ws(n);
    for (int i = 0; i < n; i++) {
        want[i] = walk(a[i], 8).second;
        ws[i] = walk(s[i], 8).second;
    }
    Node *dn = up(t);
    int *df = up(first), *ds = up(second);
    uint32_t *da = up(a), *dz = up(s);
    int *x = room<int>(n), *y = room<int>(n), *z = room<int>(n);
    trie<<<n / 256, 256>>>(dn, da, x, n);
    table<<<n / 256, 256>>>(df, ds, da, y, n);
    table<<<n / 256, 256>>>(df, ds, dz, z, n);
    same("trie", down(x, n), want);
    same("table", down(y, n), want);
    same("sorted", down(z, n), ws);
    return verdict();
}
