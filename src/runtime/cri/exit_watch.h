#pragma once
// Tells when a process that is not our child has ended, at once and without asking.
//
//   ExitWatch watch(loop, pid, [] { … on the loop's thread … });
//
// Made and destroyed on any thread; `ended` runs at most once, and not after the destructor has
// been passed by the loop. A process that is gone already has ended.

#include <cstdint>
#include <memory>

#include "base/fn.h"
#include "base/os/fd.h"
#include "runtime/node/network/fd_loop.h"

namespace mangrove::runtime::cri {

class ExitWatch {
 public:
  ExitWatch(FdLoop& loop, int64_t pid, Fn ended);
  ~ExitWatch();
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;

 private:
  struct Shared {
    UniqueFd process;
    Fn ended;
  };
  FdLoop& loop_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace mangrove::runtime::cri
