#pragma once
// Shares of the last cache and of memory bandwidth through resctrl: groups LSR, LS and BE for
// classes, koordlet-<uid> for pods with an annotation of their own. Lines: classes.h. Where the
// Node says what its memory can give, best-effort bandwidth follows the measured traffic:
// bandwidth.h. With the gate ResctrlCollector every pod has a monitoring group in its class's:
// monitors.h.

#include <map>
#include <optional>

#include "agent/qos/resctrl/bandwidth.h"
#include "agent/qos/resctrl/classes.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

// On the Node: "apart" gives services the ways that best-effort work does not have.
inline constexpr std::string_view kCacheRangesAnnotation = "node.mangrove.io/cache-ranges";

class Resctrl final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
  // The steps taken so far.
  json::Value state() const override;
  void restore(const json::Value& state) override;

 private:
  struct Domain {
    int64_t percent = 100;
    BandwidthGovernor governor;
  };
  BandwidthCaps follow(const Situation& now, const CacheFacts& facts, int64_t granted,
                       std::string& note);
  std::optional<double> traffic(const Situation& now, std::string_view group, int domain);
  std::optional<double> trafficOfOthers(const Situation& now, int domain);

  std::map<int, Domain> domains_;  // by cache; of best-effort work
  TrafficMeter meter_;
};

class PodResctrl final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

}  // namespace mangrove::agent
