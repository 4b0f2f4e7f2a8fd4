#include "agent/qos/cpu_suppress/budget.h"

#include <algorithm>

#include "api/annotations/node.h"
#include "api/pod/classes.h"

namespace mangrove::agent {
namespace {

// Sums are cut once, at the end, as the reference does.
MilliCpu milli(double cores) {
  return {static_cast<int64_t>(cores * 1000)};
}

}  // namespace

MilliCpu suppressBudget(const SuppressInputs& in) {
  const MilliCpu measured = milli(in.nodeUsed - in.podsUsed - in.appsUsed);
  const MilliCpu system = std::max({measured, MilliCpu{0}, in.reserved});
  const MilliCpu ceiling = in.capacity * in.thresholdPercent / 100;
  const MilliCpu left = ceiling - milli(in.servicePodsUsed) - milli(in.serviceAppsUsed) - system;
  if (!in.minPercent) return left;
  return std::max(left, in.capacity * *in.minPercent / 100);
}

MilliCpu reservedCpu(const api::Node& node) {
  const MilliCpu byKubelet =
      std::max(MilliCpu{0}, node.status.capacity.cpu() - node.status.allocatable.cpu());
  auto parsed = api::parseNodeReservation(node.meta.annotations);
  if (!parsed || !*parsed) return byKubelet;
  auto amounts = api::reservedAmounts(**parsed);
  return amounts ? std::max(byKubelet, amounts->cpu()) : byKubelet;
}

bool isBestEffort(const api::Pod& pod) {
  return api::rawQos(pod.meta.labels) == api::Qos::kBe ||
         api::kubeQos(pod) == api::KubeQos::kBestEffort;
}

bool isBestEffort(const api::HostApplication& app) {
  return app.qos == "BE" && app.cgroupPath && app.cgroupPath->base == "KubepodsBesteffort";
}

}  // namespace mangrove::agent
