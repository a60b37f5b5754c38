#!/bin/sh
# setup.sh - installs what is missing for a build of Margay, and nothing that is there.
#
#   tools/setup.sh [build|test|bench] [BUILD_FOLDER]
#
# Debian and Ubuntu packages come from apt-get (as root, or through sudo where it asks nothing). nvcc: where no CUDA toolkit
# is found, NVIDIA's wheels from PyPI are unpacked into BUILD_FOLDER/cuda; nothing outside that folder is touched.
# MARGAY_CUDA=wheels takes the wheels even if there is a toolkit.
#
# LLVM with its clang, for kernels compiled to the machine's own code, is installed where the system has a version that will
# do; without it Margay interprets them. MARGAY_JIT=OFF leaves it out.
set -eu

goal=${1:-build}
build=${2:-build}

build_packages="gcc g++ make cmake ninja-build libjansson-dev libzstd-dev liblz4-dev libopenblas-dev libfftw3-dev"
test_packages="pkg-config libcmocka-dev libmpfr-dev python3 mandoc clang"
bench_packages="ocl-icd-opencl-dev opencl-c-headers pocl-opencl-icd"
# The wheels of one CUDA release. nvidia-cuda-cccl holds the headers of libcu++, CUB and Thrust.
cuda_wheels="nvidia-cuda-nvcc==13.0.* nvidia-nvvm==13.0.* nvidia-cuda-crt==13.0.* nvidia-cuda-runtime==13.0.* nvidia-cuda-cccl==13.0.*"

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

case $goal in
build) packages=$build_packages ;;
test) packages="$build_packages $test_packages" ;;
bench) packages="$build_packages $bench_packages" ;;
*) die "what is '$goal'? build, test or bench" ;;
esac

# A program of that name in PATH will do as well as the package, wherever it came from.
program_of() {
    case $1 in
    ninja-build) echo ninja ;;
    gcc | g++ | make | cmake | clang | mandoc | python3) echo "$1" ;;
    *) echo "" ;;
    esac
}

have_package() {
    program=$(program_of "$1")
    [ -n "$program" ] && command -v "$program" >/dev/null 2>&1 && return 0
    command -v dpkg-query >/dev/null 2>&1 &&
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install_packages() {
    missing=""
    for p in "$@"; do
        have_package "$p" || missing="$missing $p"
    done
    [ -z "$missing" ] && return 0
    command -v apt-get >/dev/null 2>&1 ||
        die "these are missing, and only Debian's and Ubuntu's apt-get is known here:$missing"
    if [ "$(id -u)" = 0 ]; then
        sudo=""
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        sudo="sudo -n"
    else
        die "please run as root: apt-get install -y$missing"
    fi
    say "installing$missing"
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >&2
}

llvm_versions="19 18 17 16 15"
have_llvm() {
    for v in $llvm_versions; do
        command -v "llvm-config-$v" >/dev/null 2>&1 && command -v "clang-$v" >/dev/null 2>&1 && return 0
    done
    return 1
}

install_llvm() {
    for v in $llvm_versions; do
        if apt-cache show "llvm-$v-dev" >/dev/null 2>&1 && apt-cache show "clang-$v" >/dev/null 2>&1; then
            (install_packages "llvm-$v-dev" "clang-$v") || say "without LLVM kernels are interpreted, which is slower"
            return 0
        fi
    done
    say "no LLVM of version 15 to 19 is at hand: kernels are interpreted, which is slower"
}

# The places where the command and CMake look for nvcc, in their order.
find_toolkit() {
    [ "${MARGAY_CUDA:-}" = wheels ] && return 1
    for n in "${NVCC:-}" "$(command -v nvcc 2>/dev/null || true)" "${CUDA_HOME:-/nonexistent}/bin/nvcc" \
        "${CUDA_PATH:-/nonexistent}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
        if [ -n "$n" ] && [ -x "$n" ]; then
            return 0
        fi
    done
    return 1
}

install_wheels() {
    [ -x "$build/cuda/bin/nvcc" ] && return 0
    if ! python3 -m pip --version >/dev/null 2>&1; then
        install_packages python3 python3-pip
    fi
    say "no CUDA toolkit was found: unpacking NVIDIA's wheels from PyPI into $build/cuda (about 260 MB)"
    mkdir -p "$build"
    rm -rf "$build/cuda.new"
    # shellcheck disable=SC2086
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --target "$build/cuda.new" $cuda_wheels >&2
    root=$build/cuda.new/nvidia/cu13
    [ -x "$root/bin/nvcc" ] || die "the wheels hold no nvcc at $root/bin"
    # nvcc looks for libraries in lib64/, and the linker for a name without a version.
    ln -sfn lib "$root/lib64"
    ln -sfn libcudart.so.13 "$root/lib/libcudart.so"
    mkdir "$root/licenses"
    mv "$build"/cuda.new/*.dist-info "$root/licenses/"
    rm -rf "$build/cuda"
    mv "$root" "$build/cuda"
    rm -rf "$build/cuda.new"
    say "nvcc is $build/cuda/bin/nvcc"
}

# shellcheck disable=SC2086
install_packages $packages
if [ "$goal" = test ]; then
    # libFuzzer and its runtime are a package of their own, named after clang's version.
    probe=$(mktemp)
    echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n ? 0 : 0; }' |
        clang -fsanitize=fuzzer,address -x c - -o "$probe" 2>/dev/null ||
        install_packages "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    rm -f "$probe"
fi
[ "${MARGAY_JIT:-}" = OFF ] || have_llvm || install_llvm
find_toolkit || install_wheels
