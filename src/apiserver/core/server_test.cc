// The request path from end to end, on a store in memory: what clients send, what they get, what
// watchers see.
#include "apiserver/core/server.h"

#include <deque>

#include <gtest/gtest.h>

#include "apiserver/core/object.h"
#include "apiserver/core/test_server.h"

namespace mangrove::apiserver {
namespace {

struct Heard {
  std::optional<Answer> answer;
  std::string events;
  bool open = false;
};

class EarStream final : public AnswerStream {
 public:
  explicit EarStream(std::shared_ptr<Heard> heard) : heard_(std::move(heard)) {
    heard_->open = true;
  }
  ~EarStream() override { heard_->open = false; }
  bool write(std::string bytes) override {
    heard_->events += bytes;
    return true;
  }
  Bytes queued() const override { return Bytes{0}; }
  void onClosed(Fn) override {}
  void onDrained(Fn) override {}

 private:
  std::shared_ptr<Heard> heard_;
};

class Ear final : public Responder {
 public:
  explicit Ear(std::shared_ptr<Heard> heard) : heard_(std::move(heard)) {}
  void answer(Answer a) override { heard_->answer = std::move(a); }
  std::unique_ptr<AnswerStream> stream(Answer) override {
    return std::make_unique<EarStream>(heard_);
  }

 private:
  std::shared_ptr<Heard> heard_;
};

class ServerTest : public testing::ServerFixture {
 protected:
  std::shared_ptr<Heard> send(const std::string& method, const std::string& target,
                              std::string body = "", std::string type = "application/json",
                              std::string user = "tester") {
    auto heard = submit(method, target, std::move(body), std::move(type), std::move(user));
    settle();
    return heard;
  }
  std::shared_ptr<Heard> submit(const std::string& method, const std::string& target,
                                std::string body = "", std::string type = "application/json",
                                std::string user = "tester") {
    auto heard = std::make_shared<Heard>();
    hand(std::make_shared<Ear>(heard), method, target, std::move(body), std::move(type),
         std::move(user));
    return heard;
  }
  void createMap(const std::string& name, const std::string& extra = "") {
    auto body = R"({"metadata":{"name":")" + name + R"(","labels":{"app":")" + name + R"("}})" +
                extra + "}";
    EXPECT_EQ(ask("POST", kMaps, body).status, 201);
  }

  static constexpr const char* kMaps = "/api/v1/namespaces/d/configmaps";
  static constexpr const char* kPods = "/api/v1/namespaces/d/pods";
};

TEST_F(ServerTest, CreatesWithTheFieldsOnlyTheServerWrites) {
  auto made = ask("POST", kMaps, R"({"metadata":{"name":"a","uid":"mine"},"data":{"k":"v"}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(at(made, "/apiVersion"), "v1");
  EXPECT_EQ(at(made, "/kind"), "ConfigMap");
  EXPECT_EQ(at(made, "/metadata/namespace"), "d");
  EXPECT_EQ(at(made, "/metadata/creationTimestamp"), "2027-01-15T08:00:00Z");
  EXPECT_EQ(at(made, "/metadata/uid").size(), 36u);
  EXPECT_NE(at(made, "/metadata/resourceVersion"), "none");
  EXPECT_EQ(ask("GET", std::string(kMaps) + "/a").body, made.body);
  EXPECT_EQ(ask("POST", kMaps, R"({"metadata":{"name":"a"}})").status, 409);
}

// Both are durable before the first of them is answered.
TEST_F(ServerTest, AnswersAWriteWhoseObjectIsGoneInTheSameBatch) {
  createMap("a");
  const std::string a = std::string(kMaps) + "/a";
  auto changed = submit("PATCH", a, R"({"data":{"k":"v"}})", "application/merge-patch+json");
  auto removed = submit("DELETE", a);
  settle();
  ASSERT_TRUE(changed->answer && removed->answer);
  EXPECT_EQ(changed->answer->status, 200);
  EXPECT_EQ(at(*changed->answer, "/data/k"), "v");
  EXPECT_EQ(removed->answer->status, 200);
  EXPECT_EQ(ask("GET", a).status, 404);
}

TEST_F(ServerTest, RefusesWithTheStatusKubernetesGives) {
  struct Row {
    const char *method, *target, *body;
    int status;
    const char* reason;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"GET", "/api/v1/namespaces/d/configmaps/none", "", 404, "NotFound"},
           {"GET", "/apis/nothing/v1/things", "", 404, "NotFound"},
           {"POST", kMaps, "{", 400, "BadRequest"},
           {"POST", kMaps, "", 400, "BadRequest"},
           {"POST", kMaps, R"({"metadata":{}})", 422, "Invalid"},
           {"POST", kMaps, R"({"metadata":{"name":"Bad_Name"}})", 422, "Invalid"},
           {"POST", kMaps, R"({"kind":"Pod","metadata":{"name":"a"}})", 400, "BadRequest"},
           {"POST", kMaps, R"({"metadata":{"name":"a","namespace":"other"}})", 400, "BadRequest"},
           {"POST", kMaps, R"({"metadata":{"name":"a","resourceVersion":"1"}})", 400, "BadRequest"},
           {"POST", "/api/v1/namespaces/d/configmaps?fieldValidation=Strict",
            R"({"metadata":{"name":"a"},"dta":{}})", 400, "BadRequest"},
           {"POST", "/api/v1/configmaps", R"({"metadata":{"name":"a"}})", 405, "MethodNotAllowed"},
           {"GET", "/api/v1/configmaps?labelSelector=a%3D%3D%3D", "", 400, "BadRequest"},
           {"GET", "/api/v1/configmaps?fieldSelector=data.x%3Dy", "", 400, "BadRequest"},
           {"GET", "/api/v1/configmaps?limit=x", "", 400, "BadRequest"},
           {"GET", "/api/v1/configmaps?resourceVersionMatch=Exact", "", 422, "Invalid"},
           {"GET", "/api/v1/configmaps?resourceVersion=999999", "", 504, "Timeout"},
           {"PUT", "/api/v1/namespaces/default/configmaps", "{}", 405, "MethodNotAllowed"},
           {"POST", "/api/v1/namespaces/default/configmaps/a", "{}", 405, "MethodNotAllowed"},
           {"GET", "/api/v1/configmaps?resourceVersion=999999", "", 504, "Timeout"},
       }) {
    auto answer = ask(row.method, row.target, row.body);
    EXPECT_EQ(answer.status, row.status)
        << row.method << " " << row.target << " " << row.body << "\n"
        << answer.body;
    EXPECT_EQ(at(answer, "/reason"), row.reason) << answer.body;
  }
  EXPECT_EQ(send("GET", kMaps, "", "", "nobody")->answer->status, 403);
}

TEST_F(ServerTest, CreatingByAnotherVerbTakesTheRightToCreate) {
  const std::string one = "/api/v1/namespaces/default/configmaps/a?fieldManager=m";
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})";
  authorizer_.refused = "create";
  auto no = ask("PATCH", one, body, "application/apply-patch+yaml");
  EXPECT_EQ(no.status, 403) << no.body;
  EXPECT_NE(no.body.find("cannot create resource"), std::string::npos) << no.body;
  EXPECT_EQ(ask("PUT", "/api/v1/namespaces/default/services/s",
                R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}})")
                .status,
            403);
  authorizer_.refused = "";
  EXPECT_EQ(ask("PATCH", one, body, "application/apply-patch+yaml").status, 201);
  authorizer_.refused = "create";
  EXPECT_EQ(ask("PATCH", one, body, "application/apply-patch+yaml").status, 200);
}

TEST_F(ServerTest, WhatAPatchMakesUnreadableIsInvalid) {
  ask("POST", "/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"a"}})");
  auto bad = ask("PATCH", "/api/v1/namespaces/default/configmaps/a", R"({"data":{"k":1}})",
                 "application/merge-patch+json");
  EXPECT_EQ(bad.status, 422) << bad.body;
  EXPECT_EQ(at(bad, "/details/causes/0/field"), "patch");
}

TEST_F(ServerTest, WarnsOfUnknownFieldsUnlessToldOtherwise) {
  auto made = ask("POST", kMaps, R"({"metadata":{"name":"a"},"dta":{}})");
  EXPECT_EQ(made.status, 201);
  ASSERT_EQ(made.warnings.size(), 1u);
  EXPECT_EQ(made.warnings[0], "unknown field \"dta\"");
  EXPECT_EQ(at(made, "/dta"), "none");
}

TEST_F(ServerTest, ListsBySelectorAndInPages) {
  for (auto name : {"a", "b", "c"}) createMap(name);
  EXPECT_EQ(at(ask("GET", std::string(kMaps) + "?labelSelector=app%3Db"), "/items/0/metadata/name"),
            "b");
  EXPECT_EQ(at(ask("GET", std::string(kMaps) + "?fieldSelector=metadata.name%21%3Da"),
               "/items/0/metadata/name"),
            "b");
  auto page = ask("GET", std::string(kMaps) + "?limit=2");
  EXPECT_EQ(at(page, "/items/2"), "none");
  EXPECT_EQ(at(page, "/metadata/remainingItemCount"), "1");
  createMap("bb");  // not in the state the pages belong to
  auto rest =
      ask("GET", std::string(kMaps) + "?limit=2&continue=" + at(page, "/metadata/continue"));
  EXPECT_EQ(at(rest, "/items/0/metadata/name"), "c");
  EXPECT_EQ(at(rest, "/items/1"), "none");
}

TEST_F(ServerTest, UpdatesOnlyTheVersionTheClientSaw) {
  createMap("a");
  const std::string target = std::string(kMaps) + "/a";
  auto seen = ask("GET", target).body;
  auto changed = json::parse(seen);
  changed->get_object()["data"] = json::Object{{"k", "1"}};
  EXPECT_EQ(ask("PUT", target, json::write(*changed)).status, 200);
  EXPECT_EQ(ask("PUT", target, json::write(*changed)).status, 409);
  auto same = ask("GET", target);
  EXPECT_EQ(ask("PUT", target, same.body).body, same.body) << "nothing changed, so no new version";
}

TEST_F(ServerTest, PatchesInFourWays) {
  createMap("a");
  const std::string target = std::string(kMaps) + "/a";
  EXPECT_EQ(
      at(ask("PATCH", target, R"({"data":{"m":"1"}})", "application/merge-patch+json"), "/data/m"),
      "1");
  EXPECT_EQ(
      at(ask("PATCH", target, R"({"data":{"s":"2"}})", "application/strategic-merge-patch+json"),
         "/data/s"),
      "2");
  EXPECT_EQ(at(ask("PATCH", target, R"([{"op":"add","path":"/data/j","value":"3"}])",
                   "application/json-patch+json"),
               "/data/j"),
            "3");
  auto applied =
      ask("PATCH", target + "?fieldManager=me", "apiVersion: v1\nkind: ConfigMap\ndata: {w: '4'}\n",
          "application/apply-patch+yaml");
  EXPECT_EQ(at(applied, "/data/w"), "4") << applied.body;
  EXPECT_EQ(at(applied, "/data/m"), "1");
  EXPECT_EQ(ask("PATCH", target, "{}", "text/plain").status, 415);
  EXPECT_EQ(ask("PATCH", target, R"([{"op":"test","path":"/data/j","value":"9"}])",
                "application/json-patch+json")
                .status,
            422);
}

TEST_F(ServerTest, ApplyKnowsWhoOwnsWhat) {
  const std::string target = std::string(kMaps) + "/a";
  auto apply = [&](const std::string& manager, const std::string& data) {
    return ask("PATCH", target + "?fieldManager=" + manager,
               "apiVersion: v1\nkind: ConfigMap\ndata: " + data + "\n",
               "application/apply-patch+yaml");
  };
  EXPECT_EQ(apply("one", "{a: '1', b: '1'}").status, 201);
  auto conflict = apply("two", "{a: '2'}");
  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(at(conflict, "/details/causes/0/field"), ".data.a");
  EXPECT_EQ(apply("two&force=true", "{a: '2'}").status, 200);
  auto less = apply("one", "{b: '1'}");  // gives up what it no longer owns anyway
  EXPECT_EQ(at(less, "/data/a"), "2");
  EXPECT_EQ(at(apply("one", "{c: '1'}"), "/data/b"), "none") << "nobody wants b any more";
}

TEST_F(ServerTest, DryRunChangesNothing) {
  EXPECT_EQ(ask("POST", std::string(kMaps) + "?dryRun=All", R"({"metadata":{"name":"a"}})").status,
            201);
  EXPECT_EQ(ask("GET", std::string(kMaps) + "/a").status, 404);
}

TEST_F(ServerTest, GeneratesNames) {
  auto made = ask("POST", kMaps, R"({"metadata":{"generateName":"job-"}})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(at(made, "/metadata/name").size(), 9u);
}

constexpr const char* kPod =
    R"({"metadata":{"name":"p"},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i:1","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}})";

TEST_F(ServerTest, PodsGetDefaultsAndAClass) {
  auto pod = ask("POST", kPods, kPod);
  ASSERT_EQ(pod.status, 201) << pod.body;
  EXPECT_EQ(at(pod, "/status/phase"), "Pending");
  EXPECT_EQ(at(pod, "/status/qosClass"), "Guaranteed");
  EXPECT_EQ(at(pod, "/spec/restartPolicy"), "Always");
  EXPECT_EQ(at(pod, "/spec/containers/0/resources/requests/cpu"), "1");
}

TEST_F(ServerTest, StatusIsWrittenThroughItsOwnPathOnly) {
  ask("POST", kPods, kPod);
  auto main = ask("PATCH", std::string(kPods) + "/p", R"({"status":{"phase":"Running"}})",
                  "application/merge-patch+json");
  EXPECT_EQ(at(main, "/status/phase"), "Pending");
  auto status = ask("PATCH", std::string(kPods) + "/p/status",
                    R"({"status":{"phase":"Running"},"spec":{"nodeName":"n2"}})",
                    "application/merge-patch+json");
  EXPECT_EQ(at(status, "/status/phase"), "Running") << status.body;
  EXPECT_EQ(at(status, "/spec/nodeName"), "n1");
}

TEST_F(ServerTest, APodWaitsForItsNode) {
  ask("POST", kPods, kPod);
  const std::string target = std::string(kPods) + "/p";
  auto asked = ask("DELETE", target);
  EXPECT_EQ(at(asked, "/metadata/deletionGracePeriodSeconds"), "30");
  EXPECT_EQ(ask("GET", target).status, 200);
  EXPECT_EQ(ask("DELETE", target + "?gracePeriodSeconds=0").status, 200);
  EXPECT_EQ(ask("GET", target).status, 404);
}

TEST_F(ServerTest, FinalizersHoldAnObject) {
  ask("POST", kMaps, R"({"metadata":{"name":"a","finalizers":["x.io/y"]}})");
  const std::string target = std::string(kMaps) + "/a";
  EXPECT_NE(at(ask("DELETE", target), "/metadata/deletionTimestamp"), "none");
  EXPECT_EQ(ask("GET", target).status, 200);
  ask("PATCH", target, R"({"metadata":{"finalizers":null}})", "application/merge-patch+json");
  EXPECT_EQ(ask("GET", target).status, 404);
}

TEST_F(ServerTest, DeletesWhatTheSelectorNames) {
  for (auto name : {"a", "b"}) createMap(name);
  EXPECT_EQ(ask("DELETE", std::string(kMaps) + "?labelSelector=app%3Da").status, 200);
  EXPECT_EQ(ask("GET", std::string(kMaps) + "/a").status, 404);
  EXPECT_EQ(ask("GET", std::string(kMaps) + "/b").status, 200);
  EXPECT_EQ(ask("DELETE", std::string(kMaps) + "/b", R"({"preconditions":{"uid":"other"}})").status,
            409);
}

TEST_F(ServerTest, WatchersSeeWhatConcernsThem) {
  createMap("a");
  auto watch = send("GET", std::string(kMaps) + "?watch=true&labelSelector=app%3Da");
  EXPECT_NE(watch->events.find("\"ADDED\""), std::string::npos);
  watch->events.clear();
  createMap("b");
  EXPECT_EQ(watch->events, "");
  const std::string target = std::string(kMaps) + "/a";
  ask("PATCH", target, R"({"data":{"k":"1"}})", "application/merge-patch+json");
  EXPECT_NE(watch->events.find("\"MODIFIED\""), std::string::npos);
  watch->events.clear();
  ask("PATCH", target, R"({"metadata":{"labels":{"app":"z"}}})", "application/merge-patch+json");
  EXPECT_NE(watch->events.find("\"DELETED\""), std::string::npos) << "it no longer matches";
}

TEST_F(ServerTest, WatchesEndInTimeAndBookmarkMeanwhile) {
  auto watch =
      send("GET", std::string(kMaps) + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=60");
  EXPECT_TRUE(watch->open);
  clock_.advance(std::chrono::seconds(31));
  settle();
  EXPECT_NE(watch->events.find("\"BOOKMARK\""), std::string::npos);
  clock_.advance(std::chrono::seconds(30));
  settle();
  EXPECT_FALSE(watch->open);
}

TEST_F(ServerTest, InitialEventsEndWithAMark) {
  createMap("a");
  auto watch = send("GET", std::string(kMaps) +
                               "?watch=true&sendInitialEvents=true&resourceVersionMatch="
                               "NotOlderThan&allowWatchBookmarks=true");
  EXPECT_NE(watch->events.find("k8s.io/initial-events-end"), std::string::npos) << watch->events;
}

}  // namespace
}  // namespace mangrove::apiserver
