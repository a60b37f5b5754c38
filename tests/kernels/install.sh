#!/bin/sh
# install.sh - the library, installed, serves a C program outside the tree: by CMake's package and by pkg-config.
#
#   install.sh SOURCE_FOLDER BUILD_FOLDER CUDA_ROOT MARGAY|-
#
# The program runs every rung of gemm; under MARGAY where it is given, natively for "-". 77: pkg-config or cmake is missing.
set -eu
source=$1 build=$2 cuda=$3 margay=$4
command -v pkg-config >/dev/null 2>&1 || { echo "skipped: no pkg-config"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir "$work/app"
cp "$source"/examples/kernels/* "$work/app/"
cd "$work/app"

run() {
    if [ "$margay" = - ]; then "$@"; else "$margay" run "$@"; fi >"$work/out" 2>"$work/err" ||
        { echo "$1 failed:"; cat "$work/out" "$work/err"; exit 1; }
    grep -q '^best *ok$' "$work/out" || { echo "$1: best is not ok:"; cat "$work/out"; exit 1; }
    if grep -v ' ok$' "$work/out"; then echo "$1: a rung is not ok"; exit 1; fi
    echo "$1: $(wc -l <"$work/out") rungs ok"
}

CUDA_HOME=$cuda cmake -S . -B build -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1 &&
    cmake --build build >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
run build/multiply

PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name margay-kernels.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
${CC:-cc} multiply.c -o multiply -I"$cuda/include" $(pkg-config --cflags --libs margay-kernels) -lm
LD_LIBRARY_PATH=$(pkg-config --variable=libdir margay-kernels)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
run ./multiply
