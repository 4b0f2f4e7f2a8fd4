#include <fmt/core.h>

#include "agent/bench/bench.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

double mib(Bytes bytes) {
  return static_cast<double>(bytes.v) / static_cast<double>(kMiB.v);
}

std::string lineOf(const char* who, const ProcessFigures& p) {
  return fmt::format("{:<17} cpu {:.2f} % of a core, rss {:.1f} MiB, pss {:.1f} MiB\n", who,
                     p.cpuPercent, mib(p.rss), mib(p.pss));
}

std::string memoryLine(const MemoryCourse& m) {
  const char* verdict = !m.judged ? "too short to judge, want 10 min" : m.flat ? "flat" : "grows";
  return fmt::format(
      "  rss over time    {:8.1f} MiB peak, slope {:+.1f} KiB/min, peak of the second half {:+.1f} "
      "KiB: {}\n",
      mib(m.peak), m.bytesPerMinute / 1024, static_cast<double>(m.peakGrowth.v) / 1024, verdict);
}

json::Object processJson(const ProcessFigures& p) {
  return {{"cpuPercent", p.cpuPercent}, {"rssBytes", p.rss.v}, {"pssBytes", p.pss.v}};
}

json::Object memoryJson(const MemoryCourse& m) {
  return {{"firstBytes", m.first.v},
          {"lastBytes", m.last.v},
          {"peakBytes", m.peak.v},
          {"latePeakBytes", m.latePeak.v},
          {"slopeBytesPerMinute", m.bytesPerMinute},
          {"peakGrowthBytes", m.peakGrowth.v},
          {"judged", m.judged},
          {"flat", m.flat}};
}

}  // namespace

std::string toTable(const AgentBench& b) {
  std::string out = fmt::format(
      "{} pods, {} containers, cgroup v{}, {:.0f} ticks\n"
      "  cpu              {:8.2f} % of a core\n  rss              {:8.1f} MiB, {:+.1f} since "
      "warm-up\n"
      "  pss              {:8.1f} MiB\n",
      b.pods, b.containers, b.cgroupV2 ? 2 : 1, b.ticks, b.agent.cpuPercent, mib(b.agent.rss),
      mib(b.agent.rss - b.memory.first), mib(b.agent.pss));
  out += memoryLine(b.memory);
  out += fmt::format(
      "  syscalls per tick {:7.0f}\n  tick p50/p99/max {:8.2f} / {:.2f} / {:.2f} ms\n"
      "  missed ticks     {:8.0f}\n"
      "  open files       {:8.0f} of at most {}, {:.0f} cold ones closed; descriptors of the "
      "process {}, {} at most\n",
      b.syscallsPerTick, b.tickP50 * 1e3, b.tickP99 * 1e3, b.tickMax * 1e3, b.missedTicks,
      b.files.open, b.files.limit, b.files.closed, b.files.descriptors, b.files.most);
  if (b.furtherPods > 0)
    out += fmt::format("  a further pod    {:8.1f} KiB of rss, by {} more\n",
                       static_cast<double>(b.perFurtherPod.v) / 1024, b.furtherPods);
  if (b.children) out += lineOf("its guardian", *b.children);
  if (b.reference) {
    out += lineOf("this agent", b.agent);
    out += lineOf("reference agent", *b.reference);
  }
  return out;
}

std::string toJson(const AgentBench& b) {
  json::Object out{
      {"pods", b.pods},
      {"containers", b.containers},
      {"cgroupVersion", b.cgroupV2 ? 2 : 1},
      {"ticks", b.ticks},
      {"agent", processJson(b.agent)},
      {"memory", memoryJson(b.memory)},
      {"syscallsPerTick", b.syscallsPerTick},
      {"tickSeconds", json::Object{{"p50", b.tickP50}, {"p99", b.tickP99}, {"max", b.tickMax}}},
      {"openFiles", b.files.open},
      {"openFilesLimit", b.files.limit},
      {"filesClosed", b.files.closed},
      {"descriptors", b.files.descriptors},
      {"descriptorsMost", b.files.most},
      {"missedTicks", b.missedTicks}};
  if (b.furtherPods > 0) {
    out["furtherPods"] = b.furtherPods;
    out["rssBytesPerFurtherPod"] = b.perFurtherPod.v;
  }
  if (b.children) out["children"] = processJson(*b.children);
  if (b.reference) out["reference"] = processJson(*b.reference);
  return json::writePretty(out) + "\n";
}

}  // namespace mangrove::agent
