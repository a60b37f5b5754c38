#!/bin/sh
# api_names.sh OURS TOOLKITS - every name that the toolkit's libcudart exports is exported by ours, under the same
# version node. Exit status 77: no toolkit's library.
ours=$1 theirs=$2
[ -r "$theirs" ] || { echo "no libcudart of a toolkit: skipped"; exit 77; }
names() {
    nm -D --defined-only "$1" | awk '$2 == "T" {print $3}' | sort
}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
names "$theirs" >"$dir/theirs"
names "$ours" >"$dir/ours"
[ -s "$dir/theirs" ] || { echo "nm finds nothing in $theirs"; exit 1; }
missing=$(comm -23 "$dir/theirs" "$dir/ours")
[ -z "$missing" ] || { echo "not exported:"; echo "$missing"; exit 1; }
