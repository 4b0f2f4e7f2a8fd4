// Nodes, namespaces, events, leases, quotas and other furniture.
#include <set>

#include <fmt/core.h>

#include "apiserver/kinds/names.h"
#include "apiserver/kinds/validators.h"
#include "apiserver/schema/formats.h"
#include "base/number/quantity.h"

namespace mangrove::apiserver {
namespace {

void checkTaints(const Inspect& spec) {
  std::set<std::string> seen;
  spec.each("taints", [&](const Inspect& taint) {
    taint.check("key", qualifiedTrouble(taint.text("key")));
    taint.check("value", labelValueTrouble(taint.text("value")));
    if (!taint.wants("effect")) return;
    std::string key = fmt::format("{}:{}", taint.text("key"), taint.text("effect"));
    if (!seen.insert(key).second) taint.errors().duplicate(taint.at(), taint.object());
  });
}

// least ≤ most for every resource both name.
void checkOrder(const Inspect& item, std::string_view least, std::string_view most) {
  for (const auto& entry : item.map(least)) {
    const json::Value* bound = item.map(most).if_contains(entry.key());
    if (bound == nullptr || !bound->is_string() || !entry.value().is_string()) continue;
    auto low = Quantity::parse(entry.value().get_string());
    auto high = Quantity::parse(bound->get_string());
    if (!low || !high || *low <= *high) continue;
    FieldPath at = item.at().child(least);
    item.errors().invalid(at.key(entry.key()), entry.value(),
                          fmt::format("{} value {} is greater than {} value {}", least, low->text(),
                                      most, high->text()));
  }
}

void checkEventPlace(const Inspect& root, std::string_view member) {
  Inspect subject = root.child(member);
  Inspect meta = root.child("metadata");
  std::string_view wanted =
      subject.text("namespace").empty() ? "default" : subject.text("namespace");
  std::string_view ns = meta.text("namespace");
  if (ns == wanted || (subject.text("namespace").empty() && ns == "kube-system")) return;
  subject.invalid("namespace", "does not match event.namespace");
}

}  // namespace

void validateNode(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  checkTaints(spec);
  if (!spec.text("podCIDR").empty() && !isCidr(spec.text("podCIDR")))
    spec.invalid("podCIDR", "must be a valid CIDR block (e.g. 10.0.0.0/24)");
  Inspect status = root.child("status");
  checkResourceAmounts(status, "capacity");
  checkResourceAmounts(status, "allocatable");
}

// Addresses once given are in use; everything else about a node may change.
void validateNodeUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  const json::Object& before = objectIn(old, "spec");
  for (std::string_view key : {"podCIDR", "podCIDRs", "providerID"})
    if (before.contains(key) && !sameMember(spec.object(), before, key))
      spec.forbidden(key, "node updates may not change it once it is set");
}

void validateNamespace(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  spec.eachValue("finalizers", [&](const json::Value& value, const FieldPath& at) {
    std::string_view name = value.is_string() ? std::string_view(value.get_string()) : "";
    std::string trouble = name == "kubernetes" ? "" : qualifiedTrouble(name);
    if (!trouble.empty()) errors.invalid(at, value, trouble);
  });
}

void validateEvent(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  checkEventPlace(root, "involvedObject");
}

void validateEventV1(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  checkEventPlace(root, "regarding");
  if (root.text("type") != "Normal" && root.text("type") != "Warning")
    root.invalid("type", "must be Normal or Warning");
  if (!root.has("eventTime")) return root.required("eventTime");
  for (std::string_view key : {"reportingController", "reportingInstance", "action", "reason"})
    root.wants(key);
}

void validateLease(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  if (auto seconds = spec.integer("leaseDurationSeconds"); seconds && *seconds <= 0)
    spec.invalid("leaseDurationSeconds", "must be greater than 0");
  spec.notNegative("leaseTransitions");
}

void validateResourceQuota(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  checkResourceAmounts(spec, "hard");
  Inspect status = root.child("status");
  checkResourceAmounts(status, "hard");
  checkResourceAmounts(status, "used");
}

void validateLimitRange(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  std::set<std::string_view> types;
  spec.each("limits", [&](const Inspect& item) {
    if (item.wants("type") && !types.insert(item.text("type")).second) item.duplicate("type");
    for (std::string_view key : {"max", "min", "default", "defaultRequest"})
      checkResourceAmounts(item, key);
    checkOrder(item, "min", "max");
    checkOrder(item, "min", "default");
    checkOrder(item, "min", "defaultRequest");
    checkOrder(item, "default", "max");
    checkOrder(item, "defaultRequest", "max");
    checkOrder(item, "defaultRequest", "default");
  });
}

void validateRuntimeClass(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  if (root.wants("handler")) root.check("handler", labelTrouble(root.text("handler")));
}

void validateRuntimeClassUpdate(const json::Object& now, const json::Object& old,
                                FieldErrors& errors) {
  Inspect root(now, errors);
  root.immutable("handler", old);
}

void validateBinding(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect target = root.child("target");
  if (!target.text("kind").empty() && target.text("kind") != "Node")
    target.notSupported("kind", {"Node", "<empty>"});
  target.wants("name");
}

}  // namespace mangrove::apiserver
