# Checks of the tree itself, run by `make test` and `make check`.
get_property(header_checks GLOBAL PROPERTY MANGROVE_HEADER_CHECKS)
add_custom_target(headers_alone DEPENDS ${header_checks})

add_test(NAME check.headers COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target headers_alone)
add_test(NAME check.layers COMMAND ${CMAKE_SOURCE_DIR}/scripts/layers.py check)
add_test(NAME check.architecture COMMAND ${CMAKE_SOURCE_DIR}/scripts/layers.py draw --check)
add_test(NAME check.links COMMAND ${CMAKE_SOURCE_DIR}/scripts/check_links)
add_test(NAME check.figures COMMAND ${CMAKE_SOURCE_DIR}/scripts/check_figures)
add_test(NAME check.format COMMAND ${CMAKE_SOURCE_DIR}/scripts/check_format)
set_tests_properties(check.headers check.layers check.architecture check.links check.figures check.format PROPERTIES LABELS check)
set_tests_properties(check.format PROPERTIES SKIP_RETURN_CODE 77)
# Building is not done twice at once.
set_tests_properties(check.headers PROPERTIES RUN_SERIAL TRUE TIMEOUT 1800)
