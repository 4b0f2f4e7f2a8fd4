#pragma once
// A wall-clock history that outlives processes and months: how much CPU and memory the node, its
// classes and its workloads used, minute by minute for 15 days, hour by hour for three months, day by
// day for two years, in at most 5 MB. It holds aggregates; it is neither the recording of a simulator
// nor anybody's accounts.
//
//   Almanac almanac(dir);
//   agent.onLook([&](const Look& look) { almanac.see(look); });       // owner thread
//   almanac.query({"node", from, to})                                 // any thread
//
// Of workloads the hundred largest of the hour have a name; the rest is one, "others". What cannot be
// written is said once and kept in memory until the hour ends.

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "agent/almanac/store.h"
#include "agent/look.h"
#include "base/clock.h"

namespace mangrove::agent {

// "ns/name" of what made the pod: a Deployment for the ReplicaSet's pods; the pod's own name if
// nobody did.
std::string workloadOf(const api::Pod& pod);
// "band/koord-prod", "band/none".
std::string bandSubject(api::PriorityBand band);
// The largest `most` by themselves, the others together. Pure.
using SubjectSums = std::map<std::string, AlmanacSample>;
SubjectSums withSmallestMerged(const SubjectSums& workloads, size_t most,
                               const std::map<std::string, double>& weights);

struct AlmanacQuery {
  // "node", "system", "class/LS", "band/koord-prod", "workload/ns/name", "others"
  std::string subject;
  int64_t from = 0, to = 0;  // minutes since 1970, the end not included
  int64_t step = 1;          // minutes of an answered cell, at least
};
struct AlmanacAnswer {
  int64_t start = 0, minutes = 1;
  Cell cell;
};

class Almanac {
 public:
  static constexpr size_t kWorkloads = 100;
  // Twelve samples say enough of a minute; naming a thousand pods every second would cost more.
  static constexpr Duration kBetween = std::chrono::seconds(5);

  explicit Almanac(std::string dir);

  void see(const Look& look);
  // Oldest first; each moment from the finest level that has it.
  std::vector<AlmanacAnswer> query(const AlmanacQuery& query) const;
  std::vector<std::string> subjects() const;
  size_t bytes() const;

 private:
  void gather(const Look& look);
  void endMinute();
  void endHour(int64_t hour);
  void coarsen(Level into, int64_t start);
  void warn(const Result<>& result);

  AlmanacStore store_;
  mutable std::mutex mutex_;
  int64_t minute_ = -1;
  WallTime seen_{};                                            // the last sample
  std::map<std::string, std::vector<AlmanacSample>> samples_;  // of this minute
  std::map<int64_t, MinuteCells> hour_;                        // minutes of the hour that goes on
  std::map<std::string, double> weights_;  // of workloads, this hour and the last
  std::string trouble_;                    // said already
};

}  // namespace mangrove::agent
