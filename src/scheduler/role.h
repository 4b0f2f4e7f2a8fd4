#pragma once
// `mangrove scheduler`: serves pods whose schedulerName is koord-scheduler or default-scheduler (or
// whatever the configuration says), behind a lease.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/http/http_api_client.h"
#include "frame/leadership.h"
#include "frame/ops_guard.h"
#include "frame/role.h"
#include "frame/server_access.h"
#include "placement/engine/engine.h"
#include "scheduler/names.h"
#include "scheduler/scheduler.h"
#include "scheduler/service/service.h"

namespace mangrove::scheduler {

class SchedulerRole final : public frame::Role {
 public:
  SchedulerRole();
  ~SchedulerRole() override;
  frame::RoleInfo info() const override;
  void flags(frame::Flags& flags) override;
  Result<> start(frame::RoleContext& context) override;
  void stop(Fn stopped) override;

 private:
  void auditFlags(frame::Flags& flags);
  Result<SchedulerConfig> loadConfig();
  Result<> connect(frame::RoleContext& context, const SchedulerConfig& config);
  Result<> compete(frame::RoleContext& context, bool elect, const client::ElectionConfig& lease);
  void setLeading(bool leading);
  void serve(frame::RoleContext& context);
  void servePages(frame::RoleContext& context);
  using Page = std::function<ServiceAnswer()>;
  ServiceAnswer ask(Mailbox& owner, Page page);

  std::string config_;
  frame::ServerAccess server_{.perSecond = 0, .burst = 0};  // zero: as the file says
  std::vector<std::string> withoutEffect_;                  // flags that were given
  std::vector<std::string> names_;
  frame::LeaderFlags leader_;
  Duration timeout_ = std::chrono::seconds(30);
  Duration longestInPool_ = std::chrono::minutes(5);
  DebugFlags debug_;
  AuditorOptions audit_;
  std::string auditLabels_;
  std::atomic<bool> filled_ = false;
  bool leading_ = false;  // owner thread

  Mailbox* owner_ = nullptr;
  std::unique_ptr<client::ApiClient> client_;
  std::optional<frame::OpsGuard> guard_;  // of our pages; asks through client_
  std::unique_ptr<Scheduler> scheduler_;
  frame::Leadership leadership_;
};

}  // namespace mangrove::scheduler
