# Included by CMakeLists.txt beside it. What the tester tells of a run: the decoder, the report, the
# summary on the terminal.
iwarp_test(conform_report_tests VECTORS
  SOURCES
    decode_fpdu_test.cpp
    decode_property_test.cpp
    decode_startup_test.cpp
    decode_terminate_test.cpp
    wire_vectors_test.cpp
  LINKS iwarp_conform_decode)
