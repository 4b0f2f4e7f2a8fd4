#include "agent/bench/governed.h"

#include <algorithm>

#include <unistd.h>

#include "agent/qos/cpu_suppress/budget.h"
#include "agent/qos/cpu_suppress/pick.h"
#include "agent/qos/cpu_suppress/quota.h"
#include "base/clock.h"
#include "base/text/strings.h"
#include "kernel/control_files.h"
#include "kernel/cpu_topology.h"
#include "kernel/proc_stat.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

constexpr Duration kTick = std::chrono::seconds(1);
constexpr Duration kFirst = std::chrono::milliseconds(200);

std::string group() {
  return PodCgroups::tierDir(kernel::PodTier::kBestEffort);
}

}  // namespace

GovernedBatch::GovernedBatch(const PodCgroups& pods, BatchProfile profile)
    : pods_(pods), profile_(profile), cpus_(std::max<long>(::sysconf(_SC_NPROCESSORS_ONLN), 1)) {
  if (profile_ != BatchProfile::kReference) {
    sentinel_ = std::make_unique<Sentinel>(root_, realClock(), SentinelOptions{});
    sentinel_->order(orders());
    sentinel_->start();
  }
  thread_ = std::thread([this] { run(); });
}

GovernedBatch::~GovernedBatch() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  bell_.notify_all();
  thread_.join();
}

std::string GovernedBatch::file(std::string_view resource, const std::string& cgroup) const {
  return kernel::filePath(pods_.trees(), *kernel::findResource(resource), cgroup).value_or("");
}

SentinelOrders GovernedBatch::orders() const {
  SentinelOrders out;
  out.watch.services = {
      pods_.trees().pressurePath(PodCgroups::tierDir(kernel::PodTier::kBurstable))};
  out.quotaFile = file(kernel::resource_name::kCpuQuota, group());
  out.usageFile = file(kernel::resource_name::kCpuUsage, group());
  out.version = out.watch.version = pods_.trees().version();
  out.watch.triggers = true;
  out.governor.machine = cpus_ * 100'000;
  out.governor.floor = kLeastQuota;
  // The kernel floor is part of the profile.
  out.governor =
      profile_ == BatchProfile::kMangrove ? forIdleClass(out.governor) : forIdlePods(out.governor);
  return out;
}

double GovernedBatch::used(const std::string& cgroup) const {
  auto text = kernel::readText(root_, file(kernel::resource_name::kCpuUsage, cgroup));
  if (!text || !*text) return 0;
  auto total = kernel::parseCpuUsage(**text, pods_.trees().version());
  return total ? std::chrono::duration<double>(*total).count() : 0;
}

double GovernedBatch::machineUsed() const {
  auto text = kernel::readText(root_, "proc/stat");
  auto ticks = text && *text ? kernel::nodeTicks(**text) : Result<kernel::Ticks>(kernel::Ticks{});
  return ticks ? static_cast<double>(ticks->busy) / static_cast<double>(::sysconf(_SC_CLK_TCK)) : 0;
}

void GovernedBatch::tick() {
  const MonoTime now = realClock().mono();
  const Seen seen{now, machineUsed(), used(""),
                  used(PodCgroups::tierDir(kernel::PodTier::kBurstable))};
  const Seen before = std::exchange(seen_, seen);
  if (before.at == MonoTime::min()) return;
  const double elapsed = std::chrono::duration<double>(now - before.at).count();
  SuppressInputs in;
  in.capacity = MilliCpu{cpus_ * 1000};
  in.nodeUsed = (seen.machine - before.machine) / elapsed;
  in.podsUsed = (seen.pods - before.pods) / elapsed;
  in.servicePodsUsed = (seen.services - before.services) / elapsed;
  in.thresholdPercent = profile_ == BatchProfile::kReference ? 65 : 95;
  const MilliCpu budget = suppressBudget(in);
  if (profile_ == BatchProfile::kReference)
    byCpuset(budget);
  else
    byQuota(budget, now);
}

// As the executor would compose it: what suppression leaves, cut by what the sentinel found.
void GovernedBatch::byQuota(MilliCpu budget, MonoTime now) {
  const std::string path = file(kernel::resource_name::kCpuQuota, group());
  auto text = kernel::readText(root_, path);
  if (!text || !*text) return;
  const FileRule& rule = *ruleOf(kernel::resource_name::kCpuQuota);
  auto value = parseValue(rule, **text, pods_.trees().version());
  if (!value) return;
  const kernel::CpuQuota present = value->quota();
  int64_t quota = suppressQuota(budget, cpus_, present).us();
  if (!present.isNone()) quota = damper_.next(now, present.us(), quota);
  const int64_t cap = sentinel_->cap();
  // As PressureCut has it: while services do not wait, the kernel floor suffices.
  quota = cap == kUnlimited ? kUnlimited : std::min(quota, cap);
  if (quota != value->number)
    (void)root_.write(path, formatValue(rule, FileValue::of(quota), pods_.trees().version()));
}

void GovernedBatch::byCpuset(MilliCpu budget) {
  auto topology = kernel::readCpuTopology(root_, {});
  auto text = kernel::readText(root_, file(kernel::resource_name::kCpuset, group()));
  if (!topology || !text || !*text) return;
  SuppressCpus in;
  in.machine = topology->cpus;
  in.present = CpuSet::parse(trim(**text)).value_or(CpuSet());
  in.budget = budget;
  const CpuSet cpus = suppressCpus(in);
  if (!cpus.empty() && cpus != in.present)
    (void)root_.write(file(kernel::resource_name::kCpuset, group()), cpus.text());
}

void GovernedBatch::run() {
  for (Duration wait = kFirst;; wait = kTick) {
    tick();
    std::unique_lock lock(mutex_);
    if (bell_.wait_for(lock, wait, [this] { return ending_; })) return;
  }
}

}  // namespace mangrove::agent
