#include "manager/controllers/node_companion.h"

#include "api/wire/names.h"
#include "json/value.h"

namespace mangrove::manager {
namespace {

client::Request createRequest(const client::Kind& kind, const std::string& name,
                              const json::Value& spec) {
  client::Request out;
  out.verb = client::Verb::kCreate;
  out.ref = {kind, "", "", ""};
  out.body = json::write(json::Object{{"apiVersion", kind.apiVersion()},
                                      {"kind", kind.kind},
                                      {"metadata", {{"name", name}}},
                                      {"spec", spec}});
  return out;
}

// The whole spec is ours: what was there before and is no longer said must go, which a merge patch
// could not tell.
client::Request replaceRequest(const client::Kind& kind, const std::string& name,
                               const json::Value& spec) {
  const json::Array body = {json::Object{{"op", "add"}, {"path", "/spec"}, {"value", spec}}};
  auto out =
      client::patchRequest({kind, "", name, ""}, client::PatchType::kJson, json::write(body));
  out.repeat = client::Repeat::kSafe;
  return out;
}

}  // namespace

bool sameSpecInputs(const api::ObjectMeta& a, const api::ObjectMeta& b) {
  if (a.labels != b.labels) return false;
  for (auto key : {api::annotation::kColocationStrategy, api::annotation::kNetworkBandwidth})
    if (a.annotations.get(key) != b.annotations.get(key)) return false;
  return true;
}

void addNodesWithNews(Caches& caches, ControlLoop& keys) {
  caches.nodes.onChange([&keys](const client::Change<api::Node>& change) {
    const bool same =
        change.before && change.after && sameSpecInputs(change.before->meta, change.after->meta);
    if (!same) keys.add(change.key);
  });
}

NodeCompanion::NodeCompanion(Desk& desk, client::Kind kind, const std::string& controller)
    : desk_(desk),
      kind_(kind),
      count_(desk.metrics, "slo_controller_" + controller + "_reconcile_count",
             "Passes over these objects."),
      parsed_(desk.metrics, "slo_controller_" + controller + "_spec_parse_count",
              "Specs of these objects made from the configuration.") {}

void NodeCompanion::ensure(const std::string& name, std::optional<uint64_t> present,
                           const json::Value& spec, ControlLoop::Done done) {
  if (!present) return write(createRequest(kind_, name, spec), std::move(done));
  if (*present == digestOf(spec)) return leave(std::move(done));
  write(replaceRequest(kind_, name, spec), std::move(done));
}

void NodeCompanion::annotate(const std::string& name, std::string_view key,
                             const std::optional<std::string>& value, ControlLoop::Done done) {
  const json::Value said = value ? json::Value(*value) : json::Value();
  const json::Value body = json::Object{
      {"metadata", json::Object{{"annotations", json::Object{{std::string(key), said}}}}}};
  auto request =
      client::patchRequest({kind_, "", name, ""}, client::PatchType::kMerge, json::write(body));
  request.repeat = client::Repeat::kSafe;
  write(std::move(request), std::move(done));
}

void NodeCompanion::remove(const std::string& name, ControlLoop::Done done) {
  write(client::deleteRequest({kind_, "", name, ""}), std::move(done));
}

void NodeCompanion::leave(ControlLoop::Done done) {
  count_.good();
  done({});
}

void NodeCompanion::write(client::Request request, ControlLoop::Done done) {
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
