#include "apiserver/subresources/binding.h"

#include <fmt/core.h>

#include "apiserver/core/body.h"
#include "apiserver/core/commit.h"
#include "apiserver/core/object.h"
#include "apiserver/subresources/admit.h"
#include "apiserver/subresources/conditions.h"
#include "base/check.h"
#include "json/arena.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kKind = "Binding";

struct Binding {
  std::string pod, node, uid, resourceVersion;
  json::Object labels, annotations;
};

Answer invalidBinding(const std::string& pod, const FieldErrors& errors) {
  return answer::status(422, "Invalid",
                        fmt::format("Binding \"{}\" is invalid: {}", pod, errors.text()),
                        json::Object{{"name", pod}, {"kind", kKind}, {"causes", errors.causes()}});
}

json::Object textsOf(const json::Object& metadata, std::string_view key) {
  const json::Object* found = findObject(metadata, key);
  return found ? *found : json::Object();
}

Outcome<> checkTarget(const json::Object& target, const std::string& pod) {
  FieldErrors errors;
  const FieldPath root("target");
  const std::string_view kind = textAt(target, "kind");
  if (!kind.empty() && kind != "Node" && kind != "Minion")
    errors.notSupported(root.child("kind"), json::Value(kind), {"Node", "<empty>"});
  if (textAt(target, "name").empty()) errors.required(root.child("name"));
  if (errors.empty()) return {};
  return refuse(invalidBinding(pod, errors));
}

Outcome<> checkPlace(const RequestInfo& info, const json::Object& root, std::string& pod) {
  const std::string_view kind = textAt(root, "kind");
  const std::string_view ns = namespaceOf(root), name = nameOf(root);
  if (!kind.empty() && kind != kKind)
    return refuse(answer::badRequest(fmt::format("the body is a {}, want a Binding", kind)));
  if (!ns.empty() && ns != info.ns)
    return refuse(answer::badRequest(
        fmt::format("the Binding is for namespace {}, the path for {}", ns, info.ns)));
  pod = info.name.empty() ? std::string(name) : info.name;
  if (pod.empty()) return refuse(answer::badRequest("the Binding names no pod: metadata.name"));
  if (!name.empty() && name != pod)
    return refuse(answer::badRequest(
        fmt::format("name in URL ({}) does not match name in Binding object ({})", pod, name)));
  return {};
}

Outcome<Binding> bindingOf(const RequestInfo& info, const json::Value& body) {
  if (!body.is_object()) return refuse(answer::badRequest("the Binding is not a JSON object"));
  const json::Object& root = body.get_object();
  Binding out;
  if (auto ok = checkPlace(info, root, out.pod); !ok) return tl::unexpected(ok.error());
  const json::Object* target = findObject(root, "target");
  const json::Object none;
  if (auto ok = checkTarget(target ? *target : none, out.pod); !ok)
    return tl::unexpected(ok.error());
  out.node = textAt(*target, "name");
  const json::Object& metadata = metadataOf(root);
  out.uid = textAt(metadata, "uid");
  out.resourceVersion = textAt(metadata, "resourceVersion");
  out.labels = textsOf(metadata, "labels");
  out.annotations = textsOf(metadata, "annotations");
  return out;
}

std::string hindrance(const json::Object& pod, const Binding& binding) {
  if (!binding.uid.empty() && binding.uid != uidOf(pod))
    return fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                       binding.uid, uidOf(pod));
  if (!binding.resourceVersion.empty() && binding.resourceVersion != resourceVersionOf(pod))
    return fmt::format(
        "Precondition failed: ResourceVersion in precondition: {}, ResourceVersion in object "
        "meta: {}",
        binding.resourceVersion, resourceVersionOf(pod));
  if (isBeingDeleted(pod))
    return fmt::format("pod {} is being deleted, cannot be assigned to a host", nameOf(pod));
  const json::Object* spec = findObject(pod, "spec");
  if (!spec) return "";
  if (const auto node = textAt(*spec, "nodeName"); !node.empty())
    return fmt::format("pod {} is already assigned to node \"{}\"", nameOf(pod), node);
  const json::Array* gates = findArray(*spec, "schedulingGates");
  if (gates && !gates->empty())
    return fmt::format("pod {} has non-empty .spec.schedulingGates", nameOf(pod));
  return "";
}

void mergeTexts(json::Object& metadata, std::string_view key, const json::Object& from) {
  if (from.empty()) return;
  json::Object& to = objectAt(metadata, key);
  for (const auto& [name, value] : from) {
    if (value.is_string()) to[name] = value;
  }
}

void assign(json::Object& pod, const Binding& binding, WallTime now) {
  json::Object& metadata = metadataOf(pod);
  objectAt(pod, "spec")["nodeName"] = binding.node;
  mergeTexts(metadata, "labels", binding.labels);
  mergeTexts(metadata, "annotations", binding.annotations);
  putCondition(pod, {"PodScheduled", "True"}, now);
}

Answer bound() {
  return answer::status(201, "", "");
}

void store(Context& context, const std::string& ns, const Binding& binding, bool dryRun,
           const ResponderPtr& to) {
  auto pods = context.resources.find("", "v1", "pods");
  CHECK(pods, "the tables lack pods");
  auto seen = context.store.getHead(pods->stored, ns, binding.pod);
  if (!seen) return to->answer(answer::notFound(*pods->kind, binding.pod));
  json::Arena arena;
  auto pod = json::parse(*seen->json(), arena.storage());
  if (!pod || !pod->is_object()) return to->answer(answer::internal("the pod cannot be read"));
  if (const auto why = hindrance(pod->get_object(), binding); !why.empty())
    return to->answer(answer::conflict(*pods->kind, binding.pod, why));
  if (dryRun) return to->answer(bound());
  assign(pod->get_object(), binding, context.clock.wall());
  putObject(context, std::move(pods), std::move(*pod), seen, [to](Result<store::ObjectPtr> stored) {
    to->answer(stored ? bound() : answer::ofError(stored.error()));
  });
}

}  // namespace

void bindPod(Context& context, const Call& call, ResponderPtr to) {
  if (call.info.verb != Verb::kCreate)
    return to->answer(answer::methodNotAllowed("a binding can only be created"));
  auto dry = dryRunParameter(call.info);
  if (!dry) return to->answer(dry.error());
  auto body = readBody(call);
  if (!body) return to->answer(body.error());
  auto asked = bindingOf(call.info, *body);
  if (!asked) return to->answer(asked.error());
  auto request = partOfPod(context, call, asked->pod, std::move(body->get_object()), "v1", kKind);
  request.subresource = "binding";
  request.dryRun = *dry;
  admitPart(context, std::move(request), std::move(to),
            [&context, info = call.info, dryRun = *dry](json::Value object, ResponderPtr back) {
              auto binding = bindingOf(info, object);
              if (!binding) return back->answer(binding.error());
              store(context, info.ns, *binding, dryRun, back);
            });
}

}  // namespace mangrove::apiserver
