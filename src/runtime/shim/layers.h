#pragma once
// Private, writable layers over directories of the machine, for a root under construction.
// Single-threaded, in the mount namespace of the container.

#include <string>
#include <vector>

#include "base/result.h"

namespace mangrove::runtime {

class Layers {
 public:
  // `scratch` holds what is written; `users` as in stage.h, `owner` the machine's user for its root.
  Layers(std::string scratch, int users, int64_t owner, bool noDevices)
      : scratch_(std::move(scratch)), users_(users), owner_(owner), noDevices_(noDevices) {}

  // At `target` appears what is at `source`, less the `hidden` paths below it; changes stay here.
  // The two may be the same directory.
  Result<> cover(const std::string& source, const std::string& target,
                 const std::vector<std::string>& hidden);

 private:
  Result<> prepare(const std::string& source, const std::string& dir,
                   const std::vector<std::string>& hidden, bool onMemory);
  Result<> mountOver(const std::string& dir, const std::string& target);

  const std::string scratch_;
  const int users_;
  const int64_t owner_;
  const bool noDevices_;
  int count_ = 0;
};

}  // namespace mangrove::runtime
