#include "scheduler/effects/api_effects.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "client/testing/scripted_client.h"
#include "json/value.h"

namespace mangrove::scheduler {
namespace {

using namespace std::chrono_literals;

api::Pod podOf(std::string_view status) {
  return *api::decodeText<api::Pod>(
      fmt::format(R"({{"metadata":{{"name":"p","namespace":"d","uid":"u1"}},
                       "spec":{{"containers":[{{"name":"c"}}]}},"status":{}}})",
                  status));
}

// A pod that waits for its victims: what is written about it, and when.
class HeldStatusTest : public ::testing::Test {
 protected:
  HeldStatusTest() : effects(api, owner, owner, clock, metrics) {}

  void failed(std::string node, bool changes) {
    PodFailure failure{"Unschedulable", "0/1 nodes are available", std::move(node), changes};
    effects.failed(pod, failure, "s");
  }
  void pass(Duration time) {
    clock.advance(time);
    effects.tick();
  }
  // Requests about the pod's status; events go another way.
  std::vector<json::Value> statuses() {
    std::vector<json::Value> out;
    for (const auto& [request, done] : api.pending)
      if (request.ref.subresource == "status")
        out.push_back(json::parse(request.body)->at("status"));
    return out;
  }

  VirtualClock clock{WallTime{} + 500000h};
  Mailbox owner;
  client::testing::ScriptedClient api;
  Registry metrics;
  ApiEffects effects;
  api::Pod pod = podOf("{}");
};

TEST_F(HeldStatusTest, isWrittenWhenThePodStillWaitsASecondLater) {
  failed("n1", true);
  pass(500ms);
  EXPECT_TRUE(statuses().empty());
  pass(500ms);
  ASSERT_EQ(statuses().size(), 1u);
  EXPECT_EQ(statuses()[0].at("nominatedNodeName"), "n1");
  EXPECT_EQ(statuses()[0].at("conditions").at(0).at("type"), "PodScheduled");
  pass(2s);
  EXPECT_EQ(statuses().size(), 1u) << "once";
}

TEST_F(HeldStatusTest, isLeftOutWhenThePodIsBound) {
  failed("n1", true);
  PodInfo info;
  info.pod = std::make_shared<api::Pod>(pod);
  effects.bind(info, "n1", {}, [](Result<>) {});
  pass(2s);
  EXPECT_TRUE(statuses().empty());
}

TEST_F(HeldStatusTest, onlyTheNewestIsWritten) {
  failed("n1", true);
  failed("n2", true);
  pass(1s);
  ASSERT_EQ(statuses().size(), 1u);
  EXPECT_EQ(statuses()[0].at("nominatedNodeName"), "n2");
}

TEST_F(HeldStatusTest, whoWaitsForNobodyIsToldAtOnce) {
  failed("n1", true);
  failed("", false);
  ASSERT_EQ(statuses().size(), 1u);
  EXPECT_FALSE(statuses()[0].as_object().contains("nominatedNodeName"));
  pass(2s);
  EXPECT_EQ(statuses().size(), 1u) << "what was held is out of date";
}

TEST_F(HeldStatusTest, aTakenNominationIsNotWritten) {
  failed("n1", true);
  effects.clearNomination(pod);
  pass(2s);
  ASSERT_EQ(statuses().size(), 1u);
  EXPECT_TRUE(statuses()[0].at("nominatedNodeName").is_null());
  EXPECT_TRUE(statuses()[0].as_object().contains("conditions"));
}

// Tens of thousands that a quota refuses, and then those that have room.
class StatusesInLineTest : public HeldStatusTest {
 protected:
  static std::string uidOf(size_t i) { return fmt::format("refused-{}", i); }
  void refuse(size_t count) {
    for (size_t i = 0; i < count; i++) {
      pod.meta.uid = api::Uid(uidOf(i));
      failed("", false);
    }
  }
  void bind(std::string_view uid) {
    PodInfo info;
    auto object = std::make_shared<api::Pod>(pod);
    object->meta.uid = api::Uid(uid);
    info.pod = object;
    effects.bind(info, "n1", {}, [](Result<>) {});
  }
  // Answers what is under way, and what that brings about, for as long as there is something.
  void answerAll() {
    while (!api.pending.empty()) {
      seen.push_back(api.pending.front().first.ref.subresource);
      api.reply(200, "{}");
      owner.drain();
    }
  }
  size_t count(std::string_view subresource) const {
    return static_cast<size_t>(std::count(seen.begin(), seen.end(), subresource));
  }
  std::vector<std::string> seen;
};

TEST_F(StatusesInLineTest, bindingsDoNotStandBehindThem) {
  constexpr size_t kRefused = 35000, kBound = 100;
  refuse(kRefused);
  EXPECT_EQ(statuses().size(), ApiEffects::kMostStatuses);
  EXPECT_EQ(effects.pending(), ApiEffects::kMostStatuses) << "the rest keeps no decision waiting";
  for (size_t i = 0; i < kBound; i++) bind(fmt::format("roomy-{}", i));
  answerAll();
  const auto last = std::find(seen.rbegin(), seen.rend(), "binding").base();
  EXPECT_LE(static_cast<size_t>(last - seen.begin()), ApiEffects::kMostStatuses + 2 * kBound)
      << "statuses that were under way already, and a trickle";
  EXPECT_EQ(count("status"), kRefused) << "each in the end";
}

TEST_F(StatusesInLineTest, thoseBesideBindingsAreFewAndGoOn) {
  bind("roomy");
  refuse(100);
  EXPECT_EQ(statuses().size(), ApiEffects::kStatusesBeside);
  answerAll();
  EXPECT_EQ(count("status"), 100u);
}

TEST_F(StatusesInLineTest, whoIsBoundMeanwhileIsNotToldThatItWaits) {
  refuse(ApiEffects::kMostStatuses + 10);
  bind(uidOf(ApiEffects::kMostStatuses + 5));
  answerAll();
  EXPECT_EQ(count("status"), ApiEffects::kMostStatuses + 9);
}

TEST_F(StatusesInLineTest, whoNoLongerLeadsSaysNothingMore) {
  refuse(ApiEffects::kMostStatuses + 10);
  effects.dropStatuses();
  answerAll();
  EXPECT_EQ(count("status"), ApiEffects::kMostStatuses);
}

}  // namespace
}  // namespace mangrove::scheduler
