#pragma once
// Recommendation (analysis.koordinator.sh): resources that would fit a workload's containers.
// Namespaced.

#include <optional>
#include <string>
#include <vector>

#include "api/object/condition.h"
#include "api/object/meta.h"
#include "api/pod/resource_list.h"
#include "api/select/label_selector.h"
#include "json/value.h"

namespace mangrove::api {

struct RecommendationTarget {
  struct Workload {
    std::string kind;
    std::string name;
    std::string apiVersion;
    bool operator==(const Workload&) const = default;
  };
  std::string type;  // workload, podSelector
  std::optional<Workload> workload;
  std::optional<LabelSelector> podSelector;
  bool operator==(const RecommendationTarget&) const = default;
};
bool read(const In& in, RecommendationTarget::Workload& out);
json::Value toJson(const RecommendationTarget::Workload& value);
bool read(const In& in, RecommendationTarget& out);
json::Value toJson(const RecommendationTarget& value);

struct RecommendationSpec {
  RecommendationTarget target;
  bool operator==(const RecommendationSpec&) const = default;
};
bool read(const In& in, RecommendationSpec& out);
json::Value toJson(const RecommendationSpec& value);

struct RecommendedContainer {
  std::string containerName;
  ResourceList resources;
  bool operator==(const RecommendedContainer&) const = default;
};
bool read(const In& in, RecommendedContainer& out);
json::Value toJson(const RecommendedContainer& value);

struct RecommendedPod {
  std::vector<RecommendedContainer> containerStatuses;
  bool operator==(const RecommendedPod&) const = default;
};
bool read(const In& in, RecommendedPod& out);
json::Value toJson(const RecommendedPod& value);

struct RecommendationStatus {
  std::optional<RecommendedPod> podStatus;
  WallTime updateTime = kZeroTime;
  std::vector<Condition> conditions;
  bool operator==(const RecommendationStatus&) const = default;
};
bool read(const In& in, RecommendationStatus& out);
json::Value toJson(const RecommendationStatus& value);

struct Recommendation {
  ObjectMeta meta;
  RecommendationSpec spec;
  RecommendationStatus status;
};
bool read(const In& in, Recommendation& out);

}  // namespace mangrove::api
