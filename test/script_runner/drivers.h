#pragma once
// What the commands of a script talk to. The folder below test/scripts/ names the driver:
// test/scripts/queue/*.txt are spoken to a "queue" driver, a fresh one for each file. A driver
// lives in its own .cc file, is declared here and listed in drivers.cc.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::scripts {

class Driver {
 public:
  virtual ~Driver() = default;
  // Runs the commands of one step; what it returns is compared with the expectation. A command it
  // does not know, or that is malformed, is answered with a line "error: …" rather than ending the
  // run.
  virtual std::string run(const std::vector<std::string>& commands) = 0;
};

struct DriverInfo {
  std::string_view folder;
  std::unique_ptr<Driver> (*make)();
};

std::span<const DriverInfo> drivers();

// A command line cut into its first word, its "key=value" words and the rest, in order.
struct Command {
  std::string verb;
  std::vector<std::string> words;                            // without '='
  std::vector<std::pair<std::string, std::string>> options;  // key=value

  std::string option(std::string_view key, std::string_view fallback = {}) const;
};
Command parseCommand(std::string_view line);

std::unique_ptr<Driver> makeEnforceDriver();    // the node agent over a captured machine
std::unique_ptr<Driver> makeMangroveDriver();   // runs the mangrove binary
std::unique_ptr<Driver> makeSchedulerDriver();  // the scheduler's engine on a virtual clock
std::unique_ptr<Driver> makeQueueDriver();      // a client::WorkQueue on a virtual clock
std::unique_ptr<Driver> makeWorkloadsDriver();  // workload controllers on an embedded server

}  // namespace mangrove::scripts
