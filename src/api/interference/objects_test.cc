#include <gtest/gtest.h>

#include "api/interference/policy.h"
#include "api/interference/report.h"
#include "api/wire/decode.h"
#include "json/value.h"

namespace mangrove::api {
namespace {

TEST(InterferencePolicy, IsTheSameAfterWritingAndReading) {
  const char* text = R"({"selector":{"matchLabels":{"pool":"a"}},"detectors":{"cpi2":false},)"
                     R"("thresholds":{"cpu":{"warn":4.0,"act":12.5}},"ladder":{"L7":false},)"
                     R"("pairs":12,"dryRun":true})";
  const auto spec = decodeText<InterferencePolicySpec>(text);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_TRUE(json::equal(toJson(*spec), json::parse(text).value())) << json::write(toJson(*spec));
  EXPECT_TRUE(checkInterferencePolicy(*spec));
}

TEST(InterferencePolicy, SaysWhatIsWrong) {
  struct Row {
    const char* text;
    const char* says;
  };
  for (const Row& row : {Row{R"({"detectors":{"cpi":true}})", "detector 'cpi'"},
                         {R"({"thresholds":{"disk":{"warn":1,"act":2}}})", "threshold 'disk'"},
                         {R"({"thresholds":{"cpu":{"warn":9,"act":2}}})", "warn 9 and act 2"},
                         {R"({"ladder":{"L9":true}})", "step 'L9'"},
                         {R"({"pairs":3})", "pairs 3: want 5 to 30"}}) {
    const auto ok = checkInterferencePolicy(decodeText<InterferencePolicySpec>(row.text).value());
    ASSERT_FALSE(ok) << row.text;
    EXPECT_NE(ok.error().text().find(row.says), std::string::npos) << ok.error().text();
  }
}

TEST(InterferenceReport, TellsItsStory) {
  const char* text =
      R"({"metadata":{"name":"web-1","namespace":"shop"},"spec":{"node":"n1","victim":"shop/web",)"
      R"("victimUID":"u","signal":"psi_cpu_some_avg10","resource":"cpu",)"
      R"("start":"2026-11-17T14:02:00Z"},"status":{"severity":1.5,"observed":31,"fence":15,)"
      R"("suspects":[{"pod":"batch/sort","score":0.6,"corr":0.5,"share":0.9,"verified":"guilty",)"
      R"("verdict":"guilty: +31 % [24, 39] by 10 pairs"}],)"
      R"("actions":[{"time":"2026-11-17T14:04:00Z","action":"L5 CPU quota: 1.6 cores"}]}})";
  auto report = decodeText<InterferenceReport>(text);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(
      sentenceOf(*report),
      "shop/web is slow since 2026-11-17T14:02:00Z on n1 because batch/sort takes its CPU "
      "time: proved once, +31 % [24, 39] by 10 pairs; psi_cpu_some_avg10 31, fence 15; L5 CPU "
      "quota since 2026-11-17T14:04:00Z");
  EXPECT_NE(sentenceOf(*report, 3).find("proved 3 times, +31 %"), std::string::npos);
  const json::Object whole{{"metadata", {{"name", "web-1"}, {"namespace", "shop"}}},
                           {"spec", toJson(report->spec)},
                           {"status", toJson(report->status)}};
  EXPECT_TRUE(json::equal(whole, json::parse(text).value())) << json::write(whole);
}

TEST(InterferenceReport, KnowsWhichStepsStand) {
  InterferenceReportStatus status;
  const auto at = [](int minute) { return WallTime{std::chrono::minutes(minute)}; };
  status.actions = {{at(1), "experiment: batch/sort gets half of its CPU time now and then"},
                    {at(2), "batch/sort: guilty: +31 % [24, 39] by 10 pairs"},
                    {at(3), "L5 CPU quota: 1.6"},
                    {at(4), "L5 CPU quota: 1.28"},
                    {at(5), "L6 hard cap: 0.01"},
                    {at(6), "L6 hard cap back: off"},
                    {at(7), "L5 CPU quota back: 1.4"},
                    {at(8), "disk weight: 0"}};
  using Steps = std::vector<std::pair<std::string, WallTime>>;
  EXPECT_EQ(standingSteps(status), (Steps{{"L5 CPU quota", at(3)}, {"disk weight", at(8)}}));
  status.actions.push_back({at(9), "L5 CPU quota back: off"});
  status.actions.push_back({at(10), "disk weight back: off"});
  EXPECT_TRUE(standingSteps(status).empty());
}

}  // namespace
}  // namespace mangrove::api
