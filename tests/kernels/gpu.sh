#!/bin/sh
# gpu.sh - the collection's tests on a GPU, natively and then under compute-sanitizer; what passed, line by line, in a file.
#
#   gpu.sh BUILD_FOLDER REPORT JOBS
#
# Exit status 1 when a test fails, a tool finds anything, or one did not finish.
set -u
build=$1 report=$2 jobs=$3 bad=0
ctest --test-dir "$build" --output-on-failure -j "$jobs" >"$build/tests.log" 2>&1 || bad=1
[ $bad = 0 ] || cat "$build/tests.log"
grep -E '^ *[0-9]+/[0-9]+ Test|tests passed' "$build/tests.log" | sed 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: /native     /' >"$report"
cat "$report"
JOBS=$jobs "$(dirname "$0")/sanitizer.sh" "$build" | tee -a "$report"
[ "$(grep -cE '^(mem|race|init|sync)check .* clean ' "$report")" = "$(grep -cE '^(mem|race|init|sync)check ' "$report")" ] || bad=1
exit $bad
