// Runs the mangrove binary as a person would and shows what it prints. $MANGROVE names the binary.
// Standard error is shown after standard output, and an exit code other than 0 on a last line.
#include <cstdio>
#include <cstdlib>

#include <fmt/core.h>
#include <sys/wait.h>

#include "script_runner/drivers.h"

namespace mangrove::scripts {
namespace {

std::string shell(const std::string& line) {
  std::string out;
  FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
  if (!pipe) return "error: cannot start a shell\n";
  char buffer[4096];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  const int status = ::pclose(pipe);
  if (!out.empty() && out.back() != '\n') out += "\n";
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    out += fmt::format("exit code {}\n", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) out += fmt::format("ended by signal {}\n", WTERMSIG(status));
  return out;
}

class MangroveDriver final : public Driver {
 public:
  std::string run(const std::vector<std::string>& commands) override {
    const char* binary = std::getenv("MANGROVE");
    if (!binary) return "error: $MANGROVE does not name the binary\n";
    std::string out;
    for (const auto& command : commands) {
      if (!command.starts_with("mangrove ") && command != "mangrove")
        return "error: want 'mangrove …'\n";
      out += shell(binary + command.substr(std::string_view("mangrove").size()));
    }
    return out;
  }
};

}  // namespace

std::unique_ptr<Driver> makeMangroveDriver() {
  return std::make_unique<MangroveDriver>();
}

}  // namespace mangrove::scripts
