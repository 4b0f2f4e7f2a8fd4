#include "workloads/objects.h"

#include <algorithm>

#include "base/text/strings.h"

namespace mangrove::workloads {

using api::field;
using api::Fields;
using api::In;
using api::via;

// A field of the common head, read into one of the kinds.
template <class T, auto Member>
constexpr auto head(std::string_view key) {
  return api::Field<T>{
      key, [](const In& in, void* out) { return read(in, static_cast<T*>(out)->*Member); }};
}

bool read(const In& in, WorkloadCondition& out) {
  static constexpr Fields fields{
      field<&WorkloadCondition::type>("type"),
      field<&WorkloadCondition::status>("status"),
      field<&WorkloadCondition::reason>("reason"),
      field<&WorkloadCondition::message>("message"),
      field<&WorkloadCondition::lastUpdateTime>("lastUpdateTime"),
      field<&WorkloadCondition::lastUpdateTime>("lastProbeTime"),  // a Job's name for it
      field<&WorkloadCondition::lastTransitionTime>("lastTransitionTime"),
  };
  return fields.read(in, out);
}

// ---- ReplicaSet --------------------------------------------------------------------------------

static bool readReplicaSetSpec(const In& in, ReplicaSet& out) {
  static constexpr Fields fields{
      head<ReplicaSet, &WorkloadHead::replicas>("replicas"),
      head<ReplicaSet, &WorkloadHead::selector>("selector"),
      head<ReplicaSet, &WorkloadHead::podTemplate>("template"),
      head<ReplicaSet, &WorkloadHead::minReadySeconds>("minReadySeconds"),
  };
  return fields.read(in, out);
}

static bool readReplicaSetStatus(const In& in, ReplicaSet& out) {
  static constexpr Fields fields{
      field<&ReplicaSet::statusReplicas>("replicas"),
      field<&ReplicaSet::ready>("readyReplicas"),
      field<&ReplicaSet::available>("availableReplicas"),
      head<ReplicaSet, &WorkloadHead::observedGeneration>("observedGeneration"),
      head<ReplicaSet, &WorkloadHead::conditions>("conditions"),
  };
  return fields.read(in, out);
}

bool read(const In& in, ReplicaSet& out) {
  static constexpr Fields fields{
      head<ReplicaSet, &WorkloadHead::meta>("metadata"),
      via<readReplicaSetSpec>("spec"),
      via<readReplicaSetStatus>("status"),
  };
  return fields.read(in, out);
}

static bool readPlainSelector(const In& in, ReplicationController& out) {
  return read(in, out.selector.emplace().matchLabels);
}

static bool readReplicationSpec(const In& in, ReplicationController& out) {
  static constexpr Fields fields{
      head<ReplicationController, &WorkloadHead::replicas>("replicas"),
      via<readPlainSelector>("selector"),
      head<ReplicationController, &WorkloadHead::podTemplate>("template"),
      head<ReplicationController, &WorkloadHead::minReadySeconds>("minReadySeconds"),
  };
  return fields.read(in, out);
}

static bool readReplicationStatus(const In& in, ReplicationController& out) {
  return readReplicaSetStatus(in, out);
}

bool read(const In& in, ReplicationController& out) {
  static constexpr Fields fields{
      head<ReplicationController, &WorkloadHead::meta>("metadata"),
      via<readReplicationSpec>("spec"),
      via<readReplicationStatus>("status"),
  };
  return fields.read(in, out);
}

// ---- Deployment --------------------------------------------------------------------------------

static bool readDeploymentRolling(const In& in, Deployment& out) {
  static constexpr Fields fields{
      field<&Deployment::maxSurge>("maxSurge"),
      field<&Deployment::maxUnavailable>("maxUnavailable"),
  };
  return fields.read(in, out);
}

static bool readDeploymentStrategy(const In& in, Deployment& out) {
  static constexpr Fields fields{
      field<&Deployment::strategy>("type"),
      via<readDeploymentRolling>("rollingUpdate"),
  };
  return fields.read(in, out);
}

static bool readDeploymentSpec(const In& in, Deployment& out) {
  static constexpr Fields fields{
      head<Deployment, &WorkloadHead::replicas>("replicas"),
      head<Deployment, &WorkloadHead::selector>("selector"),
      head<Deployment, &WorkloadHead::podTemplate>("template"),
      head<Deployment, &WorkloadHead::minReadySeconds>("minReadySeconds"),
      head<Deployment, &WorkloadHead::revisionHistoryLimit>("revisionHistoryLimit"),
      via<readDeploymentStrategy>("strategy"),
      field<&Deployment::progressDeadlineSeconds>("progressDeadlineSeconds"),
      field<&Deployment::paused>("paused"),
  };
  return fields.read(in, out);
}

static bool readDeploymentStatus(const In& in, Deployment& out) {
  static constexpr Fields fields{
      field<&Deployment::statusReplicas>("replicas"),
      field<&Deployment::updated>("updatedReplicas"),
      field<&Deployment::ready>("readyReplicas"),
      field<&Deployment::available>("availableReplicas"),
      head<Deployment, &WorkloadHead::observedGeneration>("observedGeneration"),
      head<Deployment, &WorkloadHead::collisionCount>("collisionCount"),
      head<Deployment, &WorkloadHead::conditions>("conditions"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Deployment& out) {
  static constexpr Fields fields{
      head<Deployment, &WorkloadHead::meta>("metadata"),
      via<readDeploymentSpec>("spec"),
      via<readDeploymentStatus>("status"),
  };
  return fields.read(in, out);
}

// ---- StatefulSet -------------------------------------------------------------------------------

static bool readStatefulRolling(const In& in, StatefulSet& out) {
  static constexpr Fields fields{field<&StatefulSet::partition>("partition")};
  return fields.read(in, out);
}

static bool readStatefulStrategy(const In& in, StatefulSet& out) {
  static constexpr Fields fields{
      field<&StatefulSet::updateStrategy>("type"),
      via<readStatefulRolling>("rollingUpdate"),
  };
  return fields.read(in, out);
}

static bool readOrdinals(const In& in, StatefulSet& out) {
  static constexpr Fields fields{field<&StatefulSet::firstOrdinal>("start")};
  return fields.read(in, out);
}

static bool readRetention(const In& in, StatefulSet& out) {
  static constexpr Fields fields{field<&StatefulSet::claimsWhenDeleted>("whenDeleted"),
                                 field<&StatefulSet::claimsWhenScaled>("whenScaled")};
  return fields.read(in, out);
}

static bool readStatefulSpec(const In& in, StatefulSet& out) {
  static constexpr Fields fields{
      head<StatefulSet, &WorkloadHead::replicas>("replicas"),
      head<StatefulSet, &WorkloadHead::selector>("selector"),
      head<StatefulSet, &WorkloadHead::podTemplate>("template"),
      head<StatefulSet, &WorkloadHead::minReadySeconds>("minReadySeconds"),
      head<StatefulSet, &WorkloadHead::revisionHistoryLimit>("revisionHistoryLimit"),
      field<&StatefulSet::podManagement>("podManagementPolicy"),
      field<&StatefulSet::serviceName>("serviceName"),
      field<&StatefulSet::claimTemplates>("volumeClaimTemplates"),
      via<readRetention>("persistentVolumeClaimRetentionPolicy"),
      via<readStatefulStrategy>("updateStrategy"),
      via<readOrdinals>("ordinals"),
  };
  return fields.read(in, out);
}

static bool readStatefulStatus(const In& in, StatefulSet& out) {
  static constexpr Fields fields{
      head<StatefulSet, &WorkloadHead::observedGeneration>("observedGeneration"),
      field<&StatefulSet::currentRevision>("currentRevision"),
      field<&StatefulSet::updateRevision>("updateRevision"),
      head<StatefulSet, &WorkloadHead::collisionCount>("collisionCount"),
  };
  return fields.read(in, out);
}

bool read(const In& in, StatefulSet& out) {
  static constexpr Fields fields{
      head<StatefulSet, &WorkloadHead::meta>("metadata"),
      via<readStatefulSpec>("spec"),
      via<readStatefulStatus>("status"),
  };
  return fields.read(in, out);
}

// ---- DaemonSet ---------------------------------------------------------------------------------

static bool readDaemonRolling(const In& in, DaemonSet& out) {
  static constexpr Fields fields{
      field<&DaemonSet::maxUnavailable>("maxUnavailable"),
      field<&DaemonSet::maxSurge>("maxSurge"),
  };
  return fields.read(in, out);
}

static bool readDaemonStrategy(const In& in, DaemonSet& out) {
  static constexpr Fields fields{
      field<&DaemonSet::updateStrategy>("type"),
      via<readDaemonRolling>("rollingUpdate"),
  };
  return fields.read(in, out);
}

static bool readDaemonSpec(const In& in, DaemonSet& out) {
  static constexpr Fields fields{
      head<DaemonSet, &WorkloadHead::selector>("selector"),
      head<DaemonSet, &WorkloadHead::podTemplate>("template"),
      head<DaemonSet, &WorkloadHead::minReadySeconds>("minReadySeconds"),
      head<DaemonSet, &WorkloadHead::revisionHistoryLimit>("revisionHistoryLimit"),
      via<readDaemonStrategy>("updateStrategy"),
  };
  return fields.read(in, out);
}

static bool readDaemonStatus(const In& in, DaemonSet& out) {
  static constexpr Fields fields{
      head<DaemonSet, &WorkloadHead::observedGeneration>("observedGeneration"),
      head<DaemonSet, &WorkloadHead::collisionCount>("collisionCount"),
  };
  return fields.read(in, out);
}

bool read(const In& in, DaemonSet& out) {
  static constexpr Fields fields{
      head<DaemonSet, &WorkloadHead::meta>("metadata"),
      via<readDaemonSpec>("spec"),
      via<readDaemonStatus>("status"),
  };
  return fields.read(in, out);
}

// ---- Job and CronJob ---------------------------------------------------------------------------

static bool readCompletionMode(const In& in, Job& out) {
  auto mode = api::readString(in);
  out.indexed = mode == "Indexed";
  return mode.has_value();
}

static bool readJobSpec(const In& in, Job& out) {
  static constexpr Fields fields{
      head<Job, &WorkloadHead::selector>("selector"),
      head<Job, &WorkloadHead::podTemplate>("template"),
      field<&Job::completions>("completions"),
      field<&Job::parallelism>("parallelism"),
      field<&Job::backoffLimit>("backoffLimit"),
      field<&Job::activeDeadlineSeconds>("activeDeadlineSeconds"),
      field<&Job::ttlSecondsAfterFinished>("ttlSecondsAfterFinished"),
      via<readCompletionMode>("completionMode"),
      field<&Job::suspend>("suspend"),
      field<&Job::podFailurePolicy>("podFailurePolicy"),
      field<&Job::successPolicy>("successPolicy"),
      field<&Job::backoffLimitPerIndex>("backoffLimitPerIndex"),
      field<&Job::maxFailedIndexes>("maxFailedIndexes"),
      field<&Job::podReplacementPolicy>("podReplacementPolicy"),
      field<&Job::managedBy>("managedBy"),
  };
  return fields.read(in, out);
}

static bool readUncounted(const In& in, Job& out) {
  static constexpr Fields fields{
      field<&Job::uncountedSucceeded>("succeeded"),
      field<&Job::uncountedFailed>("failed"),
  };
  return fields.read(in, out);
}

static bool readJobStatus(const In& in, Job& out) {
  static constexpr Fields fields{
      field<&Job::startTime>("startTime"),
      field<&Job::completionTime>("completionTime"),
      field<&Job::succeeded>("succeeded"),
      field<&Job::failed>("failed"),
      field<&Job::completedIndexes>("completedIndexes"),
      field<&Job::failedIndexes>("failedIndexes"),
      via<readUncounted>("uncountedTerminatedPods"),
      head<Job, &WorkloadHead::conditions>("conditions"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Job& out) {
  static constexpr Fields fields{
      head<Job, &WorkloadHead::meta>("metadata"),
      via<readJobSpec>("spec"),
      via<readJobStatus>("status"),
  };
  return fields.read(in, out);
}

static bool readCronSpec(const In& in, CronJob& out) {
  static constexpr Fields fields{
      field<&CronJob::schedule>("schedule"),
      field<&CronJob::timeZone>("timeZone"),
      field<&CronJob::concurrencyPolicy>("concurrencyPolicy"),
      field<&CronJob::startingDeadlineSeconds>("startingDeadlineSeconds"),
      field<&CronJob::suspend>("suspend"),
      field<&CronJob::keepSucceeded>("successfulJobsHistoryLimit"),
      field<&CronJob::keepFailed>("failedJobsHistoryLimit"),
      field<&CronJob::jobTemplate>("jobTemplate"),
  };
  return fields.read(in, out);
}

static bool readCronStatus(const In& in, CronJob& out) {
  static constexpr Fields fields{
      field<&CronJob::lastScheduleTime>("lastScheduleTime"),
      field<&CronJob::lastSuccessfulTime>("lastSuccessfulTime"),
  };
  return fields.read(in, out);
}

bool read(const In& in, CronJob& out) {
  static constexpr Fields fields{
      field<&CronJob::meta>("metadata"),
      via<readCronSpec>("spec"),
      via<readCronStatus>("status"),
  };
  return fields.read(in, out);
}

// ---- the rest ----------------------------------------------------------------------------------

bool read(const In& in, ControllerRevision& out) {
  static constexpr Fields fields{
      field<&ControllerRevision::meta>("metadata"),
      field<&ControllerRevision::revision>("revision"),
      field<&ControllerRevision::data>("data"),
  };
  return fields.read(in, out);
}

bool read(const In& in, ServicePort& out) {
  static constexpr Fields fields{
      field<&ServicePort::name>("name"),
      field<&ServicePort::protocol>("protocol"),
      field<&ServicePort::port>("port"),
      field<&ServicePort::targetPort>("targetPort"),
      field<&ServicePort::appProtocol>("appProtocol"),
  };
  return fields.read(in, out);
}

static bool readServiceSpec(const In& in, Service& out) {
  static constexpr Fields fields{
      field<&Service::selector>("selector"),
      field<&Service::type>("type"),
      field<&Service::clusterIp>("clusterIP"),
      field<&Service::ports>("ports"),
      field<&Service::publishNotReady>("publishNotReadyAddresses"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Service& out) {
  static constexpr Fields fields{
      field<&Service::meta>("metadata"),
      via<readServiceSpec>("spec"),
  };
  return fields.read(in, out);
}

int32_t scaled(const std::optional<api::IntOrString>& value, int32_t whole, bool roundUp,
               int32_t fallback) {
  if (!value) return fallback;
  if (!value->isText) return std::max(0, value->number);
  std::string_view text = value->text;
  if (text.empty() || text.back() != '%') return fallback;
  auto percent = parseInt<int32_t>(text.substr(0, text.size() - 1));
  if (!percent || *percent < 0) return fallback;
  const int64_t product = int64_t{*percent} * whole;
  return static_cast<int32_t>((product + (roundUp ? 99 : 0)) / 100);
}

}  // namespace mangrove::workloads
