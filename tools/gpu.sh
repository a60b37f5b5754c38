#!/bin/sh
# gpu.sh - everything that needs a GPU, in one go: the collection built, measured beside cuBLAS and CUB, tested, tested again
# under compute-sanitizer, and the shapes of its kernels timed. `make gpu` runs it.
#
#   tools/gpu.sh [RESULTS_FOLDER]              bench/results unless given
#
# Wants nvcc, cmake, a C compiler and an NVIDIA GPU, and no network. RESULTS_FOLDER gets DEVICE.json, DEVICE.tests.txt and
# DEVICE.tune.md, each as it comes, so that what was finished stays when the rest is cut short: every step has its time
# (BUILD_SECONDS, BENCH_SECONDS, TEST_SECONDS, TUNE_SECONDS). The pages in docs/ are made from them at the end, where there is
# Python. Exit status: 0, or 1 when a step failed; those after it are run all the same.
set -u
cd "$(dirname "$0")/.." || exit 1
results=${1:-bench/results}
mkdir -p "$results" || exit 1
for dir in /usr/local/cuda/bin; do # where images of NVIDIA's keep it
    command -v nvcc >/dev/null || PATH=$PATH:$dir
done
export PATH
bad=0

step() { # seconds, target
    start=$(date +%s)
    timeout -k 5 "$1" make --no-print-directory "$2" RESULTS="$results" </dev/null
    status=$?
    echo "== $2: status $status, $(($(date +%s) - start)) s"
    [ $status = 0 ] || bad=1
    return $status
}

nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv,noheader
step "${BUILD_SECONDS:-240}" build-gpu || exit 1
step "${BENCH_SECONDS:-600}" bench-gpu
test_seconds=${TEST_SECONDS:-900}
export SECONDS_EACH="${SECONDS_EACH:-$((test_seconds / 5))}" # of the programs under compute-sanitizer, many at once
step "$test_seconds" test-gpu
step "${TUNE_SECONDS:-240}" tune-gpu
make --no-print-directory results RESULTS="$results" || bad=1
exit $bad
