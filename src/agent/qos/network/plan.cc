#include "agent/qos/network/plan.h"

#include <algorithm>

#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

// The kernel refuses a class without a rate.
constexpr int64_t kLeastRate = 1000;
constexpr uint32_t kSystemFirst = 1, kServicesThen = 2, kBatchLast = 3;

const std::optional<api::NetworkQosConfig>* qosOf(const std::optional<api::ResourceQos>& group) {
  return group ? &group->networkQos : nullptr;
}

NetClass classOf(uint16_t minor, const std::optional<api::ResourceQos>& group, int64_t totalBits,
                 uint32_t priority) {
  const int64_t total = totalBits / 8;
  NetClass out{minor, 0, total, priority};
  const auto* qos = qosOf(group);
  if (qos && *qos && (*qos)->enable.value_or(true)) {
    out.rate = netShare((*qos)->egressRequest, totalBits);
    const int64_t most = netShare((*qos)->egressLimit, totalBits);
    if (most > 0) out.ceil = most;
  }
  out.ceil = std::clamp(out.ceil, kLeastRate, std::max(total, kLeastRate));
  out.rate = std::clamp(out.rate, kLeastRate, out.ceil);
  return out;
}

}  // namespace

int64_t netShare(const std::optional<api::IntOrString>& share, int64_t totalBits) {
  if (!share) return 0;
  if (!share->isText)
    return share->number < 0 || share->number > 100 ? 0 : totalBits / 100 * share->number / 8;
  const auto bits = Quantity::parse(share->text);
  return bits ? std::max<int64_t>(bits->value(), 0) / 8 : 0;
}

std::optional<uint16_t> netClassOf(api::Qos raw) {
  switch (raw) {
    case api::Qos::kLse:
    case api::Qos::kLsr:
    case api::Qos::kLs:
      return kNetService;
    case api::Qos::kBe:
      return kNetBatch;
    case api::Qos::kSystem:
      return kNetSystem;
    case api::Qos::kNone:
      break;
  }
  return std::nullopt;
}

int64_t classId(uint16_t minor) {
  return 0x10000 | minor;
}

std::optional<NetPlan> networkPlan(const NetInputs& in) {
  const int64_t total = in.totalBits / 8;
  if (total < kLeastRate || in.device.empty()) return std::nullopt;
  NetPlan plan;
  plan.device = in.device;
  plan.fallback = kNetSystem;
  const NetClass services = classOf(kNetService, in.strategy.lsClass, in.totalBits, kServicesThen);
  const NetClass batch = classOf(kNetBatch, in.strategy.beClass, in.totalBits, kBatchLast);
  const int64_t rest = std::max(total - services.rate - batch.rate, kLeastRate);
  plan.classes = {
      {kNetRoot, total, total, 0}, {kNetSystem, rest, total, kSystemFirst}, services, batch};
  std::vector<const NetPod*> pods;
  for (const NetPod& pod : in.pods) pods.push_back(&pod);
  std::sort(pods.begin(), pods.end(), [](auto* a, auto* b) { return a->uid < b->uid; });
  uint16_t own = kNetFirstOwn;
  for (const NetPod* pod : pods) {
    auto minor = netClassOf(pod->qos);
    if (pod->limitBits && *pod->limitBits / 8 >= kLeastRate) {
      const NetClass& parent = pod->qos == api::Qos::kBe ? batch : services;
      plan.classes.push_back({own, kLeastRate, *pod->limitBits / 8, parent.priority});
      minor = own++;
    }
    if (minor && !pod->address.empty()) plan.members.push_back({pod->address, *minor});
  }
  return plan;
}

std::string defaultDevice(std::string_view routes) {
  for (std::string_view line : split(routes, '\n')) {
    std::vector<std::string_view> words;
    for (std::string_view word : splitTrimmed(line, '\t'))
      if (!word.empty()) words.push_back(word);
    if (words.size() > 7 && words[1] == "00000000" && words[7] == "00000000")
      return std::string(words[0]);
  }
  return "";
}

}  // namespace mangrove::agent
