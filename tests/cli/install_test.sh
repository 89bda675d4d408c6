#!/bin/sh
# An installed copy is whole: both libraries are found by pkg-config, and a C and a C++ program build, link and run against
# each, shared; a C program also static. The shared ones export their API and nothing else.
# Relies on KVLANG_BUILD_DIR (set by ctest) being built. Exit 77: nothing to try in this build.
set -eu
build=${KVLANG_BUILD_DIR:?run me through ctest}
[ -f "$build/kvspace.pc" ] || { echo "no library yet"; exit 77; }
[ -z "${KVLANG_SANITIZE:-}" ] || { echo "a sanitized library is not for installing"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }

cmake --install "$build" --prefix "$work/usr" >/dev/null
libdir=$(dirname "$(find "$work/usr" -name libkvspace.a)")
PKG_CONFIG_PATH=$libdir/pkgconfig:${PKG_CONFIG_PATH:-}
LD_LIBRARY_PATH=$libdir
export PKG_CONFIG_PATH LD_LIBRARY_PATH

# The files name the prefix that the build was configured for; this copy lies elsewhere.
package() { pkg-config --define-variable=prefix="$work/usr" "$@"; }
exported() { nm -D --defined-only "$libdir/lib$1.so" | awk '$2 ~ /^[TDBRVW]$/ { print $3 }'; }

for library in kvspace kvlang; do
    [ -f "$libdir/pkgconfig/$library.pc" ] || continue
    [ -f "$KVLANG_SOURCE_DIR/include/$library/$library.h" ] || continue # a room before its header
    [ -f "$work/usr/include/$library/$library.h" ] || fail "$library.h is not installed"
    stray=$(exported $library | grep -v '^kvspace_' | grep -v "^${library}_" || true)
    [ -z "$stray" ] || fail "lib$library.so exports what is not its API: $stray"
    symbol=$(exported $library | grep "^${library}_" | head -n 1)
    [ -n "$symbol" ] || fail "lib$library.so exports nothing that begins with ${library}_"

    # Taking the address makes the linker resolve the name without calling what may want arguments.
    for language in c cpp; do
        printf '#include <%s/%s.h>\nint main(void) {\n    volatile int found = (void (*)(void))&%s != 0;\n    return !found;\n}\n' \
            $library $library "$symbol" >"$work/try.$language"
    done
    # shellcheck disable=SC2046 # lists of words
    cc -w "$work/try.c" $(package --cflags --libs $library) -o "$work/try" && "$work/try" || fail "$library: C, shared"
    if command -v c++ >/dev/null 2>&1; then
        # shellcheck disable=SC2046
        c++ -w "$work/try.cpp" $(package --cflags --libs $library) -o "$work/try" && "$work/try" || fail "$library: C++, shared"
    fi
    # What the static library needs must all be named by pkg-config --static.
    static=$(package --static --libs $library | sed "s|-lkvlang|$libdir/libkvlang.a|g; s|-lkvspace|$libdir/libkvspace.a|g")
    # shellcheck disable=SC2046,SC2086
    cc -w "$work/try.c" $(package --cflags $library) $static -o "$work/try" && "$work/try" || fail "$library: C, static"
    echo "$library: $symbol"
done
