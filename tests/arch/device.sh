#!/bin/bash
# device.sh - asks a real GPU what tests/arch holds the table and the occupancy rules to.
#
#     tests/arch/device.sh OUT [PROGRAM]
#
# Run from the repository's root on a machine with a GPU and ncu, and nvcc unless PROGRAM (device.cu, compiled) is given. It
# takes under two minutes. OUT gets ask.json and ncu.csv, which device.py makes into tests/arch/h100.json, and log.txt.
# With MARGAY=build/margay limits.txt is its table beside the device. COUNT and LAUNCHES say how many configurations are asked
# about and how many of them are launched under ncu.
set -u
out=${1:?usage: device.sh OUT [PROGRAM]}
here=tests/arch
[ -f $here/device.cu ] || { echo "device.sh: run it from the repository's root" >&2; exit 2; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
ncu=${NCU:-$(command -v ncu || ls /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -1)}
{
    date -u +%Y-%m-%d
    program=$work/device
    if [ -f "${2:-}" ]; then
        cp "$2" "$program"
        chmod +x "$program"
    else
        timeout -k 5 60 "$nvcc" -std=c++17 -arch=sm_90 -o "$program" $here/device.cu </dev/null
    fi
    timeout -k 5 20 "$program" ask "${COUNT:-24000}" </dev/null >"$out/ask.json"
    echo "ask: status $?"
    export TMPDIR=$work # ncu keeps a lock file in it
    metrics=launch__occupancy_limit_blocks,launch__occupancy_limit_registers,launch__occupancy_limit_shared_mem
    metrics+=,launch__occupancy_limit_warps,launch__shared_mem_config_size,launch__registers_per_thread
    metrics+=,launch__shared_mem_per_block_static,launch__shared_mem_per_block_dynamic,launch__shared_mem_per_block_driver
    metrics+=,launch__block_size,sm__maximum_warps_per_active_cycle_pct
    for more in ,launch__occupancy_limit_barriers ""; do # not every ncu has the first
        timeout -k 5 35 "$ncu" --clock-control none --cache-control none --print-units base --csv --page raw \
            --metrics "$metrics$more" "$program" launch "${LAUNCHES:-150}" </dev/null >"$out/ncu.csv" 2>"$out/ncu.err"
        status=$?
        echo "ncu: status $status"
        [ $status = 124 ] || grep -q '^"0"' "$out/ncu.csv" && break
        tail -n 5 "$out/ncu.csv" "$out/ncu.err"
    done
    if [ -x "${MARGAY:-}" ]; then
        timeout 10 "$MARGAY" limits --device 0 </dev/null >"$out/limits.txt"
        echo "margay limits --device 0: status $?"
    fi
    "$ncu" --version </dev/null | tail -n 1
    nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv,noheader </dev/null
} >"$out/log.txt" 2>&1
cat "$out/log.txt"
wc -c "$out"/*
