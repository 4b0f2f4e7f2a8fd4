// The other kinds: what is read is written back, and bad input names its place.
#include <gtest/gtest.h>

#include "api/koordinator/cluster_network_topology.h"
#include "api/koordinator/colocation_profile.h"
#include "api/koordinator/device.h"
#include "api/koordinator/elastic_quota.h"
#include "api/koordinator/node_resource_topology.h"
#include "api/koordinator/pod_group.h"
#include "api/koordinator/pod_migration_job.h"
#include "api/koordinator/quota_profile.h"
#include "api/koordinator/reservation.h"
#include "api/koordinator/schedule_explanation.h"
#include "api/wire/write.h"

namespace mangrove::api {
namespace {

using namespace std::chrono_literals;

template <class T>
std::string echo(std::string_view text) {
  auto value = decodeText<T>(text);
  return value ? json::write(toJson(*value)) : "error: " + value.error().text();
}
#define EXPECT_ECHO(T, text) EXPECT_EQ(echo<T>(text), text)

template <class T>
std::string errorOf(std::string_view text) {
  auto value = decodeText<T>(text);
  return value ? "none" : value.error().text();
}

constexpr const char* kReservation = R"({"metadata":{"name":"r"},"spec":{
  "template":{"metadata":{"labels":{"app":"x"},"namespace":"d"},
    "spec":{"nodeName":"n7","containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}},
  "owners":[{"object":{"name":"p"}},{"controller":{"kind":"Job","name":"j","controller":true,
    "namespace":"d"}},{"labelSelector":{"matchLabels":{"app":"x"}}}],
  "ttl":"1h0m0s","expires":"2026-03-01T12:00:00Z","preAllocation":true,"allocateOnce":false,
  "allocatePolicy":"Restricted","unschedulable":true,
  "taints":[{"key":"k","value":"v","effect":"NoSchedule"}],
  "preAllocationPolicy":{"mode":"Cluster","enableMultiple":true}}})";

TEST(Reservation, SpecIsRead) {
  auto reservation = decodeText<Reservation>(kReservation);
  ASSERT_TRUE(reservation) << reservation.error().text();
  const ReservationSpec& spec = reservation->spec;
  EXPECT_EQ(spec.podTemplate.nodeName.view(), "n7");
  EXPECT_EQ(spec.podTemplate.meta.labels.get("app"), "x");
  EXPECT_EQ(spec.podTemplate.spec->containers[0].requests.cpu(), MilliCpu{2000});
  EXPECT_EQ(spec.owners.size(), 3u);
  EXPECT_EQ(spec.ttl, 1h);
  EXPECT_FALSE(spec.isAllocateOnce());
  EXPECT_TRUE(spec.isRestricted());
  const auto original = json::parse(kReservation).value();
  EXPECT_EQ(json::write(toJson(spec, original.at("spec").at("template"))),
            json::write(original.at("spec")));
}

TEST(Reservation, DefaultsOfAnEmptyOne) {
  auto empty = decodeText<Reservation>("{}").value();
  EXPECT_TRUE(empty.spec.isAllocateOnce());
  EXPECT_FALSE(empty.spec.isRestricted());
  EXPECT_EQ(empty.spec.ttl, std::nullopt);
  EXPECT_EQ(empty.spec.expires, kZeroTime);
}

TEST(Reservation, StatusRoundTrips) {
  EXPECT_ECHO(ReservationStatus,
              R"({"phase":"Available","conditions":[{"type":"Scheduled","status":"True",)"
              R"("reason":"Scheduled","lastProbeTime":"2026-03-01T12:00:00Z",)"
              R"("lastTransitionTime":null}],"currentOwners":[{"kind":"Pod","namespace":"d",)"
              R"("name":"p","uid":"u"}],"nodeName":"n1","allocatable":{"cpu":"4"},)"
              R"("allocated":{"cpu":"1"}})");
}

TEST(Reservation, BadInputNamesThePath) {
  EXPECT_EQ(errorOf<Reservation>(R"({"spec":{"ttl":"soon"}})"),
            "spec.ttl: 'soon' is not a duration such as 1h30m");
  EXPECT_EQ(errorOf<Reservation>(R"({"spec":{"owners":{}}})"),
            "spec.owners: found object, want an array");
  EXPECT_EQ(
      errorOf<Reservation>(
          R"({"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"x"}}}]}}}})"),
      "spec.template.spec.containers[0].resources.limits.cpu: 'x' is not a quantity");
  EXPECT_EQ(errorOf<Reservation>(R"({"status":{"conditions":[{"lastProbeTime":"now"}]}})"),
            "status.conditions[0].lastProbeTime: 'now' is not an RFC 3339 time");
}

TEST(PodMigrationJob, RoundTrips) {
  EXPECT_ECHO(PodMigrationJobSpec,
              R"({"paused":true,"ttl":"5m0s","mode":"EvictDirectly","podRef":{"namespace":"d",)"
              R"("name":"p"},"reservationOptions":{"reservationRef":{"name":"r"},"template":)"
              R"({"spec":{"ttl":"1h"}},"preemptionOptions":{}},"deleteOptions":)"
              R"({"gracePeriodSeconds":30}})");
  EXPECT_ECHO(PodMigrationJobStatus,
              R"({"phase":"Failed","status":"Timeout","reason":"Timeout","message":"too late",)"
              R"("conditions":[{"type":"Eviction","status":"False","lastProbeTime":null,)"
              R"("lastTransitionTime":"2026-03-01T12:00:00Z"}],"nodeName":"n1",)"
              R"("podRef":{"name":"p2"},"preemptedPodsRef":[{"name":"v"}],)"
              R"("preemptedPodsReservation":[{"namespace":"d","name":"r","nodeName":"n1",)"
              R"("phase":"Available","preemptedPodRef":{"name":"v"},"podsRef":[{"name":"w"}]}]})");
  auto job = decodeText<PodMigrationJob>(
      R"({"spec":{"mode":"EvictDirectly"},"status":{"phase":"Aborted"}})");
  EXPECT_TRUE(job->spec.evictsDirectly());
  EXPECT_TRUE(job->status.isFinished());
  EXPECT_EQ(errorOf<PodMigrationJob>(R"({"spec":{"podRef":"p"}})"),
            "spec.podRef: found string 'p', want an object");
}

TEST(Device, RoundTrips) {
  EXPECT_ECHO(
      DeviceSpec,
      R"({"devices":[{"type":"gpu","labels":{"a":"b"},"id":"GPU-1","minor":0,"moduleID":3,)"
      R"("health":true,"resources":{"koordinator.sh/gpu-core":"100",)"
      R"("koordinator.sh/gpu-memory":"80Gi"},"topology":{"socketID":-1,"nodeID":0,)"
      R"("pcieID":"pci0000:00","busID":"0000:09:00.0"},"vfGroups":[{"labels":{"t":"f"},)"
      R"("vfs":[{"minor":0,"busID":"b"}]}],"conditions":[{"type":"Healthy","status":"True",)"
      R"("lastTransitionTime":"2026-03-01T12:00:00Z","reason":"ok","message":"fine"}]},)"
      R"({"health":false}]})");
  EXPECT_ECHO(DeviceStatus,
              R"({"allocations":[{"type":"gpu","entries":[{"name":"p","namespace":"d","uuid":"u",)"
              R"("minors":[0,1]}]}]})");
  EXPECT_EQ(errorOf<Device>(R"({"spec":{"devices":[{"minor":1.5}]}})"),
            "spec.devices[0].minor: found number 1.5, want an integer");
}

TEST(NodeResourceTopology, RoundTrips) {
  const char* zone =
      R"({"name":"node-1","type":"Node","parent":"socket-0","costs":[{"name":"node-0","value":21}],)"
      R"("attributes":[{"name":"a","value":"b"}],"resources":[{"name":"cpu","capacity":"32",)"
      R"("allocatable":"30","available":"30"}]})";
  EXPECT_ECHO(Zone, zone);
  auto topology = decodeText<NodeResourceTopology>(
      fmt::format(R"({{"topologyPolicies":["None"],"zones":[{}]}})", zone));
  ASSERT_TRUE(topology) << topology.error().text();
  EXPECT_EQ(topology->topologyPolicies, std::vector<std::string>{"None"});
  EXPECT_EQ(numaIdOf(topology->zones[0]), 1);
  EXPECT_EQ(topology->zones[0].find("cpu")->allocatable.value(), 30);
  EXPECT_EQ(topology->zones[0].find("memory"), nullptr);
  for (const char* name : {"node-", "node-x", "numa-1", "node--1", ""}) {
    Zone odd;
    odd.name = name;
    EXPECT_EQ(numaIdOf(odd), std::nullopt) << name;
  }
}

TEST(QuotaKinds, RoundTrip) {
  EXPECT_ECHO(ElasticQuotaSpec, R"({"min":{"cpu":"1"},"max":{"cpu":"10","memory":"20Gi"}})");
  EXPECT_ECHO(ElasticQuotaStatus, R"({"used":{"cpu":"500m"}})");
  EXPECT_ECHO(QuotaProfileSpec,
              R"({"quotaName":"root","quotaLabels":{"a":"b"},"resourceRatio":"0.9",)"
              R"("nodeSelector":{"matchLabels":{"pool":"x"}}})");
  EXPECT_EQ(errorOf<ElasticQuota>(R"({"spec":{"max":{"cpu":true}}})"),
            "spec.max.cpu: found boolean true, want a quantity");
}

TEST(PodGroup, RoundTrips) {
  EXPECT_ECHO(PodGroupSpec,
              R"({"minMember":3,"minResources":{"cpu":"3"},"scheduleTimeoutSeconds":60})");
  EXPECT_ECHO(PodGroupStatus,
              R"({"phase":"Running","occupiedBy":"d/j","scheduled":3,"running":2,"succeeded":1,)"
              R"("failed":4,"scheduleStartTime":"2026-03-01T12:00:00Z"})");
  EXPECT_EQ(errorOf<PodGroup>(R"({"spec":{"minMember":"3"}})"),
            "spec.minMember: found string '3', want an integer");
}

TEST(ColocationProfile, RoundTrips) {
  EXPECT_ECHO(
      ColocationProfileSpec,
      R"({"namespaceSelector":{},"selector":{"matchLabels":{"a":"b"}},"probability":"50%",)"
      R"("qosClass":"BE","priorityClassName":"koord-batch","koordinatorPriority":1000,)"
      R"("labels":{"l":"1"},"annotations":{"n":"2"},"labelKeysMapping":{"x":"y"},)"
      R"("annotationKeysMapping":{"v":"w"},"labelSuffixes":{"q":"-s"},)"
      R"("schedulerName":"koord-scheduler","patch":{"spec":{"terminationGracePeriodSeconds":30}}})");
  EXPECT_ECHO(ColocationProfileSpec, R"({"probability":30})");
  EXPECT_EQ(errorOf<ColocationProfile>(R"({"spec":{"probability":0.5}})"),
            "spec.probability: found number 0.5, want an integer or a string");
}

TEST(ClusterNetworkTopology, RoundTrips) {
  EXPECT_ECHO(ClusterNetworkTopologySpec,
              R"({"networkTopologySpec":[{"topologyLayer":"SpineLayer","labelKey":["a","b"]},)"
              R"({"topologyLayer":"NodeTopologyLayer","parentTopologyLayer":"SpineLayer"}]})");
  EXPECT_ECHO(
      ClusterNetworkTopologyStatus,
      R"({"detailStatus":[{"topologyInfo":{"topologyLayer":"SpineLayer","topologyName":"s1"},)"
      R"("parentTopologyInfo":{"topologyLayer":"ClusterTopologyLayer"},)"
      R"("childTopologyLayer":"NodeTopologyLayer","childTopologyNames":["n1"],"nodeNum":1}]})");
}

TEST(ScheduleExplanation, RoundTrips) {
  EXPECT_ECHO(
      ScheduleExplanationSpec,
      R"({"questionObjectKey":"d/p","questionObjectTemplate":{"spec":{}},"ttl":"24h0m0s"})");
  EXPECT_ECHO(
      ScheduleExplanationStatus,
      R"({"schedulable":true,"schedulableAfterPreemption":true,"failedMessage":"m",)"
      R"("lastUpdateTime":"2026-03-01T12:00:00Z","detailedExplanation":[{"topologyDomain":"s1",)"
      R"("failedMessage":"f","scheduleExplanation":{"schedulable":true,)"
      R"("feasibleSchedulingResult":[{"namespace":"d","name":"p","uid":"u","nodeName":"n1"}],)"
      R"("nodeFailedDetails":[{"failedPlugin":"Fit","reason":"cpu","preemptMightHelp":true,)"
      R"("failedNodes":["n2"]}]},"nodePossibleVictims":[{"nodeName":"n2","possibleVictims":)"
      R"([{"namespace":"d","name":"v","uid":"u","isNominatedPod":true}]}],)"
      R"("preemptExplanation":{}}]})");
}

TEST(AllKinds, NullAndUnknownMembersDoNotMatter) {
  const char* text =
      R"({"metadata":null,"spec":null,"status":null,"zones":null,"future":{"a":[1]}})";
  EXPECT_EQ(errorOf<Reservation>(text), "none");
  EXPECT_EQ(errorOf<PodMigrationJob>(text), "none");
  EXPECT_EQ(errorOf<Device>(text), "none");
  EXPECT_EQ(errorOf<NodeResourceTopology>(text), "none");
  EXPECT_EQ(errorOf<ElasticQuota>(text), "none");
  EXPECT_EQ(errorOf<PodGroup>(text), "none");
  EXPECT_EQ(errorOf<ColocationProfile>(text), "none");
  EXPECT_EQ(errorOf<QuotaProfile>(text), "none");
  EXPECT_EQ(errorOf<ClusterNetworkTopology>(text), "none");
  EXPECT_EQ(errorOf<ScheduleExplanation>(text), "none");
  EXPECT_EQ(errorOf<Reservation>("[]"), "found array, want an object");
}

}  // namespace
}  // namespace mangrove::api
