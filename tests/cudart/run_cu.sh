#!/bin/sh
# run_cu.sh NVCC LIBS RUNTIME FILE.cu [CASE [nvcc flags…]] - compiles FILE.cu against RUNTIME (static or shared), runs it
# with our libcudart preloaded, our libcuda found, and holds it to the expectations that its comments state:
#   // RUN: flags         added to nvcc's        // ENV: NAME=VALUE   for the run
#   // EXPECT: line       of standard output, all of them in order
#   // STDERR: text       somewhere in standard error
#   // ONCE: text         in exactly one line of standard error
#   // EXIT: n            exit status, 0 unless told
# In the texts of STDERR and ONCE, @word stands for the number of the line that ends in the comment `// @word`.
# With CASE, lines of the form `// CASE name: EXPECT: …` count too, for that case, which is the program's argument.
# MORE adds source files, POST is a shell command on the program ($1) before it runs. Exit status 77: no nvcc.
nvcc=$1 libs=$2 runtime=$3 file=$4 case=$5
shift 4
[ $# -gt 0 ] && shift
[ -x "$nvcc" ] || { echo "no nvcc: skipped"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
lines() { # KEY
    sed -n "s|^// $1: \{0,1\}||p" "$file"
    [ -n "$case" ] && sed -n "s|^// CASE $case: $1: \{0,1\}||p" "$file"
}
program=$dir/program
if [ -n "$PROGRAM" ]; then
    program=$PROGRAM
else
    # shellcheck disable=SC2046
    "$nvcc" -w -lineinfo -cudart "$runtime" $(lines RUN) "$@" -o "$program" "$file" $MORE || exit 1
fi
[ -z "$POST" ] || sh -c "$POST" post "$program" || exit 1
preload=$libs/libcudart.so.13
[ -n "$MARGAY_TEST_PRELOAD" ] && preload=$MARGAY_TEST_PRELOAD:$preload
lines EXPECT >"$dir/want"
# shellcheck disable=SC2046
env $(lines ENV) LD_PRELOAD="$preload" LD_LIBRARY_PATH="$libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ASAN_OPTIONS=detect_leaks=0 "$program" $case >"$dir/out" 2>"$dir/err"
status=$?
want=$(lines EXIT)
fail=0
[ "$status" = "${want:-0}" ] || { echo "exit status $status, not ${want:-0}"; fail=1; }
diff -u "$dir/want" "$dir/out" || { echo "standard output differs"; fail=1; }
{ lines STDERR | sed 's/^/some /'; lines ONCE | sed 's/^/one /'; } >"$dir/texts"
while IFS=' ' read -r many text; do
    word=$(printf '%s\n' "$text" | sed -n 's/.*@\([a-z]*\).*/\1/p')
    if [ -n "$word" ]; then
        line=$(grep -n "// @$word\$" "$file" | cut -d: -f1)
        text=$(printf '%s\n' "$text" | sed "s/@$word/$line/")
    fi
    count=$(grep -cF -- "$text" "$dir/err")
    [ "$count" -gt 0 ] || { echo "standard error lacks: $text"; fail=1; }
    [ "$many" = some ] || [ "$count" -le 1 ] || { echo "standard error has $count times: $text"; fail=1; }
done <"$dir/texts"
[ $fail = 0 ] || { echo "--- standard error:"; cat "$dir/err"; }
exit $fail
