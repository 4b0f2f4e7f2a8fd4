#pragma once
// What the episodes need to know of this tick, from the look and the picture: how long each service
// stalled, what its counters say, what offline pods use and who else limits them. One owner.

#include <map>
#include <string>

#include "agent/interference/cpi2.h"
#include "agent/interference/episodes.h"
#include "agent/qos/strategy.h"
#include "api/interference/fence_book.h"

namespace mangrove::agent {

// A pod that may suffer, and one that may be held for it.
bool isWatchedService(const PodLook& pod);
bool isOffline(const PodLook& pod);

class Senses {
 public:
  static constexpr Duration kEvery = std::chrono::seconds(10);

  interference::Scene look(const Situation& now, const interference::Episodes& episodes);
  // What we wanted at the last tick, quotas by cgroup: a change that is not ours is foreign.
  void wanted(std::map<std::string, int64_t> quotas) {
    before_ = std::exchange(wanted_, std::move(quotas));
  }
  api::FenceBook& book() { return book_; }
  const api::FenceBook& book() const { return book_; }

 private:
  struct Totals {
    MonoTime at = MonoTime::min();
    Duration cpu{}, memory{}, io{}, throttled{};
  };
  struct Known {
    Totals tick, period;
    kernel::PerfCounts counts;
    interference::OwnSpec spec;
    interference::OutlierWindow outliers;
  };
  interference::Service serviceOf(const Situation& now, const PodLook& pod, bool due, bool watched);
  void addStalls(const Situation& now, const PodLook& pod, bool due, Known& known,
                 interference::Service& out);
  void addCounters(const Situation& now, const PodLook& pod, Known& known,
                   interference::Service& out);
  void learn(const Situation& now, const PodLook& pod, const interference::Service& seen);
  interference::Neighbour neighbourOf(const Situation& now, const PodLook& pod, bool groupMoved);
  bool movedByOthers(const Situation& now, const std::string& cgroup);

  MonoTime next_ = MonoTime::min();
  std::map<std::string, Known> known_;
  std::map<std::string, int64_t> wanted_, before_, quotas_;
  api::FenceBook book_;
};

}  // namespace mangrove::agent
