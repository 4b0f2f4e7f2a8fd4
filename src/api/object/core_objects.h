#pragma once
// The small built-in objects: ConfigMap, Namespace, Service, Secret, PriorityClass,
// PodDisruptionBudget, ResourceQuota. Each is a plain struct with the fields we use;
// decode<T>(view) reads it.
//
// Values; informers hand out shared_ptr<const T>, const access from any thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/object/condition.h"
#include "api/object/meta.h"
#include "api/pod/pod_spec.h"
#include "api/pod/resource_list.h"
#include "api/select/label_selector.h"
#include "api/wire/decode.h"

namespace mangrove::api {

struct ConfigMap {
  ObjectMeta meta;
  std::map<std::string, std::string> data;
  std::map<std::string, std::string> binaryData;  // base64 as on the wire
  bool immutable = false;

  const std::string* find(const std::string& key) const;  // in data; nullptr when missing
};
bool read(const In& in, ConfigMap& out);

struct Secret {
  ObjectMeta meta;
  Interned type;
  std::map<std::string, std::string> data;  // base64 as on the wire
};
bool read(const In& in, Secret& out);

struct Namespace {
  ObjectMeta meta;
  bool isTerminating = false;
};
bool read(const In& in, Namespace& out);

struct Service {
  ObjectMeta meta;
  Labels selector;  // empty: selects no pod
};
bool read(const In& in, Service& out);

struct PriorityClass {
  ObjectMeta meta;
  int32_t value = 0;
  bool globalDefault = false;
  PreemptionPolicy preemptionPolicy = PreemptionPolicy::kUnset;
  std::string description;
};
bool read(const In& in, PriorityClass& out);

struct PodDisruptionBudget {
  ObjectMeta meta;
  std::optional<LabelSelector> selector;  // policy/v1: empty selects every pod of the namespace
  std::optional<IntOrString> minAvailable;
  std::optional<IntOrString> maxUnavailable;
  Interned unhealthyPodEvictionPolicy;
  // status
  int32_t disruptionsAllowed = 0;
  int32_t currentHealthy = 0;
  int32_t desiredHealthy = 0;
  int32_t expectedPods = 0;
  int64_t observedGeneration = 0;
  std::map<std::string, WallTime> disruptedPods;  // evictions under way, by pod name
  std::vector<Condition> conditions;
};
bool read(const In& in, PodDisruptionBudget& out);

struct ResourceQuota {
  ObjectMeta meta;
  ResourceList hard;  // spec
  ResourceList used;  // status
};
bool read(const In& in, ResourceQuota& out);

}  // namespace mangrove::api
