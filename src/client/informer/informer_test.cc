#include "client/informer/informer.h"

#include <gtest/gtest.h>

#include "api/object/meta.h"
#include "base/os/log.h"
#include "client/testing/scripted_client.h"

namespace mangrove::client {
namespace {

using namespace std::chrono_literals;
using testing::ScriptedClient;
using testing::ScriptedWatch;

// A small typed object: metadata and one field.
struct Thing {
  api::ObjectMeta meta;
  int32_t size = 0;
};
static bool readSpec(const api::In& in, Thing& out) {
  static constexpr api::Fields fields{api::field<&Thing::size>("size")};
  return fields.read(in, out);
}
static bool read(const api::In& in, Thing& out) {
  static constexpr api::Fields fields{api::field<&Thing::meta>("metadata"),
                                      api::via<readSpec>("spec")};
  return fields.read(in, out);
}

std::string thing(const std::string& name, int version, const std::string& size = "1") {
  return fmt::format(
      R"({{"metadata":{{"namespace":"d","name":"{}","resourceVersion":"{}"}},"spec":{{"size":{}}}}})",
      name, version, size);
}
std::string event(const char* type, const std::string& object) {
  return fmt::format(R"({{"type":"{}","object":{}}})", type, object);
}
std::string list(int version, const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ",") + item;
  return fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"items":[{}]}})", version, text);
}

class InformerTest : public ::testing::Test {
 protected:
  InformerTest() : things(setup()) {
    things.onChange([this](const Change<Thing>& c) { note(c); });
    things.addIndex("size", [](const Thing& t) { return Values{std::to_string(t.size)}; });
    things.start();
    settle();
  }
  InformerSetup setup() {
    InformerSetup out;
    out.client = &api;
    out.owner = &owner;
    out.clock = &clock;
    out.follow.kind = kind::kPod;
    return out;
  }
  void note(const Change<Thing>& c) {
    heard += fmt::format("{}:{}>{} ", splitKey(c.key).name,
                         c.before ? std::to_string(c.before->size) : "-",
                         c.after ? std::to_string(c.after->size) : "-");
    EXPECT_EQ(things.find(c.key), c.after) << "the cache is as told";
  }
  void settle() {
    while (owner.drain() > 0) {
    }
  }
  void reply(const std::string& body) {
    api.reply(200, body);
    settle();
    if (!api.watches.empty() && !api.watches.back()->cancelled) api.watches.back()->open();
    settle();
  }
  void send(const std::string& line) {
    api.watches.back()->send(line);
    settle();
  }
  std::string take() { return std::exchange(heard, ""); }
  std::string namesBy(const std::string& value) {
    std::string out;
    for (auto one : things.by("size", value)) out += one->meta.name.str() + " ";
    return out;
  }
  void relist(int version, const std::vector<std::string>& items) {
    send(R"({"type":"ERROR","object":{"kind":"Status","reason":"Expired","code":410}})");
    while (api.pending.empty()) {
      clock.advance(1s);
      settle();
    }
    reply(list(version, items));
  }

  VirtualClock clock;
  Mailbox owner;
  ScriptedClient api;
  std::string heard;
  Informer<Thing> things;
};

TEST_F(InformerTest, tellsHandlersTheListAndThenEachChange) {
  EXPECT_FALSE(things.hasSynced());
  bool synced = false;
  things.onSynced([&] { synced = true; });
  reply(list(10, {thing("a", 3, "1"), thing("b", 7, "2")}));
  EXPECT_TRUE(synced);
  EXPECT_TRUE(things.hasSynced());
  EXPECT_EQ(take(), "a:->1 b:->2 ");
  send(event("MODIFIED", thing("a", 11, "5")));
  send(event("DELETED", thing("b", 12, "2")));
  send(event("ADDED", thing("c", 13, "3")));
  EXPECT_EQ(take(), "a:1>5 b:2>- c:->3 ");
  EXPECT_EQ(things.size(), 2u);
  EXPECT_EQ(things.find("d", "a")->size, 5);
  EXPECT_EQ(things.find("d/b"), nullptr);
}

TEST_F(InformerTest, givesTheRawTextAsItCame) {
  reply(list(10, {thing("a", 3)}));
  EXPECT_EQ(*things.raw("d/a"), thing("a", 3));
  EXPECT_EQ(things.raw("d/x").error().code(), Code::kNotFound);
  for (int v = 11; v < 60; ++v) send(event("MODIFIED", thing("a", v, std::to_string(v))));
  EXPECT_EQ(*things.raw("d/a"), thing("a", 59, "59"));
}

TEST_F(InformerTest, ignoresWhatItKnowsAlready) {
  reply(list(10, {thing("a", 9, "1")}));
  take();
  send(event("ADDED", thing("a", 9, "1")));  // repeated from the list
  send(event("MODIFIED", thing("a", 12, "3")));
  send(event("MODIFIED", thing("a", 11, "2")));  // late
  send(event("MODIFIED", thing("a", 12, "3")));  // twice
  EXPECT_EQ(take(), "a:1>3 ");
  EXPECT_EQ(things.stats().stale, 3u);
}

TEST_F(InformerTest, deletedObjectsDoNotComeBackThroughLateEvents) {
  reply(list(10, {thing("a", 9)}));
  take();
  send(event("DELETED", thing("a", 14)));
  send(event("MODIFIED", thing("a", 12, "2")));
  EXPECT_EQ(take(), "a:1>- ");
  send(event("ADDED", thing("a", 15, "7")));  // created again
  EXPECT_EQ(take(), "a:->7 ");
  send(event("DELETED", thing("a", 14)));  // late: belongs to the first life
  EXPECT_EQ(take(), "");
}

TEST_F(InformerTest, anEndThatOvertakesItsBeginningWins) {
  reply(list(10, {}));
  send(event("DELETED", thing("x", 12)));
  send(event("ADDED", thing("x", 11)));
  EXPECT_EQ(take(), "");
  EXPECT_EQ(things.size(), 0u);
}

TEST_F(InformerTest, eventsFromBeforeTheListDoNotReviveAbsentObjects) {
  reply(list(10, {}));
  send(event("ADDED", thing("old", 8)));
  EXPECT_EQ(take(), "");
}

TEST_F(InformerTest, aDeletionWithTheLastKnownVersionCounts) {
  reply(list(10, {thing("a", 9)}));
  take();
  send(event("DELETED", thing("a", 9)));
  EXPECT_EQ(take(), "a:1>- ");
}

TEST_F(InformerTest, opaqueVersionsAreAppliedInOrderOfArrival) {
  auto odd = [](const std::string& version, const std::string& size) {
    return fmt::format(
        R"({{"metadata":{{"namespace":"d","name":"a","resourceVersion":"{}"}},"spec":{{"size":{}}}}})",
        version, size);
  };
  reply(list(10, {odd("zz", "1")}));
  take();
  send(event("MODIFIED", odd("aa", "2")));
  send(event("MODIFIED", odd("aa", "2")));
  send(event("DELETED", odd("bb", "2")));
  EXPECT_EQ(take(), "a:1>2 a:2>- ");
}

TEST_F(InformerTest, aNewListReplacesEverythingAndTellsTheDifference) {
  reply(list(10, {thing("a", 3, "1"), thing("b", 4, "2"), thing("c", 5, "3")}));
  auto same = things.find("d/a");
  send(event("MODIFIED", thing("c", 11, "4")));
  take();
  relist(20, {thing("a", 3, "1"), thing("c", 15, "9"), thing("e", 16, "6")});
  EXPECT_EQ(take(), "c:4>9 e:->6 b:2>- ");
  EXPECT_EQ(things.find("d/a"), same) << "what did not change keeps its identity";
  EXPECT_EQ(namesBy("2"), "");
  EXPECT_EQ(namesBy("9"), "c ");
}

TEST_F(InformerTest, theCacheIsCompleteBeforeTheFirstHandlerHearsOfANewList) {
  reply(list(10, {thing("a", 3)}));
  std::vector<size_t> sizes;
  things.onChange([&](const Change<Thing>&) { sizes.push_back(things.size()); });
  sizes.clear();
  relist(20, {thing("b", 15), thing("c", 16)});
  EXPECT_EQ(sizes, (std::vector<size_t>{2, 2, 2}));
}

TEST_F(InformerTest, aListOfAServerThatWentBackInTimeIsBelieved) {
  reply(list(100, {thing("a", 90, "9")}));
  take();
  relist(20, {thing("a", 15, "1")});
  EXPECT_EQ(take(), "a:9>1 ");
  send(event("MODIFIED", thing("a", 21, "2")));
  EXPECT_EQ(take(), "a:1>2 ");
}

TEST_F(InformerTest, indexesFollowEveryChange) {
  reply(list(10, {thing("a", 3, "1"), thing("b", 4, "1"), thing("c", 5, "2")}));
  EXPECT_EQ(namesBy("1"), "a b ");
  send(event("MODIFIED", thing("a", 11, "2")));
  EXPECT_EQ(namesBy("1"), "b ");
  EXPECT_EQ(namesBy("2"), "a c ");
  send(event("DELETED", thing("b", 12)));
  EXPECT_EQ(namesBy("1"), "");
  EXPECT_EQ(things.valuesOf("size"), (Values{"2"}));
  things.addIndex("all", [](const Thing&) { return Values{"x", "y"}; });
  EXPECT_EQ(things.by("all", "y").size(), 2u);
}

TEST_F(InformerTest, aLateHandlerBeginsWithTheContent) {
  reply(list(10, {thing("a", 3, "1"), thing("b", 4, "2")}));
  std::string late;
  things.onChange([&](const Change<Thing>& c) {
    late += fmt::format("{}:{} ", splitKey(c.key).name, c.before == nullptr);
  });
  EXPECT_EQ(late, "a:true b:true ");
  send(event("MODIFIED", thing("b", 11, "3")));
  EXPECT_EQ(late, "a:true b:true b:false ");
}

TEST_F(InformerTest, aHandlerAddedInsideAHandlerHearsThatChangeOnce) {
  int heardLate = 0;
  bool added = false;
  things.onChange([&](const Change<Thing>&) {
    if (std::exchange(added, true)) return;
    things.onChange([&](const Change<Thing>&) { ++heardLate; });
  });
  reply(list(10, {thing("a", 3), thing("b", 4)}));
  EXPECT_EQ(heardLate, 2);
}

TEST_F(InformerTest, anObjectThatDoesNotDecodeIsKeptAsTextAndStopsNothing) {
  LogCapture logs;
  reply(list(10, {thing("a", 3, "1"), thing("bad", 4, "\"x\""), thing("c", 5, "2")}));
  EXPECT_EQ(take(), "a:->1 c:->2 ");
  EXPECT_EQ(things.find("d/bad"), nullptr);
  EXPECT_EQ(*things.raw("d/bad"), thing("bad", 4, "\"x\""));
  EXPECT_EQ(things.stats().unreadable, 1u);
  send(event("MODIFIED", thing("bad", 11, "\"y\"")));
  EXPECT_EQ(things.stats().undecodable, 2u);
  size_t complaints = 0;
  for (const auto& line : logs.lines())
    complaints += line.message.find("d/bad") != std::string::npos;
  EXPECT_EQ(complaints, 1u) << "once per key";
  send(event("MODIFIED", thing("bad", 12, "5")));
  EXPECT_EQ(take(), "bad:->5 ") << "healed";
  send(event("MODIFIED", thing("bad", 13, "null0")));
  send(event("MODIFIED", thing("a", 14, "8")));
}

TEST_F(InformerTest, anObjectThatStopsDecodingIsGoneForHandlers) {
  reply(list(10, {thing("a", 3, "1")}));
  take();
  send(event("MODIFIED", thing("a", 11, "\"x\"")));
  EXPECT_EQ(take(), "a:1>- ");
  EXPECT_EQ(namesBy("1"), "");
  EXPECT_EQ(*things.raw("d/a"), thing("a", 11, "\"x\""));
}

TEST_F(InformerTest, transformRunsBeforeTheCache) {
  Informer<Thing> small(setup(), [](Thing& t) { t.size *= 100; });
  small.start();
  settle();
  while (api.pending.size() > 1) api.pending.pop_front();
  reply(list(10, {thing("a", 3, "2")}));
  EXPECT_EQ(small.find("d/a")->size, 200);
}

TEST_F(InformerTest, rawTextCanBeLeftOut) {
  InformerSetup bare = setup();
  bare.raw = RawKeep::kNone;
  Informer<Thing> small(bare);
  small.start();
  settle();
  while (api.pending.size() > 1) api.pending.pop_front();
  reply(list(10, {thing("a", 3, "2")}));
  EXPECT_EQ(small.find("d/a")->size, 2);
  EXPECT_FALSE(small.raw("d/a").has_value());
  EXPECT_EQ(small.stats().rawBytes, 0u);
}

TEST_F(InformerTest, messagesThatArriveAfterItIsGoneAreHarmless) {
  auto gone = std::make_unique<Informer<Thing>>(setup());
  gone->start();
  settle();
  while (api.pending.size() > 1) api.pending.pop_front();
  api.reply(200, list(10, {thing("a", 3)}));
  gone.reset();
  settle();
}

TEST_F(InformerTest, manyDeletionsAreForgottenAndThenAListDecides) {
  reply(list(10, {}));
  for (int i = 0; i < 17000; ++i)
    api.watches.back()->send(event("DELETED", thing("gone" + std::to_string(i), 100 + i)));
  settle();
  send(event("ADDED", thing("gone5", 101)));
  EXPECT_EQ(things.size(), 0u);
  ASSERT_EQ(api.pending.size(), 1u) << "cannot know, so it asks";
  reply(list(20000, {thing("gone5", 101)}));
  EXPECT_EQ(things.size(), 1u);
}

}  // namespace
}  // namespace mangrove::client
