#pragma once
// What the episodes need to know of this tick, from the look, the picture and the board: how long each
// service stalled, what its counters and its own latency say, what offline pods use and who else
// limits them. Services: senses.cc, counters: senses_counters.cc, offline pods:
// senses_neighbours.cc. One owner.

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "agent/interference/cpi2.h"
#include "agent/interference/episodes.h"
#include "agent/interference/signals.h"
#include "agent/qos/interference/board.h"
#include "agent/qos/strategy.h"
#include "api/interference/fence_book.h"
#include "api/interference/latency_promise.h"
#include "kernel/traffic_stat.h"

namespace mangrove::agent {

// A pod that may suffer, and one that may be held for it.
bool isWatchedService(const PodLook& pod);
bool isOffline(const PodLook& pod);
// The same, less those that opted out.
bool mayBeHeld(const PodLook& pod);
// CPUs of this pod's own, and all threads of their cores.
CpuSet coresOf(const Situation& now, const PodLook& pod);

class Senses {
 public:
  static constexpr Duration kEvery = std::chrono::seconds(10);
  static constexpr Duration kEveryWatched = std::chrono::seconds(5);  // with an episode: a step's

  interference::Scene look(const Situation& now, const interference::Episodes& episodes,
                           const InterferenceBoard& board);
  // What we wanted at the last tick, quotas by cgroup: a change that is not ours is foreign.
  void wanted(std::map<std::string, int64_t> quotas) {
    before_ = std::exchange(wanted_, std::move(quotas));
  }
  api::FenceBook& book() { return book_; }
  const api::FenceBook& book() const { return book_; }
  // Of services here.
  const std::set<std::string, std::less<>>& workloads() const { return workloads_; }

 private:
  static constexpr size_t kMostFits = 500;
  struct Totals {
    MonoTime at = MonoTime::min();
    Duration cpu{}, memory{}, io{}, throttled{};
    std::optional<kernel::TcpSegments> segments = {};
  };
  struct Known {
    Totals tick, period;
    kernel::PerfCounts counts;
    interference::OwnSpec spec;
    interference::OutlierWindow outliers;
    std::deque<interference::OfflineSample> past;  // of CPI, for what offline work adds to it
    interference::OfflineFit fit;
    PodPtr said;  // whose annotation `promise` is
    std::optional<api::LatencyPromise> promise;
    std::deque<double> means;  // of its answers while nothing was wrong
    double meanLately = 0;
  };
  struct Moved {
    MonoTime at = MonoTime::min();
    std::optional<uint64_t> io = {}, bandwidth = {};
    std::optional<double> ioRate = {}, bandwidthRate = {};
  };
  interference::Service serviceOf(const Situation& now, const PodLook& pod, bool due, bool watched);
  void addStalls(const Situation& now, const PodLook& pod, bool due, Known& known,
                 interference::Service& out);
  void addLatency(const Situation& now, const PodLook& pod, bool watched, Known& known,
                  interference::Service& out) const;
  std::optional<kernel::TcpSegments> segmentsOf(const Situation& now, const PodLook& pod) const;
  void addCounters(const Situation& now, const PodLook& pod, Known& known,
                   interference::Service& out);
  void judgeCounters(const Situation& now, const PodLook& pod,
                     const interference::CounterSample& sample, Known& known,
                     interference::Counted& out);
  api::Fence fenceOf(const std::string& key, double cpus, double util,
                     std::string_view signal) const;
  void learn(const Situation& now, const PodLook& pod, const interference::Service& seen);
  interference::Neighbour neighbourOf(const Situation& now, const PodLook& pod, bool groupMoved);
  void addTraffic(const Situation& now, const PodLook& pod, interference::Neighbour& out);
  bool movedByOthers(const Situation& now, const std::string& cgroup);

  MonoTime next_ = MonoTime::min();
  std::map<std::string, Known> known_;
  std::map<std::string, Moved> traffic_;  // of offline pods
  std::map<std::string, int64_t> wanted_, before_, quotas_;
  std::set<std::string, std::less<>> workloads_;
  const InterferenceBoard* board_ = nullptr;  // of this tick
  double offlineCores_ = 0;
  std::optional<interference::CounterSample> counted_;  // of the service at hand
  api::FenceBook book_;
};

}  // namespace mangrove::agent
