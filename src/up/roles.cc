#include "up/roles.h"

#include <fmt/format.h>

#include "agent/agent.h"
#include "agent/almanac/serve.h"
#include "agent/devices/nvml.h"
#include "agent/qos/enforcement.h"
#include "base/lifetime.h"
#include "client/events/event_recorder.h"
#include "descheduler/config/recommended.h"
#include "descheduler/descheduler.h"
#include "manager/gates.h"
#include "manager/manager.h"
#include "manager/webhook/cluster_picture.h"
#include "manager/webhook/owner_judge.h"
#include "scheduler/scheduler.h"
#include "up/one_machine.h"
#include "workloads/workloads.h"

namespace mangrove::up {

namespace {

api::ObjectRef aboutObject(const manager::InProcessQuestion& question) {
  api::ObjectRef out;
  out.apiVersion =
      question.group.empty() ? question.version : question.group + "/" + question.version;
  out.kind = question.kind;
  out.ns = question.ns;
  out.name = question.name.empty() ? "unnamed" : question.name;
  return out;
}

constexpr Duration kLookAgain = std::chrono::milliseconds(20);

manager::ManagerOptions optionsOf(const FeatureGates& gates) {
  manager::ManagerOptions out;
  out.gates = gates;
  return out;
}

class ManagerMate final : public MateRole {
 public:
  ManagerMate(MateHouse& house, std::shared_ptr<PictureSlot> slot, const FeatureGates& gates)
      : slot_(std::move(slot)),
        events_(house.client, house.home, house.clock, {.component = "koordinator-manager"}),
        manager_({.client = &house.client,
                  .owner = &house.owner,
                  .home = &house.home,
                  .clock = &house.clock,
                  .metrics = &house.metrics,
                  .events = &events_},
                 optionsOf(gates)),
        picture_({.client = &house.aside.client,
                  .owner = &house.owner,
                  .home = &house.aside.home,
                  .clock = &house.aside.clock,
                  .metrics = &house.metrics}),
        judge_({.client = &house.aside.client,
                .owner = &house.owner,
                .home = &house.aside.home,
                .clock = &house.aside.clock,
                .picture = &picture_,
                .nodes = [this] { return manager_.nodeLabels(); }}),
        notices_(house.aside.client, house.aside.home, house.aside.clock,
                 {.component = "koordinator-manager"}),
        clock_(house.aside.clock),
        owner_(house.owner) {}
  ~ManagerMate() override { slot_->takeBack(); }
  Result<> start() override {
    manager_.start();
    manager_.lead();  // there is only one
    picture_.start();
    judge_.start();
    lendWhenReady();
    return {};
  }
  void stop(Fn done) override {
    lendTimer_.reset();
    slot_->takeBack();
    manager_.yield(std::move(done));
  }

 private:
  // A picture without the cluster's profiles would let pods pass as if there were none.
  void lendWhenReady() {
    if (picture_.ready()) return lend();
    lendTimer_ = life_.later(clock_, owner_, kLookAgain, [this] { lendWhenReady(); });
  }

  void lend() {
    LentAdmission lent;
    lent.now = [this] { return picture_.now(); };
    lent.heard = [this](const auto& question, const manager::Notice& notice) {
      notices_.warning(aboutObject(question), notice.reason, notice.message);
    };
    lent.ask = [this, life = life_.token()](auto question) {
      owner_.post(
          life.guard([this, question = std::move(question)]() mutable { question(judge_); }));
    };
    lent.needsSecondLook = judge_.needsSecondLook();
    slot_->lend(std::move(lent));
  }

  std::shared_ptr<PictureSlot> slot_;
  client::EventRecorder events_;
  manager::Manager manager_;
  manager::ClusterPicture picture_;
  manager::OwnerJudge judge_;
  client::EventRecorder notices_;  // of admission
  Clock& clock_;
  Mailbox& owner_;
  Timer lendTimer_;
  Lifetime life_;  // goes first
};

class SchedulerMate final : public MateRole {
 public:
  SchedulerMate(MateHouse& house, placement::SchedulerConfig config)
      : house_(house), config_(std::move(config)) {}
  Result<> start() override {
    auto made = scheduler::Scheduler::make(
        {house_.client, house_.clock, house_.owner, house_.home, house_.metrics, config_});
    if (!made) return pass(made.error());
    scheduler_ = std::move(*made);
    scheduler_->start();
    scheduler_->setActive(true);
    return {};
  }
  void stop(Fn done) override { scheduler_->stop(std::move(done)); }

 private:
  MateHouse& house_;
  placement::SchedulerConfig config_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
};

// With one machine there is nowhere to go; jobs that users make are carried, and a second node makes
// it a cluster.
class DeschedulerMate final : public MateRole {
 public:
  DeschedulerMate(MateHouse& house, placement::SchedulerConfig config)
      : house_(house),
        config_(std::move(config)),
        events_(house.client, house.home, house.clock, {.component = "koord-descheduler"}) {}
  Result<> start() override {
    const descheduler::DeschedulerConfig config = descheduler::recommendedConfig();
    auto made = descheduler::Descheduler::make({.client = &house_.client,
                                                .owner = &house_.owner,
                                                .home = &house_.home,
                                                .clock = &house_.clock,
                                                .metrics = &house_.metrics,
                                                .events = &events_,
                                                .noticeNamespace = config.election.lease.ns,
                                                .scheduler = config_},
                                               config);
    if (!made) return pass(made.error());
    descheduler_ = std::move(*made);
    descheduler_->start();
    descheduler_->lead();
    return {};
  }
  void stop(Fn done) override {
    descheduler_->yield();
    done();
  }

 private:
  MateHouse& house_;
  placement::SchedulerConfig config_;
  client::EventRecorder events_;
  std::unique_ptr<descheduler::Descheduler> descheduler_;
};

class WorkloadsMate final : public MateRole {
 public:
  WorkloadsMate(MateHouse& house, std::shared_ptr<const workloads::UsageBoard> usage)
      : workloads_({.client = &house.client,
                    .owner = &house.owner,
                    .home = &house.home,
                    .clock = &house.clock,
                    .metrics = &house.metrics,
                    .usage = std::move(usage)}) {}
  Result<> start() override {
    workloads_.start();
    return {};
  }
  void stop(Fn done) override { workloads_.stop(std::move(done)); }

 private:
  workloads::Workloads workloads_;
};

// Containers whose use is known this tick.
std::vector<workloads::UsageBoard::Seen> seenIn(const agent::Look& look) {
  std::vector<workloads::UsageBoard::Seen> out;
  for (const agent::PodLook& pod : look.pods) {
    if (!pod.pod) continue;
    workloads::UsageBoard::Seen one{
        pod.pod->meta.ns.str(), pod.pod->meta.name.str(), {}, pod.pod->meta.labels};
    for (const agent::ContainerLook& container : pod.containers) {
      if (!container.usage.cpu || !container.usage.memory) continue;
      one.containers.push_back(
          {std::string(container.name), *container.usage.cpu, container.usage.memory->v});
    }
    if (!one.containers.empty()) out.push_back(std::move(one));
  }
  return out;
}

kernel::PodTier tierOf(api::KubeQos qos) {
  return qos == api::KubeQos::kBestEffort  ? kernel::PodTier::kBestEffort
         : qos == api::KubeQos::kBurstable ? kernel::PodTier::kBurstable
                                           : kernel::PodTier::kGuaranteed;
}

class AgentMate final : public MateRole {
 public:
  AgentMate(MateHouse& house, RolesOptions options) : house_(house), options_(std::move(options)) {}
  ~AgentMate() override { options_.starting->takeBack(); }
  Result<> start() override {
    agent::AgentOptions options;
    options.node = options_.node;
    options.machine = agent::liveMachine();
    options.machine.driver = kernel::CgroupDriver::kCgroupfs;  // as the node runner lays them out
    options.machine.mounts.cgroupParent = options_.cgroupRoot;
    options.machine.bestEffort = options_.bestEffort;
    options.historyDir = options_.stateDir;
    options.configDir = options_.stateDir;
    // Cards are reported where their vendor's library is; there are no gates to ask for it here.
    options.devices.accelerators = options.collect.gpus = agent::hasGpuLibrary();
    options.firstReport = std::chrono::seconds(1);  // there are no other nodes to spread from
    auto made = agent::Agent::make(
        {house_.client, house_.clock, house_.owner, house_.home, house_.metrics, external_},
        std::move(options));
    if (!made) return pass(made.error());
    agent_ = std::move(*made);
    almanac_ =
        agent::keepAlmanac(*agent_, options_.stateDir + "/almanac", options_.ops, house_.clock);
    if (options_.gates != nullptr && !options_.observeOnly) enforce();
    agent_->onLook([this](const agent::Look& look) {
      note(look);
      if (options_.onLook) options_.onLook(look, {enforcement_.get(), almanac_});
    });
    agent_->start();
    return {};
  }
  void stop(Fn done) override {
    options_.starting->takeBack();
    enforcement_.reset();  // gives the pods' groups back what they had
    agent_->stop();
    done();
  }

 private:
  void note(const agent::Look& look) {
    options_.usage->note(look.wall, seenIn(look));
    const agent::Usage& node = look.node.usage;
    if (!node.cpu || !node.memory) return;
    options_.usage->noteNode(look.wall, options_.node, *node.cpu, node.memory->v);
  }
  void enforce() {
    agent::EnforcementOptions options;
    options.enforcer.stateFile = options_.stateDir + "/enforce.json";
    options.enforcer.diskPath = options_.stateDir;  // on the disk of the pods' files
    options.reflexes.heartbeat = options_.stateDir + "/heartbeat";
    // The groups are ours and no kubelet's: the kernel keeps best-effort work out of the way of
    // services, and a quota comes only when they wait all the same.
    options.strategies.ownsGroup = true;
    options.reflexes.suppressOnPressure = true;
    enforcement_ = std::make_unique<agent::Enforcement>(
        agent::EnforcementSetup{*agent_, house_.client, house_.home, house_.owner, house_.clock,
                                house_.metrics, *options_.gates, options_.ops, options_.io},
        std::move(options));
    options_.starting->lend(house_.owner, [this](const runtime::StartingContainer& one) {
      return enforcement_ == nullptr || enforcement_->containerStarts(begins(one));
    });
  }
  static agent::StartingContainer begins(const runtime::StartingContainer& one) {
    return {one.podUid, one.podCgroup, tierOf(one.qos), one.id, one.name, one.cgroup};
  }

  MateHouse& house_;
  const RolesOptions options_;
  Registry external_;
  std::unique_ptr<agent::Agent> agent_;
  std::unique_ptr<agent::Enforcement> enforcement_;
  std::shared_ptr<agent::Almanac> almanac_;
};

}  // namespace

std::vector<GateInfo> offeredManagerGates() {
  std::vector<GateInfo> out;
  for (const GateInfo& gate : manager::managerGates())
    if (gate.name == "InterferenceRules" || gate.name == "InterferencePool") out.push_back(gate);
  return out;
}

std::string managerSettings(const FeatureGates& all) {
  std::string out;
  for (const GateInfo& gate : offeredManagerGates())
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", gate.name, all.on(gate.name));
  return out;
}

FeatureGates defaultManagerGates() {
  return FeatureGates(manager::managerGates());
}

std::vector<NamedMate> allRoles(const RolesOptions& options) {
  std::vector<NamedMate> roles;
  roles.push_back({"koord-manager",
                   [slot = options.picture,
                    gates = options.managerGates](MateHouse& house) -> std::unique_ptr<MateRole> {
                     return std::make_unique<ManagerMate>(house, slot, gates);
                   },
                   true});
  roles.push_back({"koord-scheduler",
                   [config = options.scheduler](MateHouse& house) -> std::unique_ptr<MateRole> {
                     return std::make_unique<SchedulerMate>(house, config);
                   },
                   true});
  roles.push_back({"koord-descheduler",
                   [config = options.scheduler](MateHouse& house) -> std::unique_ptr<MateRole> {
                     return std::make_unique<DeschedulerMate>(house, config);
                   },
                   true});
  roles.push_back({"workload-controllers",
                   [usage = options.usage](MateHouse& house) -> std::unique_ptr<MateRole> {
                     return std::make_unique<WorkloadsMate>(house, usage);
                   }});
  if (options.node.empty()) return roles;
  roles.push_back({"koordlet", [options](MateHouse& house) -> std::unique_ptr<MateRole> {
                     return std::make_unique<AgentMate>(house, options);
                   }});
  return roles;
}

}  // namespace mangrove::up
