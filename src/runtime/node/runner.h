#pragma once
// The node runner: a small kubelet. Registers this machine as a Node, runs the pods bound to it as
// processes in cgroups, reports what becomes of them, and serves their logs, commands and ports.
//
//   auto runner = Runner::make(options, client, clock, owner, io);
//   (*runner)->start();
//   …
//   (*runner)->halt([] { … every pod has ended … });     // or just destroy it: pods stay
//
// Made, used and destroyed on the owner thread; the functions of frame::NodeRunner on any thread.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/result.h"
#include "client/api_client.h"
#include "client/events/event_recorder.h"
#include "client/informer/informer.h"
#include "client/queue/worker.h"
#include "frame/node_runner.h"
#include "kernel/sys_root.h"
#include "net/loop.h"
#include "runtime/node/network/fd_loop.h"
#include "runtime/node/network/host_ports.h"
#include "runtime/node/network/name_server.h"
#include "runtime/node/network/network.h"
#include "runtime/node/network/service_forwarder.h"
#include "runtime/node/network/way_out.h"
#include "runtime/node/node_facts.h"
#include "runtime/node/pods/cgroups.h"
#include "runtime/node/pods/pod_prep.h"
#include "runtime/node/pods/pod_worker.h"
#include "runtime/node/pods/static_pods.h"
#include "runtime/node/registration.h"
#include "runtime/node/runtime_stay.h"
#include "runtime/node/volumes/local_volumes.h"

namespace mangrove::runtime {

struct RunnerOptions {
  std::string dataDir;
  std::string nodeName;    // "": the host's name
  std::string cgroupRoot;  // put before "kubepods"
  kernel::BestEffortPlace bestEffort = kernel::BestEffortPlace::kBeside;
  std::string bridge = "mangrove0";
  std::string podSubnet = "10.88.0.0/16";
  std::string loadBalancerAddress;  // of this machine, for services of that type; "": none
  std::string staticPods;           // folder of manifests; "": none
  // Socket of a container runtime; "": one that is found, kNoRuntime: pods are our processes.
  std::string runtimeEndpoint;
  std::string program;  // our own binary; "": found out
  std::string version;
  BeforeStart beforeStart = {};  // asked before each container starts
  Equip equip = {};              // asked for the devices of each container
};

class Runner final : public frame::NodeRunner {
 public:
  // Fails with a sentence that says what is missing: root, cgroups, a writable directory.
  static Result<std::unique_ptr<Runner>> make(RunnerOptions options, client::ApiClient& client,
                                              Clock& clock, Mailbox& owner, net::Loop& io);
  ~Runner() override;

  void start(Fn ready);
  void halt(Fn halted);
  const std::string& nodeName() const { return node_.nodeName; }
  size_t pods() const { return workers_.size(); }
  // The machine as its pods reach it; "" without a bridge.
  std::string bridgeAddress() const {
    return network_.available() ? network_.gateway() : std::string();
  }

  void log(frame::ContainerTarget target, frame::LogOptions options,
           UniqueFn<void(Result<std::unique_ptr<frame::LogSource>>)> ready) override;
  void exec(frame::ContainerTarget target, frame::SessionOptions options,
            UniqueFn<void(Result<frame::SessionStart>)> ready) override;
  void attach(frame::ContainerTarget target, frame::SessionOptions options,
              UniqueFn<void(Result<frame::SessionStart>)> ready) override;
  void forward(frame::ContainerTarget target,
               UniqueFn<void(Result<frame::PortConnect>)> ready) override;

 private:
  Runner(RunnerOptions options, client::ApiClient& client, Clock& clock, Mailbox& owner,
         net::Loop& io, kernel::SysRoot root, Cgroups cgroups, MachineFacts machine);
  void serveNames();
  void onPod(const client::Change<RunPod>& change);
  void onSynced();
  void begin(const RunPodPtr& pod);
  bool usesClaim(std::string_view ns, std::string_view claim) const;
  void removeStrays();
  Result<> moveIn(const FoundRuntime& found, net::Loop& io);
  void updateTierShares();
  void refreshVolumesLater();
  void checkStorageLater();
  // Null when the pod is not here or another of that name.
  std::shared_ptr<PodWorker> find(const frame::ContainerTarget& target) const;
  Result<std::shared_ptr<PodWorker>> runningContainer(const frame::ContainerTarget& target) const;
  Result<std::unique_ptr<frame::LogSource>> openLogOf(const frame::ContainerTarget& target,
                                                      const frame::LogOptions& options);

  const RunnerOptions options_;
  client::ApiClient& client_;
  Clock& clock_;
  Mailbox& owner_;
  kernel::SysRoot root_;
  Cgroups cgroups_;
  const MachineFacts machine_;
  NodeFacts node_;
  RunningRuns running_;
  ServiceBook services_;
  NameBook names_;
  FdLoop loop_;
  Network network_;
  WayOut wayOut_;
  HostPorts ports_;
  PodPrep prep_;
  client::Worker home_;                                     // decoding, events, logs
  std::vector<std::unique_ptr<client::Worker>> preparing_;  // slow work of pods
  client::EventRecorder events_;
  std::unique_ptr<RuntimeStay> runtime_;  // null: pods are our processes
  WorkerParts parts_;
  Registration registration_;
  std::unique_ptr<StaticPods> statics_;
  std::shared_ptr<NameServer> nameServer_;  // null: pods ask the machine's resolvers
  std::unique_ptr<ServiceForwarder> forwarder_;
  std::unique_ptr<LocalVolumes> volumes_;
  Timer refresh_;
  Timer storage_;
  std::unique_ptr<client::Informer<RunPod>> informer_;
  std::map<std::string, std::shared_ptr<PodWorker>> workers_;  // by uid
  bool synced_ = false;
  Fn haltWhenSynced_;
  Fn halted_;
  Lifetime life_;
};

}  // namespace mangrove::runtime
