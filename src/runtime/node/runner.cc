#include "runtime/node/runner.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/pod/classes.h"
#include "api/pod/pod_requests.h"
#include "base/os/files.h"
#include "base/os/log.h"
#include "runtime/core/admission.h"
#include "runtime/core/containment.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

const Logger logger("runtime");
constexpr int kPreparingThreads = 4;
constexpr size_t kRememberedEvents = 1024;  // of one machine's pods; ten times as many as may run
constexpr Duration kCheckStorage = std::chrono::seconds(10);    // as often as a kubelet
constexpr Duration kRefreshVolumes = std::chrono::seconds(60);  // as often as a kubelet

Result<> checkRights(const Cgroups& cgroups, const RunnerOptions& options) {
  const std::string probe = cgroups.tierPath(api::KubeQos::kGuaranteed);
  auto ok = cgroups.emptyParent();
  if (ok) ok = cgroups.make(probe, CgroupValues{});
  if (ok) return {};
  std::string dirs;
  const std::string name = options.cgroupRoot.empty() ? "NAME" : options.cgroupRoot;
  for (const auto& dir : cgroups.joinDirs(name)) dirs += " /" + dir;
  return ok.error().in(
      "running pods needs root, or cgroups that belong to this user (effective user is {}); an "
      "administrator can give them with: mkdir -p{} && chown -R {}{}, and then --cgroup-root {}{}. "
      "Missing now",
      ::geteuid(), dirs, ::geteuid(), dirs, name,
      cgroups.isV2() ? ", started from within that cgroup" : "");
}

NodeFacts factsOf(const RunnerOptions& options, const MachineFacts& machine) {
  NodeFacts facts;
  facts.nodeName = machine.nodeName;
  facts.hostIp = machine.address;
  facts.dataDir = options.dataDir;
  facts.program = options.program;
  facts.cpu = machine.cpu;
  facts.memory = machine.memory;
  facts.podPids = podPidsLimit(machine.maxPids);
  facts.isolation = probeIsolation(options.dataDir);
  facts.testProtections = std::getenv(kWithoutSwitch.data()) != nullptr;
  return facts;
}

Room roomOf(const MachineFacts& machine) {
  return {machine.cpu, machine.allocatableMemory(), machine.pods};
}

std::string ownProgram() {
  std::error_code error;
  const kernel::SysRoot root;
  auto target = root.readLink("proc/self/exe");
  return target ? *target : "mangrove";
}

}  // namespace

Result<std::unique_ptr<Runner>> Runner::make(RunnerOptions options, client::ApiClient& client,
                                             Clock& clock, Mailbox& owner, net::Loop& io) {
  std::error_code error;
  options.dataDir = fs::absolute(options.dataDir, error);
  if (options.program.empty()) options.program = ownProgram();
  for (const char* part : {"/pods", "/logs", "/volumes"}) {
    fs::create_directories(options.dataDir + part, error);
    if (error) return failErrno(error.value(), options.dataDir + part);
  }
  // A program that root of a pod makes set-user-id in a volume is root's on the disk as well: other
  // users of the machine must not come to it, wherever the data directory lies.
  for (const char* part : {"/pods", "/volumes"}) ::chmod((options.dataDir + part).c_str(), 0700);
  kernel::SysRoot root;
  auto cgroups = Cgroups::open(root, options.cgroupRoot, options.bestEffort);
  if (!cgroups) return pass(cgroups.error());
  if (auto ok = checkRights(*cgroups, options); !ok) return pass(ok.error());
  auto machine = readMachine(root, options.dataDir, options.nodeName, options.version);
  if (!machine) return pass(machine.error());
  auto runtime = findRuntime(options.runtimeEndpoint);
  if (!runtime) return pass(runtime.error());
  if (*runtime) machine->containerRuntime = (*runtime)->versionText();
  std::unique_ptr<Runner> runner(new Runner(std::move(options), client, clock, owner, io,
                                            std::move(root), std::move(*cgroups),
                                            std::move(*machine)));
  runner->node_.beforeStart = runner->options_.beforeStart;
  runner->node_.equip = runner->options_.equip;
  if (auto ok = runner->network_.start(); !ok) return pass(ok.error());
  if (const auto missing = runner->node_.isolation.missing(); !missing.empty())
    logger.warn("this machine does not permit these namespaces, so pods are without: {}", missing);
  if (!runner->network_.available())
    logger.warn("pods use the machine's network: {}", runner->network_.trouble());
  if (runner->network_.available()) runner->serveNames();
  if (auto ok = *runtime ? runner->moveIn(**runtime, io) : Result<>(); !ok) return pass(ok.error());
  if (auto ok = runner->network_.available() ? runner->wayOut_.open() : Result<>(); !ok) {
    runner->node_.noWayOut = ok.error().text();
    logger.warn("pods reach each other and this machine, nothing beyond it: {}",
                runner->node_.noWayOut);
  }
  return runner;
}

Runner::Runner(RunnerOptions options, client::ApiClient& client, Clock& clock, Mailbox& owner,
               net::Loop& io, kernel::SysRoot root, Cgroups cgroups, MachineFacts machine)
    : options_(std::move(options)),
      client_(client),
      clock_(clock),
      owner_(owner),
      root_(std::move(root)),
      cgroups_(cgroups.over(root_)),
      machine_(std::move(machine)),
      node_(factsOf(options_, machine_)),
      network_({options_.bridge, options_.podSubnet, options_.dataDir + "/addresses"}),
      wayOut_(root_, {options_.bridge, options_.podSubnet}),
      ports_(loop_),
      prep_(client, cgroups_, node_, services_),
      events_(client, home_.mailbox(), clock,
              {.component = "kubelet",
               .host = node_.nodeName,
               .correlator = {.memory = kRememberedEvents}}),
      parts_{owner, clock,    loop_, client,   events_, cgroups_, node_,
             prep_, network_, io,    running_, ports_,  names_},
      registration_(client, owner, clock, machine_) {
  for (int i = 0; i < kPreparingThreads; ++i)
    preparing_.push_back(std::make_unique<client::Worker>());
}

Result<> Runner::moveIn(const FoundRuntime& found, net::Loop& io) {
  CniOptions network;
  if (network_.available())
    network = {options_.bridge, options_.dataDir + "/addresses", network_.mask(),
               network_.gateway()};
  auto stay = RuntimeStay::make(found, {loop_, clock_, owner_, io}, network, options_.dataDir,
                                options_.program);
  if (!stay) return pass(stay.error());
  runtime_ = std::move(*stay);
  parts_.runtime = &runtime_->house();
  return {};
}

// Without one pods ask whom the machine asks, and find no Services by name.
void Runner::serveNames() {
  auto others = serversIn(readFile("/etc/resolv.conf").value_or(""));
  auto made = NameServer::open(loop_, network_.gateway(), 53, names_, std::move(others));
  if (!made) return logger.warn("pods find no Services by name: {}", made.error().text());
  nameServer_ = std::move(*made);
  node_.nameServer = network_.gateway();
}

Runner::~Runner() {
  life_.end();
  statics_.reset();
  volumes_.reset();
  forwarder_.reset();
  if (nameServer_) nameServer_->close();
  informer_.reset();
  for (auto& [uid, worker] : workers_) worker->leave();
  workers_.clear();
}

void Runner::start(Fn ready) {
  client::InformerSetup setup;
  setup.client = &client_;
  setup.owner = &owner_;
  setup.home = &home_.mailbox();
  setup.clock = &clock_;
  setup.follow.kind = client::kind::kPod;
  setup.follow.fieldSelector = "spec.nodeName=" + node_.nodeName;
  informer_ = std::make_unique<client::Informer<RunPod>>(std::move(setup));
  informer_->onChange([this](const client::Change<RunPod>& change) { onPod(change); });
  informer_->onSynced([this] { onSynced(); });
  registration_.start(std::move(ready));
  // Services first, so that the first pods know them.
  forwarder_ = std::make_unique<ServiceForwarder>(client_, owner_, home_.mailbox(), clock_, loop_,
                                                  network_.available() ? options_.bridge : "",
                                                  options_.loadBalancerAddress, services_, names_);
  forwarder_->start();
  volumes_ = std::make_unique<LocalVolumes>(
      client_, owner_, home_.mailbox(), clock_, events_, options_.dataDir + "/volumes",
      [this](std::string_view ns, std::string_view claim) { return usesClaim(ns, claim); });
  volumes_->start();
  informer_->start();
}

bool Runner::usesClaim(std::string_view ns, std::string_view claim) const {
  for (const auto& [uid, worker] : workers_) {
    if (worker->pod().ns() != ns) continue;
    for (const auto& volume : worker->pod().run.volumes)
      if (volume.kind == api::RunVolume::Kind::kClaim && volume.source == claim) return true;
  }
  return false;
}

void Runner::onSynced() {
  synced_ = true;
  if (haltWhenSynced_)  // later: it ends the informer, which is calling us
    owner_.post(life_.guard([this] { halt(std::exchange(haltWhenSynced_, nullptr)); }));
  if (!node_.noWayOut.empty()) {
    api::ObjectRef node;
    node.apiVersion = "v1";
    node.kind = "Node";
    node.name = node_.nodeName;
    events_.normal(
        node, "NoRouteOut",
        "pods reach each other and this machine, but nothing beyond it: " + node_.noWayOut);
  }
  removeStrays();
  if (runtime_) runtime_->begin([this](const std::string& uid) { return workers_.contains(uid); });
  for (auto& [uid, worker] : std::map(workers_)) worker->begin();
  updateTierShares();
  refreshVolumesLater();
  checkStorageLater();
  if (options_.staticPods.empty()) return;
  statics_ = std::make_unique<StaticPods>(client_, owner_, home_.mailbox(), clock_, node_.nodeName,
                                          options_.staticPods);
  statics_->start();
}

void Runner::refreshVolumesLater() {
  refresh_ = life_.later(clock_, owner_, kRefreshVolumes, [this] {
    if (halted_) return;
    for (const auto& [uid, worker] : workers_) worker->refreshVolumes();
    refreshVolumesLater();
  });
}

void Runner::checkStorageLater() {
  storage_ = life_.later(clock_, owner_, kCheckStorage, [this] {
    if (halted_) return;
    for (const auto& [uid, worker] : workers_) worker->checkStorage();
    checkStorageLater();
  });
}

void Runner::onPod(const client::Change<RunPod>& change) {
  if (halted_) return;
  const std::string before = change.before ? change.before->uid() : "";
  const std::string after = change.after ? change.after->uid() : "";
  if (!before.empty() && before != after) {
    auto found = workers_.find(before);
    if (auto keep = found == workers_.end() ? nullptr : found->second) keep->update(nullptr);
  }
  if (after.empty()) return updateTierShares();
  auto found = workers_.find(after);
  if (found != workers_.end()) {
    auto keep = found->second;
    keep->update(change.after);
  } else {
    begin(change.after);
  }
  updateTierShares();
}

void Runner::begin(const RunPodPtr& pod) {
  const std::string uid = pod->uid();
  Mailbox& preparing = preparing_[std::hash<std::string>()(uid) % preparing_.size()]->mailbox();
  auto worker = PodWorker::make(parts_, preparing, pod, life_.guard([this, uid] {
    workers_.erase(uid);
    if (volumes_) volumes_->look();
    if (halted_ && workers_.empty()) std::exchange(halted_, nullptr)();
  }));
  if (synced_) {
    // One that was bound behind the scheduler's back may not fit. What the server has no more counts
    // for nobody: a scheduler gives its room away the moment that a victim without grace is gone.
    std::vector<const RunPod*> present;
    for (const auto& [id, other] : workers_)
      if (!other->isAbsent() && !api::isTerminated(other->pod().pod))
        present.push_back(&other->pod());
    if (auto why = refusalOf(*pod, present, roomOf(machine_)))
      worker->refuse(why->reason, why->message);
  }
  workers_[uid] = worker;
  if (synced_) worker->begin();
}

// Pods that ended on the server while nobody was here, and what the last of us was about to remove
// when it was killed: a pod's address goes after its directory.
void Runner::removeStrays() {
  std::error_code error;
  for (const auto& uid : network_.holders())
    if (!workers_.contains(uid)) network_.release(uid);
  for (const auto& entry : fs::directory_iterator(options_.dataDir + "/logs", error)) {
    const std::string name = entry.path().filename();  // NS_NAME_UID
    if (workers_.contains(name.substr(name.rfind('_') + 1))) continue;
    preparing_[0]->mailbox().post([this, path = entry.path().string()] { prep_.removeLogs(path); });
  }
  for (const auto& entry : fs::directory_iterator(options_.dataDir + "/pods", error)) {
    const std::string uid = entry.path().filename();
    if (workers_.contains(uid)) continue;
    logger.info("removing what is left of pod {}", uid);
    std::string cgroup;
    for (const auto& [id, path] : cgroups_.pods())
      if (id == uid) cgroup = path;
    preparing_[0]->mailbox().post([this, uid, cgroup] {
      for (int i = 0; i < 50; ++i) {
        if (prep_.remove(uid, cgroup, "")) return;
        ::usleep(20'000);
      }
    });
  }
}

// A kubelet weighs the burstable branch by the sum of its pods' requests.
void Runner::updateTierShares() {
  MilliCpu burstable;
  for (const auto& [uid, worker] : workers_)
    if (api::kubeQos(worker->pod().pod) == api::KubeQos::kBurstable)
      burstable += api::podRequests(*worker->pod().pod.spec).cpu();
  CgroupValues all;
  all.shares = kernel::sharesOf(machine_.cpu);
  all.memory = machine_.allocatableMemory();
  (void)cgroups_.make(cgroups_.tierPath(api::KubeQos::kGuaranteed), all);
  cgroups_.setTierShares(api::KubeQos::kBurstable, kernel::sharesOf(burstable));
  // Beside kubepods the ceiling of all pods' memory is said again; the agent's memory ladder keeps
  // both together below it.
  CgroupValues batch;
  if (options_.bestEffort == kernel::BestEffortPlace::kBeside) batch.memory = all.memory;
  (void)cgroups_.make(cgroups_.tierPath(api::KubeQos::kBestEffort), batch);
}

// Told to end before it knows its pods: those of an earlier run go on until then.
void Runner::halt(Fn halted) {
  if (!synced_) {
    haltWhenSynced_ = std::move(halted);
    return;
  }
  statics_.reset();
  volumes_.reset();
  forwarder_.reset();
  if (nameServer_) nameServer_->close();
  informer_.reset();
  halted_ = [this, halted = std::move(halted)]() mutable {
    wayOut_.close();
    if (runtime_) runtime_->moveOut();
    network_.stop();
    cgroups_.removeAll();
    halted();
  };
  if (workers_.empty()) return std::exchange(halted_, nullptr)();
  for (auto& [uid, worker] : std::map(workers_)) worker->halt();
}

}  // namespace mangrove::runtime
