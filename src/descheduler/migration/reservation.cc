#include "descheduler/migration/reservation.h"

#include "api/wire/names.h"
#include "base/text/time_text.h"
#include "descheduler/names.h"

namespace mangrove::descheduler {
namespace {

const json::Value& at(const json::Value& value, std::string_view key) {
  static const json::Value kNull;
  const json::Value* found = value.is_object() ? value.get_object().if_contains(key) : nullptr;
  return found != nullptr ? *found : kNull;
}
json::Object& childObject(json::Object& parent, std::string_view key) {
  json::Value& child = parent[key];
  if (!child.is_object()) child = json::Object{};
  return child.get_object();
}
std::string_view textAt(const json::Value& value, std::string_view key) {
  const json::Value& found = at(value, key);
  return found.is_string() ? std::string_view(found.get_string()) : std::string_view();
}

// The reservation of a member is none: it gets its place by itself, whatever the others do.
void leaveGang(json::Object& metadata) {
  for (const std::string_view label :
       {api::label::kPodGroup, api::label::kOldPodGroupName, api::label::kOldPodGroupMinAvailable})
    if (json::Value* labels = metadata.if_contains("labels"); labels && labels->is_object())
      labels->get_object().erase(label);
  json::Value* notes = metadata.if_contains("annotations");
  if (notes == nullptr || !notes->is_object()) return;
  json::Object kept;
  for (const auto& one : notes->get_object())
    if (!std::string_view(one.key()).starts_with(api::domain::kGang)) kept[one.key()] = one.value();
  *notes = std::move(kept);
}

json::Object metadataOf(const json::Value& pod) {
  json::Object out;
  for (const char* member : {"name", "namespace", "labels", "annotations"}) {
    const json::Value& value = at(at(pod, "metadata"), member);
    if (!value.is_null()) out[member] = value;
  }
  leaveGang(out);
  return out;
}

// Every alternative of the required affinity must lead away from the node, or to the one where the
// move was proven; without an alternative it is the only demand.
void demandNode(json::Object& spec, std::string_view how, std::string_view node) {
  const json::Object rule{{"key", "metadata.name"}, {"operator", how}, {"values", {node}}};
  json::Object& affinity = childObject(childObject(spec, "affinity"), "nodeAffinity");
  json::Object& required = childObject(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
  json::Value& terms = required["nodeSelectorTerms"];
  if (!terms.is_array()) terms = json::Array{};
  if (terms.get_array().empty()) terms.get_array().push_back(json::Object{});
  for (json::Value& term : terms.get_array()) {
    json::Value& fields = term.get_object()["matchFields"];
    if (!fields.is_array()) fields = json::Array{};
    fields.get_array().push_back(rule);
  }
}

void dropClaims(json::Object& spec) {
  json::Value* volumes = spec.if_contains("volumes");
  if (volumes == nullptr || !volumes->is_array()) return;
  json::Array kept;
  for (const json::Value& volume : volumes->get_array()) {
    const bool claim =
        !at(volume, "persistentVolumeClaim").is_null() || !at(volume, "ephemeral").is_null();
    if (!claim) kept.push_back(volume);
  }
  *volumes = std::move(kept);
}

bool waitsForNode(const json::Value& pod) {
  if (!textAt(at(pod, "spec"), "nodeName").empty()) return false;
  const json::Value& conditions = at(at(pod, "status"), "conditions");
  if (!conditions.is_array()) return false;
  for (const json::Value& one : conditions.get_array()) {
    if (textAt(one, "type") == "PodScheduled" && textAt(one, "status") == "False") return true;
  }
  return false;
}

// Who may take it: the pod itself while it waits for a node, else whatever its controller makes.
json::Array ownersOf(const json::Value& pod) {
  const json::Value& meta = at(pod, "metadata");
  if (waitsForNode(pod)) {
    return {json::Object{{"object", json::Object{{"uid", at(meta, "uid")},
                                                 {"kind", "Pod"},
                                                 {"name", at(meta, "name")},
                                                 {"namespace", at(meta, "namespace")}}}}};
  }
  const json::Value& owners = at(meta, "ownerReferences");
  if (!owners.is_array()) return {};
  for (const json::Value& owner : owners.get_array()) {
    const json::Value& controls = at(owner, "controller");
    if (!controls.is_bool() || !controls.get_bool()) continue;
    json::Object reference = owner.get_object();
    reference["namespace"] = at(meta, "namespace");
    return {json::Object{{"controller", std::move(reference)}}};
  }
  return {};
}

void fillTemplate(json::Object& spec, const json::Value& pod, std::string_view target,
                  const ReservationOptions& options) {
  json::Object& wanted = childObject(spec, "template");
  if (!wanted.contains("metadata")) wanted["metadata"] = metadataOf(pod);
  if (!wanted.contains("spec")) wanted["spec"] = at(pod, "spec");
  json::Object& podSpec = childObject(wanted, "spec");
  podSpec.erase("nodeName");
  const std::string_view node = textAt(at(pod, "spec"), "nodeName");
  if (!node.empty()) demandNode(podSpec, "NotIn", node);
  if (!target.empty() && target != node) demandNode(podSpec, "In", target);
  if (options.dropClaims) dropClaims(podSpec);
}

int64_t milliseconds(WallTime now) {
  return std::chrono::floor<std::chrono::milliseconds>(now).time_since_epoch().count();
}

Result<json::Value> givenTemplate(const api::PodMigrationJob& job) {
  const auto& options = job.spec.reservationOptions;
  if (!options || !options->reservationTemplate) return json::Value(json::Object{});
  auto value = json::parse(options->reservationTemplate->text);
  if (!value) return value.error().in("spec.reservationOptions.template");
  if (!value->is_object()) return invalid("spec.reservationOptions.template is no object");
  return value;
}

}  // namespace

std::string reservationNameOf(const api::PodMigrationJob& job) {
  const auto given = givenTemplate(job);
  const std::string_view name = given ? textAt(at(*given, "metadata"), "name") : "";
  if (!name.empty()) return std::string(name);
  return job.meta.uid.empty() ? job.meta.name.str() : job.meta.uid.str();
}

Result<json::Value> reservationFor(const api::PodMigrationJob& job, const json::Value& pod,
                                   WallTime now, const ReservationOptions& options) {
  auto given = givenTemplate(job);
  if (!given) return pass(given.error());
  json::Object body = std::move(given->get_object());
  body["apiVersion"] = "scheduling.koordinator.sh/v1alpha1";
  body["kind"] = "Reservation";
  json::Object& meta = childObject(body, "metadata");
  meta["name"] = reservationNameOf(job);
  json::Object& labels = childObject(meta, "labels");
  labels[key::kMadeBy] = kMe;
  labels[key::kReservationOrder] = std::to_string(milliseconds(now));
  json::Object& spec = childObject(body, "spec");
  fillTemplate(spec, pod, job.meta.annotations.get(key::kTarget).value_or(""), options);
  if (!spec.contains("owners")) spec["owners"] = ownersOf(pod);
  spec["allocateOnce"] = true;
  const bool ends = spec.contains("ttl") || spec.contains("expires");
  if (!ends && job.spec.ttl) spec["ttl"] = formatDuration(*job.spec.ttl);
  return json::Value(std::move(body));
}

}  // namespace mangrove::descheduler
