#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/inspect.h"

namespace mangrove::apiserver {
namespace {

void defaultContainers(json::Object& spec, std::string_view key) {
  json::Array* containers = mutableArray(spec, key);
  if (containers == nullptr) return;
  for (json::Value& value : *containers) {
    json::Object* container = value.if_object();
    if (container == nullptr) continue;
    setMissing(*container, "imagePullPolicy", pullPolicyFor(textIn(*container, "image")));
  }
}

void defaultVolume(json::Object& volume) {
  bool hasSource = volume.size() > (volume.contains("name") ? 1u : 0u);
  if (!hasSource) volume.emplace("emptyDir", json::Object());
  if (json::Object* image = mutableObject(volume, "image"))
    setMissing(*image, "pullPolicy", pullPolicyFor(textIn(*image, "reference")));
}

// The old name of the field is kept in step for clients that still read it.
void mirrorServiceAccount(json::Object& spec) {
  if (std::string name(textIn(spec, "serviceAccountName")); !name.empty())
    spec["serviceAccount"] = name;
  else if (std::string old(textIn(spec, "serviceAccount")); !old.empty())
    spec["serviceAccountName"] = old;
}

// Who limits without requesting requests the limit.
void requestLimits(json::Object& owner) {
  json::Object* resources = mutableObject(owner, "resources");
  const json::Object& limits =
      resources != nullptr ? objectIn(*resources, "limits") : objectIn(owner, "");
  if (limits.empty()) return;
  json::Object copy = limits;
  json::Object* requests = ensureObject(*resources, "requests");
  if (requests == nullptr) return;
  for (const auto& limit : copy) setMissing(*requests, limit.key(), limit.value());
}

void defaultHostPorts(json::Object& container) {
  json::Array* ports = mutableArray(container, "ports");
  if (ports == nullptr) return;
  for (json::Value& port : *ports)
    if (json::Object* p = port.if_object(); p != nullptr && p->contains("containerPort"))
      setMissing(*p, "hostPort", json::Value(p->at("containerPort")));
}

void defaultRunning(json::Object& spec, std::string_view key, bool hostNetwork) {
  json::Array* containers = mutableArray(spec, key);
  if (containers == nullptr) return;
  for (json::Value& value : *containers) {
    json::Object* container = value.if_object();
    if (container == nullptr) continue;
    requestLimits(*container);
    if (hostNetwork) defaultHostPorts(*container);
  }
}

}  // namespace

std::string_view pullPolicyFor(std::string_view image) {
  size_t digest = image.find('@');
  bool isPinned = digest != std::string_view::npos || image.empty();
  image = image.substr(0, digest);
  size_t slash = image.rfind('/');
  size_t colon = image.find(':', slash == std::string_view::npos ? 0 : slash);
  bool isLatest = colon == std::string_view::npos ? !isPinned : image.substr(colon) == ":latest";
  return isLatest ? "Always" : "IfNotPresent";
}

void defaultPodSpec(json::Object& spec) {
  for (std::string_view key : {"containers", "initContainers", "ephemeralContainers"})
    defaultContainers(spec, key);
  if (json::Array* volumes = mutableArray(spec, "volumes"))
    for (json::Value& volume : *volumes)
      if (volume.is_object()) defaultVolume(volume.get_object());
  mirrorServiceAccount(spec);
}

// Only pods, not templates: a template's author may still change limits before pods are made.
void defaultPod(json::Object& pod) {
  json::Object* spec = mutableObject(pod, "spec");
  if (spec == nullptr) return;
  defaultPodSpec(*spec);
  const json::Value* host = spec->if_contains("hostNetwork");
  bool hostNetwork = host != nullptr && host->is_bool() && host->get_bool();
  for (std::string_view key : {"containers", "initContainers"})
    defaultRunning(*spec, key, hostNetwork);
  requestLimits(*spec);
  setMissing(*spec, "enableServiceLinks", true);
  json::Value* grace = spec->if_contains("terminationGracePeriodSeconds");
  if (grace != nullptr && grace->is_int64() && grace->get_int64() < 0) *grace = 1;
}

void startPod(json::Object& pod) {
  pod["status"] = json::Object{{"phase", "Pending"}};
}

void defaultPodTemplate(json::Object& object) {
  json::Object* inside = mutableObject(object, "template");
  json::Object* spec = inside != nullptr ? mutableObject(*inside, "spec") : nullptr;
  if (spec != nullptr) defaultPodSpec(*spec);
}

}  // namespace mangrove::apiserver
