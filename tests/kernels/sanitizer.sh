#!/bin/sh
# sanitizer.sh - the collection's tests under NVIDIA's compute-sanitizer, on a machine with a GPU.
#
#   sanitizer.sh BUILD_FOLDER [TOOL...]        tools: memcheck racecheck initcheck synccheck (all of them)
#
# Sizes are the simulator's (MARGAY_TEST_SMALL), for the tools are slow. Exit status 1 when a tool finds anything.
set -u
build=$1
shift
[ $# -gt 0 ] || set -- memcheck racecheck initcheck synccheck
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
[ -x "$sanitizer" ] || { echo "skipped: no compute-sanitizer"; exit 77; }
export MARGAY_TEST_SMALL=1
bad=0
for tool in "$@"; do
    for program in $(find "$build" -type f -name 'test_kernels_*' -perm -u+x | sort); do
        start=$(date +%s)
        log=$(timeout 300 "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" </dev/null 2>&1)
        status=$?
        echo "$tool $(basename "$program"): $(($(date +%s) - start)) s, status $status, $(echo "$log" | tail -1)"
        if [ $status -ne 0 ]; then
            echo "$log" | head -40
            bad=1
        fi
    done
done
exit $bad
