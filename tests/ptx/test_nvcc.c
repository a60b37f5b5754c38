/* test_nvcc.c - what nvcc emits parses, prints to a fixed point, and is still PTX for ptxas.
 *
 * Skipped where there is no nvcc. The CUDA text below is compiled for several targets and in several modes.
 */
#include "ptx_test.h"

#include <unistd.h>

static const char source[] =
    "#include <cstdio>\n#include <cassert>\n#include <cooperative_groups.h>\n#include <cuda_fp16.h>\n"
    "#include <cuda_bf16.h>\nnamespace cg = cooperative_groups;\n"
    "struct shape { __device__ virtual int area(int x) { return x; } int side; };\n"
    "struct square : shape { __device__ int area(int x) override { return x * side + 1; } };\n"
    "__device__ int table[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};\n"
    "__constant__ float coefficients[8] = {1.5f, 2.5f, -0.0f, 1e30f};\n"
    "__device__ double total = 3.25;\n__device__ int plain;\n__device__ int *pointer = &plain;\n"
    "__device__ int *inside[2] = {&table[1][2], &plain};\n__managed__ int managed = 3;\n"
    "struct mixed { char c; double d; short s[3]; };\n__device__ mixed mix = {'a', 2.5, {1, 2, 3}};\n"
    "__device__ const char *message = \"hello\";\n"
    "__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
    "typedef int (*function)(int);\n__device__ function functions[2] = {fib, fib};\n"
    "__global__ void objects(int *o, mixed s, float4 v, int n)\n{\n"
    "    extern __shared__ int dynamic[];\n    __shared__ float tile[16][17];\n"
    "    shape *a = n > 3 ? new square : new shape;\n    a->side = n;\n    o[0] = a->area(n);\n    delete a;\n"
    "    assert(n > 0);\n    printf(\"%d %s %f\\n\", n, message, s.d);\n"
    "    tile[threadIdx.x][threadIdx.y] = v.x;\n    dynamic[threadIdx.x] = n;\n    __syncthreads();\n"
    "    o[1] = functions[n & 1](n) + dynamic[3] + (int)tile[3][4] + table[n][1] + managed + s.s[1];\n"
    "    *pointer = *inside[1];\n    o[3] = (int)coefficients[n];\n    total += mix.d;\n"
    "    int *q = (int *)malloc(n);\n    q[0] = 1;\n    free(q);\n}\n"
    "__global__ void halves(__half *h, __nv_bfloat16 *b, __half2 *h2)\n{\n"
    "    int i = threadIdx.x;\n    h[i] = __hadd(h[i], hexp(h[i + 1]));\n    b[i] = b[i] * b[i + 1];\n"
    "    h2[i] = __hfma2(h2[i], h2[i + 1], h2[i + 2]);\n    atomicAdd(h + i, h[3]);\n    atomicAdd(b, b[2]);\n"
    "    atomicAdd(h2, h2[3]);\n    h[4] = __float2half(3.0f);\n    b[5] = __double2bfloat16(2.0);\n"
    "    h2[4] = __hgt2(h2[1], __hmul2_sat(h2[2], h2[3]));\n    h[5] = htanh(h[6]);\n}\n"
    "__global__ void warps(int *o)\n{\n"
    "    cg::this_grid().sync();\n    auto block = cg::this_thread_block();\n"
    "    auto tile = cg::tiled_partition<16>(block);\n    o[0] = tile.shfl_down(o[1], 2);\n"
    "    auto active = cg::coalesced_threads();\n    o[2] = active.shfl(o[3], 1);\n    block.sync();\n"
    "    int p;\n    o[5] = __match_any_sync(~0u, o[1]) + __match_all_sync(~0u, o[2], &p) + p;\n"
    "    o[6] = __ballot_sync(~0u, o[1]) + __any_sync(~0u, o[2]);\n"
    "    o[8] = __syncthreads_count(o[2]) + __syncthreads_or(o[3]);\n"
    "    o[11] = __popc(o[3]) + __clz(o[4]) + __brev(o[5]) + __ffs(o[6]) + __dp4a(o[1], o[2], o[3]);\n"
    "    atomicCAS(o, 1, 2);\n    atomicMax(o + 3, 4);\n    atomicInc((unsigned *)o, 4u);\n    atomicAdd_system(o, "
    "4);\n"
    "    __threadfence();\n    __nanosleep(10);\n    o[3] = (int)clock64();\n}\n"
    "__global__ void __launch_bounds__(256, 2) math(float *f, double *d, int n)\n{\n"
    "    switch (n) {\n    case 0: f[0] = sinf(f[1]); break;\n    case 1: f[0] = expf(f[1]); break;\n"
    "    case 2: d[0] = d[1] / d[2]; break;\n    case 3: d[0] = sqrt(d[1]); break;\n"
    "    case 4: f[0] = __fdividef(f[1], f[2]); break;\n    case 5: d[0] = pow(d[1], d[2]); break;\n"
    "    default: f[0] = f[1] / f[2];\n    }\n"
    "    char *p = (char *)alloca(n);\n    p[0] = 1;\n    f[n] = p[n / 2];\n"
    "    f[2] = __fmaf_ru(f[1], f[2], f[3]) + __ldg(f + 4) + __ldcg(f + 2);\n    d[3] = __dadd_rz(d[1], d[2]);\n"
    "    __int128 wide = n;\n    wide *= n;\n    wide /= 7;\n    d[4] = (double)(long long)(wide >> 64);\n}\n";

static char folder[] = "/tmp/margay-nvcc-XXXXXX";
static const char *nvcc, *ptxas;

static const char *tool(const char *on_path, const char *installed)
{
    char command[256];
    snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", on_path);
    if (system(command) == 0)
        return on_path;
    return access(installed, X_OK) == 0 ? installed : NULL;
}

static int set_up(void **state)
{
    (void)state;
    nvcc = tool("nvcc", "/usr/local/cuda/bin/nvcc");
    ptxas = tool("ptxas", "/usr/local/cuda/bin/ptxas");
    if (!nvcc)
        return 0;
    char path[128];
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/a.cu", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return -1;
    bool ok = fputs(source, file) >= 0;
    return fclose(file) == 0 && ok ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"a.cu", "a.ptx", "b.ptx", "b.cubin"};
    for (size_t i = 0; nvcc && i < MG_COUNT(names); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    if (nvcc)
        rmdir(folder);
    return 0;
}

static void compile(const char *arch, const char *options)
{
    char command[512], path[128], *text;
    size_t size;
    struct mg_diag diag;
    if (!nvcc)
        skip();
    snprintf(command, sizeof(command), "%s -w -ptx -arch=%s %s %s/a.cu -o %s/a.ptx", nvcc, arch, options, folder,
             folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof(path), "%s/a.ptx", folder);
    assert_int_equal(mg__file_read(path, 1 << 28, &text, &size, &diag), MG_OK);
    struct mg_ptx_module *module = parse_ok(text);
    free(text);
    static const char *const kernels[] = {"_Z7objectsPi5mixed6float4i", "_Z6halvesP6__halfP13__nv_bfloat16P7__half2",
                                          "_Z5warpsPi", "_Z4mathPfPdi"};
    for (size_t i = 0; i < MG_COUNT(kernels); i++) {
        const struct mg_ptx_func *func = mg__ptx_find_func(module, kernels[i]);
        assert_non_null(func);
        assert_true(func->is_entry && func->defined && func->ninsns > 10);
        for (size_t k = 0; k < func->ninsns; k++) /* ordinary CUDA C has nothing that is for later */
            assert_false(func->insns[k].flags & MG_F_LATER);
    }
    assert_int_equal(mg__ptx_find_func(module, kernels[0])->param_size, 8 + 24 + 16 + 4);
    assert_int_equal(mg__ptx_find_func(module, kernels[3])->maxntid[0], 256);
    const struct mg_ptx_var *table = mg__ptx_find_var(module, "table");
    assert_int_equal(table->size, 48);
    assert_int_equal(table->init[44], 12);
    char *printed = round_trip(module);
    if (ptxas) {
        snprintf(path, sizeof(path), "%s/b.ptx", folder);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs(printed, file) >= 0 && fclose(file) == 0);
        snprintf(command, sizeof(command), "%s -c -w -O0 -arch=%s %s/b.ptx -o %s/b.cubin", ptxas, arch, folder, folder);
        assert_int_equal(system(command), 0);
    }
    free(printed);
    mg__ptx_free(module);
}

static void turing(void **state)
{
    (void)state;
    compile("sm_75", "-lineinfo");
}

static void ampere_relocatable(void **state)
{
    (void)state;
    compile("sm_80", "-rdc=true -std=c++17");
}

static void hopper(void **state)
{
    (void)state;
    compile("sm_90", "-lineinfo -use_fast_math");
}

static void hopper_debug(void **state)
{
    (void)state;
    compile("sm_90", "-G");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turing),
        cmocka_unit_test(ampere_relocatable),
        cmocka_unit_test(hopper),
        cmocka_unit_test(hopper_debug),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
