#!/bin/sh
# sanitizer.sh - what compute-sanitizer finds in the suites of this folder, on a real GPU.
#
#     tests/check/sanitizer.sh [--new] OUT [SECONDS]
#
# Run from the repository's root on a machine with a GPU, nvcc, compute-sanitizer and python3. OUT gets device.json, which
# sanitizer.py joins with what `margay check` finds; raw.json.gz, what the tools printed; and log.txt, with the table of the four
# tools. After SECONDS (330 unless given) nothing more is started. Every command has a limit and no standard input; what hangs a
# GPU comes last, and is killed with all that it started. --new: only the suites and cases that sanitizer.json has no answers of;
# `sanitizer.py join` then adds them to it. PROGRAMS names a folder where the suites are built already.
set -u
new=
[ "${1:-}" = --new ] && new=--new && shift
out=${1:?usage: sanitizer.sh OUT [SECONDS]}
seconds=${2:-330}
here=tests/check
[ -f $here/sanitizer.py ] || { echo "sanitizer.sh: run it from the repository's root" >&2; exit 2; }
mkdir -p "$out"
began=$(date +%s)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
sanitizer=${SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
pids=
for name in $([ -n "${PROGRAMS:-}" ] || python3 $here/sanitizer.py suites $new); do
    arch=-arch=${ARCH:-sm_90}
    case $name in wgmma | pipelines | remote | maps | registers) arch="-gencode arch=compute_90a,code=sm_90a" ;; esac
    timeout -k 5 150 "$nvcc" -w -lineinfo $arch -o "$work/$name" $here/$name.cu </dev/null \
        >"$work/$name.log" 2>&1 &
    pids="$pids $!"
done
for pid in $pids; do
    wait "$pid" || echo "a compilation failed: status $?"
done
cat "$work"/*.log >"$out/log.txt" 2>/dev/null
echo "compiled after $(($(date +%s) - began)) s"
left=$((seconds - $(date +%s) + began))
python3 $here/sanitizer.py collect $new "$sanitizer" "${PROGRAMS:-$work}" "$out" --seconds "$left" </dev/null 2>&1 | tee -a "$out/log.txt"
