#pragma once
// What controllers ask about pods, and how a pod is made from a template. Pure functions, any
// thread.

#include <string>
#include <string_view>
#include <vector>

#include "api/pod/pod.h"
#include "base/number/units.h"
#include "base/result.h"
#include "json/value.h"
#include "workloads/objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

bool isReady(const api::Pod& pod);
// Since when the pod is ready; kZeroTime when it is not.
WallTime readySince(const api::Pod& pod);
// Ready for at least that long.
bool isAvailable(const api::Pod& pod, int32_t minReadySeconds, WallTime now);
// How long until a ready pod becomes available; zero when it is, or is not ready.
Duration untilAvailable(const api::Pod& pod, int32_t minReadySeconds, WallTime now);
int32_t restarts(const api::Pod& pod);

// The order in which a controller gives pods up: unassigned before assigned, pending before
// running, unready before ready, cheap before dear (the deletion-cost annotation), crowded nodes
// first, ready for less long, restarted more often, younger.
void sortForRemoval(Pods& pods);

// A new pod of `owner` by its template: metadata and spec of the template, the owner as controller.
// The name comes from generateName unless the caller sets one.
Result<json::Object> podFromTemplate(std::string_view templateText, const api::Kind& ownerKind,
                                     const api::ObjectMeta& owner);
json::Object ownerReference(const api::Kind& kind, const api::ObjectMeta& owner);
// object["a"]["b"], made where missing.
json::Object& sub(json::Object& object, std::string_view name);
// As Kubernetes writes counts with omitempty: zero is absent, and a merge patch says that by null.
void putCount(json::Object& status, std::string_view name, int64_t count);

// A short name for a content: ten characters that survive as part of an object's name.
std::string hashName(std::string_view content, int64_t collisions = 0);
// The same template, whatever hash label a controller added to it.
bool sameTemplate(std::string_view a, std::string_view b, std::string_view hashLabel);

json::Array conditionsJson(const std::vector<WorkloadCondition>& conditions);
// Times follow Kubernetes' rules: the transition time moves with the status, the update time with
// any change.
void setCondition(std::vector<WorkloadCondition>& conditions, WorkloadCondition wanted,
                  WallTime now);
void dropCondition(std::vector<WorkloadCondition>& conditions, std::string_view type);
const WorkloadCondition* findCondition(const std::vector<WorkloadCondition>& conditions,
                                       std::string_view type);

}  // namespace mangrove::workloads
