# Included by CMakeLists.txt beside it.
iwarp_test(perf_test
  SOURCES perf/histogram_test.cpp perf/messages_test.cpp perf/perf_test.cpp perf/process.cpp
  LINKS iwarp_cli_perf
  TIMEOUT 120)
target_compile_definitions(perf_test PRIVATE IWARP_PROGRAM="$<TARGET_FILE:iwarp>")
add_dependencies(perf_test iwarp)
