# Cold builds: most of the compiler's time goes into reading the same headers and instantiating the same templates again.
# Precompiled headers and batches of files (cmake/batches.py) save that. They do not go together with a compiler cache that is
# shared between checkouts, so AUTO means: on where there is no ccache, or where its cache is empty (a fresh machine), and off
# where a cache can answer. `make demo` and other builds of the program alone ask for it; tests are built without.
#
# Two of them, because a precompiled header serves only files with the same definitions: `lean` for the layers below json,
# `rich` for the others. Sources must not rely on them; every build with a warm cache checks that.
set(MANGROVE_PCH OFF CACHE STRING "Precompiled headers: ON, OFF or AUTO (on unless a compiler cache has something)")
set_property(CACHE MANGROVE_PCH PROPERTY STRINGS AUTO ON OFF)

set(MANGROVE_BATCH 16 CACHE STRING "Files compiled together, where precompiled headers are on (1: each by itself)")

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
if(MANGROVE_PCH_DECIDED)
  # With precompiled headers ccache would miss every time and only cost.
  if(NOT MANGROVE_OWN_LAUNCHER)
    unset(CMAKE_CXX_COMPILER_LAUNCHER)
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  message(STATUS "precompiled headers and batches of ${MANGROVE_BATCH} files: on (no compiler cache that could answer)")
  foreach(kind lean rich)
    file(WRITE ${CMAKE_BINARY_DIR}/pch/${kind}.cc.new "")
    configure_file(${CMAKE_BINARY_DIR}/pch/${kind}.cc.new ${CMAKE_BINARY_DIR}/pch/${kind}.cc COPYONLY)
    add_library(mangrove_pch_${kind} OBJECT ${CMAKE_BINARY_DIR}/pch/${kind}.cc)
    target_include_directories(mangrove_pch_${kind} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/cmake/pch)
    target_link_libraries(mangrove_pch_${kind} PRIVATE fmt::fmt spdlog::spdlog Threads::Threads)
    target_precompile_headers(mangrove_pch_${kind} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch/${kind}.h)
  endforeach()
  target_link_libraries(mangrove_pch_rich PRIVATE Boost::json simdjson::simdjson yaml-cpp)
endif()

# For a target whose files have the definitions of `kind` (lean or rich).
function(mangrove_precompiled TARGET KIND)
  if(MANGROVE_PCH_DECIDED)
    target_precompile_headers(${TARGET} REUSE_FROM mangrove_pch_${KIND})
    # A precompiled header that does not fit costs time, not the build. Out of one, and seen together, headers and files give the
    # compiler reason to complain about what is none (GCC 12 about bounds of strings, and about unnamed namespaces in
    # included files). Builds without them say what is true.
    target_compile_options(${TARGET} PRIVATE -Wno-error -Wno-subobject-linkage -Wno-array-bounds -Wno-stringop-overflow
                           -Wno-stringop-overread -Wno-restrict -Wno-maybe-uninitialized -Wno-shadow)
  endif()
endfunction()

# Replaces the files in the list LIST, those of target NAME, by batches of them; not for tests, which have too many names of
# their own. An edit may move files between batches, so every file is something that the configuration depends on.
function(mangrove_batched LIST NAME)
  if(NOT MANGROVE_PCH_DECIDED OR MANGROVE_BATCH LESS 2)
    return()
  endif()
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/batches.py
                          ${CMAKE_BINARY_DIR}/batches ${NAME} ${MANGROVE_BATCH} ${${LIST}}
                  OUTPUT_VARIABLE units COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${${LIST}} ${CMAKE_SOURCE_DIR}/cmake/batches.py)
  string(STRIP "${units}" units)
  string(REPLACE "\n" ";" units "${units}")
  set(${LIST} ${units} PARENT_SCOPE)
endfunction()
