# Cold builds: most of the compiler's time goes into reading the same headers and instantiating the same templates again.
# Precompiled headers and batches of files (cmake/batches.py) save that. They do not go together with a compiler cache that is
# shared between checkouts, so AUTO means: on where there is no ccache, or where its cache is empty (a fresh machine), and off
# where a cache can answer.
#
# A precompiled header serves only files with the same definitions, so there is one for the layers below json (`lean`), one for
# the others (`rich`), and one for the tests of each. Sources must not rely on them: `make test` parses changed files as they
# are, `make parse` all of them (scripts/parse).
set(MANGROVE_PCH AUTO CACHE STRING "Precompiled headers: ON, OFF or AUTO (on unless a compiler cache has something)")
set_property(CACHE MANGROVE_PCH PROPERTY STRINGS AUTO ON OFF)

set(MANGROVE_BATCH 16 CACHE STRING "Files compiled together, where precompiled headers are on (1: each by itself)")

# What GCC 12 says of right code once it sees it out of a precompiled header or beside other files; everything else stays an error.
set(MANGROVE_FALSE_POSITIVES
  -Wno-subobject-linkage    # unnamed namespaces of files that a batch includes
  -Wno-shadow               # a name that another file of the batch keeps to itself
  -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict  # bounds of short strings, GCC bugs 105329, 105651
  -Wno-maybe-uninitialized  # members of an empty tl::expected or std::optional
)

function(mangrove_cache_is_cold OUT)
  set(${OUT} TRUE PARENT_SCOPE)
  if(NOT CCACHE)
    return()
  endif()
  execute_process(COMMAND ${CCACHE} --print-stats OUTPUT_VARIABLE stats ERROR_QUIET)
  if(stats MATCHES "files_in_cache[ \t]+([0-9]+)" AND CMAKE_MATCH_1 GREATER 200)
    set(${OUT} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Decided once per build folder: a change would compile everything again.
if(NOT DEFINED MANGROVE_PCH_DECIDED)
  set(use ${MANGROVE_PCH})
  if(MANGROVE_PCH STREQUAL "AUTO")
    set(use OFF)
    mangrove_cache_is_cold(cold)
    if(cold AND NOT MANGROVE_OWN_LAUNCHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_CLANG_TIDY)
      set(use ON)
    endif()
  endif()
  set(MANGROVE_PCH_DECIDED ${use} CACHE INTERNAL "what AUTO came to")
endif()

# mangrove_pch(NAME HEADERS a.h b.h LINKS lib ...): a target whose precompiled header others take.
function(mangrove_pch NAME)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINKS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/pch/${NAME}.cc)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "")
  endif()
  add_library(mangrove_pch_${NAME} OBJECT ${source})
  target_include_directories(mangrove_pch_${NAME} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/cmake/pch)
  target_link_libraries(mangrove_pch_${NAME} PRIVATE ${ARG_LINKS})
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_SOURCE_DIR}/cmake/pch/)
  target_precompile_headers(mangrove_pch_${NAME} PRIVATE ${ARG_HEADERS})
endfunction()

if(MANGROVE_PCH_DECIDED)
  # With precompiled headers ccache would miss every time and only cost.
  if(NOT MANGROVE_OWN_LAUNCHER)
    unset(CMAKE_CXX_COMPILER_LAUNCHER)
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  message(STATUS "precompiled headers and batches of ${MANGROVE_BATCH} files: on (no compiler cache that could answer)")
  set(lean_links fmt::fmt spdlog::spdlog Threads::Threads)
  set(rich_links ${lean_links} Boost::json simdjson::simdjson yaml-cpp)
  foreach(kind lean rich)
    mangrove_pch(${kind} HEADERS ${kind}.h LINKS ${${kind}_links})
    mangrove_pch(${kind}_test HEADERS ${kind}.h test.h LINKS ${${kind}_links} GTest::gmock)
  endforeach()
endif()

# For a target whose files have the definitions of `kind` (lean, rich, lean_test or rich_test). A precompiled header that does
# not fit costs time, not the build.
function(mangrove_precompiled TARGET KIND)
  if(MANGROVE_PCH_DECIDED)
    target_precompile_headers(${TARGET} REUSE_FROM mangrove_pch_${KIND})
    target_compile_options(${TARGET} PRIVATE ${MANGROVE_FALSE_POSITIVES} -Wno-error=invalid-pch)
  endif()
endfunction()

# Replaces the files in the list LIST, those of target NAME, by batches of them. Who is with whom is decided when the build is
# configured, so that an edit compiles its batch and nothing else; should a new name meet another file's there, configuring
# again parts them (the Makefile does that by itself after an error).
function(mangrove_batched LIST NAME)
  if(NOT MANGROVE_PCH_DECIDED OR MANGROVE_BATCH LESS 2 OR NOT ${LIST})
    return()
  endif()
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/batches.py
                          ${CMAKE_BINARY_DIR}/batches ${NAME} ${MANGROVE_BATCH} ${${LIST}}
                  OUTPUT_VARIABLE units COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/batches.py)
  string(STRIP "${units}" units)
  string(REPLACE "\n" ";" units "${units}")
  set(${LIST} ${units} PARENT_SCOPE)
endfunction()
