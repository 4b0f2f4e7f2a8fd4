#pragma once
// What a cycle decided, for whoever looks at it instead of doing it: moves with their reasons, and
// who was asked about and stays. Begun anew with every cycle. Owner's thread.

#include <map>
#include <string>
#include <vector>

#include "api/pod/pod.h"

namespace mangrove::descheduler {

struct PlannedMove {
  std::string pod;  // "namespace/name"
  std::string from;
  std::string to;  // "": nobody asked where it would go, or it would go nowhere
  std::string plugin;
  std::string reason;
  std::string basis;  // "proven", "unproven" or "unplaceable"
};

class Journal {
 public:
  static constexpr size_t kMostRefused = 1000;

  void begin() {
    moves_.clear();
    refused_.clear();
    needed_ = 0;
  }
  // Who moves after all does not stay, whatever somebody said before.
  void moved(PlannedMove move) {
    refused_.erase(move.pod);
    moves_.push_back(std::move(move));
  }
  void refused(const api::Pod& pod, std::string why) {
    if (refused_.size() < kMostRefused)
      refused_.insert_or_assign(api::keyOf(pod.meta).text(), std::move(why));
  }
  void needed(size_t moves) { needed_ += moves; }
  const std::vector<PlannedMove>& moves() const { return moves_; }
  const std::map<std::string, std::string>& refused() const { return refused_; }
  // How many moves minimal plans need at least: per hot node the fewest largest pods that cover what
  // is too much. 0: nobody planned so.
  size_t needed() const { return needed_; }

 private:
  std::vector<PlannedMove> moves_;
  std::map<std::string, std::string> refused_;  // by pod
  size_t needed_ = 0;
};

}  // namespace mangrove::descheduler
