#include "stakes/stake.h"

#include <gtest/gtest.h>

#include "json/value.h"
#include "stakes/tally.h"
#include "victims/order.h"

namespace mangrove::stakes {
namespace {

using Says = victims::Progress::Says;
using std::chrono::hours;
using std::chrono::minutes;

const WallTime kNow = *parseTime("2026-11-17T15:00:00Z");

api::Pod podOf(const std::string& meta, const std::string& requests = "",
               const std::string& status = R"("startTime":"2026-11-17T13:00:00Z")") {
  const auto pod = api::decodeText<api::Pod>(
      R"({"metadata":{"name":"p","namespace":"ns")" + meta +
      R"(},"spec":{"priority":5500,"containers":[{"name":"c","resources":{"requests":{)" +
      requests + R"(}}}]},"status":{)" + status + "}}");
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().text());
  return *pod;
}
api::Pod saying(const char* contract, const char* last = nullptr, const char* requests = "") {
  std::string text = std::string(R"(,"annotations":{"colocation.mangrove.io/checkpoint":")");
  for (const char* c = contract; *c != '\0'; c++) text += *c == '"' ? "\\\"" : std::string(1, *c);
  text += '"';
  if (last != nullptr)
    text += std::string(R"(,"colocation.mangrove.io/checkpoint-last":")") + last + '"';
  return podOf(text + "}", requests);
}

TEST(Stake, WhatAPodSaysOfItsProgress) {
  const auto saver =
      progressOf(saying(R"({"mode":"signal","restartSeconds":30})", "2026-11-17T14:59:00Z",
                        R"("kubernetes.io/batch-cpu":"4000")"));
  EXPECT_EQ(saver.says, Says::kSaves);
  EXPECT_EQ(saver.cores, 4);
  EXPECT_EQ(saver.saved, kNow - minutes(1));
  EXPECT_EQ(saver.restart, Duration(std::chrono::seconds(30)));
  EXPECT_EQ(saver.started, kNow - hours(2));
  EXPECT_EQ(progressOf(saying(R"({"mode":"none"})")).says, Says::kNothing);
  EXPECT_EQ(progressOf(podOf("")).says, Says::kSilent);
  EXPECT_EQ(progressOf(saying(R"({"mode":"magic"})")).says, Says::kSilent)
      << "nonsense is no better than silence";
}

TEST(Stake, WorkIsCoresAndCards) {
  const struct {
    const char* requests;
    double cores, gpus;
  } cases[] = {
      {R"("cpu":"1500m")", 1.5, 0},
      {R"("kubernetes.io/mid-cpu":"2000")", 2, 0},
      {R"("cpu":"1","nvidia.com/gpu":"8")", 1, 8},
      {R"("koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory-ratio":"50")", 0, 0.5},
      {"", 0, 0},
  };
  for (const auto& c : cases) {
    const auto progress = progressOf(podOf("", c.requests));
    EXPECT_EQ(progress.cores, c.cores) << c.requests;
    EXPECT_EQ(progress.gpus, c.gpus) << c.requests;
  }
}

// T-FE-8 with pods: X saved 9 minutes ago, Y one, Z cannot and began two hours ago; 8 GPUs.
TEST(Stake, PodsOfTheCheckpointCase) {
  const api::Pod pods[] = {
      saying(R"({"mode":"signal"})", "2026-11-17T14:51:00Z", R"("nvidia.com/gpu":"8")"),
      saying(R"({"mode":"signal"})", "2026-11-17T14:59:00Z", R"("nvidia.com/gpu":"8")"),
      saying(R"({"mode":"none"})", nullptr, R"("nvidia.com/gpu":"4")")};
  std::vector<victims::Candidate> all;
  for (const api::Pod& pod : pods) {
    all.push_back(candidateOf(pod));
    all.back().frees = {all.back().progress.gpus};
  }
  const auto choice = victims::chooseVictims(all, {.need = {8}, .now = kNow});
  EXPECT_EQ(choice.candidates(), std::vector<size_t>{1});
  EXPECT_EQ(choice.cost.total(), 96'000);
  EXPECT_EQ(choice.leavers.at(0).nextCost.total(), 288'000);
}

TEST(Stake, KindsAndJobs) {
  const struct {
    const char *meta, *kind, *job, *gang;
  } cases[] = {
      {R"(,"labels":{"spark-role":"executor","spark-app-selector":"spark-1"})", "spark-executor",
       "ns/spark-spark-1", ""},
      {R"(,"labels":{"training.kubeflow.org/replica-type":"Worker",)"
       R"("training.kubeflow.org/job-name":"ddp"})",
       "kubeflow-worker", "ns/kubeflow-ddp", ""},
      {R"(,"labels":{"component":"taskmanager","type":"flink-native-kubernetes","app":"wc"})",
       "flink-taskmanager", "ns/flink-wc", ""},
      {R"(,"labels":{"component":"cache"})", "Pod", "ns/p", ""},
      {R"(,"ownerReferences":[{"kind":"Job","name":"j","uid":"u","controller":true}])", "Job",
       "ns/Job/j", ""},
      {R"(,"annotations":{"gang.scheduling.koordinator.sh/name":"g"})", "Pod", "ns/gang/g", "ns/g"},
      {R"(,"annotations":{"gang.scheduling.koordinator.sh/name":"g",)"
       R"("gang.scheduling.koordinator.sh/mode":"NonStrict"})",
       "Pod", "ns/gang/g", ""},
  };
  for (const auto& c : cases) {
    const api::Pod pod = podOf(c.meta);
    EXPECT_EQ(kindOf(pod), c.kind) << c.meta;
    EXPECT_EQ(jobOf(pod), c.job) << c.meta;
    EXPECT_EQ(strictGangOf(pod), c.gang) << c.meta;
  }
}

TEST(Stake, DriversAndManagersCarryTheirJobs) {
  EXPECT_TRUE(candidateOf(podOf(R"(,"labels":{"spark-role":"driver"})")).carries);
  EXPECT_FALSE(candidateOf(podOf(R"(,"labels":{"spark-role":"executor"})")).carries);
  EXPECT_TRUE(
      candidateOf(podOf(R"(,"labels":{"component":"jobmanager","type":"flink-native-kubernetes"})"))
          .carries);
  EXPECT_FALSE(candidateOf(podOf(R"(,"labels":{"component":"jobmanager"})")).carries);
}

TEST(Stake, WhoHasNotStartedLosesNothing) {
  const auto candidate = candidateOf(podOf("", R"("cpu":"4")", ""));
  EXPECT_EQ(victims::costs(std::span(&candidate, 1), kNow)[0].lost, 0);
}

TEST(EvictionTally, CountsADay) {
  EvictionTally tally;
  for (int i = 0; i < 3; i++) tally.add("a", kNow + hours(i));
  EXPECT_EQ(tally.today("a", kNow + hours(3)), 3);
  EXPECT_EQ(tally.today("a", kNow + hours(25)), 1);
  EXPECT_EQ(tally.today("b", kNow), 0);
  tally.add("b", kNow + hours(60));
  EXPECT_EQ(tally.jobs(), 1u) << "what is older than a day is dropped";
}

TEST(EvictionTally, OutlivesItsKeeper) {
  EvictionTally tally, successor;
  EXPECT_TRUE(tally.state().is_null());
  tally.add("ns/Job/j", kNow);
  tally.add("ns/Job/j", kNow + hours(1));
  successor.restore(*json::parse(json::write(tally.state())));
  EXPECT_EQ(successor.today("ns/Job/j", kNow + hours(2)), 2);
  EvictionTally spoilt;
  spoilt.restore(*json::parse(R"({"a":["yesterday",7],"b":3})"));
  EXPECT_EQ(spoilt.jobs(), 0u);
}

}  // namespace
}  // namespace mangrove::stakes
