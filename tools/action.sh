#!/usr/bin/env bash
# action.sh - what the GitHub action does: check a program, then hold it to its budgets. Both are done in any case, so that
# one run shows everything; the status is the first one that is not 0. action.yml says what the variables are.
set -uo pipefail
: "${MARGAY_PROGRAM:?the input program is missing}"
read -r -a program <<<"$MARGAY_PROGRAM"
options=(--format github --quiet)
if [ -n "${MARGAY_NVCC_ARGS:-}" ]; then
    options+=(--nvcc-args "$MARGAY_NVCC_ARGS")
fi
status=0
keep() { # the worst that a step ended with, once
    local now=$?
    if [ "$status" = 0 ]; then status=$now; fi
}
if [ "${MARGAY_LOOK:-true}" = true ]; then
    margay check "${options[@]}" --fail-on "${MARGAY_FAIL_ON:-warning}" "${program[@]}"
    keep
fi
if [ -n "${MARGAY_EXPECT:-}" ]; then
    margay profile "${options[@]}" --expect "$MARGAY_EXPECT" "${program[@]}"
    keep
fi
exit "$status"
