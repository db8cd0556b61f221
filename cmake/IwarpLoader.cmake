# Run at the end of an installation of the shared libraries: a program finds them at its start only once the loader's
# cache has them, which ldconfig writes, as root. IWARP_LIBDIR is where they are below the prefix; IWARP_LDCONFIG names
# another ldconfig.
cmake_policy(VERSION 3.25)
if(NOT "$ENV{DESTDIR}" STREQUAL "")
  return() # they are to be used elsewhere
endif()
get_filename_component(directory "${IWARP_LIBDIR}" ABSOLUTE BASE_DIR "${CMAKE_INSTALL_PREFIX}")
find_program(IWARP_LDCONFIG ldconfig PATHS /sbin /usr/sbin)
if(NOT IWARP_LDCONFIG)
  return()
endif()

# The folders that the cache is made of; nothing is written.
execute_process(COMMAND ${IWARP_LDCONFIG} -v -N -X OUTPUT_VARIABLE searched ERROR_QUIET)
string(REGEX MATCHALL "(^|\n)/[^:\n]*:" searched "${searched}")
list(TRANSFORM searched REPLACE "^\n|:$" "")
# By their real paths: /usr/lib may be told as /lib.
file(REAL_PATH "${directory}" real)
set(is_searched OFF)
foreach(one IN LISTS searched)
  file(REAL_PATH "${one}" one)
  if(one STREQUAL real)
    set(is_searched ON)
  endif()
endforeach()
if(NOT is_searched)
  message(STATUS "The loader does not search ${directory}: programs find the libraries by a run path, as CMake gives "
    "them, or by LD_LIBRARY_PATH=${directory}")
  return()
endif()
execute_process(COMMAND ${IWARP_LDCONFIG} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
if(failed)
  message(STATUS "Programs find the libraries in ${directory} once root has run: ${IWARP_LDCONFIG}")
else()
  message(STATUS "The loader knows the libraries in ${directory}: ${IWARP_LDCONFIG} has run")
endif()
