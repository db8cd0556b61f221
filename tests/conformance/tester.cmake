# Included by CMakeLists.txt beside it. The tester as a process against targets of all kinds; each
# class of the script is a ctest case.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(case StrangeTargets StrangeAgents BreakingAgents LimitedAgents WrongUsage Listing)
  add_test(NAME conformance.tester_test.${case}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tester_test.py --verbose ${case})
  set_tests_properties(conformance.tester_test.${case} PROPERTIES TIMEOUT 300 COST 1000
    ENVIRONMENT "IWARP=$<TARGET_FILE:iwarp>")
endforeach()

# The whole suite against our own stack, as it is, with revision 1, and with Markers.
foreach(mode "whole" "revision_1 --rev 1" "markers --markers")
  separate_arguments(mode)
  list(POP_FRONT mode name)
  add_test(NAME conformance.self.${name} COMMAND iwarp conform --self ${mode})
  set_tests_properties(conformance.self.${name} PROPERTIES TIMEOUT 600 COST 2000)
endforeach()

# The agent's protocol: its document and its table say the same.
foreach(case Document Table)
  add_test(NAME conformance.protocol_test.${case}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/protocol_test.py --verbose ${case})
endforeach()
