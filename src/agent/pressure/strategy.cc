#include "agent/pressure/strategy.h"

#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "agent/qos/cpu_suppress/quota.h"
#include "agent/qos/kernel_floor.h"
#include "kernel/control_files.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kQuota = kernel::resource_name::kCpuQuota;
constexpr int64_t kPeriod = 100'000;
// A threshold below this asks for idle CPUs, which the idle class does not leave.
constexpr Percent kNoHeadroomAsked{90};

std::string pathOf(const Machine& machine, std::string_view resource, std::string_view cgroup) {
  const kernel::ControlResource* control = kernel::findResource(resource);
  return kernel::filePath(machine.trees(), *control, cgroup).value_or("");
}

bool isColocating(const Look& look) {
  const auto& threshold = look.slo->resourceUsedThresholdWithBe;
  return threshold && threshold->enable.value_or(false);
}

bool asksForHeadroom(const Look& look) {
  return look.slo->resourceUsedThresholdWithBe->cpuSuppressThresholdPercent.value_or(Percent{0}) <
         kNoHeadroomAsked;
}

// v1 refuses a group's limit below one of its children's, so these come down with it.
void capChildren(const Situation& now, int64_t cap, const std::string& why, Wishes& out) {
  const auto one = [&](std::string_view cgroup) {
    const auto has = now.present.present(cgroup, kQuota);
    if (has && has->number != kUnlimited)
      out.values.push_back({std::string(cgroup), kQuota, Part::cap(cap), why});
  };
  for (const PodLook& pod : now.look.pods) {
    if (pod.tier != kernel::PodTier::kBestEffort) continue;
    one(pod.cgroup);
    for (const ContainerLook& container : pod.containers) one(container.cgroup);
  }
}

bool isService(const PodLook& pod) {
  return pod.tier != kernel::PodTier::kBestEffort && pod.qos != api::Qos::kBe &&
         pod.qos != api::Qos::kSystem;
}

bool isService(const HostAppLook& app) {
  return app.qos == api::Qos::kLse || app.qos == api::Qos::kLsr || app.qos == api::Qos::kLs;
}

ServiceFiles filesOf(const Machine& machine, const PodLook& pod) {
  ServiceFiles files(machine.trees().pressurePath(pod.cgroup));
  files.gated = pod.tier == kernel::PodTier::kBurstable;
  const auto add = [&](std::string_view cgroup) {
    files.stats.push_back(pathOf(machine, kernel::resource_name::kCpuStat, cgroup));
  };
  add(pod.cgroup);
  for (const ContainerLook& container : pod.containers) add(container.cgroup);
  return files;
}

// Work outside of pods waits like a service's. Where pods have a parent of their own, what is beside
// it is not below this tree.
void watchSystem(const Machine& machine, WatchedFiles& out) {
  if (!machine.mounts().cgroupParent.empty()) return;
  for (const char* group : {"system.slice", "user.slice"})
    out.services.emplace_back(machine.trees().pressurePath(group));
}

void watchServices(const Situation& now, WatchedFiles& out) {
  const Machine& machine = *now.look.machine;
  out.gates = {machine.trees().pressurePath(machine.layout().tierDir(kernel::PodTier::kBurstable))};
  for (const PodLook& pod : now.look.pods)
    if (isService(pod)) out.services.push_back(filesOf(machine, pod));
  for (const HostAppLook& app : now.look.hostApps)
    if (isService(app))
      out.services.emplace_back(
          machine.trees().pressurePath(app.cgroup),
          std::vector{pathOf(machine, kernel::resource_name::kCpuStat, app.cgroup)});
  watchSystem(machine, out);
}

}  // namespace

SentinelOrders sentinelFiles(const Machine& machine) {
  const std::string group = machine.layout().tierDir(kernel::PodTier::kBestEffort);
  SentinelOrders orders;
  orders.quotaFile = pathOf(machine, kQuota, group);
  orders.usageFile = pathOf(machine, kernel::resource_name::kCpuUsage, group);
  orders.version = machine.trees().version();
  orders.watch.version = orders.version;
  orders.watch.triggers = machine.can().has(kernel::Feature::kShortPressureWindow);
  orders.watch.nodePressure = machine.mounts().procFile("pressure/cpu");
  orders.watch.nodeStat = machine.mounts().procFile("stat");
  orders.watch.cpus = static_cast<int64_t>(machine.cpus().cpus.size());
  orders.governor.machine = static_cast<int64_t>(machine.cpus().cpus.size()) * kPeriod;
  orders.governor.floor = kLeastQuota;
  return orders;
}

SentinelOrders sentinelOrders(const Situation& now) {
  const Machine& machine = *now.look.machine;
  SentinelOrders orders = sentinelFiles(machine);
  watchServices(now, orders.watch);
  const FloorPlace floor = floorInForce(now);
  if (floor == FloorPlace::kPods) orders.governor = forIdlePods(orders.governor);
  if (floor == FloorPlace::kGroup) orders.governor = forIdleClass(orders.governor);
  return orders;
}

StrategyInfo PressureCut::info() const {
  return {.name = owner::kPressure, .gate = "PressureCut", .ofTheGroup = true};
}

Wishes PressureCut::decide(const Situation& now) {
  if (!now.look.slo) return Wishes::holding("no NodeSLO yet");
  Wishes out;
  if (!isColocating(now.look)) {
    sentinel_.rest();
    out.note = "colocation is off";
    return out;
  }
  SentinelOrders orders = sentinelOrders(now);
  orders.dryRun = options_.dryRun;
  orders.watch.triggers = orders.watch.triggers && options_.triggers;
  sentinel_.order(std::move(orders));
  const SentinelStatus status = sentinel_.status();
  const int64_t cap = sentinel_.cap();
  out.note = fmt::format("{} of {} groups, {} cuts, services wait {:.0f} % anyway", status.mode,
                         status.groups, status.cuts, status.baseline * 100);
  const std::string group = now.look.machine->layout().tierDir(kernel::PodTier::kBestEffort);
  const bool sees = status.mode == "poll" || status.mode == "trigger" || status.mode == "node";
  if (cap == kUnlimited) {
    if (options_.only && sees && !asksForHeadroom(now.look) &&
        floorInForce(now) != FloorPlace::kNone)
      out.base(group, kQuota, FileValue::of(kUnlimited),
               "services do not wait, and the kernel's idle class holds best-effort work");
    for (Wish& wish : out.values) wish.ours = true;
    return out;
  }
  const std::string why = fmt::format("services waited for CPUs: at most {} us", cap);
  out.values.push_back({group, kQuota, Part::cap(cap), why, "", true});
  if (!now.look.machine->trees().isV2()) capChildren(now, cap, why, out);
  return out;
}

}  // namespace mangrove::agent
