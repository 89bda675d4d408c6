# aarch64 Linux with musl, programs linked statically: they run under qemu-user without a system root.
# Relies on zig.cmake. Shared libraries are linked too (against musl), to see that they do, but not run.
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
kvlang_zig(aarch64-linux-musl)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -no-pie")
find_program(QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${QEMU_AARCH64})
endif()
