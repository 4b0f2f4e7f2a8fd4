#include <algorithm>
#include <array>

#include "placement/config/config.h"
#include "placement/config/merge.h"
#include "placement/plugins/registry.h"

namespace mangrove::placement {

namespace {

// Kubernetes 1.35: name and score weight, in the order of their extension points.
constexpr std::array<std::pair<std::string_view, int32_t>, 19> kDefaults = {{
    {"SchedulingGates", 0},
    {"PrioritySort", 0},
    {"NodeUnschedulable", 0},
    {"NodeName", 0},
    {"TaintToleration", 3},
    {"NodeAffinity", 2},
    {"NodePorts", 0},
    {"NodeResourcesFit", 1},
    {"VolumeRestrictions", 0},
    {"NodeVolumeLimits", 0},
    {"VolumeBinding", 0},
    {"VolumeZone", 0},
    {"PodTopologySpread", 2},
    {"InterPodAffinity", 2},
    {"DynamicResources", 2},
    {"DefaultPreemption", 0},
    {"NodeResourcesBalancedAllocation", 1},
    {"ImageLocality", 1},
    {"DefaultBinder", 0},
}};

// A node with a reservation for the pod beats every other.
constexpr std::string_view kReservation = "Reservation";
constexpr int32_t kReservationWeight = 5000;

json::Value fourResources() {
  json::Array resources;
  for (auto name : {"cpu", "memory", "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"})
    resources.push_back(json::Object{{"name", name}, {"weight", 1}});
  return json::Object{
      {"scoringStrategy", json::Object{{"type", "LeastAllocated"}, {"resources", resources}}}};
}

}  // namespace

std::vector<ProfileConfig::Enabled> defaultMultiPoint() {
  std::vector<ProfileConfig::Enabled> out;
  for (const auto& [name, weight] : kDefaults) out.push_back({std::string(name), weight});
  return out;
}

ProfileConfig kubernetesProfile(std::string schedulerName) {
  PluginWishes wishes;
  ProfileConfig out;
  out.schedulerName = std::move(schedulerName);
  out.points = mergePoints(wishes);
  return out;
}

ProfileConfig colocationProfile(std::string schedulerName) {
  PluginWishes wishes;
  for (auto point :
       {"preEnqueue", "preFilter", "filter", "score", "reserve", "permit", "preBind", "postBind"})
    for (auto name :
         {"SchedulingHint", "BestEffortPause", "LoadAwareScheduling", "NodeNUMAResource",
          "DeviceShare", "Reservation", "Coscheduling", "ElasticQuota"})
      if (implements(name, point))
        wishes.points[point].enabled.push_back(
            {name, name == kReservation ? kReservationWeight : 1});
  wishes.points["bind"] = {{{"Reservation", 0}, {"DefaultBinder", 0}}, {"*"}};
  wishes.points["preBind"].enabled.push_back({"DefaultPreBind", 0});
  // Inside the quota first: whoever else has lower priority may be within its own.
  wishes.points["postFilter"] = {
      {{"Reservation", 0}, {"Coscheduling", 0}, {"ElasticQuota", 0}, {"DefaultPreemption", 0}},
      {"*"}};
  ProfileConfig out;
  out.schedulerName = std::move(schedulerName);
  out.points = mergePoints(wishes);
  out.args["NodeResourcesFit"] = fourResources();
  return out;
}

SchedulerConfig defaultConfig(const std::vector<std::string>& schedulerNames) {
  SchedulerConfig out;
  for (const auto& name : schedulerNames) out.profiles.push_back(colocationProfile(name));
  return out;
}

}  // namespace mangrove::placement
