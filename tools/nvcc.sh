#!/bin/sh
# nvcc.sh BUILD NVCC ARG...: runs NVCC with the arguments, for the build folder BUILD, or takes what the same made before.
#
# What nvcc makes does not depend on how Margay is built, takes half of a build's time and a good part of the tests': what
# comes of one source of this tree is kept in BUILD/nvcc-kept, or in that of the build folder that $MARGAY_TWIN names
# (`make test-all` does so for the sanitizers), under the command, as long as no file that the compiler read has changed.
set -eu
build=$1 nvcc=$2
shift 2
top=$(cd "$(dirname "$0")/.." && pwd)
kept=${MARGAY_TWIN:-$build}/nvcc-kept
out= depends= before= sources=
for arg in "$@"; do
    case $before:$arg in
    -o:*) out=$arg ;;
    -MF:*) depends=$arg ;;
    :"$top"/*.cu) sources="$sources ours" ;;
    *.cu | *.c | *.cc | *.cpp | *.ptx | *.a | *.o | *.so) sources="$sources other" ;;
    esac
    case $arg in
    -o | -MF) before=$arg ;;
    *) before= ;;
    esac
done
if [ -z "$out" ] || [ "$sources" != " ours" ]; then
    exec "$nvcc" "$@"
fi
# The command, whatever the build folder and the product's name.
told() {
    ls -lL "$nvcc"
    printf '%s\n' "${NVCC_PREPEND_FLAGS:-}" "${NVCC_APPEND_FLAGS:-}"
    for arg in "$@"; do
        case $arg in
        "$out" | "$depends") ;;
        *) printf '%s\n' "$arg" ;;
        esac
    done | sed "s|$build/|BUILD/|g"
}
entry=$kept/$(told "$@" | sha256sum | cut -c 1-40)
if ! sha256sum --status --check "$entry/read" 2>/dev/null; then
    mkdir -p "$kept"
    new=$(mktemp -d "$kept/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    if [ -n "$depends" ]; then
        "$nvcc" "$@"
        cp "$depends" "$new/depends"
    else
        "$nvcc" "$@" -MD -MF "$new/depends"
    fi
    # What make is told: the product, a colon, and files with backslashes at the lines' ends.
    if sed 's/^.* : //; s/\\$//' "$new/depends" | xargs sha256sum >"$new/read" 2>/dev/null; then
        sed -i "s|^.* : |PRODUCT : |; s|$build/|BUILD/|g" "$new/depends"
        cp "$out" "$new/made"
        rm -rf "$entry"
        mv -T "$new" "$entry" 2>/dev/null || true # another was first
    fi
else
    cp "$entry/made" "$out"
    [ -z "$depends" ] || sed "s|^PRODUCT : |$out : |; s|BUILD/|$build/|g" "$entry/depends" >"$depends"
fi
