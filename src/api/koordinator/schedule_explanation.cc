#include "api/koordinator/schedule_explanation.h"

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kPlacement{
    unlessUnset<&ExplainedPlacement::ns>("namespace"),
    unlessUnset<&ExplainedPlacement::name>("name"),
    unlessUnset<&ExplainedPlacement::uid>("uid"),
    unlessUnset<&ExplainedPlacement::nodeName>("nodeName"),
};
bool read(const In& in, ExplainedPlacement& out) {
  return kPlacement.read(in, out);
}
json::Value toJson(const ExplainedPlacement& value) {
  return kPlacement.write(value);
}

static constexpr Schema kFailure{
    unlessUnset<&NodeFailure::failedPlugin>("failedPlugin"),
    unlessUnset<&NodeFailure::reason>("reason"),
    unlessUnset<&NodeFailure::preemptMightHelp>("preemptMightHelp"),
    unlessUnset<&NodeFailure::failedNodes>("failedNodes"),
};
bool read(const In& in, NodeFailure& out) {
  return kFailure.read(in, out);
}
json::Value toJson(const NodeFailure& value) {
  return kFailure.write(value);
}

static constexpr Schema kVictim{
    unlessUnset<&PossibleVictim::ns>("namespace"),
    unlessUnset<&PossibleVictim::name>("name"),
    unlessUnset<&PossibleVictim::uid>("uid"),
    unlessUnset<&PossibleVictim::isNominatedPod>("isNominatedPod"),
};
bool read(const In& in, PossibleVictim& out) {
  return kVictim.read(in, out);
}
json::Value toJson(const PossibleVictim& value) {
  return kVictim.write(value);
}

static constexpr Schema kVictims{
    unlessUnset<&NodeVictims::nodeName>("nodeName"),
    unlessUnset<&NodeVictims::possibleVictims>("possibleVictims"),
};
bool read(const In& in, NodeVictims& out) {
  return kVictims.read(in, out);
}
json::Value toJson(const NodeVictims& value) {
  return kVictims.write(value);
}

static constexpr Schema kNodes{
    unlessUnset<&NodesExplanation::schedulable>("schedulable"),
    unlessUnset<&NodesExplanation::failedMessage>("failedMessage"),
    unlessUnset<&NodesExplanation::feasibleSchedulingResult>("feasibleSchedulingResult"),
    unlessUnset<&NodesExplanation::nodeFailedDetails>("nodeFailedDetails"),
};
bool read(const In& in, NodesExplanation& out) {
  return kNodes.read(in, out);
}
json::Value toJson(const NodesExplanation& value) {
  return kNodes.write(value);
}

static constexpr Schema kDomain{
    unlessUnset<&DomainExplanation::topologyDomain>("topologyDomain"),
    unlessUnset<&DomainExplanation::schedulable>("schedulable"),
    unlessUnset<&DomainExplanation::schedulableAfterPreemption>("schedulableAfterPreemption"),
    unlessUnset<&DomainExplanation::failedMessage>("failedMessage"),
    always<&DomainExplanation::scheduleExplanation>("scheduleExplanation"),
    unlessUnset<&DomainExplanation::nodePossibleVictims>("nodePossibleVictims"),
    always<&DomainExplanation::preemptExplanation>("preemptExplanation"),
};
bool read(const In& in, DomainExplanation& out) {
  return kDomain.read(in, out);
}
json::Value toJson(const DomainExplanation& value) {
  return kDomain.write(value);
}

static constexpr Schema kSpec{
    unlessUnset<&ScheduleExplanationSpec::questionObjectKey>("questionObjectKey"),
    unlessUnset<&ScheduleExplanationSpec::questionObjectTemplate>("questionObjectTemplate"),
    unlessUnset<&ScheduleExplanationSpec::ttl>("ttl"),
};
bool read(const In& in, ScheduleExplanationSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const ScheduleExplanationSpec& value) {
  return kSpec.write(value);
}

using Status = ScheduleExplanationStatus;
static constexpr Schema kStatus{
    unlessUnset<&Status::schedulable>("schedulable"),
    unlessUnset<&Status::schedulableAfterPreemption>("schedulableAfterPreemption"),
    unlessUnset<&Status::failedMessage>("failedMessage"),
    unlessUnset<&Status::lastUpdateTime>("lastUpdateTime"),
    unlessUnset<&Status::detailedExplanation>("detailedExplanation"),
};
bool read(const In& in, ScheduleExplanationStatus& out) {
  return kStatus.read(in, out);
}
json::Value toJson(const ScheduleExplanationStatus& value) {
  return kStatus.write(value);
}

bool read(const In& in, ScheduleExplanation& out) {
  static constexpr Fields fields{
      field<&ScheduleExplanation::meta>("metadata"),
      field<&ScheduleExplanation::spec>("spec"),
      field<&ScheduleExplanation::status>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
