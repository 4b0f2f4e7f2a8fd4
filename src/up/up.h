#pragma once
// `mangrove up`: one machine, one process: the embedded API server, the node runner, and the roles
// beside them, with their state in one directory.
//
//   UpRole role;
//   return frame::runRole(role, args);
//
// Threads: the server lives on the role's owner thread; the runner and every other role have
// threads of their own. SIGTERM stops the pods, then the server; after a kill -9 the next start
// finds its pods and goes on.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/heap.h"
#include "apiserver/in_process_client.h"
#include "apiserver/server_flags.h"
#include "apiserver/serving.h"
#include "client/queue/worker.h"
#include "frame/ops_guard.h"
#include "frame/role.h"
#include "runtime/node/runner.h"
#include "up/manager_admission.h"
#include "up/mate.h"
#include "up/roles.h"
#include "up/start_gate.h"

namespace mangrove::up {

class UpRole final : public frame::Role {
 public:
  frame::RoleInfo info() const override;
  void flags(frame::Flags& flags) override;
  Result<> start(frame::RoleContext& context) override;
  void stop(Fn stopped) override;

  // Before the start: one more role beside ours, and somebody who watches the agent.
  void addRole(NamedMate role) { guests_.push_back(std::move(role)); }
  void onLook(agent::LookHook hook) { onLook_ = std::move(hook); }
  // The Node of this machine, from the start on.
  std::string nodeName() const { return runner_ ? runner_->nodeName() : observedNode_; }
  const std::string& dashboard() const { return dashboard_; }
  const std::string& dashboardTokenFile() const { return dashboardTokenFile_; }

 private:
  MateRecording recordingOf(const std::string& role) const;
  Result<> startServer(frame::RoleContext& context);
  Result<> startRunner(frame::RoleContext& context);
  Result<> startObserver(frame::RoleContext& context);
  void listenForPods();
  void publishServer(Fn done);
  Result<> startRoles(frame::RoleContext& context);
  void stopRunner(Fn stopped);
  void stopRoles(Fn stopped);
  void stopServer(Fn stopped);

  std::string dataDir_ = "/var/lib/mangrove";
  std::string bind_ = "127.0.0.1";
  int64_t port_ = 6443;
  bool allowRemote_ = false;
  bool observeOnly_ = false;
  bool bestEffortBeside_ = true;
  std::string schedulerConfig_;  // a file; "": none
  std::string managerSettings_;  // of its gates
  placement::SchedulerConfig schedulerRules_;
  frame::record::RecordOptions record_;
  bool keepPods_ = false;
  bool enforce_ = true;
  std::vector<std::string> without_;
  std::string dashboard_ = "127.0.0.1:9317";
  std::string dashboardTokenFile_;
  std::vector<NamedMate> guests_;
  agent::LookHook onLook_;
  runtime::RunnerOptions runnerOptions_;

  Mailbox* owner_ = nullptr;
  bool stopping_ = false;
  apiserver::ServerFlags server_;
  std::optional<apiserver::HeapKeeper> heap_;
  std::unique_ptr<apiserver::Serving> serving_;
  std::unique_ptr<apiserver::InProcessClient> client_;
  std::optional<frame::OpsGuard> guard_;  // of our pages; asks through client_
  std::unique_ptr<client::Worker> runnerThread_;
  std::unique_ptr<runtime::Runner> runner_;          // lives and dies on runnerThread_
  std::unique_ptr<runtime::Registration> observer_;  // instead of a runner
  std::string observedNode_;
  std::string podsReachUs_;  // address of the bridge, once the server listens there
  std::vector<std::unique_ptr<Mate>> mates_;
  std::shared_ptr<PictureSlot> picture_ = std::make_shared<PictureSlot>();
  std::shared_ptr<StartGate> starting_ = std::make_shared<StartGate>();
};

}  // namespace mangrove::up
