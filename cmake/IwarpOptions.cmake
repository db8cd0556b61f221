# Settings that hold for every target of the project.
option(IWARP_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(IWARP_BUILD_CLI "Build the iwarp program" ON)
set(IWARP_SANITIZE "" CACHE STRING "Sanitizers: empty, 'address;undefined' or 'thread'")
option(IWARP_FUZZ "Make the targets of tests/fuzz libFuzzer programs; needs clang" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

# What every target of the project is compiled with, and nobody who links it.
add_library(iwarp_build_flags INTERFACE)
target_compile_options(iwarp_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-qual -Wold-style-cast -Wundef -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # clang 14 does not take the consteval functions of fmt 9 for constant expressions.
  add_compile_definitions(FMT_CONSTEVAL=)
endif()
if(IWARP_FUZZ)
  set(IWARP_SANITIZE fuzzer-no-link address undefined)
endif()
if(IWARP_SANITIZE)
  list(JOIN IWARP_SANITIZE "," sanitizers)
  add_compile_options(-fsanitize=${sanitizers} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizers})
  if("undefined" IN_LIST IWARP_SANITIZE)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
