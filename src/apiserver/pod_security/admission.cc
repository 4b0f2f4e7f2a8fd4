#include "apiserver/pod_security/admission.h"

#include <algorithm>

#include <fmt/core.h>

#include "apiserver/admission/builtin_refusal.h"
#include "apiserver/core/object.h"
#include "apiserver/pod_security/wording.h"

namespace mangrove::apiserver::pod_security {

namespace {

constexpr size_t kMostExisting = 3000;  // pods looked at when a namespace's level rises

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string_view annotation(const json::Object& object, std::string_view key) {
  const json::Object* all = findObject(metadataOf(object), "annotations");
  return all ? textAt(*all, key) : std::string_view();
}

const json::Array& listIn(const json::Object& spec, std::string_view key) {
  static const json::Array kNone;
  const json::Array* found = findArray(spec, key);
  return found ? *found : kNone;
}

std::vector<std::string> images(const json::Object& spec) {
  std::vector<std::string> out;
  for (auto key : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const auto& one : listIn(spec, key))
      if (one.is_object())
        out.push_back(fmt::format("{} {} {}", key, textAt(one.get_object(), "name"),
                                  textAt(one.get_object(), "image")));
  }
  return out;
}

// Of a running pod only images and ephemeral containers change what it may do.
bool changesWhatRuns(const AdmissionRequest& request) {
  if (request.operation == Operation::kCreate || !request.oldObject.is_object()) return true;
  const json::Object* now = findObject(request.object.get_object(), "spec");
  const json::Object* before = findObject(request.oldObject.get_object(), "spec");
  return now && before && images(*now) != images(*before);
}

struct Template {
  const json::Object* metadata = nullptr;
  const json::Object* spec = nullptr;
};

// Where a kind keeps the pods it will make; empty for kinds that make none.
Template templateOf(const KindInfo& kind, const json::Object& object) {
  static constexpr std::string_view kMakers[] = {
      "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "ReplicationController"};
  const json::Object* spec = findObject(object, "spec");
  if (kind.kind == "PodTemplate") spec = &object;
  if (spec && kind.kind == "CronJob") {
    const json::Object* job = findObject(*spec, "jobTemplate");
    spec = job ? findObject(*job, "spec") : nullptr;
  } else if (kind.kind != "PodTemplate" &&
             std::find(std::begin(kMakers), std::end(kMakers), kind.kind) == std::end(kMakers)) {
    return {};
  }
  const json::Object* made = spec ? findObject(*spec, "template") : nullptr;
  if (!made) return {};
  return {&metadataOf(*made), findObject(*made, "spec")};
}

bool isWrite(const AdmissionRequest& request) {
  return request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
}

}  // namespace

std::optional<Policy> PodSecurity::policyFor(const AdmissionRequest& request,
                                             const json::Object& spec) const {
  if (contains(configuration_.usernames, request.who.user) ||
      contains(configuration_.namespaces, request.ns) ||
      contains(configuration_.runtimeClasses, textAt(spec, "runtimeClassName")))
    return std::nullopt;
  static const Interned kNamespaces = Resources::storedName("", "namespaces");
  auto home = store_.getHead(kNamespaces, "", request.ns);
  if (!home) return configuration_.defaults;
  Known& known = known_[request.ns];
  if (known.revision == home->revision()) return known.policy;
  auto object = json::parse(*home->json());
  FieldErrors ignored;  // refused when the namespace was written
  known.policy = object && object->is_object()
                     ? policyOf(object->get_object(), configuration_.defaults, ignored)
                     : configuration_.defaults;
  known.revision = home->revision();
  return known.policy;
}

std::optional<Answer> PodSecurity::judgePod(AdmissionRequest& request) const {
  const json::Object& pod = request.object.get_object();
  if (request.operation == Operation::kUpdate && request.oldObject.is_object() &&
      annotation(pod, kCallerAnnotation) !=
          annotation(request.oldObject.get_object(), kCallerAnnotation))
    return admissionForbids(
        request,
        fmt::format("the annotation {} cannot change once the pod is there", kCallerAnnotation));
  const json::Object* spec = findObject(pod, "spec");
  if (!spec || !changesWhatRuns(request)) return std::nullopt;
  const auto policy = policyFor(request, *spec);
  if (!policy) {
    request.auditAnnotations["pod-security.kubernetes.io/exempt"] = "true";
    return std::nullopt;
  }
  const json::Object& metadata = metadataOf(pod);
  request.auditAnnotations["pod-security.kubernetes.io/enforce-policy"] = policy->enforce.text();
  const auto broken = violations(policy->enforce, metadata, *spec);
  if (!broken.empty())
    return admissionForbids(request, fmt::format("violates PodSecurity \"{}\": {}",
                                                 policy->enforce.text(), describe(broken)));
  judgeTemplate(request, metadata, *spec);
  return std::nullopt;
}

// What would be refused is only said.
void PodSecurity::judgeTemplate(AdmissionRequest& request, const json::Object& metadata,
                                const json::Object& spec) const {
  const auto policy = policyFor(request, spec);
  if (!policy) return;
  const auto told = [&](const LevelVersion& level) {
    const auto broken = violations(level, metadata, spec);
    return broken.empty() ? std::string()
                          : fmt::format("would violate PodSecurity \"{}\": {}", level.text(),
                                        describe(broken));
  };
  if (std::string text = told(policy->audit); !text.empty())
    request.auditAnnotations["pod-security.kubernetes.io/audit-violations"] = std::move(text);
  if (std::string text = told(policy->warn); !text.empty())
    request.warnings.push_back(std::move(text));
}

std::optional<Answer> PodSecurity::judgeNamespace(AdmissionRequest& request) const {
  FieldErrors errors;
  const Policy now = policyOf(request.object.get_object(), configuration_.defaults, errors);
  if (!errors.empty()) return answer::unprocessable(*request.resource->kind, request.name, errors);
  if (!request.oldObject.is_object()) return std::nullopt;
  FieldErrors ignored;
  const Policy before = policyOf(request.oldObject.get_object(), configuration_.defaults, ignored);
  const bool rises = now.enforce != before.enforce && now.enforce.level >= before.enforce.level;
  if (rises && !contains(configuration_.namespaces, request.name))
    warnOfExisting(request, now.enforce);
  return std::nullopt;
}

void PodSecurity::warnOfExisting(AdmissionRequest& request, const LevelVersion& level) const {
  store::Query query;
  query.resource = Resources::storedName("", "pods");
  query.ns = request.name;
  query.limit = kMostExisting;
  auto page = store_.list(query);
  if (!page) return;
  std::vector<std::string> told;
  for (const auto& stored : page->items) {
    auto pod = json::parse(*stored->json());
    const json::Object* spec =
        pod && pod->is_object() ? findObject(pod->get_object(), "spec") : nullptr;
    if (!spec) continue;
    const auto broken = violations(level, metadataOf(pod->get_object()), *spec);
    if (broken.empty()) continue;
    std::vector<std::string> reasons;
    for (const auto& one : broken) reasons.push_back(one.reason);
    told.push_back(fmt::format("{}: {}", nameOf(pod->get_object()), joined(reasons, ", ")));
  }
  if (told.empty()) return;
  request.warnings.push_back(
      fmt::format("existing pods in namespace \"{}\" violate the new PodSecurity enforce level "
                  "\"{}\"",
                  request.name, level.text()));
  request.warnings.insert(request.warnings.end(), told.begin(), told.end());
}

void PodSecurity::validate(AdmissionRequest& request, Done done) {
  const KindInfo& kind = *request.resource->kind;
  const bool evaluated =
      request.subresource.empty() || request.subresource == "ephemeralcontainers";
  if (!isWrite(request) || !evaluated || !request.object.is_object()) return done(std::nullopt);
  if (kind.group.empty() && kind.kind == "Namespace") return done(judgeNamespace(request));
  const bool isPod = kind.group.empty() && kind.kind == "Pod" &&
                     textAt(request.object.get_object(), "kind") != "Binding" &&
                     textAt(request.object.get_object(), "kind") != "Eviction";
  if (isPod) return done(judgePod(request));
  const Template made = templateOf(kind, request.object.get_object());
  if (made.spec) judgeTemplate(request, *made.metadata, *made.spec);
  done(std::nullopt);
}

}  // namespace mangrove::apiserver::pod_security
