#include "manager/controllers/pod_news.h"

namespace mangrove::manager {

std::vector<std::string_view> nodesWithNews(const client::Change<PodSeen>& change) {
  const bool same = change.before && change.after && change.before->node == change.after->node &&
                    change.before->facts == change.after->facts;
  std::vector<std::string_view> out;
  if (same) return out;
  for (const auto& pod : {change.before, change.after})
    if (pod && !pod->node.view().empty()) out.push_back(pod->node.view());
  return out;
}

}  // namespace mangrove::manager
