#include "script_runner/drivers.h"

#include <array>

#include "base/text/strings.h"

namespace mangrove::scripts {

namespace {

constexpr std::array kDrivers = {
    DriverInfo{"enforce", &makeEnforceDriver},     DriverInfo{"mangrove", &makeMangroveDriver},
    DriverInfo{"queue", &makeQueueDriver},         DriverInfo{"scheduler", &makeSchedulerDriver},
    DriverInfo{"workloads", &makeWorkloadsDriver},
};

}  // namespace

std::span<const DriverInfo> drivers() {
  return kDrivers;
}

std::string Command::option(std::string_view key, std::string_view fallback) const {
  for (const auto& [name, value] : options) {
    if (name == key) return value;
  }
  return std::string(fallback);
}

Command parseCommand(std::string_view line) {
  Command command;
  for (auto word : splitTrimmed(line, ' ')) {
    if (command.verb.empty()) {
      command.verb = word;
    } else if (auto halves = cut(word, '='); halves.found) {
      command.options.emplace_back(halves.before, halves.after);
    } else {
      command.words.emplace_back(word);
    }
  }
  return command;
}

}  // namespace mangrove::scripts
