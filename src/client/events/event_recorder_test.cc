#include "client/events/event_recorder.h"

#include <gtest/gtest.h>

#include "client/testing/scripted_client.h"
#include "json/value.h"

namespace mangrove::client {
namespace {

using namespace std::chrono_literals;
using Fate = EventCorrelator::Fate;
using testing::ScriptedClient;

api::ObjectRef pod(const std::string& name) {
  api::ObjectRef ref;
  ref.apiVersion = "v1";
  ref.kind = "Pod";
  ref.ns = "d";
  ref.name = name;
  return ref;
}

class CorrelatorTest : public ::testing::Test {
 protected:
  EventCorrelator::Verdict judge(const std::string& name, const std::string& reason,
                                 const std::string& note) {
    api::Event event;
    event.regarding = pod(name);
    event.type = "Warning";
    event.reason = reason;
    event.note = note;
    return correlator.judge(
        std::move(event), MonoTime{} + now,
        WallTime{} + 500000h + std::chrono::floor<std::chrono::microseconds>(now));
  }
  Duration now = 1h;
  EventCorrelator correlator;
};

TEST_F(CorrelatorTest, aRepeatedEventIsCounted) {
  auto first = judge("a", "Failed", "no room");
  EXPECT_EQ(first.fate, Fate::kCreate);
  EXPECT_EQ(first.event.count, 1);
  EXPECT_TRUE(first.event.meta.name.view().starts_with("a."));
  now += 5s;
  auto second = judge("a", "Failed", "no room");
  EXPECT_EQ(second.fate, Fate::kPatch);
  EXPECT_EQ(second.event.count, 2);
  EXPECT_EQ(second.event.meta.name, first.event.meta.name);
  EXPECT_EQ(second.event.eventTime, first.event.eventTime);
  EXPECT_EQ(second.event.lastTime - first.event.lastTime, 5s);
  EXPECT_EQ(judge("b", "Failed", "no room").fate, Fate::kCreate);
  EXPECT_EQ(judge("a", "Other", "no room").fate, Fate::kCreate);
}

TEST_F(CorrelatorTest, manySimilarMessagesAreCombined) {
  for (int i = 1; i < 10; ++i) {
    auto one = judge("a", "Failed", "message " + std::to_string(i));
    EXPECT_EQ(one.fate, Fate::kCreate) << i;
    EXPECT_EQ(one.event.note, "message " + std::to_string(i));
  }
  auto tenth = judge("a", "Failed", "message 10");
  EXPECT_EQ(tenth.fate, Fate::kCreate);
  EXPECT_EQ(tenth.event.note, "(combined from similar events): message 10");
  auto more = judge("a", "Failed", "message 11");
  EXPECT_EQ(more.fate, Fate::kPatch);
  EXPECT_EQ(more.event.note, "(combined from similar events): message 11");
  EXPECT_EQ(more.event.count, 2);
  now += 601s;
  EXPECT_EQ(judge("a", "Failed", "message 12").event.note, "message 12") << "a new window";
}

TEST_F(CorrelatorTest, spamAboutOneObjectIsCutTo25AndThenOneInFiveMinutes) {
  int passed = 0;
  for (int i = 0; i < 100; ++i)
    passed += judge("a", "R" + std::to_string(i), "x").fate != Fate::kDrop;
  EXPECT_EQ(passed, 25);
  EXPECT_NE(judge("b", "R", "x").fate, Fate::kDrop) << "another object";
  now += 299s;
  EXPECT_EQ(judge("a", "R", "x").fate, Fate::kDrop);
  now += 1s;
  EXPECT_NE(judge("a", "R", "x").fate, Fate::kDrop);
  EXPECT_EQ(judge("a", "R", "x").fate, Fate::kDrop);
}

TEST_F(CorrelatorTest, forgottenEventsAreCreatedAgain) {
  auto first = judge("a", "Failed", "x");
  correlator.forget(first.key);
  EXPECT_EQ(judge("a", "Failed", "x").fate, Fate::kCreate);
}

TEST(RecentMap, forgetsWhatWasNotUsedForLongest) {
  RecentMap<int> map(3);
  for (int i = 0; i < 3; ++i) map.put(std::to_string(i), i);
  EXPECT_NE(map.find("0"), nullptr);
  map.put("3", 3);
  EXPECT_EQ(map.find("1"), nullptr);
  EXPECT_NE(map.find("0"), nullptr);
  EXPECT_EQ(map.size(), 3u);
}

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest()
      : events(api, home, clock, {.component = "agent", .host = "n1", .queueLimit = 5}) {}
  json::Value sent() { return *json::parse(api.next().body); }
  void reply(int status) {
    api.reply(status, status >= 400 ? "no" : "{}");
    home.drain();
  }
  VirtualClock clock{WallTime{} + 500000h};
  Mailbox home;
  ScriptedClient api;
  EventRecorder events;
};

TEST_F(RecorderTest, createsThenPatches) {
  events.warning(pod("a"), "Failed", "no room");
  home.drain();
  ASSERT_EQ(api.pending.size(), 1u);
  EXPECT_EQ(describe(api.next()), "create events d");
  json::Value body = sent();
  EXPECT_EQ(body.at("involvedObject").at("name"), "a");
  EXPECT_EQ(body.at("message"), "no room");
  EXPECT_EQ(body.at("source").at("component"), "agent");
  std::string name(body.at("metadata").at("name").as_string());
  reply(201);
  events.warning(pod("a"), "Failed", "no room");
  home.drain();
  EXPECT_EQ(describe(api.next()), "patch events d/" + name);
  EXPECT_EQ(sent().at("count"), 2);
  reply(200);
  EXPECT_EQ(events.stats().sent, 2u);
}

TEST_F(RecorderTest, anEventTheServerForgotIsCreatedAgainUnderItsName) {
  events.normal(pod("a"), "Done", "x");
  home.drain();
  std::string name(sent().at("metadata").at("name").as_string());
  reply(201);
  events.normal(pod("a"), "Done", "x");
  home.drain();
  reply(404);
  EXPECT_EQ(describe(api.next()), "create events d");
  EXPECT_EQ(sent().at("metadata").at("name").as_string(), std::string_view(name));
  EXPECT_EQ(sent().at("count"), 2);
  reply(201);
}

TEST_F(RecorderTest, clusterScopedObjectsUseTheDefaultNamespace) {
  api::ObjectRef node = pod("n1");
  node.kind = "Node";
  node.ns = "";
  events.normal(node, "Ready", "x");
  home.drain();
  EXPECT_EQ(describe(api.next()), "create events default");
  EXPECT_EQ(sent().at("metadata").at("namespace"), "default");
}

TEST_F(RecorderTest, neverBlocksAndCountsWhatItDrops) {
  for (int i = 0; i < 20; ++i) events.normal(pod("p" + std::to_string(i)), "R", "x");
  EXPECT_EQ(events.stats().overflowed, 15u);
  home.drain();
  EXPECT_EQ(api.pending.size(), 5u) << "several at a time";
  while (!api.pending.empty()) reply(500);
  EXPECT_EQ(events.stats().failed, 5u);
  events.normal(pod("again"), "R", "x");
  home.drain();
  EXPECT_EQ(api.pending.size(), 1u);
}

TEST_F(RecorderTest, aRepetitionWaitsForWhatItRepeats) {
  events.normal(pod("a"), "R", "x");
  events.normal(pod("b"), "R", "x");
  events.normal(pod("a"), "R", "x");
  events.normal(pod("c"), "R", "x");
  home.drain();
  ASSERT_EQ(api.pending.size(), 2u) << "the repetition keeps its place before c";
  reply(201);
  EXPECT_EQ(api.pending.size(), 1u) << "b is still on its way";
  reply(201);
  ASSERT_EQ(api.pending.size(), 2u);
  EXPECT_EQ(api.next().verb, Verb::kPatch);
  reply(200);
  reply(201);
  EXPECT_EQ(events.stats().sent, 4u);
}

TEST_F(RecorderTest, inAStormTheNextGoWhenHalfOfThePlacesAreFree) {
  EventRecorder many(api, home, clock, {.component = "agent", .queueLimit = 100});
  for (int i = 0; i < 40; ++i) many.normal(pod("p" + std::to_string(i)), "R", "x");
  home.drain();
  ASSERT_EQ(api.pending.size(), 16u);
  for (int i = 0; i < 7; ++i) reply(201);
  EXPECT_EQ(api.pending.size(), 9u) << "nobody was woken";
  reply(201);
  EXPECT_EQ(api.pending.size(), 16u);
  while (!api.pending.empty()) reply(201);
  EXPECT_EQ(many.stats().sent, 40u);
}

TEST_F(RecorderTest, answersAfterItIsGoneAreHarmless) {
  auto gone =
      std::make_unique<EventRecorder>(api, home, clock, EventRecorderOptions{.component = "x"});
  gone->normal(pod("a"), "R", "x");
  home.drain();
  gone.reset();
  api.reply(201, "{}");
  home.drain();
}

}  // namespace
}  // namespace mangrove::client
