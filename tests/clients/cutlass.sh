#!/bin/sh
# cutlass.sh MARGAY PYTHON NVCC FOLDER PROGRAM - a program over CUTLASS' headers as PyPI has them: right under both engines, and
# nothing is found in it. The headers are unpacked into FOLDER once; skipped where they or nvcc cannot be had.
margay=$1 python=$2 nvcc=$3 folder=$4 program=$5
here=$(cd "$(dirname "$0")" && pwd)/cutlass
version=4.2.0.0
if [ "$program" = sm90_types ] && [ -z "${MARGAY_TEST_CUTLASS:-}" ]; then
    echo "nvcc takes two minutes for it: MARGAY_TEST_CUTLASS=1 ctest -R client_cutlass_sm90_types"
    exit 77
fi
case $program in
sm75) arch=75 ;;
sm80 | cute80) arch=80 ;;
*) arch=90a ;;
esac
device=sm_${arch%a}
mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9 # one of the tests fetches it
if [ ! -e "$folder/$version/ready" ]; then
    rm -rf "${folder:?}/$version"
    "$python" -m pip install -q --disable-pip-version-check --no-deps --target "$folder/$version" "nvidia-cutlass==$version" &&
        touch "$folder/$version/ready" || { echo "PyPI cannot be had: skipped"; exit 77; }
fi
exec 9>&-
source=$folder/$version/cutlass_library/source
built=$folder/$program
if [ ! -e "$built" ] || [ -n "$(find "$here" -newer "$built" -name "*.[ch]u" -o -newer "$built" -name "*.h")" ]; then
    "$nvcc" -std=c++17 -O2 -lineinfo -DNDEBUG -w --expt-relaxed-constexpr -gencode "arch=compute_$arch,code=[sm_$arch,compute_$arch]" \
        -I"$source/include" -I"$source/tools/util/include" -o "$built" "$here/$program.cu" >"$built.log" 2>&1 ||
        { echo "nvcc does not compile it:"; head -c 2000 "$built.log"; exit 1; }
fi
for engine in interp jit; do
    for how in run profile check; do
        if ! said=$(MARGAY_ENGINE=$engine "$margay" $how --device "$device" "$built" 2>&1) || ! echo "$said" | grep -q '^PASS$'; then
            echo "margay $how, $engine:"
            echo "$said"
            exit 1
        fi
    done
done
