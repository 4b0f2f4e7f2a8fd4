#pragma once
// ScheduleExplanation (scheduling.koordinator.sh): a user asks why a pod, job or gang is not
// placed, the scheduler answers in the status. Namespaced.

#include <optional>
#include <string>
#include <vector>

#include "api/object/meta.h"
#include "json/fwd.h"

namespace mangrove::api {

struct ExplainedPlacement {
  std::string ns;
  std::string name;
  std::string uid;
  std::string nodeName;
  bool operator==(const ExplainedPlacement&) const = default;
};
bool read(const In& in, ExplainedPlacement& out);
json::Value toJson(const ExplainedPlacement& value);

struct NodeFailure {
  std::string failedPlugin;
  std::string reason;
  bool preemptMightHelp = false;
  std::vector<std::string> failedNodes;
  bool operator==(const NodeFailure&) const = default;
};
bool read(const In& in, NodeFailure& out);
json::Value toJson(const NodeFailure& value);

struct PossibleVictim {
  std::string ns;
  std::string name;
  std::string uid;
  bool isNominatedPod = false;
  bool operator==(const PossibleVictim&) const = default;
};
bool read(const In& in, PossibleVictim& out);
json::Value toJson(const PossibleVictim& value);

struct NodeVictims {
  std::string nodeName;
  std::vector<PossibleVictim> possibleVictims;
  bool operator==(const NodeVictims&) const = default;
};
bool read(const In& in, NodeVictims& out);
json::Value toJson(const NodeVictims& value);

struct NodesExplanation {
  bool schedulable = false;
  std::string failedMessage;
  std::vector<ExplainedPlacement> feasibleSchedulingResult;
  std::vector<NodeFailure> nodeFailedDetails;
  bool operator==(const NodesExplanation&) const = default;
};
bool read(const In& in, NodesExplanation& out);
json::Value toJson(const NodesExplanation& value);

struct DomainExplanation {
  std::string topologyDomain;
  bool schedulable = false;
  bool schedulableAfterPreemption = false;
  std::string failedMessage;
  NodesExplanation scheduleExplanation;
  std::vector<NodeVictims> nodePossibleVictims;
  NodesExplanation preemptExplanation;
  bool operator==(const DomainExplanation&) const = default;
};
bool read(const In& in, DomainExplanation& out);
json::Value toJson(const DomainExplanation& value);

struct ScheduleExplanationSpec {
  std::string questionObjectKey;  // namespace/name of a pod or job, or a gang group's id
  std::optional<RawJson> questionObjectTemplate;
  std::optional<Duration> ttl;  // nullopt: 24 h by the schema's default
  bool operator==(const ScheduleExplanationSpec&) const = default;
};
bool read(const In& in, ScheduleExplanationSpec& out);
json::Value toJson(const ScheduleExplanationSpec& value);

struct ScheduleExplanationStatus {
  bool schedulable = false;
  bool schedulableAfterPreemption = false;
  std::string failedMessage;
  WallTime lastUpdateTime = kZeroTime;
  std::vector<DomainExplanation> detailedExplanation;
  bool operator==(const ScheduleExplanationStatus&) const = default;
};
bool read(const In& in, ScheduleExplanationStatus& out);
json::Value toJson(const ScheduleExplanationStatus& value);

struct ScheduleExplanation {
  ObjectMeta meta;
  ScheduleExplanationSpec spec;
  ScheduleExplanationStatus status;
};
bool read(const In& in, ScheduleExplanation& out);

}  // namespace mangrove::api
