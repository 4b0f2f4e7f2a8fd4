// yarn: the pods of NodeManagers get the limits of their capacity. Gate YarnNodeManager.
#include <fmt/format.h>

#include "agent/qos/strategies.h"
#include "agent/qos/yarn/limits.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

namespace name = kernel::resource_name;
constexpr std::string_view kFiles[] = {name::kCpuQuota, name::kMemoryLimit};

NodeManagerNeeds ownOf(const api::Pod& pod) {
  const api::ResourceList asked = api::podRequests(pod);
  return {MilliCpu{std::max(asked.amount(api::resource::kBatchCpu).value(), asked.cpu().v)},
          Bytes{std::max(asked.amount(api::resource::kBatchMemory).value(), asked.memory().v)}};
}

class YarnStrategy final : public Strategy {
 public:
  StrategyInfo info() const override {
    return {.name = "yarn", .gate = "YarnNodeManager", .files = kFiles};
  }
  Wishes decide(const Situation& now) override {
    Wishes out;
    for (const PodLook& look : now.look.pods)
      if (look.pod && api::isNodeManager(look.pod->meta.labels)) bound(look, out);
    return out;
  }

 private:
  static void bound(const PodLook& look, Wishes& out) {
    const auto capacity = api::parseYarnCapacity(look.pod->meta.annotations);
    const std::string key = api::keyOf(look.pod->meta).text();
    if (!capacity) {
      out.note += fmt::format("{}: {}; ", key, capacity.error().text());
      return;
    }
    if (!*capacity) return;  // nobody has said it yet
    const NodeManagerLimits limits =
        limitsFor(**capacity, ownOf(*look.pod), look.usage.memoryWithCache);
    const std::string why = fmt::format("YARN has {} vcores and {} MB here", (*capacity)->vcores,
                                        (*capacity)->memoryMb);
    const std::string cgroup(look.cgroup);
    out.values.push_back({cgroup, name::kCpuQuota, Part::cap(limits.quotaUs), why});
    out.values.push_back({cgroup, name::kMemoryLimit, Part::cap(limits.memory.v), why});
  }
};

}  // namespace

std::unique_ptr<Strategy> strategies::yarn(const StrategyOptions&) {
  return std::make_unique<YarnStrategy>();
}

}  // namespace mangrove::agent
