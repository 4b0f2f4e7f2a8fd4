#pragma once
// Joins the enforcing half to a running agent: ticks after each look, evicts through the API, shows
// itself under /events and /enforcement, and leaves the machine as it was.
//
//   Enforcement enforcement(agent, client, worker.mailbox(), flags, context);
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
#include "client/event_recorder.h"
#include "frame/role.h"

namespace mangrove::agent {

class Enforcement {
 public:
  Enforcement(Agent& agent, client::ApiClient& client, Mailbox& home, const AgentFlags& flags,
              frame::RoleContext& context);
  ~Enforcement();
  Enforcement(const Enforcement&) = delete;
  Enforcement& operator=(const Enforcement&) = delete;
  AuditLog& audit() { return shown_->audit; }

 private:
  void tick(const Look& look);
  void serve(frame::RoleContext& context);
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
  std::unique_ptr<Enforcer> enforcer_;
  MonoTime shownAt_ = MonoTime::min();
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// --restore: works without an API server.
Result<> restoreAndQuit(const AgentFlags& flags, frame::RoleContext& context);

}  // namespace mangrove::agent
