#include "apiserver/subresources/scale.h"

#include <optional>

#include <fmt/core.h>

#include "apiserver/core/body.h"
#include "apiserver/core/object.h"
#include "apiserver/core/patch.h"
#include "apiserver/core/write.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/subresources/label_match.h"
#include "json/merge_patch.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kApiVersion = "autoscaling/v1";
constexpr std::string_view kReplicas = ".spec.replicas";
constexpr std::string_view kStatusReplicas = ".status.replicas";

std::string_view orElse(std::string_view path, std::string_view otherwise) {
  return path.empty() ? otherwise : path;
}

// Paths are simple: a dot before every name, no lists.
const json::Value* valueAt(const json::Object& object, std::string_view path) {
  const json::Object* at = &object;
  while (path.starts_with('.')) {
    const size_t next = path.find('.', 1);
    const json::Value* found = at->if_contains(path.substr(1, next - 1));
    if (!found || next == std::string_view::npos) return found;
    if (!found->is_object()) return nullptr;
    at = &found->get_object();
    path = path.substr(next);
  }
  return nullptr;
}

json::Value nested(std::string_view path, json::Value leaf) {
  const size_t next = path.find('.', 1);
  if (next == std::string_view::npos) return json::Object{{path.substr(1), std::move(leaf)}};
  return json::Object{{path.substr(1, next - 1), nested(path.substr(next), std::move(leaf))}};
}

int64_t numberAt(const json::Object& object, std::string_view path) {
  const json::Value* found = valueAt(object, path);
  return found && found->is_int64() ? found->get_int64() : 0;
}

std::string selectorText(const KindInfo& kind, const json::Object& object) {
  if (kind.isCustom) {
    const json::Value* text = valueAt(object, kind.labelSelectorPath);
    return text && text->is_string() ? std::string(std::string_view(text->get_string())) : "";
  }
  const json::Value* found = valueAt(object, ".spec.selector");
  if (!found || !found->is_object()) return "";
  const bool pairs = kind.kind == "ReplicationController";
  auto selector =
      pairs ? selectorFromPairs(found->get_object()) : selectorFrom(found->get_object());
  return selector ? selector->text() : "";
}

Answer invalidScale(const std::string& name, const FieldErrors& errors) {
  return answer::status(422, "Invalid",
                        fmt::format("Scale.autoscaling \"{}\" is invalid: {}", name, errors.text()),
                        json::Object{{"name", name},
                                     {"group", "autoscaling"},
                                     {"kind", "Scale"},
                                     {"causes", errors.causes()}});
}

struct Wanted {
  int64_t replicas = 0;
  std::string resourceVersion, uid;
};

Outcome<> checkScale(const Call& call, const json::Object& scale) {
  const std::string_view kind = textAt(scale, "kind"), version = textAt(scale, "apiVersion");
  if ((!kind.empty() && kind != "Scale") || (!version.empty() && version != kApiVersion))
    return refuse(answer::badRequest(
        fmt::format("the body is {}, Kind={}, want {}, Kind=Scale", version, kind, kApiVersion)));
  const std::string_view name = nameOf(scale);
  if (!name.empty() && name != call.info.name)
    return refuse(answer::badRequest(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                    call.info.name)));
  const std::string_view ns = namespaceOf(scale);
  if (!ns.empty() && ns != call.info.ns)
    return refuse(answer::badRequest(
        fmt::format("the namespace of the Scale ({}) does not match the one on the URL ({})", ns,
                    call.info.ns)));
  return {};
}

Outcome<Wanted> wantedOf(const Call& call, const json::Value& body) {
  if (!body.is_object()) return refuse(answer::badRequest("the Scale is not a JSON object"));
  const json::Object& scale = body.get_object();
  if (auto ok = checkScale(call, scale); !ok) return tl::unexpected(ok.error());
  const json::Value* replicas = valueAt(scale, kReplicas);
  if (replicas && !replicas->is_int64() && !replicas->is_null())
    return refuse(answer::badRequest("Scale: spec.replicas is not an integer"));
  Wanted out{numberAt(scale, kReplicas), std::string(resourceVersionOf(scale)),
             std::string(uidOf(scale))};
  FieldErrors errors;
  const FieldPath spec("spec");
  if (out.replicas < 0)
    errors.invalid(spec.child("replicas"), out.replicas, "must be greater than or equal to 0");
  if (out.replicas > INT32_MAX)
    errors.invalid(spec.child("replicas"), out.replicas, "must be at most 2147483647");
  if (!errors.empty()) return refuse(invalidScale(call.info.name, errors));
  return out;
}

// The object's answer becomes a Scale's.
class ScaleResponder final : public Responder {
 public:
  ScaleResponder(ResourcePtr resource, ResponderPtr to)
      : resource_(std::move(resource)), to_(std::move(to)) {}
  void answer(Answer a) override {
    if (!a.good()) return to_->answer(std::move(a));
    auto object = json::parse(a.body);
    if (!object || !object->is_object())
      return to_->answer(answer::internal("the scaled object cannot be read"));
    a.body = json::write(scaleOf(*resource_->kind, object->get_object()));
    to_->answer(std::move(a));
  }
  std::unique_ptr<AnswerStream> stream(Answer head) override {
    return to_->stream(std::move(head));
  }

 private:
  ResourcePtr resource_;
  ResponderPtr to_;
};

Outcome<json::Value> currentObject(const Context& context, const Call& call,
                                   const Resource& resource, bool head) {
  const std::string ns = resource.kind->namespaced ? call.info.ns : "";
  auto seen = head ? context.store.getHead(resource.stored, ns, call.info.name)
                   : context.store.get(resource.stored, ns, call.info.name);
  if (!seen) return refuse(answer::notFound(*resource.kind, call.info.name));
  auto object = json::parse(*seen->json());
  if (!object || !object->is_object()) return refuse(answer::internal("the object cannot be read"));
  fromStored(*resource.kind, *object);
  return std::move(*object);
}

json::Value patchFor(const Wanted& wanted, const KindInfo& kind) {
  json::Value patch = nested(orElse(kind.specReplicasPath, kReplicas), wanted.replicas);
  json::Object metadata;
  if (!wanted.resourceVersion.empty()) metadata["resourceVersion"] = wanted.resourceVersion;
  if (!wanted.uid.empty()) metadata["uid"] = wanted.uid;
  if (!metadata.empty()) patch.get_object()["metadata"] = std::move(metadata);
  return patch;
}

void write(Context& context, Call call, ResourcePtr resource, ResponderPtr to,
           const Wanted& wanted) {
  call.body = json::write(patchFor(wanted, *resource->kind));
  call.contentType = "application/merge-patch+json";
  call.accept = "application/json";
  call.info.verb = Verb::kPatch;
  auto back = std::make_shared<ScaleResponder>(resource, std::move(to));
  patchObject(context, std::move(call), std::move(resource), std::move(back));
}

void putScale(Context& context, const Call& call, ResourcePtr resource, ResponderPtr to) {
  auto body = readBody(call);
  if (!body) return to->answer(body.error());
  auto wanted = wantedOf(call, *body);
  if (!wanted) return to->answer(wanted.error());
  write(context, call, std::move(resource), std::move(to), *wanted);
}

// Ownership is that of the object's own field, so the object's books decide about conflicts.
void applyScale(Context& context, Call call, ResourcePtr resource, ResponderPtr to,
                const json::Value& body) {
  auto wanted = wantedOf(call, body);
  if (!wanted) return to->answer(wanted.error());
  json::Value object =
      nested(orElse(resource->kind->specReplicasPath, kReplicas), wanted->replicas);
  object.get_object()["apiVersion"] = resource->kind->apiVersion();
  object.get_object()["kind"] = resource->kind->kind;
  metadataOf(object.get_object())["name"] = call.info.name;
  call.body = json::write(object);
  call.accept = "application/json";
  auto back = std::make_shared<ScaleResponder>(resource, std::move(to));
  patchObject(context, std::move(call), std::move(resource), std::move(back));
}

void patchScale(Context& context, const Call& call, ResourcePtr resource, ResponderPtr to) {
  auto current = currentObject(context, call, *resource, true);
  if (!current) return to->answer(current.error());
  auto patch = readPatch(call, *resource);
  if (!patch) return to->answer(patch.error());
  if (patch->type == PatchType::kApply)
    return applyScale(context, call, std::move(resource), std::move(to), patch->body);
  // A Scale has no lists, so a strategic patch of it is a merge patch.
  if (patch->type == PatchType::kStrategic) patch->type = PatchType::kMerge;
  const json::Value before = scaleOf(*resource->kind, current->get_object());
  auto after = patched(*patch, *resource, before.get_object());
  if (!after) return to->answer(after.error());
  auto wanted = wantedOf(call, *after);
  if (!wanted) return to->answer(wanted.error());
  // Only a version that the patch itself named binds the write to it.
  if (wanted->resourceVersion == resourceVersionOf(before.get_object()))
    wanted->resourceVersion.clear();
  write(context, call, std::move(resource), std::move(to), *wanted);
}

}  // namespace

json::Value scaleOf(const KindInfo& kind, const json::Object& object) {
  json::Object metadata;
  for (std::string_view key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
    copyMember(metadata, metadataOf(object), key);
  json::Object status{
      {"replicas", numberAt(object, orElse(kind.statusReplicasPath, kStatusReplicas))}};
  if (const auto text = selectorText(kind, object); !text.empty()) status["selector"] = text;
  const int64_t replicas = numberAt(object, orElse(kind.specReplicasPath, kReplicas));
  return json::Object{{"kind", "Scale"},
                      {"apiVersion", kApiVersion},
                      {"metadata", std::move(metadata)},
                      {"spec", json::Object{{"replicas", replicas}}},
                      {"status", std::move(status)}};
}

void takeScale(const KindInfo& kind, const json::Object& scale, json::Object& object) {
  const json::Value change =
      nested(orElse(kind.specReplicasPath, kReplicas), numberAt(scale, kReplicas));
  json::Value whole = std::move(object);
  json::applyMergePatch(whole, change);
  object = std::move(whole.get_object());
}

void serveScale(Context& context, const Call& call, ResourcePtr resource, ResponderPtr to) {
  if (!resource->kind->subresource("scale")) return to->answer(answer::noSuchPath(call.info.path));
  if (call.info.verb == Verb::kUpdate)
    return putScale(context, call, std::move(resource), std::move(to));
  if (call.info.verb == Verb::kPatch)
    return patchScale(context, call, std::move(resource), std::move(to));
  if (call.info.verb != Verb::kGet)
    return to->answer(answer::methodNotAllowed(
        fmt::format("the server does not allow {} on scale", verbName(call.info.verb))));
  auto object = currentObject(context, call, *resource, false);
  if (!object) return to->answer(object.error());
  to->answer(answer::json(200, json::write(scaleOf(*resource->kind, object->get_object()))));
}

}  // namespace mangrove::apiserver
