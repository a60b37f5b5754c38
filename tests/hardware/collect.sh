#!/bin/bash
# collect.sh - reads the counters of this folder's programs and of the examples off a real GPU.
#
#     tests/hardware/collect.sh OUT [SECONDS]
#
# Run from the repository's root on a machine with an H100, nvcc, ncu and python3. OUT gets counters.json (what the tests
# compare with: copy it over tests/hardware/counters.json) and log.txt. SECONDS bounds lanes.cu, whose launches come in the
# order of their worth (150 unless given); the whole takes less than six minutes. A program that fails is named in log.txt
# and left out: the rest still comes.
set -u
out=${1:?usage: collect.sh OUT [SECONDS]}
seconds=${2:-150}
here=tests/hardware
[ -f $here/collect.py ] || { echo "collect.sh: run it from the repository's root" >&2; exit 2; }
mkdir -p "$out"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
exec > >(tee "$out/log.txt") 2>&1
export TMPDIR=$work # ncu keeps a lock file in it
ncu=${NCU:-$(command -v ncu || ls /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -1)}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
echo "ncu: $ncu, nvcc: $nvcc, $(date -u +%F)"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee "$work/gpu"
"$ncu" --version | tee "$work/ncu"
"$nvcc" --version | grep release | tee "$work/nvcc"

echo "== compile ${SECONDS} s"
for source in $here/*.cu examples/*.cu; do
    "$nvcc" -O3 -arch=sm_90 -lineinfo -o "$work/$(basename "$source" .cu)" "$source" &
done
wait

# The names that this ncu knows, and those of them that we would like but can do without.
"$ncu" --query-metrics --chips gh100 >"$work/names.txt" 2>/dev/null
"$ncu" --query-metrics-collection source --query-metrics --chips gh100 >>"$work/names.txt" 2>/dev/null
op=l1tex__t
wanted=memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal
wanted+=,memory_l2_theoretical_sectors_global,memory_l2_theoretical_sectors_global_ideal
for what in requests sectors; do
    for kind in ld st red atom; do
        wanted+=,${op}_${what}_pipe_lsu_mem_global_op_$kind.sum
    done
done
launch=launch__shared_mem_per_block_static,launch__shared_mem_per_block_dynamic,launch__registers_per_thread
more=smsp__sass_branch_targets_threads_divergent.sum,smsp__sass_branch_targets.sum,smsp__inst_executed.sum,smsp__thread_inst_executed.sum
more+=,smsp__sass_inst_executed_op_shared_ld.sum,smsp__sass_inst_executed_op_shared_st.sum
pipe=
for name in $(grep -oE '^l1tex__(t_(requests|sectors)_pipe_lsu_mem_global_op_ldgsts[a-z_]*|data_pipe_lsu_wavefronts_mem_shared_op_(ld|st|atom|red))\b' \
    "$work/names.txt" | sort -u); do
    pipe+=,$name.sum
done
grep -E 'ldgsts|theoretical|wavefronts_shared|branch_targets' "$work/names.txt" | cut -c1-110 | sort -u >"$work/known.txt"
echo "optional metrics:$pipe"

# profile PROGRAM METRICS ARGS...: PROGRAM.csv, or the log says why not
profile() {
    local name=$1 metrics=$2
    shift 2
    echo "== $name ${SECONDS} s"
    local options=(--clock-control none --cache-control none --target-processes all -f -o "$work/$name.rep"
        --log-file "$work/$name.log")
    if ! timeout 330 "$ncu" "${options[@]}" --metrics "$metrics" "$work/$name" "$@" >"$work/$name.txt" 2>&1; then
        tail -5 "$work/$name.txt" "$work/$name.log"
        echo "$name: again without the optional metrics"
        timeout 200 "$ncu" "${options[@]}" --metrics "$wanted,$launch" "$work/$name" "$@" >"$work/$name.txt" 2>&1
    fi
    grep -vE '^pattern|^launch' "$work/$name.txt" | tail -4
    grep -vE '==PROF==' "$work/$name.log" | tail -4
    "$ncu" --import "$work/$name.rep.ncu-rep" --csv --page raw --print-units base --print-kernel-base demangled \
        >"$work/$name.csv" 2>"$work/$name.err" || tail -3 "$work/$name.err"
    echo "$name: $(wc -l <"$work/$name.csv") lines of counters, ${SECONDS} s"
}
profile natural "$wanted,$launch,$more$pipe"
for source in examples/*.cu; do
    profile "$(basename "$source" .cu)" "$wanted,$launch,$more"
done
profile lanes "$wanted$pipe" $here/h100_lane_patterns.json "$seconds"

# Values by machine instruction, for the programs where ptxas merges: a report of source counters, read by ncu's module.
echo "== natural by instruction ${SECONDS} s"
timeout 120 "$ncu" --clock-control none --cache-control none --section SourceCounters --metrics "$wanted" -f -o "$work/sass" \
    "$work/natural" >"$work/sass.txt" 2>&1 || tail -3 "$work/sass.txt"
"$ncu" --import "$work/sass.ncu-rep" --page source --csv --print-source sass >"$work/sass.csv" 2>/dev/null
echo "by instruction: $(wc -l <"$work/sass.csv") lines"
modules=$(dirname "$(readlink -f "$ncu")")
for folder in "$modules"/extras/python "$modules"/../../extras/python "$modules"/../extras/python \
    /opt/nvidia/nsight-compute/*/extras/python /usr/local/cuda/nsight-compute*/extras/python; do
    [ -f "$folder/ncu_report.py" ] && PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH} && export PYTHONPATH && break
done
python3 $here/collect.py "$work" "$out/counters.json"
ls -l "$out"
echo "== done ${SECONDS} s"
