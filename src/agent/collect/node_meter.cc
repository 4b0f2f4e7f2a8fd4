#include "agent/collect/node_meter.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "kernel/meminfo.h"
#include "kernel/numa.h"
#include "kernel/proc_stat.h"

namespace mangrove::agent {
namespace {

// CPUs that came or went since the last look are in the whole but not in the parts.
constexpr double kPartsMayMiss = 0.1;
// And each CPU's time is rounded down to ticks.
constexpr double kTickShare = 0.01;
// Who wants to know where interrupts go looks this often.
constexpr Duration kInterruptsEvery = std::chrono::seconds(10);

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
  if (!slot || (interruptsAt_ != MonoTime::min() && at - interruptsAt_ < kInterruptsEvery)) return;
  interruptsAt_ = at;
  out.interrupts = kernel::interruptTicks(*text);
}

// A new CPU gives nothing this time. One whose counter shrank or ran faster than time makes its
// node unknown, and so does a text that lacks CPUs: the parts must add up to the whole.
void NodeMeter::readNumaTicks(std::string_view text, MonoTime at, NodeLook& out,
                              MeterTroubles& troubles) {
  std::vector<double> cores(out.numa.size(), 0);
  std::vector<bool> known(out.numa.size(), false), wrong(out.numa.size(), false);
  bool strangers = false;  // CPUs whose node we do not know: their work is some node's
  const auto ok = kernel::perCpuTicks(text, [&](int cpu, kernel::Ticks ticks) {
    const auto index = static_cast<size_t>(cpu);
    if (index >= perCpu_.size() || nodeOfCpu_[index] < 0) return void(strangers = true);
    PerCpu& before = perCpu_[index];
    const auto node = static_cast<size_t>(nodeOfCpu_[index]);
    const PerCpu last = std::exchange(before, {ticks.busy, at, true});
    if (!last.primed || at <= last.at || node >= cores.size()) return;
    const double used =
        ticks.busy < last.busy
            ? -1
            : static_cast<double>(timeOf(ticks.busy - last.busy, machine_.jiffy()).count()) /
                  static_cast<double>((at - last.at).count());
    wrong[node] = wrong[node] || used < 0 || used > CpuRate::kTolerance + CpuRate::kSlackCores;
    cores[node] += used;
    known[node] = true;
  });
  if (!ok) {
    ++troubles.unreadable;
    return;
  }
  if (strangers) return;
  const double sum = std::accumulate(cores.begin(), cores.end(), 0.0);
  const double rounding = kTickShare * static_cast<double>(perCpu_.size()) + 0.05;
  if (!slotCpu_ || std::abs(sum - *slotCpu_) > kPartsMayMiss * *slotCpu_ + rounding) {
    if (slotCpu_) ++troubles.implausible;
    return;
  }
  for (size_t i = 0; i < cores.size(); ++i)
    if (known[i] && !wrong[i]) out.numa[i].usage.cpu = cores[i];
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
    // No node has more than the machine.
    if (info && info->total <= out.memoryTotal)
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
