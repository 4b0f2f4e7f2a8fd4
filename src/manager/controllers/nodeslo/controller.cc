#include "manager/controllers/nodeslo/controller.h"

#include "api/event.h"
#include "manager/config/node_strategy.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;

client::Request createRequest(const std::string& name, const json::Value& spec) {
  client::Request out;
  out.verb = client::Verb::kCreate;
  out.ref = {kind::kNodeSlo, "", "", ""};
  out.body = json::write(json::Object{{"apiVersion", kind::kNodeSlo.apiVersion()},
                                      {"kind", kind::kNodeSlo.kind},
                                      {"metadata", {{"name", name}}},
                                      {"spec", spec}});
  return out;
}

// The whole spec is ours: what was there before and is no longer said must go, which a merge patch
// could not tell.
client::Request replaceRequest(const std::string& name, const json::Value& spec) {
  const json::Array body = {json::Object{{"op", "add"}, {"path", "/spec"}, {"value", spec}}};
  auto out = client::patchRequest({kind::kNodeSlo, "", name, ""}, client::PatchType::kJson,
                                  json::write(body));
  out.repeat = client::Repeat::kSafe;
  return out;
}

}  // namespace

NodeSloController::NodeSloController(Desk& desk)
    : desk_(desk),
      count_(desk.metrics, "slo_controller_nodeslo_reconcile_count",
             "Passes over NodeSLO objects."),
      parsed_(desk.metrics, "slo_controller_nodeslo_spec_parse_count",
              "Specs of NodeSLO objects made from the configuration.") {}

void NodeSloController::reconcile(const std::string& name, ControlLoop::Done done) {
  const auto node = desk_.caches.nodes.find(name);
  const auto slo = desk_.caches.slos.find(name);
  if (!node && !slo) return done({});
  if (!node) return write(client::deleteRequest({kind::kNodeSlo, "", name, ""}), std::move(done));
  auto rendered = renderNodeSlo(*desk_.config, node->meta);
  if (rendered.trouble.empty()) {
    parsed_.good();
  } else {
    parsed_.bad("networkBandwidth");
    desk_.warn(api::refTo(kind::kNode, node->meta), "NetworkBandwidthInvalid", rendered.trouble);
  }
  if (slo && slo->extensions) rendered.spec.extensions = *slo->extensions;
  const json::Value spec = toJson(rendered.spec);
  if (!slo) return write(createRequest(name, spec), std::move(done));
  if (slo->specDigest != digestOf(spec)) return write(replaceRequest(name, spec), std::move(done));
  count_.good();
  done({});
}

void NodeSloController::write(client::Request request, ControlLoop::Done done) {
  desk_.send(std::move(request), [this, done = std::move(done)](Result<client::Reply> r) mutable {
    const bool fine = r || r.error().code() == Code::kNotFound || r.error().code() == Code::kExists;
    if (fine)
      count_.good();
    else
      count_.bad("writeFailed");
    done(fine ? Result<>() : pass(r.error()));
  });
}

}  // namespace mangrove::manager
