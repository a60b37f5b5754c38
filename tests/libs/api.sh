#!/bin/sh
# api.sh LIBRARY API.def PREFIX [NVIDIA'S LIBRARY] - the library exports what its table lists and nothing else, and NVIDIA's
# has no documented name that the table lacks.
names() { nm -D --defined-only "$1" | sed -n "s/.* T \($3[A-Za-z0-9_]*\).*/\1/p" | sort -u; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
sed -n 's/^API\(_LATER\)*(\([A-Za-z0-9_]*\).*/\2/p' "$2" | sort -u >"$dir/table"
names "$1" "" "$3" >"$dir/ours"
diff "$dir/table" "$dir/ours" || { echo "$1 and $2 differ"; exit 1; }
[ -s "$dir/ours" ] || { echo "$1 exports nothing"; exit 1; }
if [ -e "$4" ]; then
    names "$4" "" "$3" | grep -v 'Backdoor\|_internal$' | comm -23 - "$dir/table" >"$dir/lacks"
    [ ! -s "$dir/lacks" ] || { echo "$2 lacks:"; cat "$dir/lacks"; exit 1; }
fi
