// Cases 29 to 37 and 49: who may be moved, and how many at once.
#include "descheduler/migration/filter.h"

#include <functional>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "descheduler/migration/arbitrate.h"
#include "descheduler/testing/scene.h"
#include "json/value.h"

namespace mangrove::descheduler {
namespace {

using ::testing::HasSubstr;
using testing::kNoon;
using testing::Scene;

api::IntOrString count(int n) {
  return {false, n, ""};
}
api::IntOrString share(const char* text) {
  return {true, 0, text};
}

TEST(MigrationLimits, OfAWorkload) {  // case 29
  struct Row {
    int64_t replicas;
    std::optional<api::IntOrString> given;
    int64_t most;
  };
  for (const Row& row :
       {Row{1, {}, 1}, Row{3, {}, 1}, Row{4, {}, 2}, Row{10, {}, 2}, Row{11, {}, 1}, Row{20, {}, 2},
        Row{100, {}, 10}, Row{5, share("10%"), 1}, Row{5, count(0), 1}, Row{3, count(10), 3}}) {
    EXPECT_EQ(maxOfWorkload(row.replicas, row.given).value(), row.most) << row.replicas;
  }
  EXPECT_FALSE(maxOfWorkload(3, share("ten")));
}

// Pods of one ReplicaSet, jobs for some of them, and the arguments of the controller.
struct House {
  Scene scene;
  MigrationArgs args;
  std::vector<JobView> jobs;
  int64_t replicas = 0;
  bool local = false;

  explicit House(std::string_view text = "{}")
      : args(readMigrationArgs(json::parse(text).value()).value()) {}

  api::Pod& pod(const std::string& name, const std::string& node = "n1") {
    ++replicas;
    return scene.pod(name, node);
  }
  void job(const api::Pod& pod, std::string phase, bool arbitrated = true) {
    JobView& one = jobs.emplace_back();
    one.name = "j" + std::to_string(jobs.size());
    one.podKey = "default/" + pod.meta.name.str();
    one.phase = std::move(phase);
    one.arbitrated = arbitrated;
    one.created = kNoon;
    one.pod = &pod;
  }
  WorkloadOf workloads() {
    return [this](const api::Pod&) -> Result<WorkloadView> {
      look_ = scene.look();
      return WorkloadView{replicas, look_.pods()};
    };
  }
  std::string why(const api::Pod& pod) {
    const LiveJobs live(jobs, LiveJobs::Count::kAllLive);
    const FilterRules rules{args, live, workloads(), [this](const api::Pod&) { return local; }};
    return refusal(pod, rules).value_or("");
  }

 private:
  Look look_;
};

// A workload that is large enough for one of it to go.
api::Pod& oneOfFive(House& house) {
  for (int i = 1; i < 5; ++i) house.pod("other-" + std::to_string(i), "n" + std::to_string(i + 1));
  return house.pod("p", "n1");
}

TEST(MigrationFilter, NobodyLeavesAWorkloadOfOne) {  // case 30
  House house;
  EXPECT_THAT(house.why(house.pod("p")), HasSubstr("none would be left"));
  House relaxed(R"({"skipCheckExpectedReplicas":true})");
  EXPECT_EQ(relaxed.why(relaxed.pod("p")), "");
}

TEST(MigrationFilter, AtMostTwoOfANode) {  // case 31
  House house(R"({"maxMigratingPerWorkload":9,"maxUnavailablePerWorkload":9})");
  for (int i = 0; i < 10; ++i) house.pod("other-" + std::to_string(i), "n9");
  api::Pod& first = house.pod("a", "n1");
  api::Pod& second = house.pod("b", "n1");
  api::Pod& third = house.pod("c", "n1");
  house.job(first, "Running");
  house.job(second, "");
  EXPECT_THAT(house.why(third), HasSubstr("2 pods of node n1 are migrating, at most 2 may"));
  house.jobs[0].phase = "Succeeded";
  EXPECT_EQ(house.why(third), "");
}

TEST(MigrationFilter, UnavailableAndMigratingCountTogether) {  // case 32
  House house;
  for (int i = 0; i < 8; ++i) house.pod("other-" + std::to_string(i), "n9");
  api::Pod& moving = house.pod("moving", "n2");
  api::Pod& pod = house.pod("p", "n1");
  house.job(moving, "Running");
  EXPECT_EQ(house.why(pod), "");
  House ill;
  for (int i = 0; i < 7; ++i) ill.pod("other-" + std::to_string(i), "n9");
  ill.pod("ill", "n3").status.conditions[0].status = api::Truth::kFalse;
  api::Pod& going = ill.pod("moving", "n2");
  api::Pod& another = ill.pod("p", "n1");
  ill.job(going, "Running");
  EXPECT_THAT(ill.why(another),
              HasSubstr("2 pods of workload rs are unavailable, at most 2 may be"));
}

TEST(MigrationFilter, LocalDataStays) {  // case 35
  House house;
  house.local = true;
  EXPECT_THAT(house.why(oneOfFive(house)), HasSubstr("emptyDir"));
  House skipping(R"({"skipEvictionGates":["LocalStorage"]})");
  skipping.local = true;
  EXPECT_EQ(skipping.why(oneOfFive(skipping)), "");
}

TEST(MigrationFilter, ACostOfNeverHoldsUnlessSomebodyDecided) {  // case 36
  House house;
  api::Pod& pod = oneOfFive(house);
  pod.meta.annotations.set("scheduling.koordinator.sh/eviction-cost", "2147483647");
  EXPECT_THAT(house.why(pod), HasSubstr("never"));
  pod.meta.annotations.set("descheduler.alpha.kubernetes.io/evict", "");
  EXPECT_EQ(house.why(pod), "");
}

TEST(MigrationFilter, OnlySchedulersThatReserve) {  // case 37
  for (const auto& [mode, refused] :
       {std::pair("ReservationFirst", true), std::pair("EvictDirectly", false)}) {
    House house(fmt::format(R"({{"defaultJobMode":"{}"}})", mode));
    api::Pod& pod = oneOfFive(house);
    pod.spec = api::changed(
        pod.spec, [](api::PodSpec& spec) { spec.schedulerName = Interned("default-scheduler"); });
    EXPECT_EQ(!house.why(pod).empty(), refused) << mode;
  }
}

TEST(MigrationFilter, NoSecondJobForAPod) {  // case 49
  House house;
  api::Pod& pod = oneOfFive(house);
  house.job(pod, "");
  EXPECT_THAT(house.why(pod), HasSubstr("under way"));
  // By hand it can be made, and arbitration lets it pass: its own job does not count against it.
  house.job(pod, "", false);
  ArbitrationRules rules;
  rules.limits = house.args.limits;
  rules.workloadOf = house.workloads();
  rules.never = [](const JobView&) { return std::nullopt; };
  const auto verdicts = arbitrate({&house.jobs[1]}, house.jobs, rules);
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0].outcome, Verdict::Outcome::kPassed);
}

TEST(MigrationFilter, TableOfThoseWhoStay) {
  struct Row {
    const char* says;
    std::function<void(api::Pod&)> make;
  };
  const std::vector<Row> rows = {
      {"being deleted", [](api::Pod& p) { p.meta.deletionTimestamp = kNoon; }},
      {"mirror", [](api::Pod& p) { p.meta.annotations.set("kubernetes.io/config.mirror", "x"); }},
      {"static pod",
       [](api::Pod& p) { p.meta.annotations.set("kubernetes.io/config.source", "file"); }},
      {"no owner", [](api::Pod& p) { p.meta.owners = {}; }},
      {"system critical",
       [](api::Pod& p) {
         p.spec = api::changed(p.spec, [](api::PodSpec& s) { s.priority = 2'000'000'000; });
       }},
      {"gang g",
       [](api::Pod& p) { p.meta.annotations.set("gang.scheduling.koordinator.sh/name", "g"); }},
  };
  for (const Row& row : rows) {
    House house;
    api::Pod& pod = oneOfFive(house);
    row.make(pod);
    EXPECT_THAT(house.why(pod), HasSubstr(row.says));
  }
}

TEST(MigrationArgs, SaysWhatIsWrong) {
  struct Row {
    const char* text;
    const char* says;
  };
  for (const Row& row :
       {Row{R"({"skipEvictionGates":["LocalStorrage"]})", "did you mean 'LocalStorage'"},
        Row{R"({"evictQPS":"0"})", "evictQPS is \"0\", want a number above 0"},
        Row{R"({"defaultJobMode":"Later"})", "want ReservationFirst or EvictDirectly"},
        Row{R"({"maxMigratingPerWorkload":"ten"})", "want a number or a percentage"}}) {
    const auto read = readMigrationArgs(json::parse(row.text).value());
    ASSERT_FALSE(read) << row.text;
    EXPECT_THAT(read.error().text(), HasSubstr(row.says));
  }
  EXPECT_EQ(readMigrationArgs(json::parse(R"({"evictQPS":"10"})").value())->evictQps, 10);
}

}  // namespace
}  // namespace mangrove::descheduler
