#pragma once
// Reservation (scheduling.koordinator.sh): capacity held for pods that match one of its owners.
// Cluster- scoped. Users and the descheduler write the spec, the scheduler the status.
//
//   Result<Reservation> r = decode<Reservation>(view);
//   if (r->status.phase == reservation_phase::kAvailable && r->spec.isAllocateOnce()) …

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/probed_condition.h"
#include "api/object/meta.h"
#include "api/pod/affinity.h"
#include "api/pod/pod.h"
#include "api/pod/resource_list.h"
#include "api/select/label_selector.h"
#include "json/value.h"

namespace mangrove::api {

namespace reservation_phase {
inline constexpr std::string_view kPending = "Pending";
inline constexpr std::string_view kAvailable = "Available";
inline constexpr std::string_view kSucceeded = "Succeeded";
inline constexpr std::string_view kWaiting = "Waiting";
inline constexpr std::string_view kFailed = "Failed";
}  // namespace reservation_phase

// An owner reference that may cross namespaces. Empty members match anything.
struct ControllerReference {
  std::string apiVersion;
  std::string kind;
  std::string name;
  std::string uid;
  std::string ns;
  std::optional<bool> controller;
  std::optional<bool> blockOwnerDeletion;
  bool operator==(const ControllerReference&) const = default;
};
bool read(const In& in, ControllerReference& out);
json::Value toJson(const ControllerReference& value);

// All members that are set must match; a reservation's owners are alternatives.
struct ReservationOwner {
  std::optional<ObjectRef> object;
  std::optional<ControllerReference> controller;
  std::optional<LabelSelector> labelSelector;
  bool operator==(const ReservationOwner&) const = default;
};
bool read(const In& in, ReservationOwner& out);
json::Value toJson(const ReservationOwner& value);

struct PreAllocationPolicy {
  std::string mode;  // Default, Cluster; "" is Default
  bool enableMultiple = false;
  bool operator==(const PreAllocationPolicy&) const = default;
};
bool read(const In& in, PreAllocationPolicy& out);
json::Value toJson(const PreAllocationPolicy& value);

struct ReservationSpec {
  PodTemplate podTemplate;
  std::vector<ReservationOwner> owners;
  std::optional<Duration> ttl;   // nullopt: 24 h by the schema's default; 0: for ever
  WallTime expires = kZeroTime;  // looked at before ttl
  bool preAllocation = false;
  std::optional<bool> allocateOnce;
  std::string allocatePolicy;  // Aligned, Restricted; "" is Aligned
  bool unschedulable = false;
  std::vector<Taint> taints;
  std::optional<PreAllocationPolicy> preAllocationPolicy;

  bool isAllocateOnce() const { return allocateOnce.value_or(true); }
  bool isRestricted() const { return allocatePolicy == "Restricted"; }
};
bool read(const In& in, ReservationSpec& out);
// For creating one: everything but the template, which the creator has as JSON.
json::Value toJson(const ReservationSpec& value, json::Value podTemplate);

struct ReservationStatus {
  std::string phase;
  std::vector<ProbedCondition> conditions;
  std::vector<ObjectRef> currentOwners;
  std::string nodeName;
  ResourceList allocatable;
  ResourceList allocated;
  bool operator==(const ReservationStatus&) const = default;
};
bool read(const In& in, ReservationStatus& out);
json::Value toJson(const ReservationStatus& value);

struct Reservation {
  ObjectMeta meta;
  ReservationSpec spec;
  ReservationStatus status;
};
bool read(const In& in, Reservation& out);

}  // namespace mangrove::api
