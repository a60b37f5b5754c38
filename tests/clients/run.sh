#!/bin/sh
# run.sh MARGAY PYTHON FOLDER CLIENT - the client's kernels from PyPI, unchanged, under Margay: CLIENT_kernels.py says what holds.
# Installed into FOLDER once; skipped where PyPI or nvcc cannot be had.
margay=$1 python=$2 folder=$3/$4 client=$4
here=$(cd "$(dirname "$0")" && pwd)
case $client in
bindings) versions="cuda-python==13.4.4 cuda-core==1.2.2 nvidia-cuda-nvrtc==13.0.88 numpy==2.2.6" ;;
numba) versions="numba==0.68.1 numba-cuda[cu13]==0.30.4 numpy==2.2.6" ;;
cupy) versions="cupy-cuda13x==14.2.0 nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88 numpy==2.2.6 scipy==1.15.3" ;;
pycuda) versions="pycuda==2026.1 numpy==2.2.6" ;;
torch) versions="torch==2.15.0 numpy==2.2.6 ninja==1.13.2 setuptools==84.2.1" ;;
triton) versions="triton==3.9.0 numpy==2.2.6" ;;
esac
if [ "$client" = torch ]; then
    command -v nvcc >/dev/null || { echo "an extension of PyTorch needs nvcc: skipped"; exit 77; }
    # Five gigabytes, which nobody is to download without knowing.
    [ -n "$MARGAY_TEST_TORCH" ] || { echo "MARGAY_TEST_TORCH names no folder for PyTorch (5.4 GB; installed there if it is not): skipped"; exit 77; }
    folder=$MARGAY_TEST_TORCH
    export TORCH_EXTENSIONS_DIR="$3/torch-built" PATH="$folder/bin:$PATH"
    mkdir -p "$TORCH_EXTENSIONS_DIR"
fi
if [ "$client" = pycuda ] && ! command -v nvcc >/dev/null; then
    echo "PyCUDA needs nvcc: skipped"
    exit 77
fi
if [ ! -e "$folder/ready" ]; then
    # shellcheck disable=SC2086
    "$python" -m venv "$folder" && "$folder/bin/pip" install -q --disable-pip-version-check $versions &&
        touch "$folder/ready" || { echo "PyPI cannot be had: skipped"; exit 77; }
fi
export TRITON_CACHE_DIR="$folder/triton" XDG_CACHE_HOME="$folder/cache" CUPY_CACHE_DIR="$folder/cupy" PYTHONWARNINGS=ignore
rm -rf "$TRITON_CACHE_DIR" "$CUPY_CACHE_DIR"
"$margay" run "$folder/bin/python" "$here/${client}_kernels.py" || exit 1
# What CuPy has as machine code for other devices.
[ "$client" != cupy ] || "$margay" run --device 12.0 "$folder/bin/python" "$here/cupy_kernels.py" newest || exit 1
# What NVRTC compiled is shown line by line, in every report; a text of another program never.
if [ "$client" = bindings ]; then
    out=$(mktemp -d) || exit 1
    trap 'rm -rf "$out"' EXIT
    (cd "$out" && "$margay" profile --json r.json --html r.html --output r.txt "$folder/bin/python" "$here/bindings_lines.py" &&
        "$margay" advise --full "$folder/bin/python" "$here/bindings_lines.py" >a.txt 2>&1) || exit 1
    for line in 'default_program:3  x.threadIdx.x. = 1;' 'default_program#2:3  x.threadIdx.x . 2. = 2;' \
        'part.cuh:3  x.threadIdx.x . 4. = 3;'; do
        for file in r.txt a.txt; do
            grep -q "$line" "$out/$file" || { echo "$file has no line $line"; cat "$out/$file"; exit 1; }
        done
        text=$(echo "$line" | sed 's/.*  //')
        grep -q "$text" "$out/r.json" && grep -q "$text" "$out/r.html" || { echo "$text: not in JSON or page"; exit 1; }
    done
fi
if [ "$client" = torch ]; then
    said=$("$margay" check "$folder/bin/python" "$here/torch_kernels.py" race 2>&1)
    status=$? line=$(grep -n '// @race' "$here/torch_kernels.cu" | cut -d: -f1)
    [ $status = 1 ] && echo "$said" | grep -q "torch_kernels.cu:$line\$" && exit 0
    echo "margay check: status $status, and not the race in line $line"
    echo "$said"
    exit 1
fi
# The client's race is found, at its line of Python, or of the kernel's text where that is compiled under a name of its own.
[ -e "$here/${client}_race.py" ] || exit 0
said=$("$margay" check "$folder/bin/python" "$here/${client}_race.py" 2>&1)
status=$?
line=$(grep -n '[#/] @race' "$here/${client}_race.py" | cut -d: -f1)
place=${client}_race.py:$line
[ "$client" != cupy ] || place=.cu:$((line - $(grep -n 'r"""' "$here/cupy_race.py" | cut -d: -f1) + 1))
[ $status = 1 ] && echo "$said" | grep -q 'error: race/' && echo "$said" | grep -q "$place\$" && ! echo "$said" | grep -q 'abi:' && {
    [ "$client" != cupy ] || echo "$said" | grep -q ' 7 | x\[t\] = row\[255 - t\];'
} && exit 0
echo "margay check: status $status, and not the race in line $line"
echo "$said"
exit 1
