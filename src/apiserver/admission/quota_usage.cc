#include "apiserver/admission/quota_usage.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "api/pod/pod_requests.h"
#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

const json::Object& objectIn(const json::Object& parent, std::string_view key) {
  static const json::Object kEmpty;
  const json::Object* found = findObject(parent, key);
  return found ? *found : kEmpty;
}

bool isCore(const KindInfo& kind, std::string_view plural) {
  return kind.group.empty() && kind.plural == plural;
}

Usage amounts(const json::Object& list) {
  Usage usage;
  for (const auto& [name, value] : list) {
    auto amount = value.is_string() ? Quantity::parse(value.get_string()) : Result<Quantity>({});
    if (amount) usage[std::string(name)] = *amount;
  }
  return usage;
}

bool hasEnded(const json::Object& pod) {
  const std::string_view phase = textAt(objectIn(pod, "status"), "phase");
  return phase == "Succeeded" || phase == "Failed";
}

void addPod(const json::Object& pod, Usage& usage) {
  if (hasEnded(pod)) return;
  usage["pods"] = Quantity::of(1);
  auto decoded = api::decodeText<api::Pod>(json::write(pod));
  if (!decoded) return;
  for (const auto& [name, amount] : api::podRequests(*decoded->spec)) {
    const std::string resource(name.view());
    usage["requests." + resource] = amount;
    if (resource == "cpu" || resource == "memory" || resource == "ephemeral-storage")
      usage[resource] = amount;
  }
  for (const auto& [name, amount] : api::podLimits(*decoded->spec))
    usage["limits." + std::string(name.view())] = amount;
}

void addService(const json::Object& service, Usage& usage) {
  const json::Object& spec = objectIn(service, "spec");
  const std::string_view type = textAt(spec, "type");
  int64_t ports = 0;
  if (const json::Array* list = findArray(spec, "ports"))
    for (const json::Value& port : *list)
      ports += port.is_object() && port.get_object().contains("nodePort") ? 1 : 0;
  usage["services"] = Quantity::of(1);
  usage["services.nodeports"] = Quantity::of(type == "NodePort" || ports > 0 ? ports : 0);
  usage["services.loadbalancers"] = Quantity::of(type == "LoadBalancer" ? 1 : 0);
}

void addClaim(const json::Object& claim, Usage& usage) {
  const json::Object& spec = objectIn(claim, "spec");
  const Usage requests = amounts(objectIn(objectIn(spec, "resources"), "requests"));
  const auto storage = requests.find("storage");
  const std::string prefix =
      std::string(textAt(spec, "storageClassName")) + ".storageclass.storage.k8s.io/";
  usage["persistentvolumeclaims"] = Quantity::of(1);
  if (prefix.front() != '.') usage[prefix + "persistentvolumeclaims"] = Quantity::of(1);
  if (storage == requests.end()) return;
  usage["requests.storage"] = storage->second;
  if (prefix.front() != '.') usage[prefix + "requests.storage"] = storage->second;
}

bool matchesScope(std::string_view scope, const json::Object& pod) {
  const json::Object& spec = objectIn(pod, "spec");
  auto decoded = api::decodeText<api::Pod>(json::write(pod));
  const bool bestEffort = decoded && api::kubeQosName(api::computeKubeQos(*decoded->spec)) ==
                                         std::string_view("BestEffort");
  if (scope == "BestEffort") return bestEffort;
  if (scope == "NotBestEffort") return !bestEffort;
  if (scope == "Terminating") return spec.contains("activeDeadlineSeconds");
  if (scope == "NotTerminating") return !spec.contains("activeDeadlineSeconds");
  if (scope == "PriorityClass") return !textAt(spec, "priorityClassName").empty();
  return false;
}

bool matchesExpression(const json::Object& expression, const json::Object& pod) {
  const std::string_view scope = textAt(expression, "scopeName");
  const std::string_view op = textAt(expression, "operator");
  if (scope != "PriorityClass") return matchesScope(scope, pod);
  const std::string_view own = textAt(objectIn(pod, "spec"), "priorityClassName");
  const json::Array* values = findArray(expression, "values");
  const bool in = values && std::any_of(values->begin(), values->end(), [&](const auto& v) {
                    return v.is_string() && v.get_string() == own;
                  });
  if (op == "In") return in;
  if (op == "NotIn") return !in;
  return (op == "Exists") == !own.empty();
}

std::string listed(const Usage& usage) {
  std::string text;
  for (const auto& [name, amount] : usage)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, amount.text());
  return text;
}

// Quotas on these can only be kept when every container says what it needs.
constexpr std::string_view kNeeded[] = {
    "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"};

bool names(const json::Object& container, std::string_view quota) {
  const json::Object& resources = objectIn(container, "resources");
  const bool isLimit = quota.starts_with("limits.");
  const std::string_view resource = quota.substr(quota.find('.') + 1);  // npos + 1 = 0
  return objectIn(resources, isLimit ? "limits" : "requests").contains(resource);
}

}  // namespace

Usage usageOf(const KindInfo& kind, const json::Object& object) {
  Usage usage;
  const std::string plural(kind.plural), full = std::string(kind.groupResource());
  usage["count/" + full] = Quantity::of(1);
  for (std::string_view counted :
       {"configmaps", "secrets", "replicationcontrollers", "resourcequotas"})
    if (isCore(kind, counted)) usage[plural] = Quantity::of(1);
  if (isCore(kind, "pods")) addPod(object, usage);
  if (isCore(kind, "services")) addService(object, usage);
  if (isCore(kind, "persistentvolumeclaims")) addClaim(object, usage);
  return usage;
}

bool quotaCovers(const json::Object& quota, const KindInfo& kind, const json::Object& object) {
  const json::Object& spec = objectIn(quota, "spec");
  const json::Array* scopes = findArray(spec, "scopes");
  const json::Array* selectors = findArray(objectIn(spec, "scopeSelector"), "matchExpressions");
  const bool isScoped = (scopes && !scopes->empty()) || (selectors && !selectors->empty());
  if (!isScoped) return true;
  if (!isCore(kind, "pods")) return false;
  auto isRefused = [&](const json::Value& one) {
    if (one.is_string()) return !matchesScope(one.get_string(), object);
    return !one.is_object() || !matchesExpression(one.get_object(), object);
  };
  if (scopes && std::any_of(scopes->begin(), scopes->end(), isRefused)) return false;
  return !selectors || std::none_of(selectors->begin(), selectors->end(), isRefused);
}

Usage hardOf(const json::Object& quota) {
  return amounts(objectIn(objectIn(quota, "spec"), "hard"));
}
Usage usedOf(const json::Object& quota) {
  return amounts(objectIn(objectIn(quota, "status"), "used"));
}

Usage masked(const Usage& usage, const Usage& names) {
  Usage out;
  for (const auto& [name, amount] : usage)
    if (names.count(name)) out[name] = amount;
  return out;
}

std::string missingFor(const Usage& hard, const KindInfo& kind, const json::Object& object) {
  if (!isCore(kind, "pods")) return "";
  const json::Array* containers = findArray(objectIn(object, "spec"), "containers");
  if (!containers) return "";
  std::string text;
  for (std::string_view needed : kNeeded) {
    if (!hard.count(std::string(needed))) continue;
    std::string silent;
    for (const json::Value& one : *containers)
      if (one.is_object() && !names(one.get_object(), needed))
        silent += (silent.empty() ? "" : ",") + std::string(textAt(one.get_object(), "name"));
    if (!silent.empty())
      text += fmt::format("{}{} for: {}", text.empty() ? "" : "; ", needed, silent);
  }
  return text.empty() ? text : "must specify " + text;
}

std::string excess(std::string_view quota, const Usage& hard, const Usage& used,
                   const Usage& more) {
  Usage asked, had, most;
  for (const auto& [name, amount] : more) {
    const auto limit = hard.find(name);
    const auto now = used.find(name);
    const Quantity before = now == used.end() ? Quantity() : now->second;
    if (limit == hard.end() || amount.isZero() || before + amount <= limit->second) continue;
    asked[name] = amount;
    had[name] = before;
    most[name] = limit->second;
  }
  if (asked.empty()) return "";
  return fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", quota,
                     listed(asked), listed(had), listed(most));
}

json::Object toJson(const Usage& usage) {
  json::Object out;
  for (const auto& [name, amount] : usage) out[name] = amount.text();
  return out;
}

}  // namespace mangrove::apiserver
