#pragma once
// `mangrove yarn sync`: YARN beside Kubernetes on the same nodes. One of several replicas leads;
// losing the Lease ends the process. Gate YarnNodeManager, off by default: without it the command
// says so and ends.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/events/event_recorder.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "frame/leadership.h"
#include "frame/ops_guard.h"
#include "frame/role.h"
#include "frame/server_access.h"
#include "yarn/sync.h"

namespace mangrove::yarn {

class YarnSyncRole final : public frame::Role {
 public:
  YarnSyncRole();
  ~YarnSyncRole() override;
  frame::RoleInfo info() const override;
  void flags(frame::Flags& flags) override;
  Result<> start(frame::RoleContext& context) override;
  void stop(Fn stopped) override;

 private:
  // What other threads may read.
  struct Shown {
    std::mutex mutex;
    std::string waiting = "not started";
    std::string status = "{}";
  };
  Result<> check(const FeatureGates& gates) const;
  Result<> connect(frame::RoleContext& context);
  void serve(frame::RoleContext& context);
  void show();
  Result<> compete(frame::RoleContext& context);

  frame::ServerAccess server_{.perSecond = 50, .burst = 100};
  std::vector<std::string> managers_;
  std::string user_ = "yarn";
  SyncOptions options_;
  frame::LeaderFlags leader_{.ns = "koordinator-system", .name = "mangrove-yarn-sync"};

  Clock* clock_ = nullptr;
  Mailbox* owner_ = nullptr;
  std::unique_ptr<client::ApiClient> client_;
  std::optional<frame::OpsGuard> guard_;  // of our pages; asks through client_
  std::unique_ptr<client::Worker> worker_;
  std::unique_ptr<client::EventRecorder> events_;
  std::unique_ptr<ResourceManagers> peers_;
  std::unique_ptr<YarnSync> sync_;
  frame::Leadership leadership_;
  std::shared_ptr<Shown> shown_ = std::make_shared<Shown>();
  Timer showTimer_;
};

}  // namespace mangrove::yarn
