# What other programs link: components, each a library of several layers.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(IWARP_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/iwarp)
set(IWARP_COMPONENTS "")
set(IWARP_SHARING_ASIO "")

# iwarp_component(NAME LAYERS layer... [HEADERS layer/header...] [DEPENDS component...] [SUMMARY text]
#                 [SHARES_ASIO])
# Makes libiwarp-NAME, static, shared or both (IWARP_LIBRARIES), out of the objects of the layers: nothing
# is compiled twice. Installed are the headers of the layer NAME and those of lower ones in HEADERS, the
# libraries, a file for pkg-config and one for find_package, whose target is iwarp::NAME. With SHARES_ASIO
# the library works on the program's own objects of Boost.Asio, so that both must be of the same version.
#
# In this build iwarp::NAME stands for the last of the layers, which makes a program whole; in another project
# that wants shared libraries it is the shared one, installed or not.
function(iwarp_component name)
  cmake_parse_arguments(arg "SHARES_ASIO" "SUMMARY" "LAYERS;HEADERS;DEPENDS" ${ARGN})
  set(forms ${IWARP_LIBRARIES})
  set(linked iwarp_${name}_layers)
  add_library(${linked} INTERFACE)
  list(GET arg_LAYERS -1 last)
  list(TRANSFORM arg_DEPENDS REPLACE "(.+)" "iwarp_\\1_layers" OUTPUT_VARIABLE lower)
  target_link_libraries(${linked} INTERFACE iwarp_${last} ${lower})
  if(IWARP_SANITIZE)
    set(forms "") # the sanitizers' libraries are linked into programs, not into shared libraries
  elseif(forms STREQUAL "shared" AND NOT PROJECT_IS_TOP_LEVEL)
    set(linked iwarp_${name}_shared)
  elseif(NOT IWARP_INSTALL)
    set(forms "")
  endif()
  if("static" IN_LIST forms)
    iwarp_static_library(${name} "${arg_LAYERS}" "${arg_DEPENDS}")
  endif()
  if("shared" IN_LIST forms)
    iwarp_shared_library(${name} "${arg_LAYERS}" "${arg_DEPENDS}" ${arg_SHARES_ASIO})
  endif()
  add_library(iwarp::${name} ALIAS ${linked})
  if(NOT IWARP_INSTALL OR NOT forms)
    return()
  endif()
  iwarp_install_headers(${name} "${arg_HEADERS}")
  iwarp_install_pkgconfig(${name} "${arg_DEPENDS}" "${arg_SUMMARY}")
  set(IWARP_COMPONENTS ${IWARP_COMPONENTS} ${name} PARENT_SCOPE)
  if(arg_SHARES_ASIO)
    set(IWARP_SHARING_ASIO ${IWARP_SHARING_ASIO} ${name} PARENT_SCOPE)
  endif()
endfunction()

# What both forms of a component have in common.
function(iwarp_library form name layers depends)
  set(target iwarp_${name}_${form})
  string(TOUPPER ${form} type)
  list(TRANSFORM layers REPLACE ".+" "$<TARGET_OBJECTS:iwarp_\\0>" OUTPUT_VARIABLE objects)
  add_library(${target} ${type} ${objects})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME iwarp-${name} EXPORT_NAME ${name} LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:$<TARGET_PROPERTY:iwarp_${name},INTERFACE_INCLUDE_DIRECTORIES>>)
  target_link_libraries(${target} INTERFACE Boost::headers Threads::Threads)
  foreach(component IN LISTS depends)
    target_link_libraries(${target} PUBLIC iwarp_${component}_${form})
  endforeach()
  if(NOT IWARP_INSTALL)
    return()
  endif()
  install(TARGETS ${target} EXPORT iwarp-${name}-${form}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries NAMELINK_COMPONENT development)
  install(EXPORT iwarp-${name}-${form} NAMESPACE iwarp:: FILE iwarp-${name}-${form}.cmake
    DESTINATION ${IWARP_CMAKE_DIR} COMPONENT development)
endfunction()

function(iwarp_static_library name layers depends)
  iwarp_library(static ${name} "${layers}" "${depends}")
  target_link_libraries(iwarp_${name}_static INTERFACE
    $<LINK_ONLY:spdlog::spdlog> $<LINK_ONLY:PkgConfig::IWARP_ISAL>)
endfunction()

# Hidden visibility decides what is exported. The version script only adds a version to the symbols, so
# that two ABIs can live in one process, and holds back what the standard library's and Boost's templates
# would export besides. Two kinds of Asio's objects program and library need to share: its error
# categories, which are compared by address, and the lists of what runs in a thread, by which code of the
# library knows that the program's thread runs the io_context.
function(iwarp_shared_library name layers depends shares_asio)
  set(target iwarp_${name}_shared)
  set(IWARP_COMPONENT ${name})
  string(TOUPPER ${name} IWARP_COMPONENT_UPPER)
  set(IWARP_MORE_EXPORTS "")
  if(shares_asio)
    string(CONCAT IWARP_MORE_EXPORTS
      "boost::asio::error::*; guard?variable?for?boost::asio::error::*; "
      "boost::asio::detail::call_stack*; guard?variable?for?boost::asio::detail::call_stack*; "
      "boost::asio::detail::keyword_tss_ptr*;")
  endif()
  set(script ${CMAKE_CURRENT_BINARY_DIR}/iwarp-${name}.map)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/exports.map.in ${script} @ONLY)
  iwarp_library(shared ${name} "${layers}" "${depends}")
  target_link_libraries(${target} PRIVATE spdlog::spdlog PkgConfig::IWARP_ISAL)
  # What threads keep (base/of_thread.hpp) goes by this code when they end, also when the plug-in that
  # brought the library in has been unloaded.
  target_link_options(${target} PRIVATE -Wl,--version-script=${script} -Wl,-z,defs -Wl,--as-needed
    -Wl,-z,nodelete)
  set_target_properties(${target} PROPERTIES
    VERSION ${IWARP_ABI}.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH} SOVERSION ${IWARP_ABI}
    LINK_DEPENDS ${script}
    INSTALL_RPATH $ORIGIN) # they find each other wherever they are installed
endfunction()

function(iwarp_install_headers name lower)
  get_target_property(source iwarp_${name} SOURCE_DIR)
  install(DIRECTORY ${source}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
    FILES_MATCHING PATTERN *.hpp)
  foreach(header IN LISTS lower)
    get_filename_component(layer ${header} DIRECTORY)
    get_target_property(source iwarp_${layer} SOURCE_DIR)
    install(FILES ${source}/include/iwarp/${header}.hpp
      DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/iwarp/${layer} COMPONENT development)
  endforeach()
endfunction()

# With a shared library its private dependencies are asked for by `pkg-config --static` alone.
function(iwarp_install_pkgconfig name depends summary)
  set(IWARP_COMPONENT ${name})
  set(IWARP_SUMMARY ${summary})
  list(TRANSFORM depends PREPEND iwarp-)
  set(IWARP_PC_REQUIRES ${depends})
  set(IWARP_PC_REQUIRES_PRIVATE "")
  if(NOT depends AND "shared" IN_LIST IWARP_LIBRARIES AND "static" IN_LIST IWARP_LIBRARIES)
    set(IWARP_PC_REQUIRES_PRIVATE spdlog libisal)
  elseif(NOT depends AND "static" IN_LIST IWARP_LIBRARIES)
    set(IWARP_PC_REQUIRES spdlog libisal)
  endif()
  list(JOIN IWARP_PC_REQUIRES " " IWARP_PC_REQUIRES)
  list(JOIN IWARP_PC_REQUIRES_PRIVATE " " IWARP_PC_REQUIRES_PRIVATE)
  set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH up ${pc_dir} ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" IWARP_PC_UP ${up})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/iwarp.pc.in ${CMAKE_CURRENT_BINARY_DIR}/iwarp-${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/iwarp-${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

# What find_package(iwarp) reads. To be called when all components are known.
function(iwarp_install_package)
  if(NOT IWARP_COMPONENTS)
    return()
  endif()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/iwarp-config.cmake.in
    ${CMAKE_CURRENT_BINARY_DIR}/iwarp-config.cmake INSTALL_DESTINATION ${IWARP_CMAKE_DIR})
  write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/iwarp-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/iwarp-config.cmake
                ${CMAKE_CURRENT_BINARY_DIR}/iwarp-config-version.cmake
    DESTINATION ${IWARP_CMAKE_DIR} COMPONENT development)
  # CPack's own installation goes into a folder that becomes a package, whose trigger calls ldconfig.
  if("shared" IN_LIST IWARP_LIBRARIES AND NOT IWARP_PACKAGES)
    install(CODE "set(IWARP_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")" COMPONENT libraries)
    install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/IwarpLoader.cmake COMPONENT libraries)
  endif()
endfunction()
