# Settings that hold for every target of the project, and for no other: the variables are those of
# this project's folders, and what stands in the cache begins with IWARP_. As a part of another
# project only the layers are built; that project says so if it wants more.
option(IWARP_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(IWARP_BUILD_CLI "Build the iwarp program" ${PROJECT_IS_TOP_LEVEL})
option(IWARP_BUILD_COMPAT "Build the libibverbs and librdmacm that iwarp run uses" ${PROJECT_IS_TOP_LEVEL})
find_path(IWARP_RDMA_HEADERS NAMES rdma/rdma_cma.h)
set(found OFF)
if(PROJECT_IS_TOP_LEVEL OR IWARP_RDMA_HEADERS)
  set(found ON)
endif()
option(IWARP_BUILD_RNIC "Build the provider for adapters; needs rdma-core's headers, not its libraries" ${found})
option(IWARP_INSTALL "Install what is built" ${PROJECT_IS_TOP_LEVEL})
option(IWARP_WARNINGS "Compile with the project's warnings" ${PROJECT_IS_TOP_LEVEL})
# A compiler that the project has not met may warn of more; its build shall not end for that.
option(IWARP_WERROR "Warnings are errors, as in each preset" OFF)
option(IWARP_BUILD_BENCH "Build the programs of bench/ with the tests" ${PROJECT_IS_TOP_LEVEL})
option(IWARP_BUILD_EXAMPLES "Build the programs of examples/" ${PROJECT_IS_TOP_LEVEL})
set(IWARP_SANITIZE "" CACHE STRING "Sanitizers: empty, 'address;undefined' or 'thread'")
option(IWARP_FUZZ "Make the targets of tests/fuzz libFuzzer programs; needs clang" OFF)

# Which forms of the libraries are installed. BUILD_SHARED_LIBS chooses one as usual.
set(IWARP_LIBRARIES "" CACHE STRING "The libraries to install: static, shared, or both")
if(NOT IWARP_LIBRARIES AND BUILD_SHARED_LIBS)
  set(IWARP_LIBRARIES shared)
elseif(NOT IWARP_LIBRARIES)
  set(IWARP_LIBRARIES static)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ${PROJECT_IS_TOP_LEVEL})
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL)
  find_program(IWARP_CCACHE ccache)
  if(IWARP_CCACHE)
    # What another clone has compiled is found too: paths below this one count relative to it.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${IWARP_CCACHE}")
  endif()
endif()

# Objects name their sources as the project does, wherever it is built: packages that are built
# elsewhere are the same, and the compiler's cache serves every clone.
add_compile_options("-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")

# What every target of the project is compiled with, but no target of another project that links it.
add_library(iwarp_build_flags INTERFACE)
if(IWARP_WARNINGS)
  target_compile_options(iwarp_build_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    -Woverloaded-virtual -Wcast-qual -Wold-style-cast -Wundef)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 takes "text" + std::string for a copy onto itself (its bug 105651), most of all with -O3.
    target_compile_options(iwarp_build_flags INTERFACE -Wno-restrict)
  endif()
endif()
if(IWARP_WERROR)
  target_compile_options(iwarp_build_flags INTERFACE -Werror)
elseif(NOT PROJECT_IS_TOP_LEVEL)
  # Another project's warnings are meant for its own files: here they shall not end the build.
  target_compile_options(iwarp_build_flags INTERFACE -Wno-error)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # clang 14 does not take the consteval functions of fmt 9 for constant expressions.
  add_compile_definitions(FMT_CONSTEVAL=)
  # Which lock guards what (iwarp/base/thread_safety.hpp), and in which order locks are taken.
  if(IWARP_WARNINGS)
    target_compile_options(iwarp_build_flags INTERFACE -Wthread-safety -Wthread-safety-beta)
  endif()
endif()
if("thread" IN_LIST IWARP_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Asio fences memory beside the locks that order everything here. ThreadSanitizer does not model
  # the fences, which GCC warns of.
  target_compile_options(iwarp_build_flags INTERFACE -Wno-tsan)
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
