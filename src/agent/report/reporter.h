#pragma once
// Writes the NodeMetric: looked at with the spec's cadence, early when load jumps, and not at all
// while nobody would decide anything else by it (changes.h, sale.h), but often enough that no reader
// takes it for expired: within 135 s, or ten minutes where the object says that its readers know how
// long reports hold (api/annotations/report_validity.h). All of it goes out every ten minutes, and
// whenever the manager would write other amounts for sale by it.
//
//   Reporter reporter({client, owner, clock, "node-1", seed});
//   reporter.follow(metric);                      // the object as the server has it; null: none
//   reporter.followNode(node);                    // and the Node, for what is sold of it
//   reporter.tick(look, predicted);               // every tick; cheap when nothing is due
//
// Owner thread. The object itself is never created here; without it every round is skipped. One
// request at a time; a failed one is tried again after the shortest gap.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/look.h"
#include "agent/report/changes.h"
#include "agent/report/policy.h"
#include "agent/report/sale.h"
#include "agent/report/status.h"
#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/number/rng.h"
#include "client/api_client.h"
#include "stats/ewma.h"

namespace mangrove::agent {

struct ReporterSetup {
  client::ApiClient& client;
  Mailbox& owner;
  Clock& clock;
  std::string node;
  uint64_t seed = 1;
  bool enabled = true;
  // The first report does not wait for a whole interval: a new node should be seen soon. Nodes that
  // start together spread it by half as much again.
  Duration firstReport = std::chrono::seconds(5);
  stats::PercentileRule percentiles = stats::PercentileRule::kReference;
  // The reference's rhythm: everything, whether it changed or not, and never early.
  bool everyInterval = false;
};

struct ReporterStats {
  uint64_t rounds = 0;   // times a status was due
  uint64_t sent = 0;     // accepted by the server
  uint64_t skipped = 0;  // nothing worth sending
  uint64_t absent = 0;   // no NodeMetric object
  uint64_t failed = 0;
  uint64_t early = 0;       // sent because load jumped
  uint64_t bytesSent = 0;   // of patches
  uint64_t bytesWhole = 0;  // what whole statuses at every round would have been
};

// Load has moved so far from what was reported that waiting for the next round would mislead: by a
// tenth of it and by more than the floor (half a core; 2 % of the memory).
bool loadJumped(double reported, double now, double floor);

class Reporter {
 public:
  // Readers call a report expired after 180 s at the earliest (scheduler and descheduler defaults).
  static constexpr Duration kReadersExpiry = std::chrono::seconds(180);
  // Time for one failed attempt and its repetition.
  static constexpr Duration kFreshMargin = std::chrono::seconds(45);
  // Whatever changed or did not: who reads single pods' figures gets them this often.
  static constexpr Duration kFullEvery = std::chrono::minutes(10);
  static constexpr Duration kShortestGap = std::chrono::seconds(10);
  static constexpr Duration kEarlyJitter = std::chrono::seconds(2);
  // Stalls that follow each other more closely are the same story.
  static constexpr Duration kCalm = std::chrono::seconds(60);

  explicit Reporter(ReporterSetup setup);
  ~Reporter();

  void follow(std::shared_ptr<const api::NodeMetric> metric);
  void followNode(const api::Node* node) { sale_.onNode(node, known(), setup_.clock.mono()); }
  // `predict` is asked only when a status is built.
  using Predict = std::function<Predicted()>;
  void tick(const Look& look, const Predict& predict);
  // Tasks of the node began to stall: as a jump of the load, but only when they did not before.
  void stalled(MonoTime now);
  // The wall clock was set: readers judge our last report by its time, so it is sent anew.
  void clockJumped() {
    nextRound_ = std::min(nextRound_, setup_.clock.mono()), lastSentAt_.reset();
  }

  const ReportPolicy& policy() const { return policy_; }
  const ReporterStats& stats() const { return stats_; }
  bool inFlight() const { return inFlight_; }
  std::optional<MonoTime> lastSent() const { return lastSentAt_; }
  // The status built last, for metrics; null before the first.
  const api::NodeMetricStatus* lastStatus() const { return built_ ? &*built_ : nullptr; }
  // Called with each status that was built, sent or not.
  void onStatus(std::function<void(const api::NodeMetricStatus&)> fn) { onStatus_ = std::move(fn); }

 private:
  void watchLoad(const Look& look);
  void round(const Look& look, const Predict& predict, bool early);
  bool isFullDue(MonoTime now) const;
  const api::NodeMetricStatus& known() const;
  void send(api::NodeMetricStatus status, bool early, MonoTime at);
  void answered(const Result<client::Reply>& reply, api::NodeMetricStatus status, bool early,
                MonoTime at);
  Duration untilExpiry() const;
  bool isStale(MonoTime now) const;
  api::SaleRule saleRule() const;
  // What nobody would notice: finer where it is not known what is sold, or when.
  Tolerance tolerance() const;

  ReporterSetup setup_;
  Rng rng_;
  ReportPolicy policy_;
  Sale sale_;
  std::shared_ptr<const api::NodeMetric> metric_;
  std::optional<api::NodeMetricStatus> lastSent_, built_;
  std::optional<MonoTime> lastSentAt_, lastFullAt_;
  MonoTime nextRound_ = MonoTime::min();
  MonoTime notBefore_ = MonoTime::min();
  MonoTime earlyAt_ = MonoTime::max();
  // One resource: its smoothed use now, and as it was when the last report went out.
  struct Load {
    stats::Ewma now{std::chrono::seconds(2)};
    std::optional<double> reported;
    bool jumped(MonoTime at, double value, double floor);
  };
  Load cpuLoad_, memoryLoad_;
  std::optional<MonoTime> stalledAt_;
  bool stallIsNews_ = false;
  bool inFlight_ = false, isFull_ = false;  // what is in flight says everything
  uint64_t failuresInARow_ = 0;
  std::function<void(const api::NodeMetricStatus&)> onStatus_;
  ReporterStats stats_;
  Lifetime life_;
};

}  // namespace mangrove::agent
