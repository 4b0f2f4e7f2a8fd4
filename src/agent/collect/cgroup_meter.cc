#include "agent/collect/cgroup_meter.h"

#include "kernel/control_files.h"

namespace mangrove::agent {
namespace {

using kernel::CgroupVersion;
using kernel::Controller;

std::string fileOf(const Machine& machine, std::string_view resource, std::string_view cgroup) {
  const kernel::ControlResource* known = kernel::findResource(resource);
  return kernel::filePath(machine.trees(), *known, cgroup).value_or("");
}

// More waiting than this many tasks at once is no waiting, it is a broken counter.
constexpr double kMostWaiters = 1e6;

}  // namespace

CgroupMeter::CgroupMeter(const Machine& machine, std::string cgroup)
    : machine_(&machine), cgroup_(std::move(cgroup)) {
  cpu_ = HotFile(fileOf(machine, "cpuacct.usage", cgroup_));
  if (!machine.trees().isV2()) throttling_ = HotFile(fileOf(machine, "cpu.stat", cgroup_));
  if (machine.trees().has(Controller::kMemory))
    memory_ = HotFile(fileOf(machine, "memory.stat", cgroup_));
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
  if (!text) return;
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
  const std::string path = fileOf(*machine_, "memory.idle_page_stats", cgroup_);
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
    pressure_ = std::make_unique<PressureFiles>(PressureFiles{HotFile(dir + "/cpu.pressure"),
                                                              HotFile(dir + "/memory.pressure"),
                                                              HotFile(dir + "/io.pressure")});
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
