#include "up/up.h"

#include <algorithm>
#include <cstdio>
#include <future>
#include <iterator>

#include <fmt/core.h>

#include "agent/gates.h"
#include "apiserver/schema/formats.h"
#include "base/os/log.h"
#include "frame/role_flags.h"
#include "frame/version.h"
#include "net/loopback.h"
#include "net/own_address.h"
#include "up/api_service.h"
#include "up/first_objects.h"
#include "up/metrics_api.h"
#include "up/node_metrics.h"
#include "up/pod_devices.h"
#include "up/roles.h"

namespace mangrove::up {

namespace {

const Logger logger("up");
constexpr const char* kApiAddress = "10.96.0.1";  // where people expect it
constexpr Duration kShutdownGrace = std::chrono::seconds(2);
constexpr Duration kStopGrace = std::chrono::seconds(60);

// One machine's watchers are never far behind, and every start reads the whole window.
constexpr size_t kWindowEvents = 8192;
constexpr Bytes kWindowBytes = kMiB * 8;

// Whoever started us may wait for it.
void sayLine(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

std::span<const GateInfo> offeredGates() {
  static const std::vector<GateInfo> kAll = [] {
    std::vector<GateInfo> out(agent::agentGates().begin(), agent::agentGates().end());
    const std::vector<GateInfo> more = offeredManagerGates();
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }();
  return kAll;
}

std::string namesOf(const std::vector<NamedMate>& roles, bool alsoRecorded = true) {
  std::string out;
  for (const auto& role : roles)
    if (alsoRecorded || !role.records) out += (out.empty() ? "" : ", ") + role.name;
  return out;
}

}  // namespace

frame::RoleInfo UpRole::info() const {
  return {
      .name = "up",
      .about = "a whole colocated machine: API server, node runner and all roles in one process",
      .opsDefault = "0",
      .opsOnLoopback = true,
      .gates = offeredGates(),
      .stopGrace = kStopGrace};
}

void UpRole::flags(frame::Flags& flags) {
  flags.add("data-dir", dataDir_, "where everything is kept: database, pods, logs, kubeconfig");
  flags.add("bind", bind_, "address the API server listens on");
  flags.add("port", port_, "port of the API server; 0 takes a free one");
  flags.add("allow-remote", allowRemote_,
            "listen beyond loopback, so that other machines can connect");
  flags.add("observe-only", observeOnly_, "run no pods; needs no root");
  flags.add("enforce", enforce_,
            "let the agent limit and evict best-effort pods; false only measures");
  flags.add("keep-pods", keepPods_, "leave the pods running when this process is told to stop");
  flags.add("without", without_,
            "roles to leave out: koord-manager, koord-scheduler, workload-controllers, koordlet");
  flags.add("dashboard", dashboard_,
            "where the dashboard is served; 0 for nowhere, :0 style ports take a free one");
  flags.add("dashboard-token-file", dashboardTokenFile_,
            "file with the token the dashboard wants; needed to serve it beyond loopback");
  flags.add("node-name", runnerOptions_.nodeName,
            "name of this machine's Node; the host's by default");
  flags.add("cgroup-root", runnerOptions_.cgroupRoot,
            "cgroup that holds kubepods; the top by default");
  flags.add(
      "best-effort-beside", bestEffortBeside_,
      "best-effort pods beside kubepods, behind everything else on this machine; false: inside, "
      "as a kubelet has them, where they are behind other pods only");
  flags.add(
      "scheduler-config", schedulerConfig_,
      "KubeSchedulerConfiguration with the profiles of the scheduler; our own when not given");
  flags.add("static-pods", runnerOptions_.staticPods, "folder of manifests that always run here");
  flags.add("container-runtime-endpoint", runnerOptions_.runtimeEndpoint,
            "socket of the container runtime that runs pods from images; the one of containerd or "
            "CRI-O when it is there; none: pods are processes of this machine");
  flags.add("bridge", runnerOptions_.bridge, "network bridge of the pods");
  flags.add("pod-subnet", runnerOptions_.podSubnet, "IPv4 network of the pods' addresses");
  flags.add("load-balancer-address", runnerOptions_.loadBalancerAddress,
            "IPv4 address of this machine at which services of type LoadBalancer are reached; they "
            "get none without it");
  frame::declareRecord(flags, record_);
  server_.add(flags);
}

Result<> UpRole::start(frame::RoleContext& context) {
  if (port_ < 0 || port_ > 65535) return invalid("--port {}: want 0 to 65535", port_);
  if (!net::isLoopback(bind_) && !allowRemote_)
    return invalid("--bind {}: other machines could connect; if that is meant, add --allow-remote",
                   bind_);
  const std::string& balancer = runnerOptions_.loadBalancerAddress;
  if (!balancer.empty() && !apiserver::isIpv4(balancer))
    return invalid("--load-balancer-address {}: want an IPv4 address of this machine", balancer);
  auto rules = oneMachineConfig(schedulerConfig_);
  if (!rules) return rules.error().in("--scheduler-config");
  for (const auto& warning : rules->warnings) logger.warn("{}: {}", schedulerConfig_, warning);
  schedulerRules_ = std::move(*rules);
  owner_ = &context.owner;
  runnerOptions_.bestEffort =
      bestEffortBeside_ ? kernel::BestEffortPlace::kBeside : kernel::BestEffortPlace::kInside;
  apiserver::tuneHeap();
  if (auto ok = startServer(context); !ok) return ok;
  if (auto ok = observeOnly_ ? startObserver(context) : startRunner(context); !ok) {
    // What was started needs the context, which ends before we do.
    client_->close();
    runnerThread_.reset();
    stopServer([] {});
    return ok;
  }
  heap_.emplace(context.clock, context.owner);
  // The roles find their configuration in place.
  createFirstObjects(*client_, context.owner, [this, &context] {
    if (stopping_) return;
    publishServer([this, &context] {
      if (stopping_) return;
      if (auto ok = startRoles(context); !ok) {
        logger.error("{}", ok.error().text());
        context.quit(1);
      }
    });
  });
  return {};
}

// Before anything is placed: a pod learns of services when it starts.
void UpRole::publishServer(Fn done) {
  if (podsReachUs_.empty()) return done();
  // A second cluster on this machine has another bridge, and must not take the first one's address.
  const bool usual = runnerOptions_.bridge == runtime::RunnerOptions().bridge;
  publishApi(*client_, *owner_, {podsReachUs_, serving_->port(), usual ? kApiAddress : ""},
             [this, done = std::move(done)](std::string clusterIp) mutable {
               if (stopping_) return;
               if (!clusterIp.empty())
                 if (auto ok = serving_->alsoKnownAs(clusterIp); !ok)
                   logger.warn("certificate for {}: {}", clusterIp, ok.error().text());
               done();
             });
}

Result<> UpRole::startRoles(frame::RoleContext& context) {
  RolesOptions options;
  options.node = nodeName();
  options.scheduler = schedulerRules_;
  options.observeOnly = observeOnly_;
  options.stateDir = dataDir_ + "/agent";
  options.cgroupRoot = runnerOptions_.cgroupRoot;
  options.bestEffort = runnerOptions_.bestEffort;
  options.picture = picture_;
  options.starting = starting_;
  options.ops = context.ops;
  if (enforce_) options.gates = &context.gates;
  managerSettings_ = managerSettings(context.gates);
  if (auto ok = options.managerGates.set(managerSettings_); !ok) return ok;
  options.io = &context.io;
  options.onLook = onLook_;
  if (!options.node.empty()) {
    serveMeasurements(serving_->embedded().server(), options.usage);
    serveNodeMetrics(serving_->embedded().server(), options.node, options.usage);
  }
  auto roles = allRoles(options);
  std::move(guests_.begin(), guests_.end(), std::back_inserter(roles));
  for (const auto& name : without_)
    if (std::none_of(roles.begin(), roles.end(), [&](const auto& r) { return r.name == name; }))
      return invalid("--without {}: there is no such role; want {}", name, namesOf(roles));
  if (!record_.path.empty()) logger.info("--record: {} are not recorded", namesOf(roles, false));
  for (auto& role : roles) {
    if (std::find(without_.begin(), without_.end(), role.name) != without_.end()) continue;
    auto mate = Mate::start(context.owner, serving_->embedded().server(), context.clock,
                            context.metrics, role.name, std::move(role.make),
                            role.records ? recordingOf(role.name) : MateRecording{});
    if (!mate) return mate.error().in("{}", role.name);
    mates_.push_back(std::move(*mate));
  }
  return {};
}

// A ring of files for each role. What a replay needs of our own flags: the manager's gates and the
// scheduler's rules.
MateRecording UpRole::recordingOf(const std::string& role) const {
  MateRecording out;
  if (record_.path.empty()) return out;
  out.where = {record_.path + "." + role, record_.limit};
  std::vector<std::string> args = {"--feature-gates=" + managerSettings_};
  if (!schedulerConfig_.empty()) args.push_back("--scheduler-config=" + schedulerConfig_);
  out.session = frame::record::sessionOf("up/" + role, args);
  return out;
}

Result<> UpRole::startServer(frame::RoleContext& context) {
  auto serving = apiserver::Serving::start(context, server_,
                                           {.dataDir = dataDir_,
                                            .bind = bind_,
                                            .port = static_cast<uint16_t>(port_),
                                            .windowEvents = kWindowEvents,
                                            .windowBytes = kWindowBytes,
                                            .isOwnAddress = net::isOwnAddress});
  if (!serving) return pass(serving.error());
  serving_ = std::move(*serving);
  if (std::find(without_.begin(), without_.end(), "koord-manager") == without_.end())
    picture_->expect();
  serving_->embedded().context().admission.add(
      managerAdmission(picture_, context.owner, context.clock, context.metrics));
  client_ = std::make_unique<apiserver::InProcessClient>(
      context.owner, serving_->embedded().server(), apiserver::Identity::system(), "mangrove-up");
  if (context.ops) guard_.emplace(*context.ops, *client_);

  sayLine(serving_->announcement());
  return {};
}

// The machine is measured and appears as a node on which nothing may be placed.
Result<> UpRole::startObserver(frame::RoleContext& context) {
  const kernel::SysRoot root;
  auto machine = runtime::readMachine(root, dataDir_, runnerOptions_.nodeName, frame::version());
  if (!machine) return pass(machine.error());
  machine->observed = true;
  observedNode_ = machine->nodeName;
  observer_ =
      std::make_unique<runtime::Registration>(*client_, context.owner, context.clock, *machine);
  observer_->start([name = observedNode_] {
    sayLine(fmt::format("node {} is observed: pods are not run here", name));
  });
  return {};
}

// The runner is made on its own thread, while this one waits: the server is not asked before
// start() returns.
Result<> UpRole::startRunner(frame::RoleContext& context) {
  runnerOptions_.dataDir = dataDir_;
  runnerOptions_.version = frame::version();
  runnerOptions_.equip = [kit = deviceKit()](const api::Pod& pod, std::string_view container) {
    return gearFor(kit, pod, container);
  };
  runnerOptions_.beforeStart = [gate = starting_](const runtime::StartingContainer& one) {
    (void)gate->before(one);
  };
  runnerThread_ = std::make_unique<client::Worker>();
  std::promise<Result<>> made;
  runnerThread_->mailbox().post([&] {
    auto runner = runtime::Runner::make(runnerOptions_, *client_, context.clock,
                                        runnerThread_->mailbox(), context.io);
    if (runner) runner_ = std::move(*runner);
    made.set_value(runner ? Result<>() : pass(runner.error()));
  });
  if (auto ok = made.get_future().get(); !ok)
    return ok.error().in("node runner (--observe-only does without)");
  serving_->embedded().setRunner(runner_.get());
  listenForPods();
  runnerThread_->mailbox().post([this] {
    runner_->start(
        [name = runner_->nodeName()] { sayLine(fmt::format("node {} is ready", name)); });
  });
  return {};
}

// Pods have no way to our loopback; the bridge is theirs and nobody else's.
void UpRole::listenForPods() {
  const std::string address = runner_->bridgeAddress();
  if (address.empty()) return;
  if (auto ok = serving_->listenAlso(address); !ok)
    return logger.warn("pods cannot reach the API server: {}", ok.error().text());
  podsReachUs_ = address;
}

// Roles first, so that nobody brings back what ends; then the pods; then the server.
void UpRole::stop(Fn stopped) {
  stopping_ = true;
  stopRoles([this, stopped = std::move(stopped)]() mutable { stopRunner(std::move(stopped)); });
}

void UpRole::stopRoles(Fn stopped) {
  if (mates_.empty()) return stopped();
  mates_.back()->stop([this, stopped = std::move(stopped)]() mutable {
    mates_.pop_back();
    stopRoles(std::move(stopped));
  });
}

void UpRole::stopRunner(Fn stopped) {
  observer_.reset();
  if (!runner_) return stopServer(std::move(stopped));
  serving_->embedded().setRunner(nullptr);
  // Pods end while the server still answers; then the runner, on its thread; then the server.
  auto gone = [this, stopped = std::make_shared<Fn>(std::move(stopped))] {
    runner_.reset();
    owner_->post([this, stopped] {
      client_->close();  // the runner may have asked for something, and its mailbox goes now
      runnerThread_.reset();
      stopServer(std::move(*stopped));
    });
  };
  runnerThread_->mailbox().post([this, gone = std::move(gone)]() mutable {
    if (keepPods_) return gone();
    runner_->halt([this, gone = std::move(gone)]() mutable {
      runnerThread_->mailbox().post(std::move(gone));
    });
  });
}

void UpRole::stopServer(Fn stopped) {
  serving_->stopListening(kShutdownGrace);
  guard_.reset();
  client_.reset();
  serving_->embedded().close();
  owner_->stop();  // what still waits there names parts of the server
  heap_.reset();
  serving_.reset();
  stopped();
}

}  // namespace mangrove::up
