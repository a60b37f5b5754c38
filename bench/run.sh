#!/bin/sh
# run.sh - the benchmarks, as `make bench` runs them: BUILD-FOLDER [options of bench_engine]
#
# Without options bench_matrix comes behind bench_engine, and what `profile --time` costs where there is an nvcc.
#
# Keeps the whole run to two processors, the last two that this process may use, so that the table says the same on a
# machine with many. Within them bench_engine pins its one-core contenders to one.
set -eu
build=${1:-build}
[ $# -gt 0 ] && shift
all=$([ $# -gt 0 ] || echo yes)
if [ ! -x "$build/bench_engine" ]; then
    echo "run.sh: no $build/bench_engine: build it first (make)" >&2
    exit 2
fi
if command -v taskset >/dev/null 2>&1; then
    # "pid 1's current affinity list: 0-3,8" -> the last two of 0 1 2 3 8
    cpus=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
        awk -F- '{ for (i = $1; i <= (NF > 1 ? $2 : $1); i++) print i }' | tail -n 2 | paste -sd, -)
    set -- taskset -c "$cpus" "$build/bench_engine" "$@"
else
    set -- "$build/bench_engine" "$@"
fi
[ -z "$all" ] || [ ! -x "$build/bench_matrix" ] && exec "$@"
"$@"
"$build/bench_matrix"
[ ! -x "$build/margay" ] || exec python3 "$(dirname "$0")/time/measure.py" "$build/margay"
