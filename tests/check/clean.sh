#!/bin/sh
# clean.sh - a program of the collection or an example has nothing wrong: MARGAY PROGRAM [SUPPRESSIONS]
# With "example" for PROGRAM: the one that was made with a mistake is told so, on its line.
set -u
margay=$1 program=$2 list=${3:-}
if [ "$program" = example ]; then
    cd "$(dirname "$0")/../.." || exit 1
    said=$("$margay" check examples/missing_barrier.cu 2>&1 >/dev/null)
    status=$?
    [ $status = 1 ] && echo "$said" | grep -q 'race/write-read in differences' &&
        echo "$said" | grep -q 'missing_barrier.cu:20' && echo "$said" | grep -q 'fix: .*__syncthreads()' && exit 0
    echo "status $status:"
    echo "$said"
    exit 1
fi
[ -x "$program" ] || { echo "no $program: skipped"; exit 77; }
said=$("$margay" check --threads 2 ${list:+--suppress "$list"} "$program" 2>&1)
status=$?
echo "$said" | tail -n 60
exit $status
