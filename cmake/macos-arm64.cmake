# aarch64 macOS 11 and later, from any machine with zig: compiled and linked without a warning, not run.
# Relies on zig.cmake. zig brings the system's headers and stubs, so no Apple SDK is asked for.
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_VERSION 20)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_OSX_SYSROOT "" CACHE STRING "" FORCE)
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "" FORCE)
set(CMAKE_OSX_ARCHITECTURES "" CACHE STRING "" FORCE)
kvlang_zig(aarch64-macos)
# zig 0.11 refuses the flag (-Wl,-v) by which CMake asks a Darwin linker for the sizes, so they are stated here.
set(CMAKE_C_ABI_COMPILED TRUE)
set(CMAKE_C_SIZEOF_DATA_PTR 8)
set(CMAKE_C_BYTE_ORDER LITTLE_ENDIAN)
