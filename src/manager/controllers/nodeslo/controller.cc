#include "manager/controllers/nodeslo/controller.h"

#include "api/crane/ensurance.h"
#include "api/interference/policy.h"
#include "api/object/event.h"
#include "json/value.h"
#include "manager/config/node_strategy.h"
#include "manager/controllers/list.h"

namespace mangrove::manager {

NodeSloController::NodeSloController(const ControllerSetup& setup)
    : desk_(setup.desk),
      keys_(setup.keys),
      companion_(setup.desk, client::kind::kNodeSlo, "nodeslo") {}

void NodeSloController::start() {
  addNodesWithNews(desk_.caches, keys_);
  desk_.caches.slos.onChange(
      [this](const client::Change<SloSeen>& change) { keys_.add(change.key); });
  desk_.rules.changed = [this](std::string_view node) { keys_.add(node); };
}

// Foreign extensions stay as they are; ours are what the rules of the moment say.
void NodeSloController::addRules(const api::Node& node, api::NodeSloSpec& spec) const {
  std::map<std::string, api::RawJson>& values = spec.extensions->values;
  for (const std::string_view ours : {api::kCraneExtension, api::kInterferenceExtension})
    values.erase(std::string(ours));
  if (!desk_.rules.of) return;
  for (auto& [name, rules] : desk_.rules.of(node)) values[name] = std::move(rules);
}

// With objects whose node went away while nobody led.
void NodeSloController::each(const Visit& visit) const {
  desk_.caches.nodes.each([&](std::string_view key, const api::Node&) { visit(key); });
  desk_.caches.slos.each([&](std::string_view key, const SloSeen&) { visit(key); });
}

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
  addRules(*node, rendered.spec);
  companion_.ensure(name, slo ? std::optional(slo->specDigest) : std::nullopt,
                    toJson(rendered.spec), std::move(done));
}

ControllerInfo controllers::nodeslo() {
  return {.name = "nodeslo",
          .make = makeController<NodeSloController>,
          .access = {{client::kind::kNode, kFollow},
                     {client::kind::kNodeSlo, "list watch create patch delete"}},
          .after = "noderesource"};
}

}  // namespace mangrove::manager
