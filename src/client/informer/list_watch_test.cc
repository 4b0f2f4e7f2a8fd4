#include "client/informer/list_watch.h"

#include <gtest/gtest.h>

#include "client/testing/scripted_client.h"

namespace mangrove::client {
namespace {

using namespace std::chrono_literals;
using testing::ScriptedClient;
using testing::ScriptedWatch;

struct Recorder final : ListWatchSink {
  void listStarts() override { text += "list("; }
  void listItem(const Received& object) override { text += object.key() + " "; }
  void listEnds(std::string_view version) override { text += "@" + std::string(version) + ") "; }
  void event(EventType type, const Received& object) override {
    static const char* kSigns = "+~-";
    text += kSigns[static_cast<int>(type)] + object.key() + "@" +
            std::string(object.resourceVersion) + " ";
  }
  void flush() override {}
  bool full() const override { return isFull; }
  std::string text;
  bool isFull = false;
};

std::string object(const std::string& name, int version) {
  return fmt::format(R"({{"metadata":{{"namespace":"d","name":"{}","resourceVersion":"{}"}}}})",
                     name, version);
}
std::string event(const char* type, const std::string& name, int version) {
  return fmt::format(R"({{"type":"{}","object":{}}})", type, object(name, version));
}
std::string listBody(int version, const std::vector<std::string>& names,
                     const std::string& token = "") {
  std::string items;
  for (const auto& name : names) items += (items.empty() ? "" : ",") + object(name, version);
  return fmt::format(
      R"({{"kind":"PodList","metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
      version, token, items);
}
std::string expired() {
  return R"({"kind":"Status","reason":"Expired","code":410,"message":"too old resource version"})";
}

class ListWatchTest : public ::testing::Test {
 protected:
  ListWatchTest() : follow(options(), api, home, clock, 1, sink) {
    follow.start();
    home.drain();
  }
  static ListWatchOptions options() {
    ListWatchOptions out;
    out.kind = kind::kPod;
    out.labelSelector = "app=web";
    return out;
  }
  void settle() {
    while (home.drain() > 0) {
    }
  }
  void reply(int status, const std::string& body) {
    api.reply(status, body);
    settle();
  }
  // A first list of two objects at version 10 and an open watch.
  void begin() {
    reply(200, listBody(10, {"a", "b"}));
    watch().open();
    settle();
    sink->text.clear();
  }
  ScriptedWatch& watch() { return *api.watches.back(); }
  void send(const std::string& line) {
    watch().send(line);
    settle();
  }
  std::string resumedFrom() const { return api.watches.back()->request.query.resourceVersion; }
  // Lets the longest first delay pass.
  void wait(Duration time = 1s) {
    settle();
    clock.advance(time);
    settle();
  }

  VirtualClock clock;
  Mailbox home;
  ScriptedClient api;
  std::shared_ptr<Recorder> sink = std::make_shared<Recorder>();
  ListWatch follow;
};

TEST_F(ListWatchTest, listsThenWatchesFromTheListsVersion) {
  EXPECT_EQ(api.next().query.limit, 500);
  EXPECT_EQ(api.next().query.labelSelector, "app=web");
  EXPECT_EQ(api.next().query.resourceVersion, "");
  reply(200, listBody(10, {"a", "b"}));
  EXPECT_EQ(sink->text, "list(d/a d/b @10) ");
  ASSERT_EQ(api.watches.size(), 1u);
  EXPECT_EQ(resumedFrom(), "10");
  EXPECT_TRUE(watch().request.bookmarks);
  EXPECT_EQ(watch().request.query.labelSelector, "app=web");
  EXPECT_GE(watch().request.timeout, 5min);
  EXPECT_LE(watch().request.timeout, 10min);
}

TEST_F(ListWatchTest, readsPagesInOrderAndAsksForTheNextBeforeReadingTheLast) {
  reply(200, listBody(10, {"a"}, "page2"));
  ASSERT_EQ(api.pending.size(), 1u);
  EXPECT_EQ(api.next().query.continueToken, "page2");
  EXPECT_EQ(api.next().query.limit, 500);
  reply(200, listBody(10, {"b"}, "page3"));
  reply(200, listBody(10, {"c"}));
  EXPECT_EQ(sink->text, "list(d/a d/b d/c @10) ");
}

TEST_F(ListWatchTest, anExpiredPageMeansOneListWithoutPages) {
  reply(200, listBody(10, {"a"}, "page2"));
  reply(410, expired());
  EXPECT_EQ(api.next().query.limit, 0);
  EXPECT_EQ(api.next().query.continueToken, "");
  reply(200, listBody(12, {"a", "b"}));
  EXPECT_EQ(sink->text, "list(d/a list(d/a d/b @12) ");
  EXPECT_EQ(resumedFrom(), "12");
}

TEST_F(ListWatchTest, aFailedListIsTriedAgainWithGrowingDelays) {
  std::vector<Duration> waits;
  for (int i = 0; i < 10; ++i) {
    reply(500, "boom");
    ASSERT_TRUE(api.pending.empty());
    waits.push_back(clock.nextAt() - clock.mono());
    wait(waits.back());
    ASSERT_EQ(api.pending.size(), 1u) << i;
  }
  EXPECT_GE(waits[0], 200ms);
  EXPECT_LE(waits[0], 300ms);
  EXPECT_GE(waits[3], 1600ms);
  EXPECT_GE(waits[9], 30s);
  EXPECT_LE(waits[9], 45s);
  EXPECT_TRUE(follow.trouble().has_value());
  reply(200, listBody(10, {}));
  watch().open();
  settle();
  EXPECT_FALSE(follow.trouble().has_value());
}

TEST_F(ListWatchTest, aGarbledListDoesNotCount) {
  std::string body = listBody(10, {"a", "b"});
  reply(200, body.substr(0, body.size() - 9));
  EXPECT_EQ(sink->text, "list(");
  EXPECT_TRUE(api.watches.empty());
  wait();
  reply(200, body);
  EXPECT_EQ(sink->text, "list(list(d/a d/b @10) ");
}

TEST_F(ListWatchTest, passesEventsOnAndResumesAfterAProperEnd) {
  begin();
  send(event("ADDED", "c", 11));
  send(event("MODIFIED", "a", 12));
  send(event("DELETED", "b", 13));
  EXPECT_EQ(sink->text, "+d/c@11 ~d/a@12 -d/b@13 ");
  watch().end();
  settle();
  ASSERT_EQ(api.watches.size(), 2u) << "at once: the server only reached its time limit";
  EXPECT_EQ(resumedFrom(), "13");
}

// Servers write type and object and nothing else; whoever writes more, or otherwise, is understood.
TEST_F(ListWatchTest, understandsEventsInAnyForm) {
  begin();
  const std::string inside = object("c", 11);
  send(R"({"type":"ADDED","object":)" + inside + R"(,"more":{"a":{}}})");
  send(R"({"object":)" + object("c", 12) + R"(,"type":"MODIFIED"})");
  send(R"({ "type" : "MODIFIED", "object" : )" + object("c", 13) + " }");
  send(R"({"type":"DELETED","object":)" + object("c", 14) + "} ");
  EXPECT_EQ(sink->text, "+d/c@11 ~d/c@12 ~d/c@13 -d/c@14 ");
  EXPECT_EQ(follow.stats().garbled, 0u);
}

TEST_F(ListWatchTest, resumesALittleEarlierAfterABreak) {
  begin();
  for (int v = 11; v <= 40; ++v) send(event("MODIFIED", "a", v));
  watch().end(fail(Code::kUnavailable, "connection reset"));
  settle();
  ASSERT_EQ(api.watches.size(), 1u) << "not at once";
  wait();
  ASSERT_EQ(api.watches.size(), 2u);
  EXPECT_EQ(resumedFrom(), "24") << "16 events before the last one, which was 40";
  EXPECT_TRUE(api.pending.empty()) << "no list";
}

TEST_F(ListWatchTest, bookmarksMoveThePosition) {
  begin();
  send(event("ADDED", "c", 11));
  send(R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"90"}}})");
  watch().end(fail(Code::kUnavailable, "connection reset"));
  wait();
  EXPECT_EQ(resumedFrom(), "90");
  EXPECT_EQ(follow.stats().bookmarks, 1u);
  EXPECT_EQ(sink->text, "+d/c@11 ");
}

TEST_F(ListWatchTest, anExpiredPositionMeansANewList) {
  for (bool asEvent : {true, false}) {
    if (api.watches.empty()) begin();
    send(event("MODIFIED", "a", 20));
    if (asEvent) {
      send(R"({"type":"ERROR","object":)" + expired() + "}");
    } else {
      watch().end(Failure(statusError(410, expired(), "watch pods", "x")));
      settle();
    }
    ASSERT_EQ(api.pending.size(), 1u) << asEvent;
    EXPECT_EQ(api.next().query.resourceVersion, "");
    reply(200, listBody(30, {"a"}));
    EXPECT_EQ(resumedFrom(), "30");
    watch().open();
    settle();
  }
}

TEST_F(ListWatchTest, aPositionThatExpiresRightAfterEveryListIsNotHammered) {
  begin();
  for (int i = 0; i < 3; ++i) {
    watch().end(Failure(statusError(410, expired(), "watch pods", "x")));
    settle();
    EXPECT_TRUE(api.pending.empty()) << "wait first";
    wait(3s);
    ASSERT_EQ(api.pending.size(), 1u);
    reply(200, listBody(30 + i, {"a"}));
  }
}

TEST_F(ListWatchTest, recoversFromGarbledLinesByReconnecting) {
  begin();
  send(event("ADDED", "c", 11));
  send(event("ADDED", "d", 12).substr(0, 30));
  EXPECT_EQ(sink->text, "+d/c@11 ");
  EXPECT_TRUE(watch().cancelled);
  wait();
  ASSERT_EQ(api.watches.size(), 2u);
  EXPECT_EQ(resumedFrom(), "10");
  EXPECT_EQ(follow.stats().garbled, 1u);
}

TEST_F(ListWatchTest, garbledThreeTimesAtOnePositionMeansANewList) {
  begin();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(api.pending.empty());
    watch().open();
    send("{\"type\":");
    wait(5s);
  }
  EXPECT_EQ(api.pending.size(), 1u);
}

TEST_F(ListWatchTest, linesAfterAGarbledOneInTheSameMessageAreNotUsed) {
  begin();
  watch().sendRaw(event("ADDED", "c", 11) + "\nnonsense\n" + event("ADDED", "d", 13) + "\n");
  settle();
  EXPECT_EQ(sink->text, "+d/c@11 ");
}

TEST_F(ListWatchTest, aWatchThatEndsAtOnceIsNotRepeatedInALoop) {
  begin();
  watch().end();
  settle();
  EXPECT_EQ(api.watches.size(), 1u);
  wait();
  EXPECT_EQ(api.watches.size(), 2u);
}

TEST_F(ListWatchTest, answersOfAnEarlierTurnAreIgnored) {
  begin();
  auto old = api.watches.back();
  follow.relist("test");
  settle();
  old->cancelled = false;  // a client that delivers late
  old->send(event("ADDED", "ghost", 11));
  settle();
  EXPECT_EQ(sink->text, "list(");
}

TEST_F(ListWatchTest, pausesWhenTheReceiverIsFullAndResumesOnDemand) {
  begin();
  sink->isFull = true;
  send(event("ADDED", "c", 11));
  EXPECT_EQ(watch().pauses, 1);
  send(event("ADDED", "d", 12));
  EXPECT_EQ(watch().pauses, 1) << "already";
  sink->isFull = false;
  follow.setPaused(false);
  settle();
  EXPECT_EQ(watch().resumes, 1);
}

TEST_F(ListWatchTest, asksTheClientToStopReadingWhileHomeIsBehind) {
  begin();
  std::string big = event("ADDED", std::string(3000, 'x'), 11);
  bool more = true;
  int sent = 0;
  while (more && sent < 5000) {
    more = watch().send(big);
    ++sent;
  }
  EXPECT_FALSE(more);
  EXPECT_GT(sent, 1000);
  settle();
  EXPECT_EQ(watch().resumes, 1);
}

TEST_F(ListWatchTest, nothingHappensAfterStop) {
  begin();
  auto open = api.watches.back();
  follow.stop();
  settle();
  EXPECT_TRUE(open->cancelled);
  clock.advance(1h);
  settle();
  EXPECT_TRUE(api.pending.empty());
  EXPECT_EQ(api.watches.size(), 1u);
}

TEST_F(ListWatchTest, aVersionFromTheFutureMeansANewList) {
  begin();
  send(
      R"({"type":"ERROR","object":{"kind":"Status","code":504,"reason":"Timeout","message":"Too large resource version: 10, current: 3","details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}})");
  wait();
  ASSERT_EQ(api.pending.size(), 1u);
  reply(200, listBody(3, {"a"}));
  EXPECT_EQ(resumedFrom(), "3");
}

}  // namespace
}  // namespace mangrove::client
