#include "runtime/core/pod_status.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/pod/classes.h"
#include "api/wire/write.h"
#include "base/text/time_text.h"
#include "runtime/core/cgroup_values.h"
#include "runtime/core/restart.h"

namespace mangrove::runtime {

namespace {

constexpr std::string_view kResizePending = "PodResizePending";

json::Object terminated(const ExitRecord& run) {
  json::Object out{{"exitCode", run.exitCode}, {"reason", run.reason}};
  if (run.signal != 0) out["signal"] = run.signal;
  if (!run.message.empty()) out["message"] = run.message;
  if (run.startedAt != kZeroTime) out["startedAt"] = formatTime(run.startedAt);
  if (run.finishedAt != kZeroTime) out["finishedAt"] = formatTime(run.finishedAt);
  if (!run.id.empty()) out["containerID"] = run.id;
  return json::Object{{"terminated", std::move(out)}};
}

json::Object waiting(std::string_view reason, std::string_view message) {
  json::Object out{{"reason", reason}};
  if (!message.empty()) out["message"] = message;
  return json::Object{{"waiting", std::move(out)}};
}

// True when the container has ended and will not run again.
bool endedForGood(const RunPod& pod, const PodRecord& record, const ContainerSpec& container,
                  const ContainerRecord& r) {
  if (r.running || r.starting || !r.last) return false;
  const bool ending = pod.pod.meta.isDeleting() || !record.failReason.empty();
  if (ending) return true;
  if (container.role == ContainerRole::kInit && r.last->exitCode == 0) return true;
  return !restarts(pod.pod.spec->restartPolicy, container.role, *r.last);
}

json::Object stateOf(const RunPod& pod, const PodRecord& record, const ContainerSpec& container,
                     const ContainerRecord& r, bool over) {
  if (r.running)
    return json::Object{{"running", json::Object{{"startedAt", formatTime(r.startedAt)}}}};
  if (r.last && (over || endedForGood(pod, record, container, r))) return terminated(*r.last);
  if (!r.blockedReason.empty()) return waiting(r.blockedReason, r.blockedMessage);
  if (r.last && r.held) return waiting("CrashLoopBackOff", backOffMessage(pod, r));
  if (r.last) return terminated(*r.last);
  const bool behindInits = container.role != ContainerRole::kEphemeral &&
                           !pod.run.initContainers.empty() && !record.hasInited;
  return waiting(behindInits ? "PodInitializing" : "ContainerCreating", "");
}

// What ran before what `state` shows.
std::optional<ExitRecord> lastStateOf(const json::Object& state, const ContainerRecord& r) {
  return state.contains("terminated") ? r.before : r.last;
}

void addGrant(const Grant& grant, json::Object& out) {
  json::Object resources;
  if (!grant.requests.empty()) resources["requests"] = api::toJson(grant.requests);
  if (!grant.limits.empty()) resources["limits"] = api::toJson(grant.limits);
  out["resources"] = std::move(resources);
  if (!grant.requests.empty()) out["allocatedResources"] = api::toJson(grant.requests);
}

json::Object containerStatus(const RunPod& pod, const PodRecord& record,
                             const ContainerSpec& container, bool over) {
  static const ContainerRecord kNew;
  const ContainerRecord* found = record.find(container.name());
  const ContainerRecord& r = found ? *found : kNew;
  json::Object state = stateOf(pod, record, container, r, over);
  json::Object out{{"name", container.name()},
                   {"image", container.run->image},
                   {"imageID", r.imageId},
                   {"restartCount", r.attempt}};
  const auto last = lastStateOf(state, r);
  out["lastState"] = last ? terminated(*last) : json::Object();
  out["state"] = std::move(state);
  const bool initDone =
      container.role == ContainerRole::kInit && !r.running && r.last && r.last->exitCode == 0;
  out["ready"] = initDone || (r.running && r.ready);
  out["started"] = r.running && r.started;
  if (!r.id.empty()) out["containerID"] = r.id;
  if (r.grant) addGrant(*r.grant, out);
  return out;
}

bool initialised(const RunPod& pod, const PodRecord& record) {
  return pod.run.initContainers.empty() || record.hasInited;
}

struct ConditionFact {
  std::string_view type;
  bool holds;
  std::string reason, message;
};

WallTime transitionTime(const RunPod& pod, const PodRecord& record, const ConditionFact& fact,
                        WallTime now) {
  const auto own = record.transitions.find(fact.type);
  if (own != record.transitions.end())
    return own->second.holds == fact.holds ? own->second.since : now;
  const auto* before = api::findCondition(pod.pod.status.conditions, fact.type);
  const auto wanted = fact.holds ? api::Truth::kTrue : api::Truth::kFalse;
  return before && before->status == wanted && before->lastTransitionTime != kZeroTime
             ? before->lastTransitionTime
             : now;
}

json::Object conditionJson(const RunPod& pod, const PodRecord& record, const ConditionFact& fact,
                           WallTime now) {
  json::Object out{{"type", fact.type}, {"status", fact.holds ? "True" : "False"}};
  if (!fact.holds && !fact.reason.empty()) out["reason"] = fact.reason;
  if (!fact.holds && !fact.message.empty()) out["message"] = fact.message;
  out["lastProbeTime"] = nullptr;
  out["lastTransitionTime"] = formatTime(transitionTime(pod, record, fact, now));
  return out;
}

// A wish for other resources that is not in force; it has a reason while it holds.
json::Object resizeCondition(const RunPod& pod, const PodRecord& record, WallTime now) {
  json::Object out = conditionJson(pod, record, {kResizePending, true, "", ""}, now);
  out["reason"] = record.resizeReason;
  out["message"] = record.resizeMessage;
  return out;
}

json::Object foreignCondition(const api::Condition& condition) {
  json::Object out{{"type", condition.type.view()}, {"status", api::truthName(condition.status)}};
  if (!condition.reason.view().empty()) out["reason"] = condition.reason.view();
  if (!condition.message.view().empty()) out["message"] = condition.message.view();
  if (condition.lastTransitionTime != kZeroTime)
    out["lastTransitionTime"] = formatTime(condition.lastTransitionTime);
  return out;
}

std::string unreadyNames(const RunPod& pod, const PodRecord& record) {
  std::string names;
  for (const auto& one : pod.run.containers) {
    const auto* r = record.find(one.name);
    if (r && r->running && r->ready) continue;
    names += (names.empty() ? "" : " ") + one.name;
  }
  return names;
}

// Those that have not ended well; a sidecar that has not started.
std::string uninitialisedNames(const RunPod& pod, const PodRecord& record) {
  std::string names;
  for (const ContainerSpec& one : containersOf(pod)) {
    if (one.role != ContainerRole::kInit && one.role != ContainerRole::kSidecar) continue;
    const auto* r = record.find(one.name());
    const bool isThrough = one.role == ContainerRole::kSidecar
                               ? r && r->started
                               : r && !r->running && r->last && r->last->exitCode == 0;
    if (!isThrough) names += (names.empty() ? "" : " ") + std::string(one.name());
  }
  return fmt::format("containers with incomplete status: [{}]", names);
}

std::vector<ConditionFact> conditionFacts(const RunPod& pod, const PodRecord& record,
                                          api::PodPhase phase) {
  const bool done = phase == api::PodPhase::kSucceeded || phase == api::PodPhase::kFailed;
  const bool ready = isReady(pod, record);
  const std::string why = done && phase == api::PodPhase::kSucceeded ? "PodCompleted"
                          : done                                     ? "PodFailed"
                                                                     : "ContainersNotReady";
  const std::string who =
      done ? "" : fmt::format("containers with unready status: [{}]", unreadyNames(pod, record));
  return {
      {"PodReadyToStartContainers", record.sandbox && !done, "", ""},
      {"Initialized", initialised(pod, record), "ContainersNotInitialized",
       uninitialisedNames(pod, record)},
      {"Ready", ready, why, who},
      {"ContainersReady", ready, why, who},
      {"PodScheduled", true, "", ""},
  };
}

json::Array conditionsOf(const RunPod& pod, const PodRecord& record, api::PodPhase phase,
                         WallTime now) {
  const std::vector<ConditionFact> facts = conditionFacts(pod, record, phase);
  json::Array out;
  for (const auto& fact : facts) out.push_back(conditionJson(pod, record, fact, now));
  if (!record.resizeReason.empty()) out.push_back(resizeCondition(pod, record, now));
  for (const auto& condition : pod.pod.status.conditions) {
    if (condition.type.view() == kResizePending) continue;
    const bool ours = std::any_of(std::begin(facts), std::end(facts), [&](const auto& fact) {
      return fact.type == condition.type.view();
    });
    if (!ours) out.push_back(foreignCondition(condition));
  }
  return out;
}

}  // namespace

std::string backOffMessage(const RunPod& pod, const ContainerRecord& container) {
  return fmt::format("back-off {} restarting failed container={} pod={}_{}({})",
                     formatDuration(backOff(container.crashes - 1)), container.name, pod.name(),
                     pod.ns(), pod.uid());
}

// Its first run has been ordered and has not begun.
static bool isFirstStart(const ContainerRecord& r) {
  return r.starting && !r.running && !r.last;
}

api::PodPhase phaseOf(const RunPod& pod, const PodRecord& record) {
  if (!record.failReason.empty()) return api::PodPhase::kFailed;
  bool anyAlive = false, anyFailed = false, allEnded = true, anyUnstarted = false;
  for (const auto& container : containersOf(pod)) {
    const auto* r = record.find(container.name());
    if (container.role == ContainerRole::kInit) {
      const bool failed = r && r->last && r->last->exitCode != 0 &&
                          endedForGood(pod, record, container, *r) && !record.hasInited;
      if (failed) return api::PodPhase::kFailed;
      continue;
    }
    if (container.role != ContainerRole::kMain) continue;
    if (!r || !r->everRan() || isFirstStart(*r)) {
      anyUnstarted = true;
      allEnded = false;
      continue;
    }
    const bool ended = endedForGood(pod, record, container, *r);
    allEnded = allEnded && ended;
    anyAlive = anyAlive || !ended;
    anyFailed = anyFailed || (ended && r->last->exitCode != 0);
  }
  if (anyUnstarted && !anyAlive) return api::PodPhase::kPending;
  if (!initialised(pod, record)) return api::PodPhase::kPending;
  if (!allEnded) return api::PodPhase::kRunning;
  return anyFailed ? api::PodPhase::kFailed : api::PodPhase::kSucceeded;
}

bool isReady(const RunPod& pod, const PodRecord& record) {
  if (!record.failReason.empty() || pod.run.containers.empty()) return false;
  for (const auto& container : containersOf(pod)) {
    if (container.role == ContainerRole::kInit || container.role == ContainerRole::kEphemeral)
      continue;
    const auto* r = record.find(container.name());
    if (!r || !r->running || !r->ready) return false;
  }
  return true;
}

void noteTransitions(const RunPod& pod, PodRecord& record, WallTime now) {
  for (const auto& fact : conditionFacts(pod, record, phaseOf(pod, record))) {
    const WallTime since = transitionTime(pod, record, fact, now);
    record.transitions[std::string(fact.type)] = {fact.holds, since};
  }
}

json::Object podStatus(const RunPod& pod, const PodRecord& record, const StatusFacts& facts) {
  const api::PodPhase phase = phaseOf(pod, record);
  const bool over = phase == api::PodPhase::kFailed || phase == api::PodPhase::kSucceeded;
  json::Object out{{"phase", api::podPhaseName(phase)}};
  // By this a client knows which of its changes has been seen here.
  if (pod.pod.meta.generation > 0) out["observedGeneration"] = pod.pod.meta.generation;
  out["conditions"] = conditionsOf(pod, record, phase, facts.now);
  out["hostIP"] = facts.hostIp;
  out["hostIPs"] = json::Array{json::Object{{"ip", facts.hostIp}}};
  const std::string& ip = pod.pod.spec->hostNetwork ? facts.hostIp : record.ip;
  if (!ip.empty()) out["podIP"] = ip;
  if (!ip.empty()) out["podIPs"] = json::Array{json::Object{{"ip", ip}}};
  if (record.startTime != kZeroTime) out["startTime"] = formatTime(record.startTime);
  out["qosClass"] = api::kubeQosName(api::kubeQos(pod.pod));
  if (!record.failReason.empty()) out["reason"] = record.failReason;
  if (!record.failMessage.empty()) out["message"] = record.failMessage;
  if (record.isRefused) return out;
  json::Array inits, mains, guests;
  for (const auto& container : containersOf(pod)) {
    auto& list = container.role == ContainerRole::kMain        ? mains
                 : container.role == ContainerRole::kEphemeral ? guests
                                                               : inits;
    list.push_back(containerStatus(pod, record, container, over));
  }
  if (!guests.empty()) out["ephemeralContainerStatuses"] = std::move(guests);
  if (!inits.empty()) out["initContainerStatuses"] = std::move(inits);
  out["containerStatuses"] = std::move(mains);
  return out;
}

}  // namespace mangrove::runtime
