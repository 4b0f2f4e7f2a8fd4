#include <fmt/format.h>

#include "api/object/meta.h"
#include "base/text/strings.h"
#include "manager/webhook/configmap/overlap.h"
#include "manager/webhook/node/amplify.h"

namespace mangrove::manager {

Review validateNode(const AdmissionRequest& request, const Surroundings& around) {
  if (request.operation != Operation::kUpdate || !request.subresource.empty()) return {};
  auto node = api::decode<api::ObjectHead>(request.object);
  auto old = api::decode<api::ObjectHead>(request.oldObject);
  if (!node) return Review::refuse(kBadRequest, "unreadable", "node: " + node.error().text());
  if (!old) return Review::refuse(kBadRequest, "unreadable", "old node: " + old.error().text());
  if (node->meta.labels == old->meta.labels) return {};
  for (const auto& [key, text] : *around.sloConfig) {
    const auto entries = entriesOf(key, text);
    if (entries.size() < 2) continue;
    const auto names = matchedBy(entries, node->meta.labels);
    if (names.size() > 1)
      return Review::refuse(kBadRequest, "node-conflict",
                            fmt::format("with these labels node {} is matched by the entries {} of "
                                        "{}; want one at most",
                                        node->meta.name.view(), join(names, " and "), key));
  }
  return {};
}

}  // namespace mangrove::manager
