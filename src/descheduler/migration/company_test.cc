// Jobs that move together: when they may leave, in arbitration and as a state.
#include "descheduler/migration/company.h"

#include <gmock/gmock.h>

#include "api/wire/decode.h"
#include "descheduler/migration/arbitrate.h"
#include "descheduler/testing/scene.h"

namespace mangrove::descheduler {
namespace {

std::shared_ptr<const api::PodMigrationJob> job(const std::string& phase,
                                                const std::string& conditions,
                                                const std::string& mode = "ReservationFirst") {
  auto made = api::decodeText<api::PodMigrationJob>(R"({"metadata":{"name":"j"},"spec":{"mode":")" +
                                                    mode + R"("},"status":{"phase":")" + phase +
                                                    R"(","conditions":[)" + conditions + "]}}");
  EXPECT_TRUE(made) << made.error().text();
  return std::make_shared<api::PodMigrationJob>(std::move(*made));
}

TEST(Company, Table) {
  const auto placed = job("Running", R"({"type":"ReservationScheduled","status":"True"})");
  const auto unplaced = job("Running", R"({"type":"ReservationScheduled","status":"False"})");
  const auto begun = job("Running", "");
  const auto waiting = job("", "");
  const auto moved = job("Succeeded", "");
  const auto failed = job("Failed", "");
  const auto stopped = job("Aborted", R"({"type":"ReservationScheduled","status":"True"})");
  const auto direct = job("Running", "", "EvictDirectly");
  EXPECT_EQ(companyOf({}, 0), Company::kNone);
  EXPECT_EQ(companyOf({placed, placed}, 2), Company::kReady);
  EXPECT_EQ(companyOf({placed, moved}, 2), Company::kReady);
  EXPECT_EQ(companyOf({direct, direct}, 2), Company::kReady);
  EXPECT_EQ(companyOf({placed}, 2), Company::kWaits) << "the other is not made yet";
  EXPECT_EQ(companyOf({placed, unplaced}, 2), Company::kWaits);
  EXPECT_EQ(companyOf({placed, begun}, 2), Company::kWaits);
  EXPECT_EQ(companyOf({placed, waiting}, 2), Company::kWaits);
  EXPECT_EQ(companyOf({placed, failed}, 2), Company::kBroken);
  EXPECT_EQ(companyOf({placed, stopped}, 2), Company::kBroken);
}

TEST(Arbitration, JobsThatMoveTogetherPassTogetherOrWaitTogether) {
  testing::Scene scene;
  std::vector<JobView> all;
  const auto add = [&](const std::string& name, const std::string& node, const std::string& mark) {
    api::Pod& pod = scene.pod(name, node);
    if (!mark.empty()) pod.meta.annotations.set("gang.scheduling.koordinator.sh/name", "g");
    JobView view;
    view.name = name;
    view.podKey = "default/" + name;
    view.podUid = pod.meta.uid.str();
    view.together = mark;
    view.pod = &pod;
    all.push_back(view);
  };
  add("g-0", "n1", "m");
  add("g-1", "n1", "m");
  add("g-2", "n2", "m");
  ArbitrationRules rules;
  rules.never = [](const JobView&) { return std::nullopt; };
  rules.workloadOf = [](const api::Pod&) { return WorkloadView{3, {}}; };
  rules.limits.perNode = 1;
  const auto outcomes = [&] {
    std::vector<const JobView*> waiting;
    for (const JobView& one : all)
      if (!one.arbitrated) waiting.push_back(&one);
    std::vector<Verdict::Outcome> out;
    for (const Verdict& verdict : arbitrate(waiting, all, rules)) out.push_back(verdict.outcome);
    return out;
  };
  EXPECT_THAT(outcomes(), ::testing::Each(Verdict::Outcome::kPassed)) << "one move to the limits";
  add("other", "n2", "");
  all.back().phase = "Running";
  all.back().arbitrated = true;
  EXPECT_THAT(outcomes(), ::testing::Each(Verdict::Outcome::kWaits)) << "n2 has its one already";
  rules.never = [](const JobView& one) -> std::optional<std::string> {
    if (one.name == "g-1") return "it stays";
    return std::nullopt;
  };
  EXPECT_THAT(outcomes(), ::testing::Each(Verdict::Outcome::kFailed));
  EXPECT_EQ(outcomes().size(), 3u);
}

}  // namespace
}  // namespace mangrove::descheduler
