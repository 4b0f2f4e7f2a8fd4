#include "agent/qos/network/terway.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/qos/network/plan.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

int64_t shareOf(const std::optional<api::IntOrString>& share, int64_t totalBits) {
  const int64_t bytes = netShare(share, totalBits);
  return totalBits > 0 ? std::min(bytes, totalBits / 8) : bytes;
}

std::string classLines(std::string_view level, const std::optional<api::ResourceQos>& group,
                       int64_t totalBits) {
  api::NetworkQos qos;
  if (group && group->networkQos && group->networkQos->enable.value_or(false))
    qos = *group->networkQos;
  const auto line = [&](std::string_view what, const std::optional<api::IntOrString>& share) {
    return fmt::format("offline_{}_{} {}\n", level, what, shareOf(share, totalBits));
  };
  return line("tx_bps_min", qos.egressRequest) + line("tx_bps_max", qos.egressLimit) +
         line("rx_bps_min", qos.ingressRequest) + line("rx_bps_max", qos.ingressLimit);
}

}  // namespace

std::string terwayGlobal(const api::ResourceQosStrategy& strategy, int64_t totalBits) {
  const int64_t total = std::max<int64_t>(totalBits, 0);
  std::string out = fmt::format("hw_tx_bps_max {0}\nhw_rx_bps_max {0}\n", total / 8);
  out += classLines("l1", strategy.lsClass, total);
  out += classLines("l2", strategy.beClass, total);
  return out;
}

int terwayPriority(api::Qos raw, api::KubeQos kube) {
  constexpr int kSystem = 0, kService = 1, kBatch = 2;
  switch (raw) {
    case api::Qos::kSystem:
      return kSystem;
    case api::Qos::kLse:
    case api::Qos::kLsr:
    case api::Qos::kLs:
      return kService;
    case api::Qos::kBe:
      return kBatch;
    case api::Qos::kNone:
      break;
  }
  return kube == api::KubeQos::kBestEffort ? kBatch : kService;
}

std::string terwayPods(std::vector<TerwayPod> pods) {
  std::sort(pods.begin(), pods.end(), [](auto& a, auto& b) { return a.uid < b.uid; });
  json::Object out;
  for (TerwayPod& pod : pods)
    out[pod.uid] = json::Object{{"podName", pod.name},
                                {"podNamespace", pod.ns},
                                {"podUID", pod.uid},
                                {"prio", pod.priority},
                                {"cgroupDir", pod.cgroupDir},
                                {"qosConfig", json::Object{{"ingressBandwidth", pod.ingress},
                                                           {"egressBandwidth", pod.egress}}}};
  return json::write(out);
}

}  // namespace mangrove::agent
