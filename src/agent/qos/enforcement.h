#pragma once
// Joins the enforcing half to a running agent: ticks after each look, evicts through the API, shows
// itself under /events and /enforcement, and leaves the machine as it was.
//
//   Enforcement enforcement({agent, client, home, owner, clock, metrics, gates, ops}, flags);
//
// Made and destroyed in the owner's thread, before the agent goes. Destroying it gives everything
// back.

#include <memory>
#include <mutex>
#include <string>

#include "agent/agent.h"
#include "agent/flags.h"
#include "agent/qos/enforcer.h"
#include "agent/qos/evict/sender.h"
#include "agent/qos/reflexes.h"
#include "client/event_recorder.h"
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
};

class Enforcement {
 public:
  Enforcement(const EnforcementSetup& setup, const AgentFlags& flags);
  ~Enforcement();
  Enforcement(const Enforcement&) = delete;
  Enforcement& operator=(const Enforcement&) = delete;
  AuditLog& audit() { return shown_->audit; }

 private:
  void tick(const Look& look);
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
  FeatureGates gates_;
  client::EventRecorder events_;
  EvictionSender sender_;
  Reflexes reflexes_;
  std::unique_ptr<Enforcer> enforcer_;
  MonoTime shownAt_ = MonoTime::min();
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// --restore: works without an API server.
Result<> restoreAndQuit(const AgentFlags& flags, frame::RoleContext& context);

}  // namespace mangrove::agent
