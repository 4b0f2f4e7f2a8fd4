// What a container runtime calls to join pods to our network (runtime/cni/plugin.h). Not for people,
// so the help does not show it.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>

#include "cli/command.h"
#include "runtime/cni/plugin.h"

namespace mangrove::cli {

int cni(const std::vector<std::string>&) {
  const std::string configuration{std::istreambuf_iterator<char>(std::cin), {}};
  std::string answer;
  const int code = runtime::runCni(
      [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value ? value : "");
      },
      configuration, answer);
  std::fputs(answer.c_str(), stdout);
  return code;
}

}  // namespace mangrove::cli
