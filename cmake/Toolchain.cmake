# Language level, warnings, sanitizers, and the fast tools when they are there.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
                    -fno-omit-frame-pointer)

set(MANGROVE_SANITIZE "" CACHE STRING "Sanitizers for everything we compile, e.g. address,undefined")

# What an attacker who found a hole would have to overcome, in every build: addresses fixed before main(), canaries and probes on the
# stack, checked copies (they need an optimizer, and sanitizers bring better ones), marked targets of jumps, checked containers.
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
add_compile_options(-fstack-protector-strong -fstack-clash-protection -fcf-protection=full -D_GLIBCXX_ASSERTIONS)
if(NOT MANGROVE_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT CMAKE_CXX_FLAGS_DEV MATCHES "-O0")
  # With it glibc also marks results that must not be ignored; our tests ignore some.
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -Wno-error=unused-result)
endif()

if(MANGROVE_SANITIZE)
  add_compile_options(-fsanitize=${MANGROVE_SANITIZE} -fno-sanitize-recover=all)
  # GCC's own manual warns that this warning has false positives under sanitizers; tl::expected is full of them.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${MANGROVE_SANITIZE})
endif()

find_program(CCACHE ccache)
set(MANGROVE_OWN_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")  # somebody brought one
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
