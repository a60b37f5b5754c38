#!/bin/sh
# test_nvcc.sh - tools/nvcc.sh, with a stand-in for nvcc: what it takes from before, and when it compiles anew.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/tools" "$dir/one" "$dir/two" "$dir/other"
cp "$here/tools/nvcc.sh" "$dir/tools"
cat >"$dir/compiler" <<'END'
#!/bin/sh
# As nvcc: -o FILE, -MD -MF FILE; what it makes is the source and its header. Counts its calls.
echo >>"$COUNT"
while [ $# -gt 0 ]; do
    case $1 in
    -o) out=$2; shift ;;
    -MF) depends=$2; shift ;;
    *.cu) source=$1 ;;
    esac
    shift
done
header=${source%.cu}.h
cat "$source" "$header" >"$out"
[ -z "${depends:-}" ] || printf '%s : %s \\\n    %s\n' "$out" "$source" "$header" >"$depends"
END
chmod +x "$dir/compiler"
export COUNT="$dir/count"
unset MARGAY_TWIN NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS
: >"$COUNT"
compile() { # BUILD OUT ARG...
    folder=$dir/$1 made=$dir/$1/$2
    shift 2
    "$dir/tools/nvcc.sh" "$folder" "$dir/compiler" "$@" -o "$made"
}
expect() { # CALLS TEXT FILE WHAT
    [ "$(wc -l <"$COUNT")" = "$1" ] || { echo "$4: nvcc has been called $(wc -l <"$COUNT") times, not $1"; exit 1; }
    [ "$(cat "$3")" = "$2" ] || { echo "$4: $3 is wrong"; cat "$3"; exit 1; }
}
echo a >"$dir/k.cu"
echo b >"$dir/k.h"
ab=$(printf 'a\nb') ac=$(printf 'a\nc')
compile one x "$dir/k.cu"
expect 1 "$ab" "$dir/one/x" "the first time"
compile one y "$dir/k.cu"
expect 1 "$ab" "$dir/one/y" "the same, elsewhere"
compile one y -O1 "$dir/k.cu"
expect 2 "$ab" "$dir/one/y" "another option"
compile two x "$dir/k.cu"
expect 3 "$ab" "$dir/two/x" "another build folder"
MARGAY_TWIN=$dir/one compile two x "$dir/k.cu" -MD -MF "$dir/two/x.d"
MARGAY_TWIN=$dir/one compile two z "$dir/k.cu" -MD -MF "$dir/two/z.d"
expect 4 "$(printf '%s : %s \\\n    %s' "$dir/two/z" "$dir/k.cu" "$dir/k.h")" "$dir/two/z.d" "what was read, for make"
echo c >"$dir/k.h"
compile one x "$dir/k.cu"
expect 5 "$ac" "$dir/one/x" "a changed header"
compile one x "$dir/k.cu"
expect 5 "$ac" "$dir/one/x" "the changed header, once more"
cp "$dir/k.cu" "$dir/k.h" "$dir/other"
"$dir/tools/nvcc.sh" "$dir/one" "$dir/compiler" "$dir/other/k.cu" "$dir/k.cu" -o "$dir/one/x"
"$dir/tools/nvcc.sh" "$dir/one" "$dir/compiler" "$dir/other/k.cu" "$dir/k.cu" -o "$dir/one/x"
expect 7 "$ac" "$dir/one/x" "two sources, which are not kept"
: >"$dir/one/x"
(cd "$dir" && tools/nvcc.sh "$dir/one" "$dir/compiler" k.cu -o one/x && tools/nvcc.sh "$dir/one" "$dir/compiler" k.cu -o one/x)
expect 9 "$ac" "$dir/one/x" "a name that hangs on the folder"
