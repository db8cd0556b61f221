# iwarp_layer(NAME SOURCES ... [DEPENDS layer...] [USES layer...])
# A layer is a static library whose only include root is its own include/ folder, if it has one. Its
# public headers include those of DEPENDS, so that a target that links the layer sees these too; USES is its
# own affair. So a header of a layer that is not listed does not resolve (tests/layers). Its objects go
# into the libraries that are installed, static and shared, as well (IwarpComponent.cmake): hence the
# hidden visibility.
function(iwarp_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;USES" ${ARGN})
  set(target iwarp_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include)
    target_include_directories(${target} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
  endif()
  target_link_libraries(${target} PRIVATE iwarp_build_flags)
  foreach(layer IN LISTS arg_DEPENDS arg_USES)
    if(NOT TARGET iwarp_${layer})
      message(FATAL_ERROR "${target} depends on ${layer}, which is no layer below it")
    endif()
  endforeach()
  list(TRANSFORM arg_DEPENDS PREPEND iwarp_)
  list(TRANSFORM arg_USES PREPEND iwarp_)
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_USES})
endfunction()

# iwarp_optimise_less(target...): code that runs once, or waits for a peer most of its time. A fifth less to compile.
function(iwarp_optimise_less)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE "$<$<BOOL:${IWARP_OPTIMISES}>:-O1>")
  endforeach()
endfunction()
