#pragma once
// What is ordinary for a workload at each level of load: histograms of its signals, and the fences
// that follow from them. A node learns one, the manager adds those of all nodes, and nodes read the
// sum; so a book is a value that can be written, read, added and aged.
//
//   FenceBook book;
//   book.learn("Xeon 8358|shop/web|v7|4.0", 4, 310, {{"cpi", 1.9}}, now);
//   Fence f = book.fence(key, 4, 310, "cpi");
//   if (f.state == Fence::State::kLearned && cpi > f.value) …
//
// A cold book says so instead of guessing. One owner.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "json/fwd.h"
#include "stats/mixture.h"

namespace mangrove::api {

// Levels of load for a workload with n CPUs, in percent of one CPU: half a CPU each, from 50 n to
// 100 (n + 1); the last one is open. Below the first nothing is judged.
struct LoadBin {
  double low = 0, high = 0;
  bool operator==(const LoadBin&) const = default;
};
std::vector<LoadBin> loadBins(double cpus);
std::optional<size_t> loadBinOf(double cpus, double util);

// "CPU model|namespace/application|version|CPUs", CPUs in halves.
std::string workloadKey(std::string_view cpuModel, std::string_view application,
                        std::string_view version, double cpus);

struct Fence {
  enum class State {
    kCold,         // too little is known: nothing is judged
    kProvisional,  // 20 samples
    kLearned,      // 60 samples
  } state = State::kCold;
  double value = 0;
  double samples = 0;
};
std::string_view fenceStateName(Fence::State state);

using Signals = std::vector<std::pair<std::string_view, double>>;

class FenceBook {
 public:
  static constexpr double kProvisional = 20, kEnough = 60;
  static constexpr size_t kMostWorkloads = 512;
  static constexpr Duration kHalfLife = std::chrono::hours(24);
  static constexpr Duration kRebuild = std::chrono::hours(1);

  // Values that are not positive are no measurement of these signals.
  void learn(const std::string& key, double cpus, double util, const Signals& signals,
             WallTime now);
  // The fence of a signal at that load. Memory bandwidth ("bandwidth") and the clock's frequency at
  // full load ("frequency") have lower ones.
  Fence fence(const std::string& key, double cpus, double util, std::string_view signal) const;
  // The median of a signal over all levels of load; nullopt: too little is known.
  std::optional<double> median(const std::string& key, std::string_view signal) const;
  // What another book saw too.
  void add(const FenceBook& other);
  // Samples lose half of their weight in a day.
  void age(WallTime now);

  size_t workloads() const { return workloads_.size(); }
  std::vector<std::string> keys() const;
  // What is known of one workload, as a book of its own; empty when nothing is.
  FenceBook only(std::string_view key) const;
  // Workloads that nobody saw since then are forgotten.
  void dropBefore(WallTime then);
  json::Value state() const;
  static Result<FenceBook> restore(const json::Value& state);

 private:
  // Buckets one percent wide, by number.
  struct Histogram {
    std::map<int, double> weights;
    double total = 0;
    mutable std::optional<Fence> built;
    mutable double builtAt = 0;  // total when it was built
  };
  using ByBin = std::map<std::pair<size_t, std::string>, Histogram>;
  struct Workload {
    ByBin bins;
    WallTime seen{};
  };
  static Fence build(const Histogram& histogram, std::string_view signal);
  void dropOldest();

  std::map<std::string, Workload, std::less<>> workloads_;
  WallTime aged_{};
};

}  // namespace mangrove::api
