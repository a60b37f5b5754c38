#!/bin/sh
# fatbin_nvcc.sh NVCC TEST_FATBIN - what nvcc packs, in every --compress-mode and for several devices, must come out again
# as nvcc -ptx writes it. Exit status 77: no nvcc.
nvcc=$1 reader=$2
[ -x "$nvcc" ] || { echo "no nvcc: skipped"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cat >"$dir/k.cu" <<'CU'
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
CU
cd "$dir" || exit 1
text() { # the instructions: a fatbin leaves out comments and space
    sed 's,//.*,,' "$1" | tr -d '[:space:]'
}
for cc in 75 80 90a; do
    "$nvcc" -ptx -arch=compute_$cc -o want.$cc k.cu || exit 1
done
fail=0
check() { # FILE CC WANTED
    "$reader" "$1" "$2" >got || { echo "$1 for $2: no text"; fail=1; return; }
    text got >got.text
    text "want.$3" >want.text
    cmp -s got.text want.text || { echo "$1 for $2 is not compute_$3"; fail=1; }
}
modes="default size speed balance none"
"$nvcc" --help | grep -q -- --compress-mode || modes=plain
for mode in $modes; do
    flag=--compress-mode=$mode
    [ "$mode" = plain ] && flag=
    "$nvcc" -fatbin $flag -gencode arch=compute_75,code='[compute_75,sm_75]' -gencode arch=compute_80,code=compute_80 \
        -gencode arch=compute_90a,code='[compute_90a,sm_90a]' -o $mode.fatbin k.cu || exit 1
    check $mode.fatbin 75 75
    check $mode.fatbin 89 80
    check $mode.fatbin 90 90a
    check $mode.fatbin 100 80
done
"$nvcc" -fatbin -gencode arch=compute_90,code=sm_90 -o code.fatbin k.cu || exit 1
"$reader" code.fatbin 90 >got 2>err
grep -q 'code=compute_90' err || { echo "machine code only: no hint"; fail=1; }
exit $fail
