#pragma once
// What a matching profile puts on a pod or a Reservation, in the reference's order: labels,
// annotations, copied keys, suffixes, scheduler, QoS, priority class, sub-priority, and its patch
// last.
//
//   if (auto done = applyProfile(profile, {pod, &podSpec, schema}, classes); !done) refuse(…)
//
// One thread at a time per value.

#include "base/result.h"
#include "json/merge_schema.h"
#include "json/value.h"
#include "manager/profile/profile.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

struct ProfileTarget {
  json::Value& object;    // its metadata is written, the patch goes over all of it
  json::Object* podSpec;  // where scheduler and priority class go; null: nowhere
  const json::MergeSchema& schema;
};

// Fails when the priority class does not exist or the patch does not fit.
Result<> applyProfile(const Profile& profile, ProfileTarget target, const PriorityClasses& classes);

// Labels, annotations, mapped keys, suffixes, QoS and sub-priority alone.
void applyMetadata(const Profile& profile, json::Object& metadata);

// spec.priorityClassName with the value and preemption policy that belong to it; an API server
// refuses pods where they disagree.
Result<> setPriorityClass(json::Object& podSpec, std::string_view name,
                          const PriorityClasses& classes);

}  // namespace mangrove::manager
