#pragma once
// What evictors share: who was sent away lately, and how patient they are. Owner thread.

#include <map>
#include <string>
#include <string_view>

#include "base/number/units.h"

namespace mangrove::agent {

// Who was sent away lately, shared by all evictors of an agent.
class EvictedLately {
 public:
  static constexpr Duration kRemember = std::chrono::minutes(2);
  void add(std::string uid, MonoTime at) { at_[std::move(uid)] = at; }
  // It was refused and stays.
  void remove(std::string_view uid);
  bool has(std::string_view uid) const { return at_.find(uid) != at_.end(); }
  void forget(MonoTime now);

 private:
  std::map<std::string, MonoTime, std::less<>> at_;
};

struct EvictorOptions {
  Duration coolDown{};
  bool coolAtStart = false;  // not within the cool-down after the agent's start either
  Duration interval = std::chrono::seconds(1);  // between two samples
};

}  // namespace mangrove::agent
