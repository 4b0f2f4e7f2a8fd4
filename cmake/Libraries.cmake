# Every third-party library we link, found once. All are Debian 12 packages (scripts/setup).
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(simdjson REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(GTest REQUIRED)
find_package(nlohmann_json REQUIRED)  # test oracle only, never linked into the product

add_library(zstd INTERFACE)
target_link_libraries(zstd INTERFACE libzstd.so)
add_library(seccomp INTERFACE)  # filters of system calls for pods
target_link_libraries(seccomp INTERFACE libseccomp.so)
add_library(re2 INTERFACE)  # patterns of custom schemas, in linear time
target_link_libraries(re2 INTERFACE libre2.so)
