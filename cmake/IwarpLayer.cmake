# iwarp_layer(NAME SOURCES ... DEPENDS layer...)
# A layer is a static library whose only include root is its own include/ folder, so that a header
# of a layer that is not listed in DEPENDS does not resolve.
function(iwarp_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  set(target iwarp_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(iwarp::${name} ALIAS ${target})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:iwarp_build_flags>)
  foreach(layer IN LISTS arg_DEPENDS)
    target_link_libraries(${target} PUBLIC iwarp::${layer})
  endforeach()
endfunction()
