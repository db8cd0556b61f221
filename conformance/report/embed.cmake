# cmake -DOUT=FILE -DFOLDER=DIR -DSCRIPTS=a.js,b.js -P embed.cmake
# Makes a header of the files of the page. The scripts become one, in that order.
file(READ ${FOLDER}/page.html html)
file(READ ${FOLDER}/style.css style)
set(script "")
string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
foreach(name IN LISTS SCRIPTS)
  file(READ ${FOLDER}/${name} part)
  string(APPEND script "${part}")
endforeach()
foreach(content IN ITEMS html style script)
  if("${${content}}" MATCHES "\\)page\"")
    message(FATAL_ERROR "the page must not contain what ends a raw string: )page\"")
  endif()
endforeach()
file(WRITE ${OUT} "// Made by CMake from conformance/report/page.
#pragma once

#include <string_view>

namespace iwarp::conform {

inline constexpr std::string_view kPageHtml = R\"page(${html})page\";
inline constexpr std::string_view kPageStyle = R\"page(${style})page\";
inline constexpr std::string_view kPageScript = R\"page(${script})page\";

}  // namespace iwarp::conform
")
