#!/bin/sh
# sanitizer.sh - the collection's tests under NVIDIA's compute-sanitizer, on a machine with a GPU.
#
#   sanitizer.sh BUILD_FOLDER [TOOL...]        tools: memcheck racecheck initcheck synccheck (all of them)
#
# Sizes are the simulator's (MARGAY_TEST_SMALL), for the tools are slow; JOBS programs run at once (as many as there are
# cores unless told), SECONDS_EACH (300) is what each may take. Exit status 1 when a tool finds anything or did not finish.
set -u
build=$1
shift
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
[ -x "$sanitizer" ] || { echo "skipped: no compute-sanitizer"; exit 77; }
export MARGAY_TEST_SMALL=1

if [ "${1:-}" = --one ]; then # a tool and a program; prints one line, and what was found
    tool=$2 program=$3 start=$(date +%s)
    for try in 1 2; do
        log=$(timeout "${SECONDS_EACH:-300}" "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" </dev/null 2>&1)
        status=$?
        case $log in *"Internal Sanitizer Error"*) ;; *) break ;; esac # the tool lost track, with many at work: once more
    done
    case $status in
    0) verdict=clean ;;
    124) verdict="did not finish" ;;
    *) verdict="status $status" ;;
    esac
    found=
    [ $status = 0 ] || [ $status = 124 ] || found=$(echo "$log" | head -40)
    printf '%-10s %-28s %-14s %4s s\n%s' "$tool" "$(basename "$program")" "$verdict" $(($(date +%s) - start)) \
        "${found:+$found
}"
    [ $status = 0 ]
    exit
fi
[ $# -gt 0 ] || set -- memcheck racecheck initcheck synccheck
for tool in "$@"; do
    find "$build" -type f -name 'test_kernels_*' -perm -u+x | sort | sed "s/^/$tool /"
done | xargs -n 2 -P "${JOBS:-$(nproc)}" "$0" "$build" --one
