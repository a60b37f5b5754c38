#!/bin/bash
# collect.sh - reads the counters of this folder's programs and of the examples off a real GPU.
#
#     tests/hardware/collect.sh OUT [SECONDS [WHAT...]]
#
# Run from the repository's root on a machine with an H100, nvcc, ncu and python3. OUT gets counters.json (what the tests
# compare with: copy it over tests/hardware/counters.json) and log.txt. SECONDS bounds lanes.cu, whose launches come in the
# order of their worth (150 unless given). WHAT is what to do, in that order: natural, instructions (natural.cu by machine
# instruction), vectors, copies, returns, meets, fresh (time_fresh.cu), passes, lanes, examples; all of them unless given.
# counters.json is written anew after each, so that what was finished is there when the rest is cut off. A program that fails
# is named in log.txt and left out.
#
# Every command has a limit and no standard input; NCU and NVCC name other tools than those found. The variable LANES may
# hold operations of lanes.cu, one a line: then these alone, in all patterns.
set -u
out=${1:?usage: collect.sh OUT [SECONDS [WHAT...]]}
seconds=${2:-150}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- natural instructions vectors copies fresh passes lanes examples
here=tests/hardware
[ -f $here/collect.py ] || { echo "collect.sh: run it from the repository's root" >&2; exit 2; }
mkdir -p "$out"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work # ncu keeps a lock file in it
ncu=${NCU:-$(command -v ncu || ls /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -1)}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

# limited SECONDS COMMAND...: ended, and killed when it does not end
limited() { timeout -k 5 "$@"; }

compile() {
    local source pids=() pid
    for source in "$@"; do
        limited 120 "$nvcc" -O3 -arch=sm_90 -lineinfo -o "$work/$(basename "$source" .cu)" "$source" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || echo "a compilation failed: status $?"
    done
}

op=l1tex__t
shared=memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal
wanted=$shared,memory_l2_theoretical_sectors_global,memory_l2_theoretical_sectors_global_ideal
for what in requests sectors; do
    for kind in ld st red atom; do
        wanted+=,${op}_${what}_pipe_lsu_mem_global_op_$kind.sum
    done
done
launch=launch__shared_mem_per_block_static,launch__shared_mem_per_block_dynamic,launch__registers_per_thread
more=smsp__sass_branch_targets_threads_divergent.sum,smsp__inst_executed.sum,smsp__thread_inst_executed.sum
pipe=

# The names that this ncu knows; of those, what we would like but can do without.
names() {
    limited 40 "$ncu" --query-metrics --chips gh100 >"$work/names.txt" 2>/dev/null
    local name
    for name in $(grep -oE '^l1tex__(t_(requests|sectors)_pipe_lsu_mem_global_op_ldgsts|data_pipe_lsu_wavefronts_mem_shared_op_(ld|st|atom))\b' \
        "$work/names.txt" | sort -u); do
        pipe+=,$name.sum
    done
    echo "optional metrics:$pipe"
}

# profile LIMIT PROGRAM METRICS LESS ARGS...: PROGRAM.csv, or the log says why not; again with METRICS less LESS if it fails
profile() {
    local limit=$1 name=$2 metrics=$3 less=$4 status
    shift 4
    echo "== $name ${SECONDS} s"
    local options=(--clock-control none --cache-control none --target-processes all -f -o "$work/$name.rep"
        --log-file "$work/$name.log")
    limited "$limit" "$ncu" "${options[@]}" --metrics "$metrics" "$work/$name" "$@" >"$work/$name.txt" 2>&1
    status=$?
    if [ $status != 0 ]; then
        echo "$name: status $status"
        tail -n 5 "$work/$name.txt" "$work/$name.log"
        if [ $status -lt 124 ]; then
            echo "$name: again without the optional metrics"
            limited "$limit" "$ncu" "${options[@]}" --metrics "${metrics%"$less"}" "$work/$name" "$@" >"$work/$name.txt" 2>&1
        fi
    fi
    grep -vE '^pattern|^launch' "$work/$name.txt" | tail -n 4
    grep -vE '==PROF==' "$work/$name.log" | tail -n 4
    limited 60 "$ncu" --import "$work/$name.rep.ncu-rep" --csv --page raw --print-units base --print-kernel-base demangled \
        >"$work/$name.csv" 2>"$work/$name.err" || tail -n 3 "$work/$name.err"
    echo "$name: $(wc -l <"$work/$name.csv") lines of counters, ${SECONDS} s"
}

# Values by machine instruction: a report of source counters, read by ncu's Python module.
instructions() {
    echo "== natural by instruction ${SECONDS} s"
    limited 80 "$ncu" --clock-control none --cache-control none --section SourceCounters --metrics "$wanted" -f -o "$work/sass" \
        "$work/natural" >"$work/sass.txt" 2>&1 || tail -n 3 "$work/sass.txt"
    limited 40 "$ncu" --import "$work/sass.ncu-rep" --page source --csv --print-source sass >"$work/sass.csv" 2>/dev/null
    echo "by instruction: $(wc -l <"$work/sass.csv") lines"
    local modules folder
    modules=$(dirname "$(readlink -f "$ncu")")
    for folder in "$modules"/extras/python "$modules"/../../extras/python "$modules"/../extras/python \
        /opt/nvidia/nsight-compute/*/extras/python /usr/local/cuda/nsight-compute*/extras/python; do
        [ -f "$folder/ncu_report.py" ] && export PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH} && break
    done
}

main() {
    echo "ncu: $ncu, nvcc: $nvcc, $(date -u +%F)"
    limited 30 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee "$work/gpu"
    limited 30 "$ncu" --version | tee "$work/ncu"
    "$nvcc" --version | grep release | tee "$work/nvcc"
    local what source sources=() operations=()
    [ -z "${LANES:-}" ] || mapfile -t operations <<<"$LANES"
    for what in "$@"; do
        case $what in
        natural | vectors | copies | orders | parts | returns | meets | passes | lanes) sources+=($here/$what.cu) ;;
        fresh) sources+=($here/time_fresh.cu) ;;
        examples) sources+=(examples/*.cu) ;;
        esac
    done
    echo "== compile ${SECONDS} s"
    compile "${sources[@]}"
    names
    for what in "$@"; do
        case $what in
        natural) profile 120 natural "$wanted,$launch,$more$pipe" ",$more$pipe" ;;
        instructions) instructions ;;
        vectors) profile 60 vectors "$wanted,$launch" ",$launch" ;;
        copies) profile 200 copies "$wanted,$launch" ",$launch" ;;
        orders) profile 200 orders "$wanted,$launch" ",$launch" ;; # into orders.json
        parts) profile 200 parts "$wanted,$launch" ",$launch" ;;    # into parts.json
        returns | meets) profile 60 $what "$wanted,$launch" ",$launch" ;; # into returns.json, meets.json
        fresh) profile 200 time_fresh "$wanted,$launch" ",$launch" ;;
        passes)
            cp $here/passes.txt "$work/passes.in"
            profile 150 passes "${op}_sectors_pipe_lsu_mem_global_op_red.sum,${op}_sectors_pipe_lsu_mem_global_op_atom.sum" "" \
                "$work/passes.in"
            limited 60 python3 $here/collect.py --passes "$work" "$out/passes.txt"
            ;;
        lanes) profile $((seconds + 60)) lanes "$wanted$pipe" "$pipe" $here/h100_lane_patterns.json "$seconds" "${operations[@]}" ;;
        examples)
            for source in examples/*.cu; do
                profile 100 "$(basename "$source" .cu)" "$wanted,$launch,$more" ",$more"
            done
            ;;
        *) echo "$what: not natural, instructions, vectors, copies, fresh, passes, lanes or examples" ;;
        esac
        limited 60 python3 $here/collect.py "$work" "$out/counters.json"
        echo "== written after $what, ${SECONDS} s: $(wc -c <"$out/counters.json") bytes"
    done
}
main "$@" </dev/null 2>&1 | tee "$out/log.txt"
