#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/inspect.h"
#include "apiserver/schema/formats.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

constexpr int kClientIpSeconds = 10800;  // three hours of session affinity

void copyMissing(json::Object& item, std::string_view to, std::string_view from) {
  json::Object source = objectIn(item, from);
  if (source.empty()) return;
  json::Object* target = ensureObject(item, to);
  if (target == nullptr) return;
  for (const auto& amount : source) setMissing(*target, amount.key(), amount.value());
}

json::Value scalingPolicy(std::string_view type, int value) {
  return json::Object{{"type", type}, {"value", value}, {"periodSeconds", 15}};
}

void defaultScaling(json::Object& behavior, std::string_view direction, json::Array policies) {
  json::Object* rules = ensureObject(behavior, direction);
  if (rules == nullptr) return;
  if (direction == "scaleUp") setMissing(*rules, "stabilizationWindowSeconds", 0);
  setMissing(*rules, "selectPolicy", "Max");
  setMissing(*rules, "policies", std::move(policies));
}

void defaultServicePorts(json::Object& spec) {
  json::Array* ports = mutableArray(spec, "ports");
  if (ports == nullptr) return;
  for (json::Value& value : *ports) {
    json::Object* port = value.if_object();
    if (port == nullptr) continue;
    setMissing(*port, "protocol", "TCP");
    json::Value* target = port->if_contains("targetPort");
    bool isUnset = target == nullptr || *target == json::Value(0) || *target == json::Value("");
    if (isUnset && port->contains("port")) (*port)["targetPort"] = json::Value(port->at("port"));
  }
}

// What a service with an address of its own has. One family: this server is a single machine.
void defaultReachable(json::Object& spec) {
  setMissing(spec, "internalTrafficPolicy", "Cluster");
  std::string ip(textIn(spec, "clusterIP"));
  if (!ip.empty()) setMissing(spec, "clusterIPs", json::Array{json::Value(ip)});
  setMissing(spec, "ipFamilies", json::Array{isIpv6(ip) ? "IPv6" : "IPv4"});
  setMissing(spec, "ipFamilyPolicy", "SingleStack");
}

}  // namespace

// Selectors of admission webhooks choose namespaces by their own name through this label.
void defaultNamespace(json::Object& object) {
  std::string name(textIn(objectIn(object, "metadata"), "name"));
  json::Object* meta = mutableObject(object, "metadata");
  if (name.empty() || meta == nullptr) return;
  json::Object* labels = ensureObject(*meta, "labels");
  if (labels != nullptr) (*labels)["kubernetes.io/metadata.name"] = name;
}

void keepNamespaceFinalizers(json::Object& now, const json::Object& old) {
  const json::Array& finalizers = arrayIn(objectIn(old, "spec"), "finalizers");
  if (json::Object* spec = ensureObject(now, "spec"); spec && !finalizers.empty())
    (*spec)["finalizers"] = finalizers;
}

void startNamespace(json::Object& object) {
  if (json::Object* spec = ensureObject(object, "spec")) {
    json::Array finalizers = arrayIn(*spec, "finalizers");
    bool isThere = false;
    for (const json::Value& one : finalizers) isThere = isThere || one == json::Value("kubernetes");
    if (!isThere) finalizers.push_back("kubernetes");
    (*spec)["finalizers"] = std::move(finalizers);
  }
  object["status"] = json::Object{{"phase", "Active"}};
}

void startPending(json::Object& object) {
  object["status"] = json::Object{{"phase", "Pending"}};
}

void defaultNode(json::Object& object) {
  json::Object* spec = mutableObject(object, "spec");
  if (spec != nullptr && !textIn(*spec, "podCIDR").empty())
    setMissing(*spec, "podCIDRs", json::Array{spec->at("podCIDR")});
  json::Object* status = mutableObject(object, "status");
  if (status != nullptr && status->contains("capacity"))
    setMissing(*status, "allocatable", json::Value(status->at("capacity")));
}

void defaultService(json::Object& object) {
  json::Object* spec = ensureObject(object, "spec");
  if (spec == nullptr) return;
  setMissing(*spec, "type", "ClusterIP");
  std::string type(textIn(*spec, "type"));
  defaultServicePorts(*spec);
  if (textIn(*spec, "sessionAffinity") == "ClientIP") {
    json::Object* config = ensureObject(*spec, "sessionAffinityConfig");
    json::Object* client = config != nullptr ? ensureObject(*config, "clientIP") : nullptr;
    if (client != nullptr) setMissing(*client, "timeoutSeconds", kClientIpSeconds);
  }
  if (textIn(*spec, "sessionAffinity") != "ClientIP") spec->stable_erase("sessionAffinityConfig");
  if (type != "ExternalName") defaultReachable(*spec);
  if (type == "NodePort" || type == "LoadBalancer")
    setMissing(*spec, "externalTrafficPolicy", "Cluster");
  if (type == "LoadBalancer") setMissing(*spec, "allocateLoadBalancerNodePorts", true);
}

void startService(json::Object& object) {
  object["status"] = json::Object{{"loadBalancer", json::Object()}};
}

namespace {

// The node port of the same port and protocol.
const json::Value* nodePortOf(const json::Object& spec, const json::Object& port) {
  for (const json::Value& one : arrayIn(spec, "ports")) {
    if (!one.is_object() || !sameMember(one.get_object(), port, "port")) continue;
    if (textIn(one.get_object(), "protocol") != textIn(port, "protocol")) continue;
    return one.get_object().if_contains("nodePort");
  }
  return nullptr;
}

}  // namespace

void keepServiceAddresses(json::Object& now, const json::Object& old) {
  json::Object* spec = mutableObject(now, "spec");
  const json::Object& before = objectIn(old, "spec");
  if (spec == nullptr) return;
  std::string type(textIn(*spec, "type"));
  for (std::string_view key : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    const json::Value* value = before.if_contains(key);
    if (type == "ExternalName")
      spec->stable_erase(key);
    else if (value != nullptr)
      setMissing(*spec, key, json::Value(*value));
  }
  json::Array* ports = mutableArray(*spec, "ports");
  if (ports == nullptr || (type != "NodePort" && type != "LoadBalancer")) return;
  for (json::Value& port : *ports) {
    if (!port.is_object()) continue;
    setMissing(port.get_object(), "protocol", "TCP");
    const json::Value* number = nodePortOf(before, port.get_object());
    if (number != nullptr) setMissing(port.get_object(), "nodePort", json::Value(*number));
  }
}

// Plain text is taken over into data and never stored as such.
void defaultSecret(json::Object& object) {
  json::Object plain = objectIn(object, "stringData");
  object.stable_erase("stringData");
  if (plain.empty()) return;
  json::Object* data = ensureObject(object, "data");
  if (data == nullptr) return;
  for (const auto& entry : plain)
    if (entry.value().is_string())
      (*data)[entry.key()] = base64Encode(std::string_view(entry.value().get_string()));
}

void defaultLimitRange(json::Object& object) {
  json::Object* spec = mutableObject(object, "spec");
  json::Array* limits = spec != nullptr ? mutableArray(*spec, "limits") : nullptr;
  if (limits == nullptr) return;
  for (json::Value& value : *limits) {
    json::Object* item = value.if_object();
    if (item == nullptr || textIn(*item, "type") != "Container") continue;
    copyMissing(*item, "default", "max");
    copyMissing(*item, "defaultRequest", "default");
    copyMissing(*item, "defaultRequest", "min");
  }
}

void defaultAutoscaler(json::Object& object) {
  json::Object* spec = mutableObject(object, "spec");
  if (spec == nullptr) return;
  if (arrayIn(*spec, "metrics").empty())
    (*spec)["metrics"] = json::Array{json::Object{
        {"type", "Resource"},
        {"resource", json::Object{{"name", "cpu"},
                                  {"target", json::Object{{"type", "Utilization"},
                                                          {"averageUtilization", 80}}}}}}};
  if (json::Object* behavior = mutableObject(*spec, "behavior")) {
    defaultScaling(*behavior, "scaleUp", {scalingPolicy("Pods", 4), scalingPolicy("Percent", 100)});
    defaultScaling(*behavior, "scaleDown", {scalingPolicy("Percent", 100)});
  }
}

void defaultRoleBinding(json::Object& object) {
  // Go's clients send what is not set as "".
  json::Object* role = mutableObject(object, "roleRef");
  if (role != nullptr && textIn(*role, "apiGroup").empty())
    (*role)["apiGroup"] = "rbac.authorization.k8s.io";
  json::Array* subjects = mutableArray(object, "subjects");
  if (subjects == nullptr) return;
  for (json::Value& value : *subjects) {
    json::Object* subject = value.if_object();
    if (subject == nullptr) continue;
    std::string_view kind = textIn(*subject, "kind");
    if (kind == "User" || kind == "Group")
      setMissing(*subject, "apiGroup", "rbac.authorization.k8s.io");
  }
}

void defaultNetworkPolicy(json::Object& object) {
  json::Object* spec = mutableObject(object, "spec");
  if (spec == nullptr || spec->contains("policyTypes")) return;
  json::Array types{"Ingress"};
  if (!arrayIn(*spec, "egress").empty()) types.push_back("Egress");
  spec->emplace("policyTypes", std::move(types));
}

void defaultCustomResourceDefinition(json::Object& object) {
  json::Object* spec = mutableObject(object, "spec");
  json::Object* names = spec != nullptr ? mutableObject(*spec, "names") : nullptr;
  if (names == nullptr) return;
  std::string kind(textIn(*names, "kind"));
  if (kind.empty()) return;
  setMissing(*names, "singular", lower(kind));
  setMissing(*names, "listKind", kind + "List");
}

}  // namespace mangrove::apiserver
