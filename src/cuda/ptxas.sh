#!/bin/sh
# ptxas - stands for NVIDIA's where a program hands the assembler's result to the driver: the PTX itself is the result, which
# Margay's driver takes. What is wrong in it is told when it is loaded.
out=elf.o in=
while [ $# -gt 0 ]; do
    case $1 in
    --version | -V) echo "Margay's stand-in for ptxas, release 13.0, V13.0.0"; exit 0 ;;
    -o | --output-file) out=$2; shift ;;
    -*) ;;
    *) in=$1 ;;
    esac
    shift
done
[ -n "$in" ] || { echo "ptxas: no file of PTX is given" >&2; exit 1; }
exec cp "$in" "$out"
