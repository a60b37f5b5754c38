#!/bin/sh
# install.sh - libmargay, installed, serves C programs outside the tree, by pkg-config.
#
#   install.sh SOURCE_FOLDER BUILD_FOLDER
#
# Builds examples/embed.c and a program that asks for an occupancy. 77: pkg-config or cmake is missing.
set -eu
source=$1 build=$2
command -v pkg-config >/dev/null 2>&1 || { echo "skipped: no pkg-config"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cp "$source/examples/embed.c" "$work/"
cd "$work"
PKG_CONFIG_PATH=$(dirname "$(find prefix -name margay.pc)")
export PKG_CONFIG_PATH
lib=$(pkg-config --variable=libdir margay)
# shellcheck disable=SC2046
${CC:-cc} -Wall -Werror embed.c $(pkg-config --cflags --libs margay) -o embed
LD_LIBRARY_PATH=$lib ./embed >out || { echo "embed failed:"; cat out; exit 1; }

cat >full.c <<'C'
#include <margay/arch.h>
#include <stdio.h>
int main(void)
{
    const struct mg_arch *arch = mg_arch_find(90);
    struct mg_occupancy_query query = mg_arch_query(256, 32, 0, 0);
    struct mg_occupancy is;
    if (!arch || mg_arch_occupancy(arch, &query, &is) != MG_OK)
        return 1;
    printf("%u blocks\n", is.blocks);
    return is.blocks != 8;
}
C
# shellcheck disable=SC2046
${CC:-cc} -Wall -Werror full.c $(pkg-config --cflags --libs margay) -o full
LD_LIBRARY_PATH=$lib ./full
if nm -D --defined-only "$lib/libmargay.so" | grep -E ' [TDBR] ' | grep -vE ' (mg_[^_]|ptx_run@)'; then
    echo "libmargay.so lets these names out"
    exit 1
fi
