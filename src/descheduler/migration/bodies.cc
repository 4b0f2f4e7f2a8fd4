#include "descheduler/migration/bodies.h"

#include <fmt/core.h>

#include "api/annotations/eviction.h"
#include "api/wire/names.h"
#include "base/text/time_text.h"
#include "descheduler/names.h"

namespace mangrove::descheduler {
namespace {

namespace kind = client::kind;

json::Object podReference(const api::Pod& pod) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"namespace", pod.meta.ns.view()},
          {"name", pod.meta.name.view()},
          {"uid", pod.meta.uid.str()}};
}

}  // namespace

client::Request createJobRequest(const NewJob& job, const api::Pod& pod) {
  json::Object annotations{{key::kEvictTrigger, job.trigger}, {key::kCreatedBy, job.createdBy}};
  const std::string& reason = job.reason.empty() ? job.trigger : job.reason;
  annotations[key::kEvictReason] = reason.empty() ? "NotSet" : reason;
  if (!pod.nodeName.empty()) annotations[key::kSource] = pod.nodeName.view();
  if (const auto* owner = pod.meta.controller()) annotations[key::kWorkload] = owner->uid.str();
  if (!job.target.empty()) annotations[key::kTarget] = job.target;
  if (job.unplaceable) annotations[key::kUnplaceable] = "true";
  if (!job.together.empty()) {
    annotations[key::kTogether] = job.together;
    annotations[key::kTogetherSize] = std::to_string(job.togetherSize);
  }
  json::Object spec{
      {"podRef", podReference(pod)}, {"mode", job.mode}, {"ttl", formatDuration(job.ttl)}};
  if (!job.deleteOptions.empty()) {
    spec["deleteOptions"] = json::parse(job.deleteOptions).value_or(json::Value());
  }
  json::Object meta{{"name", job.name}, {"annotations", std::move(annotations)}};
  if (!job.plan.empty()) meta["labels"] = json::Object{{key::kPlan, job.plan}};
  client::Request out;
  out.verb = client::Verb::kCreate;
  out.ref = {kind::kPodMigrationJob, "", "", ""};
  out.body = json::write(json::Object{{"apiVersion", "scheduling.koordinator.sh/v1alpha1"},
                                      {"kind", "PodMigrationJob"},
                                      {"metadata", std::move(meta)},
                                      {"spec", std::move(spec)}});
  out.repeat = client::Repeat::kSafe;  // the name is ours: the second would exist already
  return out;
}

client::Request patchJob(const api::PodMigrationJob& job, json::Object body,
                         std::string_view subresource) {
  json::Value& meta = body["metadata"];
  if (!meta.is_object()) meta = json::Object{};
  if (!job.meta.resourceVersion.empty()) {
    meta.get_object()["resourceVersion"] = job.meta.resourceVersion;
  }
  return client::patchRequest(
      {kind::kPodMigrationJob, "", job.meta.name.str(), std::string(subresource)},
      client::PatchType::kMerge, json::write(body));
}

client::Request statusPatch(const api::PodMigrationJob& job,
                            const api::PodMigrationJobStatus& status) {
  return patchJob(job, json::Object{{"status", api::toJson(status)}}, "status");
}

client::Request movedNote(std::string_view ns, std::string_view name, WallTime when) {
  const json::Object note{{key::kMovedAt, formatTime(when)}};
  return client::patchRequest(
      {kind::kPod, std::string(ns), std::string(name), ""}, client::PatchType::kMerge,
      json::write(json::Object{{"metadata", json::Object{{"annotations", note}}}}));
}

client::Request deleteJob(std::string_view name) {
  return client::deleteRequest({kind::kPodMigrationJob, "", std::string(name), ""});
}
client::Request deleteReservation(std::string_view name) {
  return client::deleteRequest({kind::kReservation, "", std::string(name), ""});
}

client::Request softEviction(const api::Pod& pod, WallTime now, std::string_view reason,
                             std::string_view deleteOptions) {
  api::SoftEviction note;
  note.timestamp = now;
  note.initiator = kMe;
  note.reason = reason;
  if (!deleteOptions.empty()) note.deleteOptions = api::RawJson{std::string(deleteOptions)};
  const json::Object body{
      {"metadata", json::Object{{"uid", pod.meta.uid.str()},
                                {"annotations", json::Object{{api::annotation::kSoftEviction,
                                                              api::annotationText(note)}}}}}};
  return client::patchRequest({kind::kPod, pod.meta.ns.str(), pod.meta.name.str(), ""},
                              client::PatchType::kMerge, json::write(body));
}

api::DeleteOptions deleteOptionsOf(std::string_view text, const api::Pod& pod) {
  api::DeleteOptions out;
  out.uid = pod.meta.uid;
  const auto value = text.empty() ? Result<json::Value>(json::Value()) : json::parse(text);
  if (!value || !value->is_object()) return out;
  const json::Object& object = value->get_object();
  if (const json::Value* grace = object.if_contains("gracePeriodSeconds")) {
    if (grace->is_int64()) out.gracePeriodSeconds = grace->get_int64();
  }
  if (const json::Value* policy = object.if_contains("propagationPolicy")) {
    if (policy->is_string()) out.propagationPolicy = std::string(policy->get_string());
  }
  return out;
}

api::ObjectRef refOf(const api::PodMigrationJob& job) {
  api::ObjectRef out;
  out.apiVersion = "scheduling.koordinator.sh/v1alpha1";
  out.kind = "PodMigrationJob";
  out.name = job.meta.name.str();
  out.uid = job.meta.uid.str();
  return out;
}

std::string randomUuid(uint64_t high, uint64_t low) {
  high = (high & ~uint64_t{0xF000}) | 0x4000;                // version 4
  low = (low & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);  // variant 1
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF,
                     high & 0xFFFF, low >> 48, low & 0xFFFFFFFFFFFF);
}

}  // namespace mangrove::descheduler
