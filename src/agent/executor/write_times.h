#pragma once
// How long writes to control files take, for whoever shows it. One observer a process, set by the
// role that serves metrics; executors of tests have none.
//
//   observeWrites([&](const WriteDone& done) { series.wrote(done); });
//   observeWrites({});                                     // before what it refers to goes
//
// Owner thread, the one that writes.

#include <functional>
#include <string_view>

#include "agent/executor/executor.h"

namespace mangrove::agent {

struct WriteDone {
  const FileKey& key;
  std::string_view owner;
  bool ok = false;
  Duration took{};
};

void observeWrites(std::function<void(const WriteDone&)> observer);

}  // namespace mangrove::agent
