// PodMigrationJobs: limits of a workload, the order of arbitration and its outcome.
#include <map>

#include "descheduler/migration/arbitrate.h"
#include "vector_runner/descheduler_support.h"

namespace mangrove::vectors {
namespace {

using namespace descheduler;

std::optional<api::IntOrString> intOrString(const json::Value& value) {
  if (value.is_null()) return std::nullopt;
  if (value.is_string()) return api::IntOrString{true, 0, std::string(value.get_string())};
  return api::IntOrString{false, static_cast<int32_t>(value.get_int64()), ""};
}
std::optional<int64_t> integer(const json::Value& value) {
  return value.is_int64() ? std::optional(value.get_int64()) : std::nullopt;
}

struct Scene {
  std::vector<std::shared_ptr<const api::Pod>> pods;
  std::vector<JobView> jobs;
  std::vector<const JobView*> waiting;
};

Scene sceneOf(const json::Object& c, Report& r) {
  Scene out;
  out.pods = objectsOf<api::Pod>(c, "pods", r);
  for (const json::Value& value : member(c, "jobs").get_array()) {
    const json::Object& one = value.get_object();
    JobView& job = out.jobs.emplace_back();
    job.name = text(one, "name");
    job.podKey = text(one, "pod");
    job.phase = text(one, "phase");
    job.arbitrated = member(one, "arbitrated").is_bool() && member(one, "arbitrated").get_bool();
    job.created = parseTime(text(one, "created")).value_or(WallTime{});
    for (const auto& pod : out.pods) {
      if (api::keyOf(pod->meta).text() == job.podKey) job.pod = pod.get();
    }
  }
  for (const json::Value& name : member(c, "waiting").get_array()) {
    for (const JobView& job : out.jobs) {
      if (job.name == name.get_string()) out.waiting.push_back(&job);
    }
  }
  return out;
}

WorkloadOf workloadsOf(const json::Object& c, const Scene& scene) {
  std::map<std::string, int64_t> replicas;
  if (const json::Value& list = member(c, "workloads"); list.is_array()) {
    for (const json::Value& one : list.get_array()) {
      replicas[std::string(text(one.get_object(), "uid"))] =
          static_cast<int64_t>(number(one.get_object(), "replicas"));
    }
  }
  return [replicas, &scene](const api::Pod& pod) -> Result<WorkloadView> {
    const std::string uid = pod.meta.controller()->uid.str();
    WorkloadView out;
    if (const auto found = replicas.find(uid); found != replicas.end())
      out.replicas = found->second;
    for (const auto& other : scene.pods) {
      const api::OwnerReference* owner = other->meta.controller();
      if (owner != nullptr && owner->uid.str() == uid) out.pods.push_back(other.get());
    }
    return out;
  };
}

json::Array namesOf(const std::vector<const JobView*>& jobs) {
  json::Array out;
  for (const JobView* job : jobs) out.emplace_back(job->name);
  return out;
}

std::string_view outcomeName(Verdict::Outcome outcome) {
  switch (outcome) {
    case Verdict::Outcome::kPassed:
      return "passed";
    case Verdict::Outcome::kWaits:
      return "waits";
    case Verdict::Outcome::kFailed:
      return "failed";
  }
  return "";
}

}  // namespace

void deschedulerMaxUnavailable(const json::Object& c, Report& r) {
  const auto most =
      maxOfWorkload(static_cast<int64_t>(number(c, "replicas")), intOrString(member(c, "given")));
  r.expect("error", member(c, "error").is_bool(), !most);
  if (most) r.expect("max", member(c, "max"), *most);
}

void deschedulerArbitrationOrder(const json::Object& c, Report& r) {
  const Scene scene = sceneOf(c, r);
  r.expect("order", member(member(c, "result").get_object(), "order"),
           namesOf(arbitrationOrder(scene.waiting, scene.jobs)));
}

void deschedulerArbitration(const json::Object& c, Report& r) {
  const Scene scene = sceneOf(c, r);
  const json::Object& args = member(c, "args").get_object();
  ArbitrationRules rules;
  rules.limits.globally = integer(member(args, "maxMigratingGlobally"));
  rules.limits.perNode = integer(member(args, "maxMigratingPerNode"));
  rules.limits.perNamespace = integer(member(args, "maxMigratingPerNamespace"));
  rules.limits.perWorkload = intOrString(member(args, "maxMigratingPerWorkload"));
  rules.limits.unavailable = intOrString(member(args, "maxUnavailablePerWorkload"));
  const json::Value& skip = member(args, "skipCheckExpectedReplicas");
  rules.limits.skipReplicasCheck = skip.is_bool() && skip.get_bool();
  rules.workloadOf = workloadsOf(c, scene);
  rules.never = [&](const JobView& job) {
    return refusedByReplicas(*job.pod, rules.limits, rules.workloadOf);
  };
  json::Array order;
  json::Object outcome;
  for (const Verdict& verdict : arbitrate(scene.waiting, scene.jobs, rules)) {
    order.emplace_back(verdict.job->name);
    outcome[verdict.job->name] = outcomeName(verdict.outcome);
  }
  const json::Object& want = member(c, "result").get_object();
  r.expect("order", member(want, "order"), order);
  r.expect("outcome", member(want, "outcome"), outcome);
}

}  // namespace mangrove::vectors
