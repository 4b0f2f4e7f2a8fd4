// How many replicas, how fast, and what the autoscaler says of itself.
#include "workloads/autoscaler/autoscaler.h"

#include <gtest/gtest.h>

#include "base/text/strings.h"
#include "workloads/autoscaler/replicas.h"
#include "workloads/autoscaler/usage_board.h"
#include "workloads/testing/plan_text.h"

namespace mangrove::workloads {
namespace {

using std::chrono::seconds;
using State = PodReading::State;

const WallTime kNoon = *parseTime("2026-03-01T12:00:00Z");

// "500/1000" uses 500 of 1000 asked; "-/1000" is not measured; "u0/1000" is not ready; "x" leaves.
std::vector<PodReading> pods(const std::string& text) {
  std::vector<PodReading> out;
  for (std::string_view word : split(text, ' ')) {
    PodReading one;
    if (word == "x") one.state = State::kIgnored;
    if (word.front() == 'u') {
      one.state = State::kUnready;
      word.remove_prefix(1);
    }
    const Halves halves = cut(word, '/');
    if (halves.before != "-" && word != "x") one.used = std::stoll(std::string(halves.before));
    if (halves.found) one.asked = std::stoll(std::string(halves.after));
    out.push_back(one);
  }
  return out;
}

TEST(Autoscaler, ProposesWhatBringsTheAverageToTheTarget) {
  struct Row {
    const char* what;
    int32_t current, target;
    const char* pods;
    int32_t wants;
  };
  for (const Row& row : {
           Row{"more", 3, 30, "300/1000 500/1000 700/1000", 5},
           Row{"fewer", 5, 50, "100/1000 300/1000 500/1000 250/1000 250/1000", 3},
           Row{"within ten percent", 3, 100, "1010/1000 1030/1000 1020/1000", 3},
           Row{"unready ones hold growth back", 3, 30, "u300/1000 500/1000 700/1000", 4},
           Row{"and may stop it", 3, 30, "400/1000 u500/1000 u700/1000", 3},
           Row{"but not shrinking", 4, 100, "100/1000 100/1000 u100/1000 u100/1000", 1},
           Row{"who is not measured counts as idle when growing", 4, 50,
               "-/1000 500/1000 900/1000 900/1000", 5},
           Row{"and as busy when shrinking", 4, 50, "-/1000 100/1000 100/1000 100/1000", 3},
           Row{"who leaves does not count", 3, 50, "x 1000/1000 1000/1000", 4},
           Row{"in proportion to what is asked", 2, 50, "500/500 500/1500", 2},
       }) {
    EXPECT_EQ(
        replicasFor({.current = row.current, .utilization = row.target}, pods(row.pods)).replicas,
        row.wants)
        << row.what;
  }
}

TEST(Autoscaler, ProposesByAmountToo) {
  EXPECT_EQ(
      replicasFor({.current = 3, .utilization = {}, .average = 100}, pods("200 300 400")).replicas,
      9);
  EXPECT_EQ(
      replicasFor({.current = 4, .utilization = {}, .average = 100}, pods("20 20 20 20")).replicas,
      1);
}

TEST(Autoscaler, SaysWhyItCannotPropose) {
  const Question half{.current = 2, .utilization = 50};
  EXPECT_EQ(replicasFor(half, {}).trouble, "no pods are selected by the target");
  EXPECT_EQ(replicasFor(half, pods("-/1000")).trouble, "no pod that is ready was measured");
  EXPECT_EQ(replicasFor(half, pods("100/0")).trouble,
            "a container has no request to measure its use against");
}

TEST(Autoscaler, CountsAPodsCpuOnlyOnceItIsReady) {
  const auto state = [](const char* ready, int startedAgo, int sinceAgo, int measuredAgo) {
    const auto pod = object<api::Pod>(fmt::format(
        R"({{"metadata":{{"name":"p","namespace":"d"}},"status":{{"phase":"Running","startTime":"{}","conditions":[{{"type":"Ready","status":"{}","lastTransitionTime":"{}"}}]}}}})",
        formatTime(kNoon - seconds(startedAgo)), ready, formatTime(kNoon - seconds(sinceAgo))));
    return stateOf(*pod, true, kNoon - seconds(measuredAgo), seconds(60), kNoon);
  };
  EXPECT_EQ(state("True", 600, 580, 10), State::kCounts);
  EXPECT_EQ(state("True", 120, 100, 10), State::kCounts) << "measured a minute after it was ready";
  EXPECT_EQ(state("True", 60, 50, 10), State::kUnready) << "the measurement reaches into its start";
  EXPECT_EQ(state("False", 120, 100, 10), State::kUnready);
  EXPECT_EQ(state("False", 600, 590, 10), State::kUnready) << "never ready";
  EXPECT_EQ(state("False", 600, 60, 10), State::kCounts) << "was ready once";
}

Autoscaler scaler(const std::string& more = "", int32_t most = 100) {
  return *object<Autoscaler>(fmt::format(
      R"({{"metadata":{{"name":"h","namespace":"d","generation":3}},"spec":{{"scaleTargetRef":{{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}},"minReplicas":2,"maxReplicas":{},"metrics":[{{"type":"Resource","resource":{{"name":"cpu","target":{{"type":"Utilization","averageUtilization":50}}}}}}]{}}}}})",
      most, more));
}

TEST(Autoscaler, GrowsByFourOrTwofoldEachFifteenSeconds) {
  History history;
  EXPECT_EQ(bounded(scaler(), 2, 40, history, kNoon).replicas, 6);
  EXPECT_EQ(bounded(scaler(), 2, 40, history, kNoon).limited, "ScaleUpLimit");
  history.changes.push_back({kNoon, +4});
  EXPECT_EQ(bounded(scaler(), 6, 40, history, kNoon + seconds(10)).replicas, 6)
      << "all of it is used up";
  EXPECT_EQ(bounded(scaler(), 6, 40, history, kNoon + seconds(16)).replicas, 12);
  EXPECT_EQ(bounded(scaler("", 10), 6, 40, history, kNoon + seconds(16)).limited,
            "TooManyReplicas");
}

TEST(Autoscaler, ShrinksToTheHighestWishOfFiveMinutes) {
  History history;
  bounded(scaler(), 10, 8, history, kNoon);
  const Bounded soon = bounded(scaler(), 10, 3, history, kNoon + seconds(60));
  EXPECT_EQ(soon.replicas, 8);
  EXPECT_GT(soon.heldBy, 0);
  EXPECT_EQ(bounded(scaler(), 8, 3, history, kNoon + seconds(301)).replicas, 3);
  EXPECT_EQ(bounded(scaler(), 8, 1, history, kNoon + seconds(700)).limited, "TooFewReplicas");
}

TEST(Autoscaler, FollowsItsOwnPolicies) {
  const auto with = [](const std::string& behaviour) {
    return scaler(R"(,"behavior":)" + behaviour);
  };
  History fresh;
  EXPECT_EQ(
      bounded(with(R"({"scaleUp":{"policies":[{"type":"Pods","value":1,"periodSeconds":60}]}})"), 4,
              20, fresh, kNoon)
          .replicas,
      5);
  EXPECT_EQ(
      bounded(with(R"({"scaleUp":{"selectPolicy":"Disabled"}})"), 4, 20, fresh, kNoon).replicas, 4);
  History other;
  EXPECT_EQ(
      bounded(
          with(
              R"({"scaleDown":{"stabilizationWindowSeconds":0,"selectPolicy":"Min","policies":[{"type":"Pods","value":2,"periodSeconds":60},{"type":"Percent","value":50,"periodSeconds":60}]}})"),
          20, 2, other, kNoon)
          .replicas,
      18);
  History third;
  const Autoscaler careful = with(R"({"scaleUp":{"stabilizationWindowSeconds":60}})");
  bounded(careful, 4, 4, third, kNoon);
  EXPECT_EQ(bounded(careful, 4, 6, third, kNoon + seconds(30)).replicas, 4)
      << "a moment ago 4 were enough";
  EXPECT_EQ(bounded(careful, 4, 6, third, kNoon + seconds(61)).replicas, 6);
}

// Two pods that ask for a CPU and use `milli` of it.
Plan look(const Autoscaler& it, int32_t wanted, int milli, History& history,
          std::string trouble = "") {
  ScaleView target;
  target.ref = {api::kind::kDeployment, "d", "web"};
  target.wanted = target.present = wanted;
  target.trouble = std::move(trouble);
  for (int i = 0; i < wanted; ++i) {
    target.pods.push_back(object<api::Pod>(fmt::format(
        R"({{"metadata":{{"name":"p{}","namespace":"d"}},"spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"Running","startTime":"2026-03-01T10:00:00Z","conditions":[{{"type":"Ready","status":"True","lastTransitionTime":"2026-03-01T10:00:05Z"}}]}}}})",
        i)));
  }
  const UsageOf usage = [milli](const api::Pod&) -> std::optional<Measured> {
    if (milli < 0) return std::nullopt;
    return Measured{{{"cpu", fmt::format("{}m", milli)}}, {}, kNoon, seconds(60)};
  };
  return planAutoscaler(it, target, usage, history, "", kNoon);
}

std::string reasonOf(const Plan& plan, std::string_view type) {
  const json::Object status = statusIn(plan);
  for (const auto& one : status.at("conditions").as_array())
    if (one.at("type").as_string() == type) return std::string(one.at("reason").as_string());
  return "";
}

TEST(Autoscaler, ChangesTheTargetAndSaysSo) {
  History history;
  const Plan plan = look(scaler(), 2, 1000, history);
  EXPECT_EQ(textOf(plan), "size web=4 | note SuccessfulRescale | again 15s");
  EXPECT_EQ(reasonOf(plan, "AbleToScale"), "SucceededRescale");
  EXPECT_EQ(reasonOf(plan, "ScalingActive"), "ValidMetricFound");
  const json::Object status = statusIn(plan);
  EXPECT_EQ(status.at("desiredReplicas").to_number<int>(), 4);
  EXPECT_EQ(json::write(status.at("currentMetrics").at(0).at("resource").at("current")),
            R"({"averageValue":"1","averageUtilization":100})");
}

TEST(Autoscaler, HoldsItsBounds) {
  History history;
  EXPECT_EQ(textOf(look(scaler(), 1, 10, history)),
            "size web=2 | note SuccessfulRescale | again 15s");
  EXPECT_EQ(textOf(look(scaler("", 3), 5, 900, history)),
            "size web=3 | note SuccessfulRescale | again 15s");
  const Plan off = look(scaler(), 0, 900, history);
  EXPECT_EQ(textOf(off), "again 15s");
  EXPECT_EQ(reasonOf(off, "ScalingActive"), "ScalingDisabled");
}

TEST(Autoscaler, LeavesTheTargetAloneWhileItDoesNotKnow) {
  History history;
  const Plan blind = look(scaler(), 3, -1, history);
  EXPECT_EQ(textOf(blind), "note FailedGetResourceMetric | again 15s");
  EXPECT_EQ(reasonOf(blind, "ScalingActive"), "FailedGetResourceMetric");
  const Plan lost = look(scaler(), 3, 100, history, "there is no Deployment d/web");
  EXPECT_EQ(textOf(lost), "note FailedGetScale | again 15s");
  Autoscaler both = scaler();
  both.metrics.emplace_back().type = "External";
  EXPECT_EQ(textOf(look(both, 3, 100, history)), "note FailedGetResourceMetric | again 15s")
      << "what cannot be answered might ask for more";
}

TEST(UsageBoard, GivesTheMeanOfHalfAMinute) {
  UsageBoard board;
  EXPECT_FALSE(board.of("d", "p"));
  for (int i = 0; i < 60; ++i) {
    board.note(kNoon + seconds(i),
               {{"d", "p", {{"app", i < 30 ? 0.0 : 1.0, 1000}, {"side", 0.5, 24}}, {}}});
  }
  const auto seen = board.of("d", "p");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->at, kNoon + seconds(59));
  EXPECT_EQ(seen->window, Duration(seconds(30)));
  EXPECT_EQ(seen->containers.at("app").amount("cpu").milliValue(), 968) << "30 of 31 samples";
  EXPECT_EQ(seen->usage.amount("cpu").milliValue(), 1468);
  EXPECT_EQ(seen->usage.amount("memory").value(), 1024);
  EXPECT_DOUBLE_EQ(board.pods()[0].cpuSeconds.at("app"), 30) << "all of it counts";
  EXPECT_DOUBLE_EQ(board.pods()[0].cpuSeconds.at("side"), 29.5);
}

TEST(UsageBoard, ForgetsPodsThatAreGone) {
  UsageBoard board;
  board.note(kNoon, {{"d", "p", {{"app", 1, 1}}, {}}});
  board.note(kNoon + seconds(31), {});
  EXPECT_FALSE(board.of("d", "p"));
}

TEST(Autoscaler, LooksAtOneContainerWhereToldTo) {
  Autoscaler it = scaler();
  it.metrics[0].type = "ContainerResource";
  it.metrics[0].container = "c";
  History history;
  EXPECT_EQ(textOf(look(it, 2, 1000, history)), "note FailedGetResourceMetric | again 15s")
      << "its use is known by pod only";
}

}  // namespace
}  // namespace mangrove::workloads
