#pragma once
// `mangrove agent`: the node daemon as a process of its own.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agent/agent.h"
#include "agent/almanac/almanac.h"
#include "agent/audit/events.h"
#include "agent/flags.h"
#include "agent/look_hook.h"
#include "agent/pod_resources/proxy.h"
#include "agent/qos/enforcement.h"
#include "client/http/http_api_client.h"
#include "client/http/kubeconfig.h"
#include "client/queue/worker.h"
#include "frame/ops_guard.h"
#include "frame/role.h"

namespace mangrove::agent {

class AgentRole final : public frame::Role {
 public:
  AgentRole();
  ~AgentRole() override;
  frame::RoleInfo info() const override;
  void flags(frame::Flags& flags) override;
  Result<> start(frame::RoleContext& context) override;
  void stop(Fn stopped) override;

  // For what is served beside the agent, on the owner thread, from the start to the stop. Null
  // outside, and under --restore.
  void onLook(LookHook hook);
  client::ApiClient* client() { return client_.get(); }
  Mailbox* home() { return worker_ ? &worker_->mailbox() : nullptr; }
  std::string nodeName() const { return agent_ ? agent_->options().node : ""; }

 private:
  Result<> connect(frame::RoleContext& context);
  Result<AgentOptions> optionsFor(const frame::RoleContext& context) const;
  void serve(frame::RoleContext& context);
  void keepAudit(frame::RoleContext& context);
  Result<> startPodResources(const frame::RoleContext& context);

  AgentFlags flags_;
  client::ClientConfig config_;
  Registry external_;
  std::unique_ptr<client::ApiClient> client_;
  std::optional<frame::OpsGuard> guard_;  // of our pages; asks through client_
  std::unique_ptr<client::Worker> worker_;
  std::unique_ptr<Agent> agent_;
  std::shared_ptr<Almanac> almanac_;
  std::unique_ptr<PodResourcesProxy> podResources_;
  std::shared_ptr<AuditEvents> audit_;  // null: nothing is logged
  std::unique_ptr<Enforcement> enforcement_;
  // What health probes of other threads look at.
  struct Verdict {
    std::mutex mutex;
    Result<> live, ready;
  };
  std::shared_ptr<Verdict> verdict_ = std::make_shared<Verdict>();
};

}  // namespace mangrove::agent
