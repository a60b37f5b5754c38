#!/bin/sh
# deb.sh - a Debian package of the command, its CUDA runtimes and libmargay, from a build folder: what `make deb` does.
#
#   tools/deb.sh [BUILD_FOLDER [FILE.deb]]
#
# The collection of kernels is no part of it: that is a library for programs with a GPU, and `make install` installs it. What
# must be installed beside the package is read from the programs themselves (dpkg-shlibdeps, of dpkg-dev). LLVM, which kernels
# are compiled with, is recommended and not required: without it they are interpreted.
set -eu
build=${1:-build}
tree=$(cd "$(dirname "$0")/.." && pwd)
die() { echo "deb: $*" >&2; exit 1; }
for tool in dpkg-deb dpkg-shlibdeps; do
    command -v $tool >/dev/null 2>&1 || die "$tool is missing: apt-get install dpkg-dev"
done
test -x "$build/margay" || die "$build/margay is not there: make builds it"
version=$("$build/margay" --version | cut -d' ' -f2)
arch=$(dpkg --print-architecture)
deb=${2:-$build/margay_${version}_$arch.deb}

work=$(mktemp -d "${TMPDIR:-/tmp}/margay-deb-XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root
DESTDIR=$root cmake --install "$build" --prefix /usr --component Unspecified --strip >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
doc=$root/usr/share/doc/margay
mkdir -p "$doc" "$root/DEBIAN"
cp "$tree/LICENSE" "$doc/copyright"
cp "$tree"/docs/*.md "$doc"
gzip -9nc "$tree/CHANGELOG.md" >"$doc/changelog.gz"
gzip -9n "$root"/usr/share/man/man1/margay.1
find "$root" -type d -exec chmod 755 {} +
find "$root/usr" -type f ! -path '*/bin/*' -exec chmod 644 {} +

# dpkg-shlibdeps wants a source package's control file; the libraries that we bring are ours.
mkdir "$work/debian"
printf 'Source: margay\nMaintainer: Margay <margay@localhost>\n\nPackage: margay\nArchitecture: any\n' >"$work/debian/control"
jit=$(find "$root/usr/lib" -name 'libmargay_jit.so')
needs() { (cd "$work" && dpkg-shlibdeps -O --ignore-missing-info -l"$root/usr/lib" "$@" 2>/dev/null) | sed -n 's/^shlibs:[A-Za-z]*=//p'; }
depends=$(needs "$root/usr/bin/margay" $(find "$root/usr/lib" -name 'lib*.so.*' -type f))
recommends=g++
if test -n "$jit"; then
    # what it has beyond the others
    recommends=$(needs "$jit" | tr ',' '\n' | sed 's/^ *//' | grep -i llvm | tr '\n' ',')g++
fi
{
    echo "Package: margay"
    echo "Version: $version"
    echo "Architecture: $arch"
    echo "Maintainer: Margay <margay@localhost>"
    echo "Installed-Size: $(du -sk "$root/usr" | cut -f1)"
    echo "Depends: $depends"
    echo "Recommends: $(echo "$recommends" | sed 's/,/, /g')"
    echo "Suggests: nvidia-cuda-toolkit"
    echo "Section: devel"
    echo "Priority: optional"
    echo "Description: run, profile and check CUDA programs on a machine with no GPU"
    echo " Margay runs CUDA programs on a simulated GPU and says what their shared and global"
    echo " memory did, line by line, with the counts that Nsight Compute reads on an H100. It finds"
    echo " races and other mistakes, and says what would make a kernel faster."
} >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
chmod 644 "$root/DEBIAN/md5sums" "$root/DEBIAN/control"
dpkg-deb --root-owner-group --build "$root" "$deb" >/dev/null
echo "$deb"
