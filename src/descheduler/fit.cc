#include "descheduler/fit.h"

#include <algorithm>
#include <limits>

#include "api/pod/pod_requests.h"
#include "api/select/label_selector.h"

namespace mangrove::descheduler {
namespace {

NodeFit::Room roomOf(const Look& look, const api::Node& node) {
  NodeFit::Room room{node.status.allocatable, std::numeric_limits<int64_t>::max()};
  const Pods pods = look.activeOn(node.meta.name.view());
  for (const api::Pod* pod : pods) room.free.subtract(api::podRequests(*pod));
  if (const Quantity* most = node.status.allocatable.find("pods")) {
    room.pods = most->value() - static_cast<int64_t>(pods.size());
  }
  return room;
}

}  // namespace

bool toleratesAll(const api::Pod& pod, const api::Node& node) {
  return std::all_of(node.spec.taints.begin(), node.spec.taints.end(), [&](const api::Taint& t) {
    const bool repels =
        t.effect == api::TaintEffect::kNoSchedule || t.effect == api::TaintEffect::kNoExecute;
    return !repels || api::tolerates(pod.spec->tolerations, t);
  });
}

bool isWantedBy(const api::Pod& pod, const api::Node& node) {
  if (!api::contains(node.meta.labels, pod.spec->nodeSelector)) return false;
  const auto& required = pod.spec->affinity->node.required;
  return !required || api::NodeTerms(*required).match(node.meta);
}

bool admits(const api::Node& node, const api::Pod& pod) {
  return !node.spec.unschedulable && isWantedBy(pod, node) && toleratesAll(pod, node);
}

bool holds(const NodeFit::Room& room, const api::ResourceList& requests) {
  if (room.pods < 1) return false;
  return std::all_of(requests.begin(), requests.end(), [&](const auto& entry) {
    return entry.amount.sign() <= 0 || entry.amount <= room.free.amount(entry.name.view());
  });
}

const NodeFit::Room& NodeFit::room(const api::Node& node) {
  const auto found = rooms_.find(&node);
  if (found != rooms_.end()) return found->second;
  return rooms_.emplace(&node, roomOf(look_, node)).first->second;
}

bool NodeFit::fits(const api::Pod& pod, const api::Node& node) {
  return admits(node, pod) && holds(room(node), api::podRequests(pod));
}

bool NodeFit::fitsAny(const api::Pod& pod, const Nodes& nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const api::Node* node) { return fits(pod, *node); });
}

}  // namespace mangrove::descheduler
