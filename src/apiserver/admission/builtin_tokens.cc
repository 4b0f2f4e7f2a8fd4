#include "apiserver/admission/builtin_tokens.h"

#include <algorithm>

#include "apiserver/core/object.h"
#include "apiserver/core/strategy.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kPrefix = "kube-api-access-";
// Just over an hour, by which Kubernetes knows tokens that were not asked for.
constexpr int64_t kTokenSeconds = 3607;
constexpr int kFileMode = 0644;

json::Object tokenVolume(const std::string& name) {
  const json::Object token{{"serviceAccountToken",
                            json::Object{{"expirationSeconds", kTokenSeconds}, {"path", "token"}}}};
  const json::Object authority{
      {"configMap",
       json::Object{{"name", "kube-root-ca.crt"},
                    {"items", json::Array{json::Object{{"key", "ca.crt"}, {"path", "ca.crt"}}}}}}};
  const json::Object place{
      {"downwardAPI",
       json::Object{
           {"items", json::Array{json::Object{
                         {"path", "namespace"},
                         {"fieldRef", json::Object{{"apiVersion", "v1"},
                                                   {"fieldPath", "metadata.namespace"}}}}}}}}};
  return {{"name", name},
          {"projected", json::Object{{"sources", json::Array{token, authority, place}},
                                     {"defaultMode", kFileMode}}}};
}

json::Array& arrayAt(json::Object& parent, std::string_view key) {
  json::Value& value = parent[key];
  if (!value.is_array()) value = json::Array();
  return value.get_array();
}

// "" when the pod has none.
std::string tokenVolumeOf(const json::Object& spec) {
  const json::Array* volumes = findArray(spec, "volumes");
  if (!volumes) return "";
  for (const json::Value& volume : *volumes)
    if (volume.is_object() && textAt(volume.get_object(), "name").starts_with(kPrefix))
      return std::string(textAt(volume.get_object(), "name"));
  return "";
}

bool mountsSomething(const json::Object& container) {
  const json::Array* mounts = findArray(container, "volumeMounts");
  return mounts && std::any_of(mounts->begin(), mounts->end(), [](const json::Value& mount) {
           return mount.is_object() && textAt(mount.get_object(), "mountPath") == kTokenMountPath;
         });
}

// nullopt: it does not say.
std::optional<bool> automounts(const json::Object& object) {
  const json::Value* flag = object.if_contains("automountServiceAccountToken");
  return flag && flag->is_bool() ? std::optional(flag->get_bool()) : std::nullopt;
}

bool isMirror(const json::Object& pod) {
  const json::Object* notes = findObject(metadataOf(pod), "annotations");
  return notes && notes->contains("kubernetes.io/config.mirror");
}

}  // namespace

void addTokenVolume(json::Object& spec, const std::string& name) {
  const std::string known = tokenVolumeOf(spec);
  const std::string& volume = known.empty() ? name : known;
  bool isMounted = false;
  for (std::string_view list : {"initContainers", "containers"}) {
    json::Value* containers = spec.if_contains(list);
    if (!containers || !containers->is_array()) continue;
    for (json::Value& value : containers->get_array()) {
      if (!value.is_object() || mountsSomething(value.get_object())) continue;
      arrayAt(value.get_object(), "volumeMounts")
          .push_back(
              json::Object{{"name", volume}, {"readOnly", true}, {"mountPath", kTokenMountPath}});
      isMounted = true;
    }
  }
  if (isMounted && known.empty()) arrayAt(spec, "volumes").push_back(tokenVolume(volume));
}

void keepTokenVolume(json::Object& spec, const json::Object& old) {
  const std::string name = tokenVolumeOf(old);
  if (!name.empty() && tokenVolumeOf(spec).empty()) addTokenVolume(spec, name);
}

void TokenVolumes::give(AdmissionRequest& request) {
  json::Object& spec = objectAt(request.object.get_object(), "spec");
  static const Interned kAccounts = Resources::storedName("", "serviceaccounts");
  const auto stored = store_.getHead(kAccounts, request.ns, textAt(spec, "serviceAccountName"));
  auto account = stored ? json::parse(*stored->json()) : Result<json::Value>(json::Object());
  if (!account || !account->is_object()) return;
  const json::Array* secrets = findArray(account->get_object(), "imagePullSecrets");
  const json::Array* own = findArray(spec, "imagePullSecrets");
  if (secrets && (!own || own->empty())) spec["imagePullSecrets"] = *secrets;
  const bool wanted = automounts(spec).value_or(automounts(account->get_object()).value_or(true));
  if (wanted) addTokenVolume(spec, generatedName(kPrefix, rng_));
}

void TokenVolumes::mutate(AdmissionRequest& request, Done done) {
  const KindInfo& kind = *request.resource->kind;
  const bool isPod = kind.group.empty() && kind.plural == "pods" && request.subresource.empty() &&
                     request.object.is_object();
  if (!isPod || isMirror(std::as_const(request.object.get_object()))) return done(std::nullopt);
  if (request.operation == Operation::kCreate) give(request);
  if (request.operation == Operation::kUpdate && request.oldObject.is_object())
    if (const json::Object* old = findObject(request.oldObject.get_object(), "spec"))
      keepTokenVolume(objectAt(request.object.get_object(), "spec"), *old);
  done(std::nullopt);
}

}  // namespace mangrove::apiserver
