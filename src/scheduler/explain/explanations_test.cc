// ScheduleExplanation: what is answered, and when it is written.
#include "scheduler/explain/explanations.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/os/log.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "client/testing/fake_api.h"
#include "client/testing/scripted_client.h"
#include "placement/testing/lab.h"
#include "scheduler/scheduler.h"

namespace mangrove::scheduler {
namespace {

using namespace std::chrono_literals;

std::string node(std::string_view name, std::string_view zone, std::string_view spec = "{}") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{{"topology.kubernetes.io/zone":"{}"}}}},"spec":{},
          "status":{{"allocatable":{{"cpu":"2","memory":"8Gi","pods":"10"}}}}}})",
      name, zone, spec);
}

std::string pod(std::string_view name, std::string_view cpu, std::string_view spec = "",
                std::string_view meta = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"{}}},"spec":{{"containers":[{{"name":"c","resources":{{
          "requests":{{"cpu":"{}"}}}}}}]{}}}}})",
      name, meta, cpu, spec);
}

TEST(Explanation, knows_under_which_key_a_pod_is_asked_about) {
  struct Row {
    const char *labels, *annotations, *key;
  };
  const Row rows[] = {
      {"", "", "d/p"},
      {R"("scheduling.koordinator.sh/questioned-object-key":"job-7")", "", "job-7"},
      {R"("pod-group.scheduling.sigs.k8s.io":"train-master")", "", "d/train"},
      {R"("pod-group.scheduling.sigs.k8s.io":"train-worker")", "", "d/train"},
      {"", R"("gang.scheduling.koordinator.sh/name":"g")", "d/g"},
      {R"("pod-group.scheduling.sigs.k8s.io":"train-worker")",
       R"("gang.scheduling.koordinator.sh/groups":"[\"d/a\",\"d/b\"]")", R"(["d/a","d/b"])"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(
        questionedKeyOf(*api::decodeText<api::Pod>(fmt::format(
            R"({{"metadata":{{"name":"p","namespace":"d","labels":{{{}}},"annotations":{{{}}}}}}})",
            row.labels, row.annotations))),
        row.key);
}

struct Board {
  Lab lab;
  Board() {
    lab.node(node("a1", "a"));
    lab.node(node("b1", "b"));
    lab.node(node("b2", "b", R"({"unschedulable":true})"));
    lab.pod(pod("old", "2", R"(,"priority":1,"nodeName":"a1")"));
    lab.pod(pod("vip", "1", R"(,"priority":20,"nodeName":"b1")"));
    lab.pod(pod("big", "2", R"(,"priority":10)"));
  }
  std::string answer(Question question) {
    return json::write(api::toJson(answerTo(question, lab.engine())));
  }
};

TEST(Explanation, tells_who_refuses_and_whom_it_could_displace) {
  Board board;
  EXPECT_EQ(
      board.answer({{board.lab.find("big")}, {}, ""}),
      R"({"schedulableAfterPreemption":true,"failedMessage":"0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.",)"
      R"("detailedExplanation":[{"schedulableAfterPreemption":true,"failedMessage":"0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.",)"
      R"("scheduleExplanation":{"failedMessage":"0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.","nodeFailedDetails":[)"
      R"({"failedPlugin":"NodeResourcesFit","reason":"Insufficient cpu","preemptMightHelp":true,"failedNodes":["a1","b1"]},)"
      R"({"failedPlugin":"NodeUnschedulable","reason":"node(s) were unschedulable","failedNodes":["b2"]}]},)"
      R"("nodePossibleVictims":[{"nodeName":"a1","possibleVictims":[{"namespace":"default","name":"old","uid":"00000000-0000-4000-8000-000000000001"}]}],)"
      R"("preemptExplanation":{"schedulable":true,"feasibleSchedulingResult":[{"namespace":"default","name":"big","uid":"00000000-0000-4000-8000-000000000003","nodeName":"a1"}]}}]})");
  EXPECT_EQ(board.lab.find("old")->nodeName.view(), "a1") << "nothing happens";
}

TEST(Explanation, goes_through_the_domains_of_a_topology) {
  Board board;
  const auto status = answerTo({{board.lab.find("big")}, {}, "zone"}, board.lab.engine());
  ASSERT_EQ(status.detailedExplanation.size(), 2u);
  const auto& a = status.detailedExplanation[0];
  const auto& b = status.detailedExplanation[1];
  EXPECT_EQ(a.topologyDomain, "a");
  EXPECT_EQ(a.failedMessage, "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_TRUE(a.schedulableAfterPreemption);
  EXPECT_EQ(b.topologyDomain, "b");
  EXPECT_EQ(b.failedMessage,
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.");
  EXPECT_FALSE(b.schedulableAfterPreemption);
  EXPECT_TRUE(b.nodePossibleVictims.empty());
}

TEST(Explanation, tells_where_pods_are_or_could_be) {
  Board board;
  board.lab.pod(pod("small", "500m"));
  const auto placed = board.lab.cluster().find(board.lab.find("vip")->meta.uid);
  const auto status = answerTo({{board.lab.find("small")}, {placed}, "zone"}, board.lab.engine());
  EXPECT_TRUE(status.schedulable);
  EXPECT_EQ(status.failedMessage, "");
  ASSERT_EQ(status.detailedExplanation.size(), 2u);
  EXPECT_FALSE(status.detailedExplanation[0].schedulable);
  const auto& b = status.detailedExplanation[1];
  EXPECT_TRUE(b.schedulable);
  ASSERT_EQ(b.scheduleExplanation.feasibleSchedulingResult.size(), 2u);
  EXPECT_EQ(b.scheduleExplanation.feasibleSchedulingResult[0].name, "vip");
  EXPECT_EQ(b.scheduleExplanation.feasibleSchedulingResult[1].name, "small");
  EXPECT_EQ(b.scheduleExplanation.feasibleSchedulingResult[1].nodeName, "b1");
}

TEST(Explanation, says_that_a_pod_is_not_even_tried) {
  Board board;
  board.lab.pod(pod("gated", "1", R"(,"schedulingGates":[{"name":"hold"}])"));
  EXPECT_EQ(
      board.answer({{board.lab.find("gated")}, {}, ""}),
      R"({"failedMessage":"waiting for scheduling gates: [hold]","detailedExplanation":[{)"
      R"("failedMessage":"waiting for scheduling gates: [hold]","scheduleExplanation":{)"
      R"("failedMessage":"waiting for scheduling gates: [hold]"},"preemptExplanation":{}}]})");
}

TEST(Explanation, says_that_it_knows_no_such_pod) {
  Board board;
  EXPECT_EQ(board.answer({}), R"({"failedMessage":"no pod of this scheduler has that key"})");
}

// With a server that the test plays.
class Asking : public ::testing::Test {
 protected:
  void begin(std::string_view spec, std::string_view created = "2026-03-01T12:00:00Z") {
    explanations.start();
    settle();
    api.reply(200, fmt::format(R"({{"metadata":{{"resourceVersion":"5"}},"items":[{}]}})",
                               object(spec, created)));
    settle();
  }
  static std::string object(std::string_view spec, std::string_view created) {
    return fmt::format(
        R"({{"metadata":{{"name":"why","namespace":"d","uid":"u-1","resourceVersion":"4",
            "creationTimestamp":"{}"}},"spec":{}}})",
        created, spec);
  }
  void settle() {
    while (box.drain() > 0) {
    }
  }
  // Writes that come out of so many seconds of ticks; each is accepted.
  std::vector<client::Request> writesIn(int seconds) {
    std::vector<client::Request> out;
    for (int i = 0; i < seconds; i++) {
      explanations.tick();
      for (; !api.pending.empty(); settle()) {
        if (api.next().verb != client::Verb::kList) out.push_back(api.next());
        api.reply(200, "{}");
      }
      lab.clock().advance(1s);
    }
    return out;
  }

  Lab lab;
  client::testing::ScriptedClient api;
  Mailbox box;
  Explanations explanations{{api, box, box, lab.clock()}, lab.engine()};
};

TEST_F(Asking, writes_each_answer_once_and_shows_that_it_is_still_looking) {
  lab.node(node("n1", "a"));
  lab.pod(pod("p", "4"));
  begin(R"({"questionObjectKey":"default/p"})");
  const auto first = writesIn(1);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(client::describe(first[0]), "patch scheduleexplanations d/why/status");
  EXPECT_TRUE(first[0].body.starts_with(R"({"metadata":{"uid":"u-1"},"status":{)"))
      << first[0].body;
  EXPECT_NE(first[0].body.find("0/1 nodes are available: 1 Insufficient cpu."), std::string::npos);
  EXPECT_NE(first[0].body.find(R"("schedulable":null)"), std::string::npos);
  EXPECT_EQ(writesIn(55).size(), 0u);
  const auto again = writesIn(10);  // a minute after the first
  ASSERT_EQ(again.size(), 1u);
  EXPECT_NE(again[0].body.find(R"("lastUpdateTime":"2026-03-01T12:01:00Z")"), std::string::npos)
      << again[0].body;
  lab.node(R"({"metadata":{"name":"n2"},"status":{"allocatable":{"cpu":"8","memory":"8Gi"}}})");
  lab.run();
  lab.wait(2s);
  ASSERT_EQ(lab.nodeOf("p"), "n2");
  const auto placed = writesIn(11);
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_NE(placed[0].body.find(R"("schedulable":true)"), std::string::npos);
  EXPECT_NE(placed[0].body.find(R"("failedMessage":null)"), std::string::npos);
  EXPECT_EQ(writesIn(100).size(), 0u) << "nothing waits any more";
}

TEST_F(Asking, tries_again_when_the_server_refused) {
  lab.node(node("n1", "a"));
  lab.pod(pod("p", "4"));
  begin(R"({"questionObjectKey":"default/p"})");
  LogCapture quiet;
  explanations.tick();
  ASSERT_EQ(api.pending.size(), 1u);
  explanations.tick();
  EXPECT_EQ(api.pending.size(), 1u) << "one at a time";
  api.reply(403, R"({"kind":"Status","status":"Failure","reason":"Forbidden","code":403})");
  settle();
  EXPECT_EQ(writesIn(9).size(), 0u);
  EXPECT_EQ(writesIn(3).size(), 1u);
}

TEST_F(Asking, says_what_a_question_must_look_like) {
  begin(R"({"questionObjectTemplate":{"spec":{}}})");
  const auto writes = writesIn(1);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_NE(writes[0].body.find("spec.questionObjectKey is empty; want namespace/name"),
            std::string::npos);
}

TEST_F(Asking, deletes_questions_that_are_over) {
  begin(R"({"questionObjectKey":"default/p","ttl":"1h"})", "2026-03-01T11:00:05Z");
  EXPECT_EQ(writesIn(5).size(), 1u);
  const auto later = writesIn(10);
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(client::describe(later[0]), "delete scheduleexplanations d/why");
  EXPECT_NE(later[0].body.find("u-1"), std::string::npos);
}

TEST_F(Asking, keeps_questions_without_an_end) {
  begin(R"({"questionObjectKey":"default/p","ttl":"0s"})", "2025-03-01T12:00:00Z");
  const auto writes = writesIn(15);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(writes[0].verb, client::Verb::kPatch);
}

// The whole scheduler against a server: only the one that leads answers.
TEST(Explanations, are_answered_by_the_leader) {
  net::Loop loop;
  client::testing::FakeApi api(loop, {.seed = 1});
  api.put(api::kind::kNode, "", "n1", R"({"status":{"allocatable":{"cpu":"2","pods":"10"}}})");
  api.put(api::kind::kPod, "d", "p", R"({"metadata":{"uid":"u-p"},"spec":{
      "schedulerName":"koord-scheduler","containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}})");
  api.put(api::kind::kScheduleExplanation, "d", "why",
          R"({"metadata":{"uid":"u-e"},"spec":{"questionObjectKey":"d/p"}})");
  auto client = std::move(
      *client::HttpApiClient::make(loop, realClock(), api.config(), {.perSecond = 0, .seed = 3}));
  auto worker = std::make_unique<client::Worker>();
  Mailbox owner;
  Registry metrics;
  auto scheduler = std::move(*Scheduler::make({*client, realClock(), owner, worker->mailbox(),
                                               metrics, defaultConfig({"koord-scheduler"})}));
  const auto runFor = [&](Duration longest, const auto& done) {
    const MonoTime limit = realClock().mono() + longest;
    while (!done() && realClock().mono() < limit) {
      owner.runOne(50ms);
      owner.drain();
    }
    return done();
  };
  const auto isAnswered = [&] {
    return api.truth(api::kind::kScheduleExplanation).at("d/why").find("Insufficient cpu") !=
           std::string::npos;
  };
  scheduler->start();
  EXPECT_FALSE(runFor(3s, isAnswered)) << "another one leads";
  scheduler->setActive(true);
  EXPECT_TRUE(runFor(60s, isAnswered));
  scheduler.reset();
  worker.reset();
  client.reset();
}

}  // namespace
}  // namespace mangrove::scheduler
