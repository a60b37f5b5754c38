#!/bin/sh
# misuse.sh MARGAY PROGRAM - what the checks say of calls that the host computes, and what reports say of them.
set -u
margay=$1 program=$2 fails=0
says() { # CASE PATTERN STATUS: `margay check` of the case
    text=$("$margay" check "$program" "$1" 2>&1)
    status=$?
    if ! printf '%s' "$text" | tr -s '\n ' '  ' | grep -q "$2" || [ $status != "$3" ]; then
        echo "$1: status $status, expected $3 and '$2':" && echo "$text" && fails=$((fails + 1))
    fi
}
says right "no findings" 0
says unwritten "cublasSgemm reads 1024 bytes of device memory, of which nobody has written 1024" 1
says beyond "cublasSgemm of 1088 bytes, of which only 1024 lie in the allocation" 1
says host "cublasSgemm takes a pointer for device memory" 1
says race "race/stream" 1
says missing "the program calls cublasXtCreate, which is not there" 2
text=$("$margay" run --json - "$program" right 2>/dev/null)
printf '%s' "$text" | grep -q '{"library": "cuBLAS", "routine": "cublasSgemm", "calls": 1}' ||
    { echo "JSON: $text"; fails=$((fails + 1)); }
for command in run profile advise; do
    "$margay" $command "$program" right 2>&1 | grep -q "computed on the host, not counted: cublasSgemm" ||
        { echo "$command does not say what the host computed"; fails=$((fails + 1)); }
done
exit $fails
