#!/bin/sh
# nvcc.sh BUILD NVCC ARG...: runs NVCC with the arguments, for a target of the build folder BUILD.
#
# What nvcc makes does not depend on how Margay is built, and takes half of a build's time: where $MARGAY_TWIN names
# another build folder of these very sources (`make test-all` does so, of the one that it has just built), what the same
# command made there is taken. Each command is kept beside what it made, for that.
set -eu
build=$1
nvcc=$2
shift 2
out= depends= before=
for arg in "$@"; do
    case $before in
    -o) out=$arg ;;
    -MF) depends=$arg ;;
    esac
    before=$arg
done
# The command, whatever the build folder.
told() {
    printf '%s\n' "$nvcc" "$@" | sed "s|$build/|BUILD/|g"
}
twin=${MARGAY_TWIN:+$MARGAY_TWIN${out#"$build"}}
if [ -n "$twin" ] && [ "$MARGAY_TWIN" != "$build" ] && [ -e "$twin" ] && [ "$(told "$@")" = "$(cat "$twin.command" 2>/dev/null)" ]; then
    cp "$twin" "$out"
    if [ -n "$depends" ]; then
        sed "s|$MARGAY_TWIN/|$build/|g" "$MARGAY_TWIN${depends#"$build"}" > "$depends"
    fi
else
    "$nvcc" "$@"
fi
told "$@" > "$out.command"
