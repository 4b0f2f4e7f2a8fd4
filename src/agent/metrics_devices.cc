// Series of ours about what the kernel says beside usage: traffic of disks and interfaces, waiting
// for a CPU, the node's pressure.
#include "agent/metrics.h"

namespace mangrove::agent {
namespace {

void forgetAll(GaugeFamily& family) {
  family.removeIf([](const LabelValues&) { return true; });
}

}  // namespace

void AgentMetrics::stalled(const char* what) {
  internal_
      .counters("mangrove_agent_stalls_total", "Times the kernel said that the node's tasks stall.",
                {"resource"})
      .with({what})
      .inc();
}

void AgentMetrics::devices(const Look& look) {
  auto& disk = external_.gauges("mangrove_node_disk_bytes_per_second", "Traffic of a disk.",
                                {"node", "device", "direction"});
  auto& busy = external_.gauges("mangrove_node_disk_busy_ratio",
                                "Share of the time in which a disk had work.", {"node", "device"});
  auto& net = external_.gauges("mangrove_node_network_bytes_per_second", "Traffic of an interface.",
                               {"node", "interface", "direction"});
  auto& dropped = external_.gauges("mangrove_node_network_dropped_packets_per_second",
                                   "Packets dropped by an interface.", {"node", "interface"});
  for (GaugeFamily* family : {&disk, &busy, &net, &dropped}) forgetAll(*family);
  for (const DiskRates& one : look.node.io.disks) {
    disk.with({node_, one.name, "read"}).set(one.readBytes);
    disk.with({node_, one.name, "write"}).set(one.writeBytes);
    busy.with({node_, one.name}).set(one.busy);
  }
  for (const NetRates& one : look.node.io.interfaces) {
    net.with({node_, one.name, "receive"}).set(one.receivedBytes);
    net.with({node_, one.name, "send"}).set(one.sentBytes);
    dropped.with({node_, one.name}).set(one.dropped);
  }
}

void AgentMetrics::waiting(const Look& look) {
  auto& stall = external_.gauges("mangrove_node_pressure_percent",
                                 "Share of the last 10 s in which tasks of the node stalled.",
                                 {"node", "resource", "degree"});
  const std::pair<const char*, const std::optional<kernel::Pressure>*> kinds[] = {
      {"cpu", &look.node.pressure.cpu},
      {"memory", &look.node.pressure.memory},
      {"io", &look.node.pressure.io}};
  for (const auto& [resource, pressure] : kinds) {
    if (!*pressure) continue;
    stall.with({node_, resource, "some"}).set((*pressure)->some.avg10);
    if ((*pressure)->fullSupported)
      stall.with({node_, resource, "full"}).set((*pressure)->full.avg10);
  }
  // Only kernels that count it per cgroup have these.
  if (!look.machine->can().has(kernel::Feature::kRunQueueDelay)) return;
  auto& delay = external_.gauges("mangrove_pod_run_queue_seconds_per_second",
                                 "Time a pod's tasks waited for a CPU.",
                                 {"node", "pod_namespace", "pod_name", "pod_uid"});
  forgetAll(delay);
  for (const PodLook& pod : look.pods)
    if (pod.pod && pod.runQueue)
      delay.with({node_, pod.pod->meta.ns.str(), pod.pod->meta.name.str(), pod.pod->meta.uid.str()})
          .set(*pod.runQueue);
}

}  // namespace mangrove::agent
