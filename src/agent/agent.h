#pragma once
// The observing half of the node daemon: every tick it looks at the machine, remembers, learns and
// reports. Usable in any process: `mangrove agent` runs it alone, `mangrove up` beside everything
// else.
//
//   auto agent = Agent::make({client, clock, owner, worker.mailbox(), internal, external},
//                            {.node = "n1", .machine = liveMachine()});
//   (*agent)->start();                      // … and then owner.run()
//   (*agent)->onLook([&](const Look& look) { strategies.decide(look); });
//
// Made, used and destroyed in the owner's thread. Destroy it before the client and the mailboxes.

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "agent/collect/claims.h"
#include "agent/collect/collector.h"
#include "agent/collect/pressure_watch.h"
#include "agent/devices/device_reporter.h"
#include "agent/last_known.h"
#include "agent/look.h"
#include "agent/machine.h"
#include "agent/metrics.h"
#include "agent/predict/predictor.h"
#include "agent/report/kubelet_process.h"
#include "agent/report/kubelet_source.h"
#include "agent/report/reporter.h"
#include "agent/report/topology_reporter.h"
#include "agent/series/history.h"
#include "api/koordinator/node_metric.h"
#include "api/koordinator/node_slo.h"
#include "api/object/node.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/api_client.h"
#include "client/informer/informer.h"

namespace mangrove::agent {

struct AgentSetup {
  client::ApiClient& client;
  Clock& clock;
  Mailbox& owner;
  Mailbox& home;            // where objects are decoded; may be the owner's
  Registry& internal;       // the agent's own series
  Registry& external;       // series about pods, for users
  net::Loop* io = nullptr;  // for the kubelet; null: it is not asked
};

struct AgentOptions {
  std::string node;
  MachineOptions machine = {};
  CollectorOptions collect = {};
  std::string historyDir = {};  // "": history does not survive a restart
  std::string configDir = {};   // "": nor does what the API server said last
  PredictorOptions predict = {};
  TopologyOptions topology = {};
  DeviceOptions devices = {};
  KubeletSourceOptions kubelet = {};
  bool report = true;
  Duration firstReport = std::chrono::seconds(5);  // after the first tick, see ReporterSetup
  stats::PercentileRule percentiles = stats::PercentileRule::kReference;
  bool reportEveryInterval = false;  // see ReporterSetup
  bool nodeMetricSeries = false;     // mirror the NodeMetric as gauges
  bool perCpuSeries = false;         // a series per CPU of the pools
  bool rightUnits = false;           // see AgentMetrics::useRightUnits
  uint64_t seed = 1;
  // Pods from the API watch; off when another source feeds the book (kubelet).
  bool watchPods = true;
  // Give back pages that only starting up needed; for a process of its own.
  bool trimMemory = false;
};

class Agent {
 public:
  static Result<std::unique_ptr<Agent>> make(AgentSetup setup, AgentOptions options);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Begins to tick and to follow the API. Returns at once.
  void start();
  // Ends ticking; what is in flight is dropped.
  void stop();

  // After each tick, in the order of registration.
  void onLook(std::function<void(const Look&)> fn) { onLook_.push_back(std::move(fn)); }
  // The kernel says that tasks stall; called by the agent's own watch.
  void stalled(Pressing what);
  // One tick now, for tests and single-threaded compositions.
  void tickNow() { tick(clock_.mono()); }

  const Look& look() const { return collector_.look(); }
  const Machine& machine() const { return *machine_; }
  const History& history() const { return history_; }
  PodBook& book() { return book_; }
  void watchCounters(std::set<std::string, std::less<>> ids) {
    collector_.watchCounters(std::move(ids));
  }
  CollectorStats collectorStats() const { return collector_.stats(); }
  const Predictor& predictor() const { return predictor_; }
  void askSeasons(Predictor::Season season) { predictor_.askSeasons(std::move(season)); }
  const DeviceStats& deviceStats() const { return devices_.stats(); }
  const TopologyStats& topologyStats() const { return topology_.stats(); }
  const ReporterStats& reporterStats() const { return reporter_.stats(); }
  std::shared_ptr<const api::Node> node() const { return node_; }
  // Whether the list of pods came from the server (or the kubelet) since the start.
  bool knowsPods() const;
  std::shared_ptr<const api::NodeResourceTopology> topology() const {
    return topologies_ ? topologies_->find(options_.node) : nullptr;
  }
  const AgentOptions& options() const { return options_; }

  // Why the agent does not (fully) do its work; ok when it does.
  Result<> liveness() const;
  Result<> readiness() const;

 private:
  Agent(AgentSetup setup, AgentOptions options, std::unique_ptr<Machine> machine);
  client::InformerSetup following(const client::Kind& kind, std::string fieldSelector) const;
  void makeInformers();
  void followSlo(const api::NodeSlo* said);
  void useSlo(api::NodeSlo slo);
  void rememberWindows();
  void recall();
  void endRecall();
  void arm();
  void watchClock(const Look& look);
  void watchKubelet(const Look& look);
  // Time the machine was suspended since boot.
  std::optional<Duration> slept() const;
  Predicted predict(const Look& look);
  void tick(MonoTime planned);

  AgentSetup setup_;
  AgentOptions options_;
  Clock& clock_;
  std::unique_ptr<Machine> machine_;
  History history_;
  Duration evictWindow_{};  // of the NodeSLO
  PodBook book_;
  Collector collector_;
  Claims claims_;
  Predictor predictor_;
  Reporter reporter_;
  TopologyReporter topology_;
  DeviceReporter devices_;
  KubeletSource kubelet_;
  KubeletProcess kubeletProcess_;
  MonoTime kubeletLooked_ = MonoTime::min();
  AgentMetrics metrics_;
  LastKnown known_;
  bool recalledSlo_ = false, recalledNode_ = false;  // the server has not answered yet
  std::shared_ptr<const api::Node> node_;
  std::unique_ptr<client::Informer<api::Node>> nodes_;
  std::unique_ptr<client::Informer<api::NodeSlo>> slos_;
  std::unique_ptr<client::Informer<api::NodeMetric>> nodeMetrics_;
  std::unique_ptr<client::Informer<api::NodeResourceTopology>> topologies_;
  std::unique_ptr<client::Informer<api::Device>> deviceObjects_;
  std::unique_ptr<client::Informer<api::Pod>> pods_;
  std::vector<std::function<void(const Look&)>> onLook_;
  MonoTime next_{};
  Timer timer_;
  bool running_ = false;
  MonoTime lastTick_ = MonoTime::min();
  uint64_t podsSeen_ = 0;
  MonoTime trimmedAt_{};
  std::optional<Duration> wallOffset_;  // wall less monotonic time, as of the last tick
  std::optional<Duration> slept_;
  std::unique_ptr<PressureWatch> pressure_;
  // What timers hold: they may fire after we are gone.
  std::shared_ptr<Agent*> self_ = std::make_shared<Agent*>(this);
};

// The tick after `now` on the grid of `period`, and how many were missed since `planned`.
struct NextTick {
  MonoTime at{};
  uint64_t missed = 0;
};
NextTick nextTick(MonoTime planned, MonoTime now, Duration period);

}  // namespace mangrove::agent
