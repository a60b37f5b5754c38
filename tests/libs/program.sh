#!/bin/sh
# program.sh MARGAY NVCC FILE.cu HEADER OUTPUT [LIBRARY …] - compiles FILE.cu with the libraries, and runs it: it must print
# PASS. With RUN, that command line takes the program instead. Exit status 77: no nvcc, or a toolkit without HEADER.
margay=$1 nvcc=$2 file=$3 header=$4 program=$5
shift 5
[ -x "$nvcc" ] || { echo "no nvcc: skipped"; exit 77; }
[ -e "$(dirname "$nvcc")/../include/$header" ] || { echo "the CUDA toolkit has no $header: skipped"; exit 77; }
for library in "$@"; do libraries="$libraries -l$library"; done
# shellcheck disable=SC2086
"$nvcc" -w -arch=sm_90 -std=c++17 -o "$program" "$file" $libraries || exit 1
[ -n "$RUN" ] && exec "$RUN" "$margay" "$program"
out=$("$margay" run "$program") || { echo "$out"; exit 1; }
[ "$out" = PASS ] || { echo "$out"; exit 1; }
