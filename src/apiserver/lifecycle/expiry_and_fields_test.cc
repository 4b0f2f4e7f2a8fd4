#include "apiserver/core/event_life.h"
#include "apiserver/lifecycle/test_support.h"

namespace mangrove::apiserver {
namespace {

constexpr const char* kEvents = "/api/v1/namespaces/default/events";

class EventExpiryTest : public LifecycleTest {
 protected:
  void createEvent(const std::string& name, const std::string& type = "Normal") {
    auto made = ask("POST", kEvents,
                    R"({"metadata":{"name":")" + name +
                        R"("},"involvedObject":{"kind":"Pod","name":"p","namespace":"default"},)" +
                        R"("reason":"r","message":"m","source":{"component":"me"},"type":")" +
                        type + "\"}");
    EXPECT_EQ(made.status, 201) << made.body;
  }
};

TEST_F(EventExpiryTest, EventsAreForgottenAfterAnHour) {
  createEvent("a");
  pass(std::chrono::minutes(30));
  createEvent("b");
  createMap("map");
  pass(std::chrono::minutes(31));
  EXPECT_EQ(statusOf(std::string(kEvents) + "/a"), 404);
  EXPECT_EQ(statusOf(std::string(kEvents) + "/b"), 200);
  pass(std::chrono::minutes(31));
  EXPECT_EQ(statusOf(std::string(kEvents) + "/b"), 404);
  EXPECT_EQ(statusOf(map("map")), 200);
}

TEST_F(EventExpiryTest, OneThatIsWrittenAgainLivesLonger) {
  createEvent("a");
  pass(std::chrono::minutes(40));
  ask("PATCH", std::string(kEvents) + "/a", R"({"count":2})", "application/merge-patch+json");
  pass(std::chrono::minutes(40));
  EXPECT_EQ(statusOf(std::string(kEvents) + "/a"), 200);
  pass(std::chrono::minutes(21));
  EXPECT_EQ(statusOf(std::string(kEvents) + "/a"), 404);
}

TEST_F(EventExpiryTest, ManyAreRemovedInTurns) {
  for (int i = 0; i < 600; ++i) createEvent("e" + std::to_string(i));
  for (int i = 0; i < 62; ++i) pass(std::chrono::minutes(1));
  EXPECT_EQ(store_->count(Resources::storedName("", "events")), 0u);
}

// The thousandth waits for the first to go; those after it live shorter and must not.
TEST_F(EventExpiryTest, ACrowdIsThinnedBeforeItsFirstIsOld) {
  for (int i = 0; i < 2000; ++i) createEvent("e" + std::to_string(i));
  for (int i = 0; i < 17; ++i) pass(std::chrono::minutes(1));
  EXPECT_EQ(statusOf(std::string(kEvents) + "/e0"), 200);
  EXPECT_EQ(statusOf(std::string(kEvents) + "/e1999"), 404);  // its 15 minutes are over
}

TEST_F(EventExpiryTest, NeverMoreThanTheMost) {
  for (size_t i = 0; i < kMostEvents + 500; ++i) {
    createEvent("e" + std::to_string(i));
    if (i % 100 == 0) pass(std::chrono::seconds(1));
  }
  for (int i = 0; i < 3; ++i) pass(std::chrono::seconds(1));
  EXPECT_LE(store_->count(Resources::storedName("", "events")), kMostEvents);
}

using StoredFieldsTest = EventExpiryTest;

TEST_F(StoredFieldsTest, BothGroupsOfEventsSelectBySameFields) {
  createEvent("a", "Normal");
  createEvent("b", "Warning");
  for (const char* target : {"/api/v1/events?fieldSelector=type%3DWarning",
                             "/apis/events.k8s.io/v1/events?fieldSelector=type%3DWarning"}) {
    auto found = ask("GET", target);
    EXPECT_EQ(at(found, "/items/0/metadata/name"), "b") << target << " " << found.body;
    EXPECT_EQ(at(found, "/items/1"), "none");
  }
  auto none = ask("GET", "/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dq");
  EXPECT_EQ(at(none, "/items/0"), "none");
}

TEST_F(StoredFieldsTest, PodsAreFoundByNodeAndPhase) {
  for (std::string name : {"p1", "p2"}) {
    ask("POST", "/api/v1/namespaces/default/pods",
        R"({"metadata":{"name":")" + name + R"("},"spec":{"nodeName":"node-)" + name +
            R"(","containers":[{"name":"c","image":"i:1"}]}})");
  }
  auto found =
      ask("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-p2%2Cstatus.phase%3DPending");
  EXPECT_EQ(at(found, "/items/0/metadata/name"), "p2");
  EXPECT_EQ(at(found, "/items/1"), "none");
  EXPECT_EQ(at(ask("GET", "/api/v1/pods?fieldSelector=spec.hostNetwork%3Dfalse"),
               "/items/1/metadata/name"),
            "p2");
}

}  // namespace
}  // namespace mangrove::apiserver
