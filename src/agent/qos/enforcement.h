#pragma once
// Joins the enforcing half to a running agent: ticks after each look, evicts through the API, shows
// itself under /events and /enforcement, and leaves the machine as it was.
//
//   Enforcement enforcement({agent, client, home, owner, clock, metrics, gates, ops}, flags);
//
// Made and destroyed in the owner's thread, before the agent goes. Destroying it gives everything
// back.

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "agent/agent.h"
#include "agent/flags.h"
#include "agent/metrics_enforce.h"
#include "agent/nri/service.h"
#include "agent/qos/enforcer.h"
#include "agent/qos/evict/last_resort.h"
#include "agent/qos/evict/node_pause.h"
#include "agent/qos/evict/pause.h"
#include "agent/qos/evict/sender.h"
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

class Enforcement {
 public:
  Enforcement(const EnforcementSetup& setup, const AgentFlags& flags);
  ~Enforcement();
  Enforcement(const Enforcement&) = delete;
  Enforcement& operator=(const Enforcement&) = delete;
  AuditLog& audit() { return shown_->audit; }

  const AuditLog& audit() const { return shown_->audit; }
  // What /controls says, for those who serve it elsewhere; any thread, also after we are gone.
  std::function<std::string()> teller() const;

 private:
  void tick(const Look& look);
  void podBegan(const NriPod& pod);
  void containerBegan(const NriPod& pod, const NriContainer& container);
  std::string cgroupOf(const std::string& pod, const NriContainer& container) const;
  void answered(const Ousting& ousting, EvictionAnswer answer);
  void killInstead(const Ousting& ousting);
  void keepPause(const Look& look, const api::Node* node);
  void tellBlind(const api::Node* node);
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
  bool dryRun_;
  std::string hamiLibrary_;
  FeatureGates gates_;
  client::EventRecorder events_;
  // Who is leaving; a refusal takes a pod off it.
  std::shared_ptr<EvictedLately> lately_ = std::make_shared<EvictedLately>();
  EvictionSender sender_;
  LastResort lastResort_;
  EvictionPause pause_;
  std::string pauseWhy_;
  bool toldBlind_ = false;
  NodePause nodePause_;
  KernelCookies cookies_;
  NetlinkShaper shaper_;
  Reflexes reflexes_;
  std::unique_ptr<Enforcer> enforcer_;
  std::unique_ptr<NriService> nri_;  // null: hooks work by looking again only
  MonoTime shownAt_ = MonoTime::min();
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// --restore: works without an API server.
Result<> restoreAndQuit(const AgentFlags& flags, frame::RoleContext& context);

}  // namespace mangrove::agent
