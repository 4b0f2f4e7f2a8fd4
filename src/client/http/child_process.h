#pragma once
// Runs a program and collects what it prints, within limits of time and size. Blocks. Any thread.

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::client {

struct ChildSpec {
  std::string command = {};  // looked up in $PATH unless it contains a slash
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env;  // on top of ours
  Duration timeout = std::chrono::seconds(60);
  size_t maxOutput = 1 << 20;                    // stdout beyond this ends the program
  const std::atomic<bool>* cancelled = nullptr;  // set by another thread: end it within 100 ms
};

struct ChildOutput {
  int exitCode = 0;  // 128 + n when signal n ended it
  std::string out;
  std::string err;  // the first few kilobytes
};

// Errors: kNotFound when there is no such program, kTimeout, kTooLarge, kCancelled, kIo. A program
// that ends with another exit code than 0 is not an error here.
Result<ChildOutput> runChild(const ChildSpec& spec, Clock& clock);

}  // namespace mangrove::client
