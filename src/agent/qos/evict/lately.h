#pragma once
// What evictors share: who was sent away lately, and how patient they are. Owner thread.

#include <map>
#include <string>
#include <string_view>

#include "base/number/units.h"
#include "stakes/tally.h"

namespace mangrove::agent {

// Who was asked to leave lately, and who may not, shared by all evictors of an agent. Whoever was
// asked counts as gone from that moment, not only once the API has marked it.
class EvictedLately {
 public:
  static constexpr Duration kRemember = std::chrono::minutes(2);
  void add(std::string uid, MonoTime at) { at_[std::move(uid)] = at; }
  // A budget of the cluster keeps it: it stays, and the next one is asked in its place.
  void refuse(std::string_view uid, MonoTime at);
  // Nobody answered: it may be asked again.
  void remove(std::string_view uid);
  bool has(std::string_view uid) const { return at_.find(uid) != at_.end(); }
  bool wasRefused(std::string_view uid) const { return refused_.find(uid) != refused_.end(); }
  void forget(MonoTime now);
  // How often each job was evicted from this node today.
  stakes::EvictionTally& tally() { return tally_; }
  const stakes::EvictionTally& tally() const { return tally_; }

 private:
  std::map<std::string, MonoTime, std::less<>> at_, refused_;
  stakes::EvictionTally tally_;
};

struct EvictorOptions {
  Duration coolDown{};
  bool coolAtStart = false;  // not within the cool-down after the agent's start either
  Duration interval = std::chrono::seconds(1);  // between two samples
};

}  // namespace mangrove::agent
