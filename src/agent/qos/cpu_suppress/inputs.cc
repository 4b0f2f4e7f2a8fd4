#include "agent/qos/cpu_suppress/inputs.h"

#include "api/annotations/cpu.h"
#include "api/annotations/node.h"
#include "api/annotations/topology.h"

namespace mangrove::agent {
namespace {

CpuSet cpusOf(std::string_view text) {
  return CpuSet::parse(text).value_or(CpuSet());
}

void addPods(const Look& look, SuppressInputs& in) {
  for (const PodLook& pod : look.pods) {
    const double cores = pod.usage.cpu.value_or(0);
    in.podsUsed += cores;
    // A pod we know nothing of may be a service.
    if (!pod.pod || !isBestEffort(*pod.pod)) in.servicePodsUsed += cores;
  }
}

void addApps(const Look& look, SuppressInputs& in) {
  for (const HostAppLook& app : look.hostApps) {
    if (!app.usage.cpu) continue;
    in.appsUsed += *app.usage.cpu;
    bool isService = true;
    for (const api::HostApplication& spec : look.slo->hostApplications)
      if (spec.name == app.name) isService = !isBestEffort(spec);
    if (isService) in.serviceAppsUsed += *app.usage.cpu;
  }
}

// Reservations are written on the Node and repeated on the topology object.
const api::Annotations* reservationsOf(const Situation& now) {
  return now.topology ? now.topology : now.node ? &now.node->meta.annotations : nullptr;
}

void addReservations(const api::Annotations& annotations, SuppressCpus& in) {
  auto reserved = api::parseNodeReservation(annotations);
  if (reserved && *reserved) in.reserved = cpusOf((*reserved)->reservedCpus);
  auto system = api::parseSystemQosResource(annotations);
  if (system && *system && (*system)->isExclusive()) in.system = cpusOf((*system)->cpuset);
}

}  // namespace

bool kubeletIsStatic(const api::Annotations* topology) {
  if (topology == nullptr) return false;
  auto policy = api::parseCpuManagerPolicy(*topology);
  return policy && *policy && (*policy)->policy == "static";
}

std::optional<SuppressInputs> suppressInputs(const Situation& now,
                                             const api::ResourceThresholdStrategy& slo) {
  if (!now.node || !now.look.node.usage.cpu || now.look.book->size() == 0) return std::nullopt;
  SuppressInputs in;
  in.capacity = now.node->status.capacity.cpu();
  in.reserved = reservedCpu(*now.node);
  in.nodeUsed = *now.look.node.usage.cpu;
  in.thresholdPercent = slo.cpuSuppressThresholdPercent.value_or(Percent{65}).v;
  if (slo.cpuSuppressMinPercent) in.minPercent = slo.cpuSuppressMinPercent->v;
  addPods(now.look, in);
  addApps(now.look, in);
  return in;
}

SuppressCpus suppressCandidates(const Situation& now) {
  SuppressCpus in;
  in.machine = now.look.machine->cpus().cpus;
  now.look.book->each([&](const PodPtr& pod, const PodSaid& said) {
    if (api::isTerminated(*pod)) return;
    if (said.status && *said.status && !(*said.status)->cpuset.empty())
      in.bound.push_back({api::rawQos(pod->meta.labels), said.ownCpus});
  });
  if (const api::Annotations* annotations = reservationsOf(now)) addReservations(*annotations, in);
  return in;
}

}  // namespace mangrove::agent
