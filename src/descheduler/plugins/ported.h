#pragma once
// Plugins of the Kubernetes descheduler that look at one pod at a time, and duplicates: who lives too
// long, failed, restarts again and again, or stands where it should not. Each asks the evictor's
// filters before it evicts.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "descheduler/plugin.h"
#include "descheduler/plugins/selection.h"

namespace mangrove::descheduler {

// What most of them can be told.
struct PodScope {
  Namespaces namespaces;
  MaybeSelector labelSelector;
  bool takes(const api::Pod& pod) const {
    return namespaces.takes(pod.meta.ns.view()) && matches(labelSelector, pod.meta.labels);
  }
};

struct PodLifeTimeArgs {
  PodScope scope;
  std::optional<int64_t> maxSeconds;
  std::set<std::string, std::less<>>
      states;  // phases, reasons of waiting and terminated containers
  bool includingInitContainers = false;
};
Result<PodLifeTimeArgs> readPodLifeTimeArgs(const json::Value& args);
class PodLifeTime final : public Plugin {
 public:
  static constexpr std::string_view kName = "PodLifeTime";
  explicit PodLifeTime(PodLifeTimeArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;  // the oldest first

 private:
  PodLifeTimeArgs args_;
};

struct FailedPodsArgs {
  PodScope scope;
  int64_t minSeconds = 3600;
  std::set<std::string, std::less<>> reasons;
  std::set<int64_t> exitCodes;
  std::set<std::string, std::less<>> excludeOwnerKinds;
  bool includingInitContainers = false;
};
Result<FailedPodsArgs> readFailedPodsArgs(const json::Value& args);
class RemoveFailedPods final : public Plugin {
 public:
  static constexpr std::string_view kName = "RemoveFailedPods";
  explicit RemoveFailedPods(FailedPodsArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  bool isMeant(const api::Pod& pod, WallTime now) const;
  FailedPodsArgs args_;
};

struct RestartsArgs {
  PodScope scope;
  int64_t threshold = 0;
  bool includingInitContainers = false;
  std::set<std::string, std::less<>> states;
};
Result<RestartsArgs> readRestartsArgs(const json::Value& args);
class TooManyRestarts final : public Plugin {
 public:
  static constexpr std::string_view kName = "RemovePodsHavingTooManyRestarts";
  explicit TooManyRestarts(RestartsArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  RestartsArgs args_;
};

struct NodeAffinityArgs {
  PodScope scope;
  bool required = false;
  bool preferred = false;
};
Result<NodeAffinityArgs> readNodeAffinityArgs(const json::Value& args);
class ViolatingNodeAffinity final : public Plugin {
 public:
  static constexpr std::string_view kName = "RemovePodsViolatingNodeAffinity";
  explicit ViolatingNodeAffinity(NodeAffinityArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  NodeAffinityArgs args_;
};

struct NodeTaintsArgs {
  PodScope scope;
  bool includePreferNoSchedule = false;
  std::vector<std::string> excluded;  // "key" or "key=value"; only one of the two may be set
  std::vector<std::string> included;
};
Result<NodeTaintsArgs> readNodeTaintsArgs(const json::Value& args);
class ViolatingNodeTaints final : public Plugin {
 public:
  static constexpr std::string_view kName = "RemovePodsViolatingNodeTaints";
  explicit ViolatingNodeTaints(NodeTaintsArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  bool counts(const api::Taint& taint) const;
  NodeTaintsArgs args_;
};

struct DuplicatesArgs {
  PodScope scope;
  std::set<std::string, std::less<>> excludeOwnerKinds;
};
Result<DuplicatesArgs> readDuplicatesArgs(const json::Value& args);
// Pods of one owner and image that share a node, beyond an even spread over the nodes that fit.
class RemoveDuplicates final : public Plugin {
 public:
  static constexpr std::string_view kName = "RemoveDuplicates";
  explicit RemoveDuplicates(DuplicatesArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  DuplicatesArgs args_;
};

}  // namespace mangrove::descheduler
