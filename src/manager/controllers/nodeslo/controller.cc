#include "manager/controllers/nodeslo/controller.h"

#include "api/object/event.h"
#include "manager/config/node_strategy.h"

namespace mangrove::manager {

NodeSloController::NodeSloController(Desk& desk)
    : desk_(desk), companion_(desk, client::kind::kNodeSlo, "nodeslo") {}

void NodeSloController::reconcile(const std::string& name, ControlLoop::Done done) {
  const auto node = desk_.caches.nodes.find(name);
  const auto slo = desk_.caches.slos.find(name);
  if (!node && !slo) return done({});
  if (!node) return companion_.remove(name, std::move(done));
  auto rendered = renderNodeSlo(*desk_.config, node->meta);
  if (rendered.trouble.empty()) {
    companion_.parsed().good();
  } else {
    companion_.parsed().bad("networkBandwidth");
    desk_.warn(api::refTo(client::kind::kNode, node->meta), "NetworkBandwidthInvalid",
               rendered.trouble);
  }
  if (slo && slo->extensions) rendered.spec.extensions = *slo->extensions;
  companion_.ensure(name, slo ? std::optional(slo->specDigest) : std::nullopt,
                    toJson(rendered.spec), std::move(done));
}

}  // namespace mangrove::manager
