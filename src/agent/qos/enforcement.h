#pragma once
// Joins the enforcing half to a running agent: ticks after each look, evicts through the API, shows
// itself under /events and /enforcement, and leaves the machine as it was.
//
//   Enforcement enforcement({agent, client, home, owner, clock, metrics, gates, ops}, options);
//
// Made and destroyed in the owner's thread, before the agent goes. Destroying it gives everything
// back.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agent/agent.h"
#include "agent/canary/keeper.h"
#include "agent/checkpoint/desk.h"
#include "agent/executor/write_watch.h"
#include "agent/metrics_enforce.h"
#include "agent/nri/service.h"
#include "agent/qos/enforcer.h"
#include "agent/qos/evict/last_resort.h"
#include "agent/qos/evict/node_pause.h"
#include "agent/qos/evict/pause.h"
#include "agent/qos/evict/sender.h"
#include "agent/qos/interference/board.h"
#include "agent/qos/interference/fence_exchange.h"
#include "agent/qos/interference/latency_watch.h"
#include "agent/qos/interference/pair_teller.h"
#include "agent/qos/interference/reporter.h"
#include "agent/qos/network/shaper.h"
#include "agent/qos/reflexes.h"
#include "client/events/event_recorder.h"
#include "frame/role.h"

namespace mangrove::agent {

// What it uses of the process it runs in. Everything outlives it; `ops` may be null.
struct EnforcementSetup {
  Agent& agent;
  client::ApiClient& client;
  Mailbox& home;  // where Events are written from
  Mailbox& owner;
  Clock& clock;
  Registry& metrics;
  const FeatureGates& gates;
  frame::OpsServer* ops = nullptr;
  net::Loop* io = nullptr;  // null: no hooks of the container runtime
};

struct EnforcementOptions {
  EnforcerOptions enforcer = {};
  StrategyOptions strategies = {};
  ReflexOptions reflexes = {};
  std::string hooks = {};       // gates of the hooks that differ: "CPUNormalization=true"
  std::string extensions = {};  // gates of strategies that were named by themselves
  bool keepsQuota = false;      // also of pods with CPUs of their own
  size_t evictionsPerMinute = 10;
  Duration killWhenApiAway{};      // zero: never
  std::string cooldownTaint = {};  // "": evictions leave no taint on the node
  std::string hamiLibrary = HamiCore().library;
  std::optional<NriOptions> nri = {};  // nullopt: no hooks of the container runtime
  // The machine we run on, not files of one: it has processes and links.
  bool isLive = true;
};

// A container whose cgroup is there and whose first process is not.
struct StartingContainer {
  std::string uid;  // of its pod
  std::string podCgroup;
  kernel::PodTier tier{};
  std::string id = {}, name = {};
  std::string cgroup = {};  // "": only its pod begins
};

class Enforcement {
 public:
  Enforcement(const EnforcementSetup& setup, EnforcementOptions options);
  ~Enforcement();
  Enforcement(const Enforcement&) = delete;
  Enforcement& operator=(const Enforcement&) = delete;
  AuditLog& audit() { return shown_->audit; }

  const AuditLog& audit() const { return shown_->audit; }
  // What hooks want for a container is written before this returns, so that it holds from its first
  // instruction. False: its pod is not known (yet). Owner thread.
  bool containerStarts(const StartingContainer& container);
  // What /controls says, for those who serve it elsewhere; any thread, also after we are gone.
  std::function<std::string()> teller() const;

 private:
  void hearRuntime(net::Loop& io, Mailbox& owner);
  void tick(const Look& look);
  void repair();
  void podBegan(const NriPod& pod);
  void containerBegan(const NriPod& pod, const NriContainer& container);
  std::string cgroupOf(const std::string& pod, const NriContainer& container) const;
  void answered(const Ousting& ousting, EvictionAnswer answer);
  void killInstead(const Ousting& ousting);
  void keepPause(const Look& look, const api::Node* node);
  void tellBlind(const api::Node* node);
  void tellInterference(const api::Node* node);
  void countEpisodes();
  void showCpi();
  void showSuspects();
  void watchIsolation(const api::Node* node);
  void readIsolation();
  void publishRules(const Look& look, const api::Node* node,
                    const api::NodeResourceTopology* topology);
  void show(const Look& look, const ApplyReport& report);
  void serve(frame::OpsServer& ops);
  void count(const ApplyReport& report);

  Agent& agent_;
  Clock& clock_;
  struct Shown {
    AuditLog audit;
    std::mutex mutex;
    std::string explanation = "{}";
  };
  // Request handlers of other threads may outlive us.
  std::shared_ptr<Shown> shown_ = std::make_shared<Shown>();
  Registry& metrics_;
  std::shared_ptr<EnforceMetrics> series_;  // shared with the runtime's calls
  EnforcementOptions options_;
  FeatureGates gates_;
  client::EventRecorder events_;
  // Who is leaving; a refusal takes a pod off it.
  std::shared_ptr<EvictedLately> lately_ = std::make_shared<EvictedLately>();
  CheckpointDesk checkpoints_;
  EvictionSender sender_;
  LastResort lastResort_;
  EvictionPause pause_;
  std::string pauseWhy_;
  bool toldBlind_ = false;
  NodePause nodePause_;
  // What strategies say of interference, and who writes it.
  std::shared_ptr<InterferenceBoard> board_ = std::make_shared<InterferenceBoard>();
  InterferenceReporter reporter_;
  std::unique_ptr<LatencyWatch> latency_;  // null: without a loop nobody is asked
  FenceExchange fences_;
  PairTeller pairs_;
  std::unique_ptr<CanaryKeeper> canary_;                              // null: the gate is off
  std::map<std::pair<std::string, std::string>, uint64_t> episodes_;  // counted already
  KnobFindings isolationRead_;                                        // of knobs that are read back
  MonoTime isolationAt_ = MonoTime::min();
  NodePause craneBlock_;
  KernelCookies cookies_;
  NetlinkShaper shaper_;
  Reflexes reflexes_;
  std::unique_ptr<Enforcer> enforcer_;
  std::unique_ptr<WriteWatch> writes_;
  std::unique_ptr<NriService> nri_;  // null: hooks work by looking again only
  MonoTime shownAt_ = MonoTime::min();
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mangrove::agent
