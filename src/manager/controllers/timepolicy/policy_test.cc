#include "manager/controllers/timepolicy/policy.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "base/text/time_text.h"

namespace mangrove::manager {
namespace {

CompiledPolicy compiled(const std::string& spec) {
  auto policy = api::decodeText<TimePolicy>(R"({"metadata":{"name":"p"},"spec":)" + spec + "}");
  EXPECT_TRUE(policy) << (policy ? "" : policy.error().text());
  auto out = compilePolicy(*policy);
  EXPECT_TRUE(out) << (out ? "" : out.error().text());
  return out ? *out : CompiledPolicy{};
}

WallTime at(const char* text) {
  return *parseTime(text);
}

CpuMemory cores(double n) {
  return {Quantity::ofMilli(static_cast<int64_t>(n * 1000)), Quantity()};
}

// T-CA-1.
TEST(TimePolicy, ReportsWhatServicesLeave) {
  const auto policy = compiled(R"({"nodeSelector":{},"cpu":{"safePercent":70}})");
  const auto verdict = judgeTime(policy, at("2026-03-01T12:00:00Z"));
  const auto report = [&](double online) {
    return timeReport(policy, verdict, cores(96), cores(online), {}).cpu.milliValue();
  };
  EXPECT_EQ(report(30), 37200);
  EXPECT_EQ(report(50), 17200);
  EXPECT_EQ(report(70), 0);
}

// T-CA-2.
TEST(TimePolicy, DrainsBeforeAStricterTime) {
  const auto policy = compiled(
      R"({"nodeSelector":{},"cpu":{"safePercent":100},"windows":[{"name":"night","start":"01:00","end":"08:00","mode":"Full","gracePeriod":"30m"}],"default":{"mode":"Ratio","ratio":0.3}})");
  const auto report = [&](const char* time) {
    const auto verdict = judgeTime(policy, at(time));
    return timeReport(policy, verdict, cores(40), {}, cores(22)).cpu.milliValue();
  };
  EXPECT_EQ(report("2026-03-01T07:29:59Z"), 40000);
  EXPECT_FALSE(judgeTime(policy, at("2026-03-01T07:29:59Z")).draining);
  EXPECT_EQ(judgeTime(policy, at("2026-03-01T07:29:59Z")).changesAt, at("2026-03-01T07:30:00Z"));
  EXPECT_EQ(report("2026-03-01T07:30:00Z"), 22000);
  EXPECT_TRUE(judgeTime(policy, at("2026-03-01T07:30:00Z")).draining);
  EXPECT_EQ(judgeTime(policy, at("2026-03-01T07:30:00Z")).changesAt, at("2026-03-01T08:00:00Z"));
  EXPECT_EQ(report("2026-03-01T08:00:00Z"), 12000);
  EXPECT_FALSE(judgeTime(policy, at("2026-03-01T08:00:00Z")).draining);
  // Nothing stricter follows the end of the day: 0.3 becomes 1 at 01:00.
  EXPECT_EQ(judgeTime(policy, at("2026-03-01T20:00:00Z")).changesAt, at("2026-03-02T01:00:00Z"));
}

TEST(TimePolicy, SaysWhenItClosesAndHasClosed) {
  const auto policy = compiled(
      R"({"nodeSelector":{},"windows":[{"name":"night","start":"01:00","end":"08:00","mode":"Full","gracePeriod":"30m"}],"default":{"mode":"Off"}})");
  const auto verdict = [&](const char* time) { return judgeTime(policy, at(time)); };
  const WallTime end = at("2026-03-01T08:00:00Z");
  EXPECT_EQ(verdict("2026-03-01T02:00:00Z").closesAt, end);
  EXPECT_EQ(verdict("2026-03-01T02:00:00Z").grace, std::chrono::minutes(30));
  EXPECT_EQ(verdict("2026-03-01T07:59:59Z").closedAt, std::nullopt);
  EXPECT_EQ(verdict("2026-03-01T08:00:00Z").closedAt, end);
  EXPECT_EQ(verdict("2026-03-01T08:09:59Z").closedAt, end);
  EXPECT_EQ(verdict("2026-03-01T08:10:00Z").closedAt, std::nullopt);
  EXPECT_EQ(verdict("2026-03-01T08:00:00Z").closesAt, std::nullopt) << "what follows is looser";
  EXPECT_EQ(verdict("2026-03-01T01:05:00Z").closedAt, std::nullopt) << "it opened";
}

TEST(TimePolicy, WindowsCrossMidnightAndTheStrictestWins) {
  const auto policy = compiled(
      R"({"nodeSelector":{},"windows":[
        {"name":"late","days":["Sat"],"start":"22:00","end":"06:00","mode":"Off"},
        {"name":"all","start":"00:00","end":"24:00","mode":"Ratio","ratio":0.5}]})");
  const auto window = [&](const char* time) { return judgeTime(policy, at(time)).window; };
  EXPECT_EQ(window("2026-02-28T21:59:00Z"), "all");  // Saturday
  EXPECT_EQ(window("2026-02-28T22:00:00Z"), "late");
  EXPECT_EQ(window("2026-03-01T05:59:00Z"), "late");  // it started on Saturday
  EXPECT_EQ(window("2026-03-01T06:00:00Z"), "all");
  EXPECT_EQ(window("2026-03-01T22:30:00Z"), "all");  // Sunday
}

TEST(TimePolicy, MistakesAreNamed) {
  const auto refuse = [](const char* spec) {
    auto policy = api::decodeText<TimePolicy>(std::string(R"({"spec":)") + spec + "}");
    auto out = compilePolicy(*policy);
    return out ? "" : out.error().text();
  };
  EXPECT_THAT(refuse(R"({"default":{"mode":"Half"}})"), ::testing::HasSubstr("want Off, Ratio"));
  EXPECT_THAT(refuse(R"({"default":{"mode":"Ratio"}})"), ::testing::HasSubstr("ratio from 0 to 1"));
  EXPECT_THAT(refuse(R"({"windows":[{"start":"25:00","end":"01:00"}]})"),
              ::testing::HasSubstr("25:00"));
  EXPECT_THAT(refuse(R"({"windows":[{"start":"01:00","end":"02:00","days":["Xyz"]}]})"),
              ::testing::HasSubstr("Xyz"));
  EXPECT_THAT(refuse(R"({"windows":[{"start":"01:00","end":"02:00","timezone":"Mars/Base"}]})"),
              ::testing::HasSubstr("Mars/Base"));
}

TEST(TimePolicy, OffAllowsNothingEvenWhereNothingIsKnown) {
  const auto policy = compiled(
      R"({"nodeSelector":{},"windows":[{"name":"day","start":"08:00","end":"20:00","mode":"Off"}]})");
  const auto day = judgeTime(policy, at("2026-03-01T12:00:00Z"));
  const auto night = judgeTime(policy, at("2026-03-01T23:00:00Z"));
  EXPECT_EQ(allowedBy(policy, day, cores(96), std::nullopt, {}), CpuMemory{});
  EXPECT_EQ(allowedBy(policy, day, cores(96), cores(1), {}), CpuMemory{});
  EXPECT_EQ(allowedBy(policy, night, cores(96), std::nullopt, {}), std::nullopt);
  EXPECT_EQ(allowedBy(policy, night, cores(96), cores(30), {})->cpu.milliValue(), 37200);
}

}  // namespace
}  // namespace mangrove::manager
