#pragma once
// `mangrove manager`: the controllers on the leader, health, metrics, and an orderly hand-over.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/events/event_recorder.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "frame/leadership.h"
#include "frame/role.h"
#include "frame/server_access.h"
#include "manager/manager.h"
#include "manager/webhook/service.h"

namespace mangrove::manager {

class ManagerRole final : public frame::Role {
 public:
  ManagerRole();
  ~ManagerRole() override;
  frame::RoleInfo info() const override;
  void flags(frame::Flags& flags) override;
  Result<> start(frame::RoleContext& context) override;
  void stop(Fn stopped) override;

  // For what is served beside the manager, from the start to the stop; null outside.
  client::ApiClient* client() { return client_ ? aside_ : nullptr; }
  Mailbox* home() { return worker_ ? &worker_->mailbox() : nullptr; }
  const ManagerOptions& options() const { return options_; }

 private:
  Result<> check() const;
  Result<> connect(frame::RoleContext& context);
  Result<> serveProbes(frame::RoleContext& context);
  void serveNodeMetrics(frame::RoleContext& context);
  void reportHealth(frame::RoleContext& context);
  void refreshHealth();
  void ensureNamespace(client::ApiClient& server, const std::string& name);
  Result<> compete(frame::RoleContext& context);
  void admit(frame::RoleContext& context);

  frame::ServerAccess server_;
  std::string probeAddress_ = ":8000";
  frame::LeaderFlags leader_{.ns = "koordinator-system",
                             .name = "koordinator-manager",
                             .leaseDuration = std::chrono::seconds(15),
                             .renewDeadline = std::chrono::seconds(10),
                             .retryPeriod = std::chrono::seconds(2)};
  ManagerOptions options_;
  AdmissionOptions admissionOptions_;
  bool admit_ = true;

  std::unique_ptr<client::ApiClient> client_;
  client::ApiClient* aside_ = nullptr;  // the same server, for what is not recorded
  std::unique_ptr<client::Worker> worker_;
  std::unique_ptr<client::EventRecorder> events_;
  std::unique_ptr<client::EventRecorder> asideEvents_;  // of admission, while we are recorded
  std::unique_ptr<Manager> manager_;
  std::unique_ptr<AdmissionService> admission_;
  frame::Leadership leadership_;
  std::unique_ptr<frame::OpsServer> probes_;
  Gauge isLeader_;
  std::shared_ptr<std::string> waiting_;  // what readiness says; written by the owner
  std::shared_ptr<std::mutex> waitingMutex_;
  Timer healthTimer_;
  int healthyLooks_ = 0;
  Clock* clock_ = nullptr;
  Mailbox* owner_ = nullptr;
};

}  // namespace mangrove::manager
