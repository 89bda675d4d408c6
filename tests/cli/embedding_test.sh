#!/bin/sh
# The program of docs/embedding.md builds without a warning, as C and as C++'s caller sees the headers, runs, and prints what the page says.
# Relies on KVLANG_BUILD_DIR (set by ctest) being built. Exit 77: nothing to try in this build.
set -eu
build=${KVLANG_BUILD_DIR:?run me through ctest}
[ -f "$build/lib/libkvlang.so" ] || { echo "no shared library here"; exit 77; }
[ -z "${KVLANG_SANITIZE:-}" ] || { echo "a sanitized library wants a sanitized host"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$KVLANG_SOURCE_DIR/docs/embedding.md
block() { awk -v kind="$1" '$0 == "```" kind { on = 1; next } $0 == "```" { if (on) exit } on' "$page"; }

block c >"$work/host.c"
block text >"$work/expected"
[ -s "$work/host.c" ] && [ -s "$work/expected" ] || { echo "$page lacks its program or what it prints"; exit 1; }
${CC:-cc} -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$KVLANG_SOURCE_DIR/include" "$work/host.c" -L"$build/lib" -lkvlang -Wl,-rpath,"$build/lib" -o "$work/host"
XDG_RUNTIME_DIR=$work "$work/host" >"$work/printed"
diff "$work/expected" "$work/printed"
