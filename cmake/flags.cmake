# Language, warnings and sanitizers, the same for every target of ours.
# KVLANG_SANITIZE: "" | "address,undefined" | "thread"; KVLANG_FUZZ=ON adds libFuzzer's instrumentation (clang).
# Promises: a warning in our code stops the build; release keeps -g so that a profile and a core file can be read.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
# NDEBUG is not in here: rooms get it from kvlang_room, tests keep their assertions in every build.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g")

set(KVLANG_SANITIZE "" CACHE STRING "sanitizers, as -fsanitize= takes them")
option(KVLANG_FUZZ "instrument for libFuzzer and build its targets (clang only)" OFF)

if(KVLANG_SANITIZE)
  set(CMAKE_C_FLAGS_DEBUG "-O1 -g") # sanitized code at -O0 is several times slower
else()
  set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")
endif()

add_library(kvlang_flags INTERFACE)
target_compile_options(kvlang_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  $<$<COMPILE_LANGUAGE:C>:-Wconversion> -Werror)
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  # Without it a public function is never inlined into its neighbours in position-independent ELF code.
  target_compile_options(kvlang_flags INTERFACE -fno-semantic-interposition)
  add_link_options(-Wl,--as-needed) # a program depends on the optional libraries that it uses, not on all of them
endif()
target_include_directories(kvlang_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(kvlang_flags INTERFACE KVLANG_VERSION="${PROJECT_VERSION}")
if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  target_compile_definitions(kvlang_flags INTERFACE _DARWIN_C_SOURCE)
else()
  target_compile_definitions(kvlang_flags INTERFACE _GNU_SOURCE)
endif()

if(KVLANG_SANITIZE)
  add_compile_options(-fsanitize=${KVLANG_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KVLANG_SANITIZE})
  if(KVLANG_SANITIZE MATCHES thread AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan) # gcc's sanitizer does not model atomic_thread_fence and says so at each
  endif()
endif()
if(KVLANG_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
