#!/bin/sh
# example.sh - what `margay check` says of an example: MARGAY NAME.cu STATUS [TEXT …], its exit status and what it prints
set -u
margay=$1 name=$2 want=$3
shift 3
cd "$(dirname "$0")/../.." || exit 1
said=$("$margay" check "examples/$name" 2>&1)
status=$?
missing=
for text in "$@"; do
    echo "$said" | grep -qF -- "$text" || missing="$missing
not said: $text"
done
[ $status = "$want" ] && [ -z "$missing" ] && exit 0
echo "status $status:
$said$missing"
exit 1
