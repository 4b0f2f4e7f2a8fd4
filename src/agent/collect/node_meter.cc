#include "agent/collect/node_meter.h"

#include "kernel/meminfo.h"
#include "kernel/numa.h"
#include "kernel/proc_stat.h"

namespace mangrove::agent {
namespace {

Duration timeOf(uint64_t ticks, Duration jiffy) {
  // 2^63 ns of CPU time are reached after 146 years on 2 CPUs, so the product is checked.
  int64_t ns = 0;
  if (__builtin_mul_overflow(static_cast<int64_t>(ticks), jiffy.count(), &ns))
    return Duration::max();
  return Duration(ns);
}

}  // namespace

NodeMeter::NodeMeter(const Machine& machine)
    : machine_(machine),
      stat_(machine.mounts().procFile("stat")),
      memory_(machine.mounts().procFile("meminfo")),
      cpuPressure_(machine.mounts().procFile("pressure/cpu")),
      memoryPressure_(machine.mounts().procFile("pressure/memory")),
      ioPressure_(machine.mounts().procFile("pressure/io")) {
  remap();
}

void NodeMeter::remap() {
  numaMemory_.clear();
  for (int node : machine_.numaNodes())
    numaMemory_.emplace_back(kernel::numaMemInfoPath(machine_.mounts(), node));
  const auto& cpus = machine_.cpus().cpus;
  const size_t count = cpus.empty() ? 0 : static_cast<size_t>(cpus.back().id) + 1;
  nodeOfCpu_.assign(count, -1);
  for (const kernel::LogicalCpu& cpu : cpus) nodeOfCpu_[static_cast<size_t>(cpu.id)] = cpu.node;
  perCpu_.assign(count, {});
}

void NodeMeter::sampleCpu(Reader& reader, const Clock& clock, NodeLook& out,
                          MeterTroubles& troubles) {
  readTicks(reader, clock, false, out, troubles);
}

void NodeMeter::sample(Reader& reader, const Clock& clock, std::optional<Bytes> cold, NodeLook& out,
                       MeterTroubles& troubles) {
  const bool first = !slotRate_.primed();
  out.numa.resize(machine_.numaNodes().size());
  for (size_t i = 0; i < out.numa.size(); ++i) out.numa[i] = {machine_.numaNodes()[i], {}, {}};
  slotCpu_.reset();
  readTicks(reader, clock, true, out, troubles);
  readMemory(reader, cold, out, troubles);
  readNumaMemory(reader, out, troubles);
  if (first) out.usage = {};
}

void NodeMeter::readTicks(Reader& reader, const Clock& clock, bool slot, NodeLook& out,
                          MeterTroubles& troubles) {
  const MonoTime at = clock.mono();
  const auto text = reader.read(stat_);
  const auto ticks =
      text ? kernel::nodeTicks(*text) : Result<kernel::Ticks>(fail(Code::kNotFound, ""));
  if (!ticks) {
    ++troubles.unreadable;
    rate_.reset();
    slotRate_.reset();
    return;
  }
  const Duration busy = timeOf(ticks->busy, machine_.jiffy());
  out.usage.cpu = rate_.next(busy, at, machine_.largestUsage());
  if (slot) slotCpu_ = slotRate_.next(busy, at, machine_.largestUsage());
  if (rate_.trouble() == RateTrouble::kShrunk) ++troubles.shrunk;
  if (rate_.trouble() == RateTrouble::kImplausible) ++troubles.implausible;
  if (slot && out.numa.size() > 1) readNumaTicks(*text, at, out, troubles);
  if (slot && out.numa.size() == 1) out.numa[0].usage.cpu = slotCpu_;
}

// A CPU whose counter shrank or is new gives nothing this time; the others still count.
void NodeMeter::readNumaTicks(std::string_view text, MonoTime at, NodeLook& out,
                              MeterTroubles& troubles) {
  std::vector<double> cores(out.numa.size(), 0);
  std::vector<bool> known(out.numa.size(), false);
  const auto ok = kernel::perCpuTicks(text, [&](int cpu, kernel::Ticks ticks) {
    const auto index = static_cast<size_t>(cpu);
    if (index >= perCpu_.size() || nodeOfCpu_[index] < 0) return;
    PerCpu& before = perCpu_[index];
    const auto node = static_cast<size_t>(nodeOfCpu_[index]);
    if (before.primed && ticks.busy >= before.busy && at > before.at && node < cores.size()) {
      cores[node] +=
          static_cast<double>(timeOf(ticks.busy - before.busy, machine_.jiffy()).count()) /
          static_cast<double>((at - before.at).count());
      known[node] = true;
    }
    before = {ticks.busy, at, true};
  });
  if (!ok) {
    ++troubles.unreadable;
    return;
  }
  for (size_t i = 0; i < cores.size(); ++i)
    if (known[i] &&
        cores[i] <= machine_.largestUsage() * CpuRate::kTolerance + CpuRate::kSlackCores)
      out.numa[i].usage.cpu = cores[i];
}

void NodeMeter::readMemory(Reader& reader, std::optional<Bytes> cold, NodeLook& out,
                           MeterTroubles& troubles) {
  const auto text = reader.read(memory_);
  const auto info =
      text ? kernel::parseMemInfo(*text) : Result<kernel::MemInfo>(fail(Code::kNotFound, ""));
  const auto used = info ? kernel::usedWithoutCache(*info) : Result<Bytes>(pass(info.error()));
  if (!used) {
    ++troubles.unreadable;
    return;
  }
  out.memoryTotal = info->total;
  out.usage.memory = *used;
  out.usage.memoryWithCache = kernel::usedWithCache(*info);
  if (cold) out.usage.memoryHot = kernel::usedWithHotCache(*info, *cold);
}

void NodeMeter::readNumaMemory(Reader& reader, NodeLook& out, MeterTroubles& troubles) {
  for (size_t i = 0; i < out.numa.size() && i < numaMemory_.size(); ++i) {
    const auto text = reader.read(numaMemory_[i]);
    if (!text) continue;
    const auto info = kernel::parseMemInfo(*text);
    if (info)
      out.numa[i].usage.memory = kernel::numaUsed(*info);
    else
      ++troubles.unreadable;
  }
}

PressureSet NodeMeter::pressure(Reader& reader, MeterTroubles& troubles) {
  const auto one = [&](HotFile& file) -> std::optional<kernel::Pressure> {
    const auto text = reader.read(file);
    if (!text) return std::nullopt;
    auto parsed = kernel::parsePressure(*text);
    if (parsed) return *parsed;
    ++troubles.unreadable;
    return std::nullopt;
  };
  return {one(cpuPressure_), one(memoryPressure_), one(ioPressure_)};
}

}  // namespace mangrove::agent
