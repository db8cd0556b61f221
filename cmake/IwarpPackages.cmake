# The Debian packages that scripts/package makes by CPack: libiwarpN, libiwarp-dev, iwarp-tools and libiwarp-doc, one
# for each of the components `libraries`, `development`, `tools` and `documentation` of the install rules.
option(IWARP_PACKAGES "Prepare the Debian packages; needs the prefix /usr, doxygen and Python" OFF)
if(NOT IWARP_PACKAGES)
  return()
endif()

set(libraries_package libiwarp${IWARP_ABI})
set(development_package libiwarp-dev)
set(tools_package iwarp-tools)
set(documentation_package libiwarp-doc)
set(components libraries development tools documentation)

# What Debian's policy wants in each package.
foreach(component IN LISTS components)
  set(package ${${component}_package})
  set(debian ${PROJECT_SOURCE_DIR}/packaging/debian)
  set(changelog ${CMAKE_CURRENT_BINARY_DIR}/packaging/changelog.Debian.gz)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/packaging)
  execute_process(COMMAND gzip -9nc ${debian}/changelog OUTPUT_FILE ${changelog} COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${debian}/copyright ${changelog}
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package} COMPONENT ${component})
  if(EXISTS ${debian}/${package}.lintian-overrides)
    install(FILES ${debian}/${package}.lintian-overrides RENAME ${package}
      DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides COMPONENT ${component})
  endif()
  string(TOUPPER ${component} COMPONENT)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${package})
endforeach()

# The documents, in the folders that they have in the project, with all that they link to; the examples; the reference.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(doc_directory ${CMAKE_INSTALL_DATAROOTDIR}/doc/${documentation_package})
file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md ${PROJECT_SOURCE_DIR}/docs/*.md)
execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check-docs --reach ${documents}
  ${PROJECT_SOURCE_DIR}/examples OUTPUT_VARIABLE documents OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" documents "${documents}")
foreach(document IN LISTS documents)
  get_filename_component(directory ${document} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${document} DESTINATION ${doc_directory}/${directory} COMPONENT documentation)
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/reference/html/ DESTINATION ${doc_directory}/reference COMPONENT documentation)

# The changelog says which version it is.
file(STRINGS ${debian}/changelog first_line LIMIT_COUNT 1)
string(REGEX MATCH "\\((.*)-(.*)\\)" ignored "${first_line}")
if(NOT CMAKE_MATCH_1 STREQUAL PROJECT_VERSION)
  message(FATAL_ERROR "packaging/debian/changelog is of ${CMAKE_MATCH_1}, the project of ${PROJECT_VERSION}")
endif()
set(CPACK_DEBIAN_PACKAGE_RELEASE ${CMAKE_MATCH_2})
file(STRINGS ${debian}/changelog last_line REGEX "^ -- ")
string(REGEX REPLACE "^ -- (.*>).*" "\\1" CPACK_PACKAGE_CONTACT "${last_line}")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME iwarp)
set(CPACK_PACKAGE_VENDOR iwarp)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

# The first line of a description is its title.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(about "iWARP is RDMA over TCP (RFC 5040, 5041, 5044). This stack runs in an ordinary
process: without RDMA hardware, kernel module or root. Its peers may be the
Linux kernel's siw, an iWARP adapter, or another such process.
")

# CPack's own shlibs would name the libraries of iwarp-tools as well, which belong to it alone.
set(shlibs "")
foreach(component IN LISTS IWARP_COMPONENTS)
  string(APPEND shlibs "libiwarp-${component} ${IWARP_ABI} ${libraries_package} (>= ${PROJECT_VERSION})\n")
endforeach()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/packaging/shlibs "${shlibs}")

set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_CONTROL_EXTRA
  ${debian}/triggers ${CMAKE_CURRENT_BINARY_DIR}/packaging/shlibs)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/IwarpRepack.cmake)
set(CPACK_COMPONENT_LIBRARIES_DESCRIPTION "user-space iWARP stack (shared libraries)
${about}
This package holds the libraries that programs are linked with.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# The headers need Boost's; the static libraries spdlog and ISA-L besides.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${libraries_package} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), libboost-dev (>= 1.74), libspdlog-dev, libisal-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "user-space iWARP stack (development files)
${about}
This package holds headers, static libraries, and the files for CMake and
pkg-config.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION net)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "ibverbs-utils, rdmacm-utils, perftest")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "user-space iWARP stack (iwarp program)
${about}
The program iwarp moves files by RDMA, measures, tests other stacks, and runs
programs made for libibverbs and librdmacm over this one.")

set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENT_DOCUMENTATION_DESCRIPTION "user-space iWARP stack (documentation)
${about}
This package holds guides, examples, and the reference of the C++ interface.")

include(CPack)
