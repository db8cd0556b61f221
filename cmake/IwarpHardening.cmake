# What makes a mistake in the handling of a stranger's octets less useful to the stranger. It holds for this
# project's targets alone: a project that adds it as a subproject, or links the installed libraries, compiles and links
# as before. Sanitizers find more than this, and some of it hinders them.
option(IWARP_HARDENING "Compile and link with the hardening of the compiler and the linker" ON)
if(NOT IWARP_HARDENING OR IWARP_SANITIZE)
  return()
endif()
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)

add_compile_options(-fstack-protector-strong)

# glibc warns of _FORTIFY_SOURCE where the compiler does not optimise, and whether it does may stand in
# CMAKE_CXX_FLAGS or in the flags of the build type. Debian's own flags bring their choice.
if(CMAKE_CONFIGURATION_TYPES)
  set(IWARP_OPTIMISES "$<CONFIG:Release,RelWithDebInfo,MinSizeRel>")
else()
  block()
    unset(IWARP_OPTIMISES CACHE) # the flags may have changed
    set(CMAKE_TRY_COMPILE_CONFIGURATION ${CMAKE_BUILD_TYPE})
    check_cxx_source_compiles("#ifndef __OPTIMIZE__\n#error It does not.\n#endif\nint main() {}" IWARP_OPTIMISES)
  endblock()
endif()
if(IWARP_OPTIMISES AND NOT CMAKE_CXX_FLAGS MATCHES "_FORTIFY_SOURCE")
  add_compile_options("$<$<BOOL:${IWARP_OPTIMISES}>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()

# Nothing here resolves symbols late on purpose, not even what is preloaded: `iwarp run` says at the start
# what is missing instead of at the first call.
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)

# Objects are position-independent already (IwarpOptions.cmake); this has CMake link the programs with -pie,
# which it decides for all projects of the build.
if(PROJECT_IS_TOP_LEVEL)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES CXX)
endif()

# Landing pads and shadow stacks of x86. The linker marks a file as fit for them if all of its objects are
# marked. Debian's crt1.o and crti.o are not, although they are fit, and would take the mark from every file:
# so the linker is told. That all objects of ours have the mark is what tests/hardening looks at.
check_cxx_compiler_flag(-fcf-protection=full IWARP_HAS_CF_PROTECTION)
if(IWARP_HAS_CF_PROTECTION)
  add_compile_options(-fcf-protection=full)
  check_linker_flag(CXX "-Wl,-z,ibt,-z,shstk" IWARP_LINKER_MARKS_CET)
  if(IWARP_LINKER_MARKS_CET)
    add_link_options(-Wl,-z,ibt -Wl,-z,shstk)
  endif()
endif()
