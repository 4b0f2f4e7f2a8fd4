#include "descheduler/order/pod_order.h"

#include <algorithm>
#include <tuple>

#include "api/annotations/annotation.h"
#include "api/annotations/eviction.h"
#include "api/pod/band_rank.h"
#include "api/pod/classes.h"

namespace mangrove::descheduler {
namespace {

constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
constexpr int kNobody = 5;  // after all that have a class

int kubeQosRank(api::KubeQos qos) {
  switch (qos) {
    case api::KubeQos::kBestEffort:
      return 1;
    case api::KubeQos::kBurstable:
      return 2;
    case api::KubeQos::kGuaranteed:
      return 3;
    case api::KubeQos::kUnset:
      break;
  }
  return kNobody;
}

int qosRank(api::Qos qos) {
  switch (qos) {
    case api::Qos::kBe:
      return 1;
    case api::Qos::kLs:
      return 2;
    case api::Qos::kLsr:
      return 3;
    case api::Qos::kLse:
    case api::Qos::kSystem:
      return 4;
    case api::Qos::kNone:
      break;
  }
  return kNobody;
}

// "+3", "01" and "" are no costs, "-01" is: as Kubernetes reads them.
bool isPlainCost(std::string_view text) {
  return text == "0" || text.starts_with('-') ||
         (!text.empty() && text[0] >= '1' && text[0] <= '9');
}

struct Sorted {
  const PodLoad* load;
  PodRank rank;
  double score;
};

bool goesBefore(const Sorted& a, const Sorted& b) {
  if (a.rank != b.rank) return a.rank < b.rank;
  if (a.load->isMeasured != b.load->isMeasured) return a.load->isMeasured;
  if (a.score != b.score) return a.score > b.score;
  return a.load->pod->meta.creationTimestamp > b.load->pod->meta.creationTimestamp;
}

}  // namespace

int32_t deletionCostOf(const api::Pod& pod) {
  const auto text = pod.meta.annotations.get(kDeletionCost);
  if (!text || !isPlainCost(*text)) return 0;
  const auto cost = api::parseGoInt(*text, 32);
  return cost ? static_cast<int32_t>(*cost) : 0;
}

PodRank rankOf(const api::Pod& pod) {
  return {api::bandRank(api::bandWithDefault(pod)),
          pod.spec->priority.value_or(0),
          kubeQosRank(api::kubeQos(pod)),
          qosRank(api::qosWithDefault(pod)),
          deletionCostOf(pod),
          api::parseEvictionCost(pod.meta.annotations).value_or(0)};
}

double coverScore(const Scale& scale, const Loads& usage, const Loads& excess,
                  const Weights& weights) {
  double score = 0;
  int64_t sum = 0;
  for (size_t i = 0; i < scale.size(); ++i) {
    const auto weight = weights.find(scale.name(i));
    if (excess[i] <= 0 || weight == weights.end()) continue;
    const double x = static_cast<double>(scale.plain(i, usage[i])) /
                     static_cast<double>(scale.plain(i, excess[i]));
    score += static_cast<double>(weight->second) * (x < 1 ? x : 1 + 1 / x);
    sum += weight->second;
  }
  return sum == 0 ? 0 : score / static_cast<double>(sum);
}

void sortForEviction(std::vector<const PodLoad*>& pods, const Scale& scale, const Loads& excess,
                     const Weights& weights) {
  std::vector<Sorted> sorted;
  sorted.reserve(pods.size());
  for (const PodLoad* load : pods) {
    const double score = load->isMeasured ? coverScore(scale, load->usage, excess, weights) : 0;
    sorted.push_back({load, rankOf(*load->pod), score});
  }
  std::stable_sort(sorted.begin(), sorted.end(), goesBefore);
  std::transform(sorted.begin(), sorted.end(), pods.begin(),
                 [](const Sorted& one) { return one.load; });
}

}  // namespace mangrove::descheduler
