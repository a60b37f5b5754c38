#!/bin/sh
# nvcc - before NVIDIA's in the path of a program that Margay runs: where machine code alone is asked for (-cubin, as PyCUDA
# does), PTX is made under its name, which Margay's driver takes. All else is NVIDIA's, as it stands.
here=$(cd "$(dirname "$0")" && pwd)
real=
old=$IFS
IFS=:
for folder in $PATH; do
    [ "$folder" -ef "$here" ] && continue
    if [ -x "$folder/nvcc" ]; then
        real=$folder/nvcc
        break
    fi
done
IFS=$old
[ -n "$real" ] || { echo "nvcc: not found in PATH" >&2; exit 127; }
machine=
for word; do
    case $word in -cubin | --cubin) machine=yes ;; esac
done
[ -n "$machine" ] || exec "$real" "$@"
count=$#
next=
while [ "$count" -gt 0 ]; do
    word=$1
    shift
    count=$((count - 1))
    case $next,$word in
    ,-cubin | ,--cubin) set -- "$@" -ptx ;;
    ,-arch | ,--gpu-architecture) next=arch ;;
    ,-code | ,--gpu-code) next=code ;;
    ,-o | ,--output-file) next=out; set -- "$@" "$word" ;;
    ,-arch=* | ,--gpu-architecture=*) set -- "$@" "-arch=compute_${word#*=*_}" ;;
    ,-code=* | ,--gpu-code=*) ;;
    arch,*) next=; set -- "$@" "-arch=compute_${word#*_}" ;;
    code,*) next= ;;
    out,*) next=; out=$word; set -- "$@" "$word" ;;
    *.cu) source=$word; set -- "$@" "$word" ;;
    *) set -- "$@" "$word" ;;
    esac
done
[ -n "$out" ] || { out=$(basename "${source:-a.cu}" .cu).cubin; set -- "$@" -o "$out"; }
exec "$real" "$@"
