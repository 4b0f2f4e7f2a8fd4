#pragma once
// `mangrove descheduler`: moves pods away from where they should not be any more, through
// PodMigrationJobs. One of several replicas leads; losing the Lease ends the process.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "client/events/event_recorder.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "descheduler/descheduler.h"
#include "frame/leadership.h"
#include "frame/ops_guard.h"
#include "frame/role.h"
#include "frame/server_access.h"

namespace mangrove::descheduler {

class DeschedulerRole final : public frame::Role {
 public:
  DeschedulerRole();
  ~DeschedulerRole() override;
  frame::RoleInfo info() const override;
  void flags(frame::Flags& flags) override;
  Result<> start(frame::RoleContext& context) override;
  void stop(Fn stopped) override;

 private:
  Result<DeschedulerConfig> loadConfig();
  Result<placement::SchedulerConfig> loadSchedulerConfig();
  Result<> writeConfig(const DeschedulerConfig& config) const;
  Result<> connect(frame::RoleContext& context, const DeschedulerConfig& config);
  void serve(frame::RoleContext& context);
  Result<> compete(frame::RoleContext& context, const ElectionSettings& settings);
  void reportHealth(frame::RoleContext& context);
  void refreshHealth();

  std::string configFile_;
  std::string schedulerFile_;
  std::string writeTo_;
  frame::ServerAccess server_;
  bool dryRun_ = false;
  frame::LeaderFlags leader_;

  Clock* clock_ = nullptr;
  Mailbox* owner_ = nullptr;
  std::unique_ptr<client::ApiClient> client_;
  std::optional<frame::OpsGuard> guard_;  // of our pages; asks through client_
  std::unique_ptr<client::Worker> worker_;
  std::unique_ptr<client::EventRecorder> events_;
  std::unique_ptr<Descheduler> descheduler_;
  frame::Leadership leadership_;
  std::string configText_;
  std::shared_ptr<std::string> waiting_;
  std::shared_ptr<std::mutex> waitingMutex_;
  Timer healthTimer_;
};

}  // namespace mangrove::descheduler
