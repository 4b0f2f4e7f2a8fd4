#include "agent/collect/best_effort.h"

#include <algorithm>

#include "agent/collect/control_path.h"
#include "agent/collect/usage_rules.h"
#include "kernel/scan.h"

namespace mangrove::agent {
namespace {

namespace name = kernel::resource_name;

// v1 has no "effective" file: what is configured is what is used.
std::string cpusetFile(const Machine& machine, std::string_view cgroup) {
  return controlPath(machine, machine.trees().isV2() ? name::kCpusetEffective : name::kCpuset,
                     cgroup);
}

// An empty set has not been set yet (or could not be read): it says nothing.
std::optional<size_t> sizeOf(std::string_view text) {
  const auto set = CpuSet::parse(trim(text));
  return set && set->size() > 0 ? std::optional(set->size()) : std::nullopt;
}

}  // namespace

BestEffortMeter::BestEffortMeter(const Machine& machine)
    : machine_(&machine),
      cgroup_(machine.layout().tierDir(kernel::PodTier::kBestEffort)),
      cpu_(controlPath(machine, name::kCpuUsage, cgroup_)),
      cpuset_(cpusetFile(machine, cgroup_)),
      quota_(controlPath(machine, name::kCpuQuota, cgroup_)) {
  if (!machine.trees().isV2()) period_ = HotFile(controlPath(machine, name::kCpuPeriod, cgroup_));
}

BestEffortLook BestEffortMeter::sample(Reader& reader, const Clock& clock,
                                       const CgroupMirror& mirror, const PodBook& book,
                                       MeterTroubles& troubles) {
  BestEffortLook out;
  out.usage = usage(reader, clock, troubles);
  out.limit = limit(reader, clock.mono(), mirror);
  if (requestVersion_ != book.version()) {
    request_ = {};
    book.each([&](const PodPtr& pod) {
      if (api::rawQos(pod->meta.labels) == api::Qos::kBe && !api::isTerminated(*pod))
        request_ += batchRequest(*pod);
    });
    requestVersion_ = book.version();
  }
  out.request = request_;
  return out;
}

std::optional<MilliCpu> BestEffortMeter::usage(Reader& reader, const Clock& clock,
                                               MeterTroubles& troubles) {
  const MonoTime at = clock.mono();
  const auto text = reader.read(cpu_);
  if (!text) {
    before_.reset();
    guard_.reset();
    return std::nullopt;
  }
  const auto used = kernel::parseCpuUsage(*text, machine_->trees().version());
  if (!used) {
    ++troubles.unreadable;
    before_.reset();
    guard_.reset();
    return std::nullopt;
  }
  const auto before = std::exchange(before_, std::pair(*used, at));
  const bool believed = guard_.next(*used, at, machine_->largestUsage()).has_value();
  if (guard_.trouble() == RateTrouble::kFirst) return MilliCpu{0};
  if (guard_.trouble() == RateTrouble::kShrunk) ++troubles.shrunk;
  if (guard_.trouble() == RateTrouble::kImplausible) ++troubles.implausible;
  if (!before || !believed) return std::nullopt;
  return bestEffortUsage(before->first, *used, at - before->second);
}

std::optional<size_t> BestEffortMeter::cpusetSize(Reader& reader, HotFile& file) {
  const auto text = reader.read(file);
  return text ? sizeOf(*text) : std::nullopt;
}

// The smallest set counts: a sandbox keeps all CPUs while its containers are confined.
void BestEffortMeter::readContainerCpusets(Reader& reader, const CgroupMirror& mirror) {
  smallestContainer_.reset();
  for (const auto& pod : mirror.pods()) {
    if (pod->tier != kernel::PodTier::kBestEffort) continue;
    for (const MirroredContainer& container : pod->containers) {
      const auto text = reader.readOnce(cpusetFile(*machine_, container.meter.cgroup()));
      const auto size = text ? sizeOf(*text) : std::nullopt;
      if (!size) continue;
      smallestContainer_ = std::min(smallestContainer_.value_or(*size), *size);
    }
  }
}

std::optional<std::pair<kernel::CpuQuota, int64_t>> BestEffortMeter::quota(Reader& reader) {
  const auto text = reader.read(quota_);
  if (!text) return std::nullopt;
  if (machine_->trees().isV2()) {
    const kernel::CpuMax max = kernel::parseCpuMax(*text);
    if (!max.quota || !max.periodUs) return std::nullopt;
    return std::pair(*max.quota, *max.periodUs);
  }
  const auto quota = kernel::parseOnly<int64_t>(*text);
  const auto periodText = reader.read(period_);
  const auto period = periodText ? kernel::parseOnly<int64_t>(*periodText) : std::nullopt;
  if (!quota || !period || *quota < -1 || *period <= 0) return std::nullopt;
  return std::pair(kernel::CpuQuota::ofUs(*quota), *period);
}

std::optional<MilliCpu> BestEffortMeter::limit(Reader& reader, MonoTime now,
                                               const CgroupMirror& mirror) {
  const auto own = cpusetSize(reader, cpuset_);
  const auto cap = quota(reader);
  if (!own || !cap || *own > static_cast<size_t>(machine_->cpus().possible)) return std::nullopt;
  if (containersAt_ == MonoTime::min() || now - containersAt_ >= kContainerCpusets) {
    readContainerCpusets(reader, mirror);
    containersAt_ = now;
  }
  return bestEffortLimit(std::min(*own, smallestContainer_.value_or(*own)), cap->first,
                         cap->second);
}

}  // namespace mangrove::agent
