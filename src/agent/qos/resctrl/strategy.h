#pragma once
// Shares of the last cache and of memory bandwidth through resctrl: groups LSR, LS and BE for
// classes, koordlet-<uid> for pods with an annotation of their own. Lines: classes.h. Where the
// Node says what its memory can give, best-effort bandwidth follows the measured traffic:
// bandwidth.h. With the gate ResctrlCollector every pod has a monitoring group in its class's:
// monitors.h. What the ladder against interference takes from best-effort work comes off its class,
// switched on or not (agent/interference/ladder.h).

#include <map>
#include <memory>
#include <optional>

#include "agent/qos/resctrl/bandwidth.h"
#include "agent/qos/resctrl/classes.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

// On the Node: "apart" gives services the ways that best-effort work does not have.
inline constexpr std::string_view kCacheRangesAnnotation = "node.mangrove.io/cache-ranges";

struct InterferenceBoard;

class Resctrl final : public Strategy {
 public:
  // `board`: what the ladder against interference wants of best-effort work; null: nobody asks.
  explicit Resctrl(std::shared_ptr<InterferenceBoard> board = nullptr) : board_(std::move(board)) {}
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
  std::string holdBandwidth(const CacheFacts& facts, BandwidthCaps& caps) const;
  std::string holdWays(SchemataLines& lines) const;
  void tellMeans(const Situation& now, const CacheFacts& facts, const api::ResctrlQosConfig& batch);
  BandwidthCaps follow(const Situation& now, const CacheFacts& facts, int64_t granted,
                       std::string& note);
  std::optional<double> traffic(const Situation& now, std::string_view group, int domain);
  std::optional<double> trafficOfOthers(const Situation& now, int domain);

  std::shared_ptr<InterferenceBoard> board_;
  std::map<int, Domain> domains_;  // by cache; of best-effort work
  TrafficMeter meter_;
};

class PodResctrl final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

}  // namespace mangrove::agent
