#include "api/object/workload.h"

namespace mangrove::api {
namespace {

bool readRollingUpdate(const In& in, Workload& out) {
  static constexpr Fields fields{
      field<&Workload::maxUnavailable>("maxUnavailable"),
      field<&Workload::maxSurge>("maxSurge"),
  };
  return fields.read(in, out);
}

bool readStrategy(const In& in, Workload& out) {
  static constexpr Fields fields{via<readRollingUpdate>("rollingUpdate")};
  return fields.read(in, out);
}

// A ReplicationController has the plain map where the others have a LabelSelector.
bool readSelector(const In& in, Workload& out) {
  if (!in.view.isObject()) return in.wants("an object");
  const bool modern = in.view.size() == 0 || in.view["matchLabels"].isObject() ||
                      in.view["matchExpressions"].isArray();
  if (modern) return read(in, out.selector);
  return read(in, out.selector.emplace().matchLabels);
}

bool readSpec(const In& in, Workload& out) {
  static constexpr Fields fields{
      field<&Workload::wanted>("replicas"),
      field<&Workload::wanted>("parallelism"),
      field<&Workload::completions>("completions"),
      field<&Workload::backoffLimit>("backoffLimit"),
      via<readStrategy>("strategy"),
      via<readStrategy>("updateStrategy"),
      via<readSelector>("selector"),
      field<&Workload::podTemplate>("template"),
      field<&Workload::paused>("paused"),
      field<&Workload::suspended>("suspend"),
  };
  return fields.read(in, out);
}

bool readStatus(const In& in, Workload& out) {
  static constexpr Fields fields{
      field<&Workload::replicas>("replicas"),
      field<&Workload::replicas>("active"),
      field<&Workload::replicas>("currentNumberScheduled"),
      field<&Workload::wanted>("desiredNumberScheduled"),
      field<&Workload::ready>("readyReplicas"),
      field<&Workload::ready>("ready"),
      field<&Workload::ready>("numberReady"),
      field<&Workload::available>("availableReplicas"),
      field<&Workload::available>("numberAvailable"),
      field<&Workload::updated>("updatedReplicas"),
      field<&Workload::updated>("updatedNumberScheduled"),
      field<&Workload::succeeded>("succeeded"),
      field<&Workload::failed>("failed"),
      field<&Workload::observedGeneration>("observedGeneration"),
      field<&Workload::conditions>("conditions"),
  };
  return fields.read(in, out);
}

}  // namespace

bool read(const In& in, Workload& out) {
  static constexpr Fields fields{
      field<&Workload::meta>("metadata"),
      via<readSpec>("spec"),
      via<readStatus>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
