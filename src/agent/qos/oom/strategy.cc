#include "agent/qos/oom/strategy.h"

#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "api/annotations/qos.h"
#include "base/text/strings.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

constexpr int kSysResource = 24;
constexpr int64_t kFirst = 1000;

bool isColocating(const Look& look) {
  const auto& threshold = look.slo->resourceUsedThresholdWithBe;
  return threshold && threshold->enable.value_or(false);
}

struct Score {
  std::optional<int64_t> value;
  std::string why;
};

Score scoreOf(const Situation& now, const PodLook& pod, const std::string& container) {
  const PodSaidPtr known = saidBy(pod);
  const auto& said = known->oomScore;
  if (now.gates.on("OOMScoreAdj") && said)
    if (const auto value = said->of(container)) return {*value, "the pod's annotation"};
  const bool isBatch = api::rawQos(pod.pod->meta.labels) == api::Qos::kBe;
  if (now.gates.on("KernelFloor") && isBatch && isColocating(now.look))
    return {kFirst, "best-effort work goes first"};
  return {};
}

}  // namespace

bool hasCapability(std::string_view status, int number) {
  for (std::string_view line : split(status, '\n')) {
    if (!line.starts_with("CapEff:")) continue;
    const auto set = parseInt<uint64_t>(trim(line.substr(7)), 16);
    return set && (*set >> number & 1) != 0;
  }
  return false;
}

std::optional<int64_t> scoreFor(std::optional<int64_t> present, int64_t wanted, bool mayLower) {
  if (!present || wanted < -1000 || wanted > 1000) return std::nullopt;
  if (wanted < *present && !mayLower) return std::nullopt;
  return wanted;
}

StrategyInfo OomScore::info() const {
  return {.name = owner::kOomScore, .period = std::chrono::seconds(10)};
}

Wishes OomScore::decide(const Situation& now) {
  if (!now.look.slo) return Wishes::holding("no NodeSLO yet");
  const kernel::Mounts& mounts = now.look.machine->mounts();
  const auto status = now.present.text(mounts.procFile("self/status"));
  const bool mayLower = status && hasCapability(*status, kSysResource);
  Wishes out;
  std::set<std::string> ours;
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod || api::isTerminated(*pod.pod)) continue;
    for (const ContainerLook& container : pod.containers) {
      const Score score = scoreOf(now, pod, std::string(container.name));
      if (!score.value || container.name.empty()) continue;
      for (int pid : now.present.members(container.cgroup, kernel::resource_name::kProcs)) {
        const std::string path = mounts.procFile(fmt::format("{}/oom_score_adj", pid));
        const auto text = now.present.text(path);
        const auto present =
            text ? std::optional(parseInt<int64_t>(trim(*text)).value_or(0)) : std::nullopt;
        const auto value = scoreFor(present, *score.value, mayLower);
        if (!value && present) out.note = "scores are only raised: no CAP_SYS_RESOURCE";
        // What the kubelet set the same way stays the kubelet's.
        if (!value || (*value == *present && ours_.count(path) == 0)) continue;
        out.base(path, "oom_score_adj", FileValue::of(*value), score.why);
        ours.insert(path);
      }
    }
  }
  ours_ = std::move(ours);
  return out;
}

}  // namespace mangrove::agent
