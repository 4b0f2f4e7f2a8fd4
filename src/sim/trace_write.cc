#include <fmt/format.h>

#include "base/number/quantity.h"
#include "base/text/strings.h"
#include "sim/trace.h"

namespace mangrove::sim {
namespace {

constexpr size_t kPointsALine = 24;

std::string cores(MilliCpu cpu) {
  return Quantity::of(cpu).text();
}
std::string bytes(Bytes memory) {
  return Quantity::of(memory).text();
}

void writeCurve(const Curve& curve, std::string& out) {
  for (size_t i = 0; i < curve.points.size(); i++) {
    if (i % kPointsALine == 0)
      out += fmt::format("{}curve {} every={}", i ? "\n" : "", curve.name, spanText(curve.every));
    out += fmt::format(" {}", curve.points[i]);
  }
  out += '\n';
}

void writeService(const Trace& trace, const Service& service, std::string& out) {
  out += fmt::format("service {} replicas={} cpu={} memory={} curve={} noise={} memoryUse={} at={}",
                     service.name, service.replicas, cores(service.cpu), bytes(service.memory),
                     trace.curves[service.curve].name, service.noise, service.memoryUse,
                     spanText(service.at));
  if (service.until != 0) out += " until=" + spanText(service.until);
  std::vector<std::string> deploys;
  for (Seconds at : service.deploys) deploys.push_back(spanText(at));
  if (!deploys.empty()) out += " deploys=" + join(deploys, ",");
  out += '\n';
}

void writeNodes(const Trace& trace, const NodeGroup& group, std::string& out) {
  out += fmt::format("nodes {} count={} cpu={} memory={} systemCpu={} systemMemory={}", group.name,
                     group.count, cores(group.cpu), bytes(group.memory), cores(group.systemCpu),
                     bytes(group.systemMemory));
  if (group.systemCurve) out += " systemCurve=" + trace.curves[*group.systemCurve].name;
  if (group.allocatableCpu.v > 0) out += " allocatableCpu=" + cores(group.allocatableCpu);
  if (group.allocatableMemory.v > 0) out += " allocatableMemory=" + bytes(group.allocatableMemory);
  out += "\n";
}

}  // namespace

std::string spanText(Seconds span) {
  struct Unit {
    Seconds seconds;
    char letter;
  };
  for (const Unit unit : {Unit{86400, 'd'}, Unit{3600, 'h'}, Unit{60, 'm'}})
    if (span != 0 && span % unit.seconds == 0)
      return fmt::format("{}{}", span / unit.seconds, unit.letter);
  return fmt::format("{}s", span);
}

std::string writeTrace(const Trace& trace) {
  std::string out = fmt::format("mangrove-trace 1\nlength {}\nstep {}\n", spanText(trace.length),
                                spanText(trace.step));
  for (const Curve& curve : trace.curves) writeCurve(curve, out);
  for (const NodeGroup& group : trace.nodes) writeNodes(trace, group, out);
  for (const Service& service : trace.services) writeService(trace, service, out);
  for (const Job& job : trace.jobs)
    out +=
        fmt::format("job {} at={} tasks={} cpu={} memory={} work={} checkpoint={} memoryUse={}{}\n",
                    job.name, spanText(job.at), job.tasks, cores(job.cpu), bytes(job.memory),
                    spanText(job.work), spanText(job.checkpoint), job.memoryUse,
                    job.cpuUse == 1 ? "" : fmt::format(" cpuUse={}", job.cpuUse));
  for (const Outage& outage : trace.outages)
    out += fmt::format("outage {} at={} for={}\n", outage.node, spanText(outage.at),
                       spanText(outage.lasts));
  return out;
}

}  // namespace mangrove::sim
