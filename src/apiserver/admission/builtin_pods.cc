#include "apiserver/admission/builtin_pods.h"

#include <algorithm>

#include <fmt/core.h>

#include "apiserver/admission/builtin_refusal.h"
#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

constexpr int64_t kPatience = 300;  // seconds; Kubernetes' default

bool tolerates(const json::Object& toleration, std::string_view key) {
  const std::string_view effect = textAt(toleration, "effect");
  const std::string_view own = textAt(toleration, "key");
  return (effect.empty() || effect == "NoExecute") && (own.empty() || own == key);
}

bool isTolerated(const json::Object& spec, std::string_view key) {
  const json::Array* list = findArray(spec, "tolerations");
  return list && std::any_of(list->begin(), list->end(), [&](const json::Value& one) {
           return one.is_object() && tolerates(one.get_object(), key);
         });
}

// A manifest that left the account to the server may be sent again.
void keepAccount(AdmissionRequest& request) {
  const json::Object* old = request.oldObject.if_object();
  const json::Object* before = old ? findObject(*old, "spec") : nullptr;
  json::Object& spec = objectAt(request.object.get_object(), "spec");
  if (!before || !textAt(spec, "serviceAccountName").empty()) return;
  for (std::string_view key : {"serviceAccountName", "serviceAccount"})
    copyMember(spec, *before, key);
}

}  // namespace

void addDefaultTolerations(json::Object& spec) {
  for (std::string_view key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (isTolerated(spec, key)) continue;
    json::Value& list = spec["tolerations"];
    if (!list.is_array()) list = json::Array();
    list.get_array().push_back(json::Object{{"key", key},
                                            {"operator", "Exists"},
                                            {"effect", "NoExecute"},
                                            {"tolerationSeconds", kPatience}});
  }
}

std::optional<Answer> PodAdmission::giveAccount(AdmissionRequest& request) const {
  json::Object& spec = objectAt(request.object.get_object(), "spec");
  const std::string name(textAt(spec, "serviceAccountName"));
  const json::Object& meta = metadataOf(std::as_const(request.object.get_object()));
  const json::Object* notes = findObject(meta, "annotations");
  if (notes && notes->contains("kubernetes.io/config.mirror")) return std::nullopt;
  if (name.empty()) {
    spec["serviceAccountName"] = "default";
    spec["serviceAccount"] = "default";
    return std::nullopt;
  }
  static const Interned kAccounts = Resources::storedName("", "serviceaccounts");
  // The default account of a new namespace may be a moment behind its first pod.
  if (name == "default" || store_.getHead(kAccounts, request.ns, name)) return std::nullopt;
  return admissionForbids(request,
                          fmt::format("error looking up service account {}/{}: serviceaccount "
                                      "\"{}\" not found",
                                      request.ns, name, name));
}

std::optional<Answer> PodAdmission::giveOverhead(AdmissionRequest& request) const {
  json::Object& spec = objectAt(request.object.get_object(), "spec");
  const std::string name(textAt(spec, "runtimeClassName"));
  const json::Object* given = findObject(spec, "overhead");
  if (name.empty()) {
    if (!given || given->empty()) return std::nullopt;
    return admissionForbids(request,
                            "pod rejected: Pod Overhead set without corresponding RuntimeClass "
                            "defined Overhead");
  }
  static const Interned kClasses = Resources::storedName("node.k8s.io", "runtimeclasses");
  auto stored = store_.getHead(kClasses, "", name);
  if (!stored)
    return admissionForbids(request,
                            fmt::format("pod rejected: RuntimeClass \"{}\" not found", name));
  auto value = json::parse(*stored->json());
  if (!value || !value->is_object()) return std::nullopt;
  if (const json::Object* overhead = findObject(value->get_object(), "overhead")) {
    if (const json::Object* fixed = findObject(*overhead, "podFixed")) spec["overhead"] = *fixed;
  }
  const json::Object* scheduling = findObject(value->get_object(), "scheduling");
  const json::Object* selector = scheduling ? findObject(*scheduling, "nodeSelector") : nullptr;
  if (selector)
    for (const auto& [key, label] : *selector) objectAt(spec, "nodeSelector")[key] = label;
  return std::nullopt;
}

void PodAdmission::mutate(AdmissionRequest& request, Done done) {
  const KindInfo& kind = *request.resource->kind;
  const bool isPod = kind.group.empty() && kind.plural == "pods";
  const bool isWrite =
      request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
  if (!isPod || !isWrite || !request.subresource.empty() || !request.object.is_object())
    return done(std::nullopt);
  addDefaultTolerations(objectAt(request.object.get_object(), "spec"));
  if (request.operation != Operation::kCreate) {
    keepAccount(request);
    return done(std::nullopt);
  }
  if (auto refusal = giveAccount(request)) return done(std::move(refusal));
  done(giveOverhead(request));
}

}  // namespace mangrove::apiserver
