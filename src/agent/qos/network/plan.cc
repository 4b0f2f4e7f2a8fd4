#include "agent/qos/network/plan.h"

#include <algorithm>

#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

// The kernel refuses a class without a rate.
constexpr int64_t kLeastRate = 1000;
constexpr int64_t kHeldShare = 20;  // of the link, that held batch work has at least
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
  NetClass batch = classOf(kNetBatch, in.strategy.beClass, in.totalBits, kBatchLast);
  if (in.holdBatch) batch.ceil = std::max(batch.rate, total / kHeldShare);
  const int64_t rest = std::max(total - services.rate - batch.rate, kLeastRate);
  plan.classes = {
      {kNetRoot, total, total, 0}, {kNetSystem, rest, total, kSystemFirst}, services, batch};
  const std::map<std::string, uint16_t> minors = netMinors(in.pods);
  std::map<std::string, const NetPod*> pods;  // in the order of minors
  for (const NetPod& pod : in.pods) pods[pod.uid] = &pod;
  for (const auto& [uid, minor] : minors) {
    const NetPod& pod = *pods[uid];
    const NetClass& parent = pod.qos == api::Qos::kBe ? batch : services;
    if (minor >= kNetFirstOwn)
      plan.classes.push_back({minor, kLeastRate, *pod.limitBits / 8, parent.priority});
    for (const std::string& address : {pod.address, pod.second})
      if (!address.empty()) plan.members.push_back({address, minor});
    if (!pod.dir.empty()) plan.groups.push_back({pod.dir, minor});
  }
  return plan;
}

std::map<std::string, uint16_t> netMinors(std::span<const NetPod> pods) {
  std::map<std::string, const NetPod*> sorted;
  for (const NetPod& pod : pods) sorted[pod.uid] = &pod;
  std::map<std::string, uint16_t> out;
  uint16_t own = kNetFirstOwn;
  for (const auto& [uid, pod] : sorted) {
    if (pod->limitBits && *pod->limitBits / 8 >= kLeastRate)
      out[uid] = own++;
    else if (const auto minor = netClassOf(pod->qos))
      out[uid] = *minor;
  }
  return out;
}

namespace {

std::vector<std::string_view> wordsOf(std::string_view line, char between) {
  std::vector<std::string_view> words;
  for (std::string_view word : splitTrimmed(line, between))
    if (!word.empty()) words.push_back(word);
  return words;
}

}  // namespace

std::string defaultDevice(std::string_view routes) {
  for (std::string_view line : split(routes, '\n')) {
    const auto words = wordsOf(line, '\t');
    if (words.size() > 7 && words[1] == "00000000" && words[7] == "00000000")
      return std::string(words[0]);
  }
  return "";
}

std::string defaultDevice6(std::string_view routes) {
  for (std::string_view line : split(routes, '\n')) {
    // Destination, its length, source, its length, next hop, metric, uses, references, flags, device.
    const auto words = wordsOf(line, ' ');
    const auto isZero = [&](size_t at) {
      return words[at].find_first_not_of('0') == std::string_view::npos;
    };
    // The kernel's own "nothing is reachable" goes by lo.
    if (words.size() > 9 && isZero(0) && words[1] == "00" && words[9] != "lo")
      return std::string(words[9]);
  }
  return "";
}

}  // namespace mangrove::agent
