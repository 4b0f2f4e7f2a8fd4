#include "apiserver/lifecycle/garbage_collector.h"

#include "apiserver/lifecycle/test_support.h"

namespace mangrove::apiserver {
namespace {

class GarbageCollectorTest : public LifecycleTest {
 protected:
  void remove(const std::string& name, const std::string& policy) {
    auto answer = ask("DELETE", map(name) + "?propagationPolicy=" + policy);
    EXPECT_EQ(answer.status, 200) << answer.body;
  }
};

TEST_F(GarbageCollectorTest, DependentsGoWithTheirOwnerAndTheirsWithThem) {
  auto a = createMap("a");
  auto b = createMap("b", ownedBy(owner("a", a)));
  createMap("c", ownedBy(owner("b", b)));
  createMap("other");
  remove("a", "Background");
  for (auto name : {"a", "b", "c"}) EXPECT_EQ(statusOf(map(name)), 404) << name;
  EXPECT_EQ(statusOf(map("other")), 200);
}

TEST_F(GarbageCollectorTest, WithAnotherOwnerOnlyTheReferenceGoes) {
  auto a = createMap("a"), b = createMap("b");
  createMap("c", ownedBy(owner("a", a) + "," + owner("b", b)));
  remove("a", "Background");
  auto left = ask("GET", map("c"));
  EXPECT_EQ(at(left, "/metadata/ownerReferences/0/uid"), b);
  EXPECT_EQ(at(left, "/metadata/ownerReferences/1"), "none");
  remove("b", "Background");
  EXPECT_EQ(statusOf(map("c")), 404);
}

// Creation and deletion may become durable together: whoever created it still gets what it was.
TEST_F(GarbageCollectorTest, WhatIsGoneInTheSameBatchWasCreatedAllTheSame) {
  const auto made = send("POST", kMaps, R"({"metadata":{"name":"short"}})");
  const auto gone = send("DELETE", map("short"));
  settle();
  ASSERT_TRUE(made->has_value() && gone->has_value());
  EXPECT_EQ((*made)->status, 201) << (*made)->body;
  EXPECT_EQ(at(**made, "/metadata/name"), "short");
  EXPECT_EQ((*gone)->status, 200) << (*gone)->body;
  EXPECT_EQ(statusOf(map("short")), 404);
}

TEST_F(GarbageCollectorTest, AnUpdateIsAnsweredWithWhatItWrote) {
  createMap("a");
  const auto patch = [&](const std::string& text) {
    return send("PATCH", map("a"), R"({"data":{"x":")" + text + R"("}})",
                "application/merge-patch+json");
  };
  const auto first = patch("1"), second = patch("2");
  settle();
  ASSERT_TRUE(first->has_value() && second->has_value());
  EXPECT_EQ(at(**first, "/data/x"), "1");
  EXPECT_EQ(at(**second, "/data/x"), "2");
}

TEST_F(GarbageCollectorTest, OrphansStay) {
  auto a = createMap("a");
  createMap("b", ownedBy(owner("a", a)));
  remove("a", "Orphan");
  EXPECT_EQ(statusOf(map("a")), 404);
  EXPECT_EQ(at(ask("GET", map("b")), "/metadata/ownerReferences"), "none");
}

TEST_F(GarbageCollectorTest, InTheForegroundTheOwnerGoesLast) {
  auto a = createMap("a");
  createMap("held", R"(,"finalizers":["x.io/y"])" + ownedBy(owner("a", a, true)));
  createMap("loose", ownedBy(owner("a", a, true)));
  remove("a", "Foreground");
  EXPECT_EQ(statusOf(map("loose")), 404);
  EXPECT_NE(at(ask("GET", map("held")), "/metadata/deletionTimestamp"), "none");
  EXPECT_EQ(at(ask("GET", map("a")), "/metadata/finalizers/0"), "foregroundDeletion");
  ask("PATCH", map("held"), R"({"metadata":{"finalizers":null}})", "application/merge-patch+json");
  EXPECT_EQ(statusOf(map("held")), 404);
  EXPECT_EQ(statusOf(map("a")), 404);
}

TEST_F(GarbageCollectorTest, WhoDoesNotBlockGoesAfterwards) {
  auto a = createMap("a");
  createMap("held", R"(,"finalizers":["x.io/y"])" + ownedBy(owner("a", a, false)));
  remove("a", "Foreground");
  EXPECT_EQ(statusOf(map("a")), 404);
  EXPECT_NE(at(ask("GET", map("held")), "/metadata/deletionTimestamp"), "none");
}

TEST_F(GarbageCollectorTest, TheForegroundReachesDown) {
  auto a = createMap("a");
  auto b = createMap("b", ownedBy(owner("a", a, true)));
  createMap("c", R"(,"finalizers":["x.io/y"])" + ownedBy(owner("b", b, true)));
  remove("a", "Foreground");
  EXPECT_EQ(at(ask("GET", map("b")), "/metadata/finalizers/0"), "foregroundDeletion");
  ask("PATCH", map("c"), R"({"metadata":{"finalizers":null}})", "application/merge-patch+json");
  for (auto name : {"a", "b", "c"}) EXPECT_EQ(statusOf(map(name)), 404) << name;
}

TEST_F(GarbageCollectorTest, TwoThatOwnEachOtherDoNotWaitForEver) {
  auto a = createMap("a");
  auto b = createMap("b", ownedBy(owner("a", a, true)));
  ask("PATCH", map("a"), R"({"metadata":{"ownerReferences":[)" + owner("b", b, true) + "]}}",
      "application/merge-patch+json");
  remove("a", "Foreground");
  for (auto name : {"a", "b"}) EXPECT_EQ(statusOf(map(name)), 404) << name;
}

TEST_F(GarbageCollectorTest, AnOwnerThatDoesNotExistMeansTheEnd) {
  auto a = createMap("a");
  createMap("b", ownedBy(owner("a", "00000000-0000-4000-8000-000000000000")));
  EXPECT_EQ(statusOf(map("b")), 404) << "the name is right, the uid is not";
  createMap("c", ownedBy(R"({"apiVersion":"x.io/v1","kind":"Unknown","name":"a","uid":"1"})"));
  EXPECT_EQ(statusOf(map("c")), 200) << "a kind nobody serves is not ours to judge";
}

// Who may write in one namespace can name the uid of what lives in another.
TEST_F(GarbageCollectorTest, AStrangerWhoNamesTheUidNeitherHoldsTheOwnerNorIsChanged) {
  ask("POST", "/api/v1/namespaces", R"({"metadata":{"name":"elsewhere"}})");
  const std::string away = "/api/v1/namespaces/elsewhere/configmaps";
  for (const std::string policy : {"Foreground", "Orphan"}) {
    const auto uid = createMap("victim");
    context_->observers.clear();  // the collector would end the stranger at once
    const auto stranger = R"({"metadata":{"name":"stranger","finalizers":["x.io/y"])" +
                          ownedBy(owner("victim", uid, true)) + "}}";
    EXPECT_EQ(ask("POST", away, stranger).status, 201);
    context_->observers = {&*collector_};
    remove("victim", policy);
    EXPECT_EQ(statusOf(map("victim")), 404) << policy;
    EXPECT_EQ(at(ask("GET", away + "/stranger"), "/metadata/ownerReferences/0/uid"), uid);
    ask("DELETE", away + "/stranger");
    ask("PATCH", away + "/stranger", R"({"metadata":{"finalizers":null}})",
        "application/merge-patch+json");
  }
}

TEST_F(GarbageCollectorTest, ARefusedDeletionIsTriedAgain) {
  ask("POST", "/api/v1/namespaces/default/secrets", R"({"metadata":{"name":"s"}})");
  auto uid = at(ask("GET", "/api/v1/namespaces/default/secrets/s"), "/metadata/uid");
  createMap("a", ownedBy(R"({"apiVersion":"v1","kind":"Secret","name":"s","uid":")" + uid + "\"}"));
  closed_ = true;
  ask("DELETE", "/api/v1/namespaces/default/secrets/s");
  EXPECT_EQ(statusOf(map("a")), 200);
  closed_ = false;
  EXPECT_EQ(statusOf(map("a")), 200);
  pass(std::chrono::seconds(1));
  EXPECT_EQ(statusOf(map("a")), 404);
}

TEST_F(GarbageCollectorTest, AStartFinishesWhatAStopInterrupted) {
  auto a = createMap("a");
  createMap("b", ownedBy(owner("a", a)));
  context_->observers.clear();
  remove("a", "Background");
  EXPECT_EQ(statusOf(map("b")), 200);
  stop();
  start();
  EXPECT_EQ(statusOf(map("b")), 404);
}

}  // namespace
}  // namespace mangrove::apiserver
