#include "agent/collect/cgroup_meter.h"

#include "agent/collect/control_path.h"

namespace mangrove::agent {
namespace {

namespace name = kernel::resource_name;

using kernel::CgroupVersion;
using kernel::Controller;

// More waiting than this many tasks at once is no waiting, it is a broken counter.
constexpr double kMostWaiters = 1e6;

}  // namespace

CgroupMeter::CgroupMeter(const Machine& machine, std::string cgroup)
    : machine_(&machine), cgroup_(std::move(cgroup)) {
  cpu_ = HotFile(controlPath(machine, name::kCpuUsage, cgroup_));
  if (!machine.trees().isV2()) throttling_ = HotFile(controlPath(machine, name::kCpuStat, cgroup_));
  if (machine.trees().has(Controller::kMemory))
    memory_ = HotFile(controlPath(machine, name::kMemoryStat, cgroup_));
}

CgroupSample CgroupMeter::sample(Reader& reader, const Clock& clock, const Measure& what,
                                 MeterTroubles& troubles) {
  CgroupSample out;
  readCpu(reader, clock, what, out, troubles);
  if (!out.alive) return out;
  if (what.memory) readMemory(reader, troubles);
  out.memory = lastMemory_;
  if (what.cold) readCold(reader, out, troubles);
  return out;
}

void CgroupMeter::readCpu(Reader& reader, const Clock& clock, const Measure& what,
                          CgroupSample& out, MeterTroubles& troubles) {
  const MonoTime at = clock.mono();
  const auto text = reader.read(cpu_);
  if (!text) {
    out.gone = reader.vanished();
    return;
  }
  out.alive = true;
  const CgroupVersion version = machine_->trees().version();
  const auto used = kernel::parseCpuUsage(*text, version);
  if (!used) {
    ++troubles.unreadable;
    rate_.reset();
    slotRate_.reset();
    return;
  }
  cpuTime_ = *used;
  out.cpu = rate_.next(*used, at, machine_->largestUsage());
  if (what.slot) out.slotCpu = slotRate_.next(*used, at, machine_->largestUsage());
  if (rate_.trouble() == RateTrouble::kShrunk) ++troubles.shrunk;
  if (rate_.trouble() == RateTrouble::kImplausible) ++troubles.implausible;
  if (!what.throttling) return;
  if (version == CgroupVersion::kV2) return readThrottling(*text, out, at, troubles);
  const auto stat = reader.read(throttling_);
  if (stat) readThrottling(*stat, out, at, troubles);
}

// A cgroup without the cpu controller has no such rows; that is no trouble.
void CgroupMeter::readThrottling(std::string_view text, CgroupSample& out, MonoTime at,
                                 MeterTroubles& troubles) {
  const auto now = kernel::parseThrottling(text, machine_->trees().version());
  if (now && before_) {
    out.throttled = kernel::throttledRatio(*before_, *now);
    if (*out.throttled < 0 || *out.throttled > 1) {
      ++troubles.implausible;
      out.throttled.reset();
    } else {
      out.periods = {now->periods - before_->periods, now->throttled - before_->throttled};
    }
  }
  before_ = now ? std::optional(*now) : std::nullopt;
  if (const auto waited = kernel::parseRunQueueWait(text))
    out.runQueue = runQueue_.next(*waited, at, kMostWaiters);
}

void CgroupMeter::readMemory(Reader& reader, MeterTroubles& troubles) {
  lastMemory_.reset();
  const auto text = reader.read(memory_);
  if (!text) return;
  const auto usage = kernel::parseMemoryStat(*text, machine_->trees().version());
  if (usage)
    lastMemory_ = *usage;
  else
    ++troubles.unreadable;
}

void CgroupMeter::readCold(Reader& reader, CgroupSample& out, MeterTroubles& troubles) {
  const std::string path = controlPath(*machine_, name::kIdlePageStats, cgroup_);
  if (path.empty()) return;
  const auto text = reader.readOnce(path);
  if (!text) return;
  const auto cold = kernel::parseColdPages(*text);
  if (cold)
    out.cold = *cold;
  else
    ++troubles.unreadable;
}

PressureSet CgroupMeter::pressure(Reader& reader, MeterTroubles& troubles) {
  if (!pressure_) {
    const std::string dir = machine_->trees().pressurePath(cgroup_);
    const auto file = [&](std::string_view one) { return HotFile(kernel::joinPath({dir, one})); };
    pressure_ = std::make_unique<PressureFiles>(PressureFiles{
        file(name::kCpuPressure), file(name::kMemoryPressure), file(name::kIoPressure)});
  }
  const auto one = [&](HotFile& file) -> std::optional<kernel::Pressure> {
    const auto text = reader.read(file);
    if (!text) return std::nullopt;
    auto parsed = kernel::parsePressure(*text);
    if (parsed) return *parsed;
    ++troubles.unreadable;
    return std::nullopt;
  };
  return {one(pressure_->cpu), one(pressure_->memory), one(pressure_->io)};
}

}  // namespace mangrove::agent
