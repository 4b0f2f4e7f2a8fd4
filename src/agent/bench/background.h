#pragma once
// A program in the background, for benchmarks: its output goes to a file, and it ends with the
// object (SIGTERM, and SIGKILL after three seconds).
//
//   auto agent = Background::start({"/usr/bin/mangrove", "agent"}, "/tmp/agent.log");
//   (*agent)->pid()
//
// One owner.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace mangrove::agent {

class Background {
 public:
  // A name without a slash is looked for in PATH.
  static Result<std::unique_ptr<Background>> start(std::vector<std::string> words,
                                                   const std::string& logFile);
  ~Background();
  int pid() const { return pid_; }

 private:
  explicit Background(int pid) : pid_(pid) {}
  int pid_;
};

}  // namespace mangrove::agent
