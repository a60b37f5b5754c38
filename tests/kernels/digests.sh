#!/bin/sh
# digests.sh - what the collection's tests computed on this machine's GPU: a digest of every result, operation by operation.
#
#   digests.sh BUILD_FOLDER > tests/kernels/h100.txt
#
# Sizes are the simulator's, so that `margay run` must come to the same bits; the tests hold it to tests/kernels/h100.txt.
set -u
echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1), nvcc $(nvcc --version | sed -n 's/.* V//p'), $(date +%F)"
export MARGAY_TEST_SMALL=1
bad=0
for program in $(find "$1" -type f -name 'test_kernels_*' -perm -u+x ! -name '*_common' | sort); do
    said=$("$program") || bad=1
    echo "$(basename "$program" | sed 's/test_kernels_//') ${said##* }"
done
exit $bad
