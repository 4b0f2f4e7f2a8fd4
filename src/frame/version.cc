#include "frame/version.h"

#include <fmt/core.h>

namespace mangrove::frame {

namespace {

#if defined(__x86_64__)
constexpr const char* kArch = "amd64";
#elif defined(__aarch64__)
constexpr const char* kArch = "arm64";
#else
constexpr const char* kArch = "unknown";
#endif

}  // namespace

const char* version() {
  return MANGROVE_VERSION;
}

std::string versionLine() {
  return fmt::format("mangrove {} (compiler {}, linux/{})", version(), __VERSION__, kArch);
}

std::string versionJson() {
  return fmt::format(R"({{"gitVersion":"v{}","compiler":"{}","platform":"linux/{}"}})", version(),
                     __VERSION__, kArch);
}

}  // namespace mangrove::frame
