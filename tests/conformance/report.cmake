# Included by CMakeLists.txt beside it. What the tester tells of a run: the decoder, the report, the
# summary on the terminal.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(nlohmann_json REQUIRED)

add_library(conform_fake_run STATIC fake_run.cpp)
target_include_directories(conform_fake_run PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(conform_fake_run PUBLIC iwarp_conform_report PRIVATE iwarp_build_flags)

# Writes the report of a run that never was, to look at the page.
add_executable(fake-report fake_report.cpp)
target_link_libraries(fake-report PRIVATE conform_fake_run iwarp_build_flags)

iwarp_test(conform_report_tests VECTORS
  SOURCES
    decode_fpdu_test.cpp
    decode_property_test.cpp
    decode_startup_test.cpp
    decode_terminate_test.cpp
    report_files_test.cpp
    reported_events_test.cpp
    report_text_test.cpp
    terminal_test.cpp
    wire_vectors_test.cpp
  LINKS conform_fake_run nlohmann_json::nlohmann_json)

# What tshark and a browser see does not depend on sanitizers: one preset looks.
set(report_cases JUnit Json Page LargePage)
if(NOT IWARP_SANITIZE)
  list(APPEND report_cases Captures Browser)
endif()
foreach(case IN LISTS report_cases)
  add_test(NAME conformance.report_test.${case}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/report_test.py --verbose ${case})
  set_tests_properties(conformance.report_test.${case} PROPERTIES TIMEOUT 300
    ENVIRONMENT "FAKE_REPORT=$<TARGET_FILE:fake-report>")
endforeach()
