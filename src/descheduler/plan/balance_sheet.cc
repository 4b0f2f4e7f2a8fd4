#include "descheduler/plan/balance_sheet.h"

#include <map>

#include "descheduler/load/node_load.h"

namespace mangrove::descheduler {
namespace {

constexpr Duration kFresh = std::chrono::minutes(3);

class Sheet {
 public:
  explicit Sheet(const Look& look) : look_(look), scale_({"cpu", "memory", "pods"}) {
    for (NodeLoad& node : measure(look, look.nodes(), scale_, kFresh))
      measured_.emplace(std::string(node.name()), std::move(node));
  }

  void move(const PlannedMove& one) {
    const Loads usage = usageOf(one);
    if (Loads* from = entry(one.from)) subtract(*from, usage);
    if (Loads* to = entry(one.to)) add(*to, usage);
  }

  std::vector<NodeBalance> take() const {
    std::vector<NodeBalance> out;
    for (const auto& [name, after] : after_) {
      NodeBalance one;
      one.node = name;
      const auto node = measured_.find(name);
      one.measured = node != measured_.end();
      one.before = shares(name, beforeOf(name));
      one.after = shares(name, after);
      out.push_back(std::move(one));
    }
    return out;
  }

 private:
  Loads beforeOf(const std::string& name) const {
    const auto node = measured_.find(name);
    if (node != measured_.end()) return node->second.usage;
    Loads out = scale_.zero();
    out[*scale_.indexOf("pods")] = static_cast<int64_t>(look_.activeOn(name).size());
    return out;
  }
  Loads* entry(const std::string& name) {
    if (name.empty()) return nullptr;
    return &after_.try_emplace(name, beforeOf(name)).first->second;
  }
  Loads usageOf(const PlannedMove& one) const {
    Loads out = scale_.zero();
    out[*scale_.indexOf("pods")] = 1;
    const auto node = measured_.find(one.from);
    if (node == measured_.end()) return out;
    for (const PodLoad& pod : node->second.pods)
      if (api::keyOf(pod.pod->meta).text() == one.pod) return pod.usage;
    return out;
  }
  NodeBalance::Load shares(const std::string& name, const Loads& usage) const {
    NodeBalance::Load out;
    out.pods = usage[*scale_.indexOf("pods")];
    const auto node = measured_.find(name);
    if (node == measured_.end()) return out;
    out.cpu = share("cpu", usage, node->second.capacity);
    out.memory = share("memory", usage, node->second.capacity);
    return out;
  }
  double share(std::string_view resource, const Loads& usage, const Loads& capacity) const {
    const size_t i = *scale_.indexOf(resource);
    return capacity[i] <= 0
               ? 0
               : 100.0 * static_cast<double>(usage[i]) / static_cast<double>(capacity[i]);
  }

  const Look& look_;
  Scale scale_;
  std::map<std::string, NodeLoad> measured_;
  std::map<std::string, Loads> after_;
};

}  // namespace

std::vector<NodeBalance> balanceOf(const Look& look, std::span<const PlannedMove> moves) {
  Sheet sheet(look);
  for (const PlannedMove& one : moves) sheet.move(one);
  return sheet.take();
}

}  // namespace mangrove::descheduler
