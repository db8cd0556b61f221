# iwarp_layer(NAME SOURCES ... DEPENDS layer...)
# A layer is a static library whose only include root is its own include/ folder, so that a header
# of a layer that is not listed in DEPENDS does not resolve. Its objects go into the libraries that
# are installed, static and shared, as well (IwarpComponent.cmake): hence the hidden visibility.
function(iwarp_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  set(target iwarp_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE iwarp_build_flags)
  foreach(layer IN LISTS arg_DEPENDS)
    if(NOT TARGET iwarp_${layer})
      message(FATAL_ERROR "${target} depends on ${layer}, which is no layer below it")
    endif()
    target_link_libraries(${target} PUBLIC iwarp_${layer})
  endforeach()
endfunction()
