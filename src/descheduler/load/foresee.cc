#include "descheduler/load/foresee.h"

#include <algorithm>
#include <map>
#include <set>

#include "api/pod/pod_requests.h"

namespace mangrove::descheduler {
namespace {

// Reported, and no longer there.
void forgetLeft(NodeLoad& node, const api::NodeMetric& metric, const Scale& scale) {
  std::set<std::string> there;
  for (const PodLoad& pod : node.pods) there.insert(api::keyOf(pod.pod->meta).text());
  for (const api::PodMetric& pod : metric.status.podsMetric) {
    const std::string key = std::string(pod.ns.view()) + "/" + std::string(pod.name.view());
    if (!there.contains(key)) subtract(node.usage, scale.of(pod.podUsage.resources));
  }
}

// There, and not reported yet: what it asks for is the best that is known.
void countArrived(NodeLoad& node, const api::NodeMetric& metric, const Scale& scale) {
  for (const PodLoad& pod : node.pods) {
    if (pod.isMeasured || pod.pod->meta.creationTimestamp < metric.status.updateTime) continue;
    Loads asked = scale.of(api::podRequests(*pod.pod->spec));
    asked[*scale.indexOf("pods")] = 0;  // counted already
    add(node.usage, asked);
    if (pod.isProd) add(node.prodUsage, asked);
  }
}

void moveLoad(const PodLoad& pod, NodeLoad& source, NodeLoad* target) {
  subtract(source.usage, pod.usage);
  if (pod.isProd) subtract(source.prodUsage, pod.usage);
  if (target == nullptr) return;
  add(target->usage, pod.atWork());
  if (pod.isProd) add(target->prodUsage, pod.atWork());
}

}  // namespace

void foresee(std::vector<NodeLoad>& nodes, const Look& look, std::span<const UnderWay> underWay,
             const Scale& scale) {
  std::map<std::string_view, NodeLoad*> byName;
  for (NodeLoad& node : nodes) {
    byName[node.name()] = &node;
    const api::NodeMetric& metric = *look.metric(node.name());
    forgetLeft(node, metric, scale);
    countArrived(node, metric, scale);
  }
  for (const UnderWay& move : underWay) {
    const auto source = byName.find(move.pod->nodeName.view());
    if (source == byName.end()) continue;
    const auto target = byName.find(move.target);
    for (const PodLoad& pod : source->second->pods) {
      if (pod.pod->meta.uid != move.pod->meta.uid) continue;
      moveLoad(pod, *source->second, target == byName.end() ? nullptr : target->second);
    }
  }
}

}  // namespace mangrove::descheduler
