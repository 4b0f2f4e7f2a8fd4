// Cases 111-123 of docs/scheduler.md, and the queue's rules: who comes first, how long who failed
// waits, what wakes him.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "placement/cycle/cycle.h"
#include "placement/framework/scale.h"
#include "placement/plugins/imagelocality/image_locality.h"
#include "placement/plugins/noderesources/scoring.h"
#include "placement/plugins/podtopologyspread/constraints.h"
#include "placement/preemption/preemption.h"
#include "placement/queue/queue.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

using std::chrono::seconds;

TEST(CoreCases, numbers_of_the_table) {
  const std::pair<size_t, size_t> find[] = {
      {50, 50}, {100, 100}, {1000, 420}, {5000, 500}, {100000, 5000}};
  for (const auto& [nodes, wanted] : find) EXPECT_EQ(nodesToFind(nodes, 0), wanted);  // 111
  const int64_t waits[] = {1, 2, 4, 8, 10, 10};                                       // 112
  for (int32_t n = 1; n <= 6; n++)
    EXPECT_EQ(backoffAfter(n, seconds(1), seconds(10)), seconds(waits[n - 1]));
  EXPECT_EQ(backoffAfter(3, seconds(1), seconds(0)), Duration::zero());
  const double shares[] = {0.5, 0.9};
  EXPECT_EQ(balanced(shares), 80);                   // 113
  EXPECT_EQ(imageScore(int64_t{523} << 20, 1), 51);  // 114
  const int64_t disliked[] = {100, 50, 0}, affine[] = {0, 50, 100};
  for (int64_t i = 0; i < 3; i++) {
    EXPECT_EQ(scaledScore(i, 2, true), disliked[i]);     // 115
    EXPECT_EQ(scaledScore(3 * i, 6, false), affine[i]);  // 116
    EXPECT_EQ(spreadShare(4 * i, 0, 8), disliked[i]);    // 117
  }
  EXPECT_EQ((leastAllocated(28000, 32000) + leastAllocated(20, 40)) / 2, 31);  // 118
  const ShapePoint shape[] = {{0, 0}, {100, 100}};
  EXPECT_EQ(onShape(shape, 37), 37);  // 119
}

int64_t scoreBy(std::string_view plugin, std::string_view args, std::string_view node,
                std::string_view present, std::string_view pod) {
  auto config = SchedulerConfig();
  config.profiles.push_back(kubernetesProfile("default-scheduler"));
  config.profiles[0].points["score"].push_back({std::string(plugin), 1});
  config.profiles[0].args[std::string(plugin)] = *json::parse(args);
  Lab lab(config);
  lab.node(node);
  if (!present.empty()) lab.pod(present);
  const PodPtr info =
      lab.cluster().makeInfo(std::make_shared<api::Pod>(*api::decodeText<api::Pod>(pod)));
  Cycle cycle(*lab.engine().profiles()[0], lab.cluster(), info);
  EXPECT_TRUE(cycle.prepare());
  for (const auto& one : cycle.breakdown({0}))
    if (one.plugin == plugin) return one.scores[0];
  return -1;
}

std::string sized(std::string_view name, std::string_view requests, std::string_view spec = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{{}"containers":[{{"name":"c","resources":{{"requests":{{{}}}}}}}]}}}})",
      name, spec, requests);
}

TEST(CoreCases, small_score_plugins) {
  const std::string plus =
      R"({"resources":{"nvidia.com/gpu":{"type":"MostAllocated","weight":2},"cpu":{"type":"LeastAllocated","weight":1},"memory":{"type":"LeastAllocated","weight":1}}})";
  const std::string node =
      R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"96","memory":"512Gi","nvidia.com/gpu":"8"}}})";
  const std::string ask = R"("cpu":"16","memory":"32Gi","nvidia.com/gpu":"2")";
  const std::string present =
      sized("old", R"("cpu":"16","memory":"32Gi","nvidia.com/gpu":"4")", R"("nodeName":"n",)");
  EXPECT_EQ(scoreBy("NodeResourcesFitPlus", plus, node, present, sized("p", ask)), 75);  // 120
  EXPECT_EQ(scoreBy("NodeResourcesFitPlus", plus, node, "", sized("p", ask)), 56);
  const std::string scarce = R"({"resources":["nvidia.com/gpu"]})";
  const std::string small = R"("cpu":"1","memory":"1Gi")";
  EXPECT_EQ(
      scoreBy(
          "ScarceResourceAvoidance", scarce,
          R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1","memory":"1Gi","nvidia.com/gpu":"1","x.io/xx":"1"}}})",
          "", sized("p", small)),
      50);  // 121
  EXPECT_EQ(
      scoreBy("ScarceResourceAvoidance", scarce,
              R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1","memory":"1Gi"}}})",
              "", sized("p", small)),
      100);
}

TEST(CoreCases, takes_the_first_preferred_node_that_fits) {  // 123
  Lab lab;
  for (auto [name, cpu] : {std::pair("n1", 1), std::pair("n2", 2), std::pair("n3", 64)})
    lab.node(fmt::format(
        R"({{"metadata":{{"name":"{}"}},"status":{{"allocatable":{{"cpu":"{}","memory":"64Gi"}}}}}})",
        name, cpu));
  lab.pod(
      R"({"metadata":{"name":"p","annotations":{"internal.scheduling.koordinator.sh/scheduling-hint":
      "{\"preferredNodeNames\":[\"n1\",\"n2\"]}"}},"spec":{"containers":[{"name":"c","resources":{
      "requests":{"cpu":"1500m"}}}]}})");
  lab.run();
  EXPECT_EQ(lab.nodeOf("p"), "n2");
}

TEST(CoreCases, prefers_victims_of_lower_priority_and_spares_budgets) {  // 122
  const auto victim = [](int32_t priority) {
    auto pod = std::make_shared<PodInfo>();
    auto cls = std::make_shared<PodClass>();
    cls->priority = priority;
    pod->cls = cls;
    pod->pod = std::make_shared<api::Pod>();
    return pod;
  };
  Candidate a{0, {victim(5)}, 0}, b{1, {victim(3), victim(3)}, 0}, c{2, {victim(1)}, 1};
  EXPECT_EQ(leastHarmful({a, b}), 1u);
  EXPECT_EQ(leastHarmful({c, a, b}), 2u);
}

// ---- the queue

struct Waiting {
  VirtualClock clock;
  Cluster cluster;
  std::string gate;
  Hint says = Hint::kQueue;
  Queue queue{
      clock,
      {},
      {.admit = [this](const PodInfo&) { return gate; },
       .hint = [this](const std::string&, const ClusterEvent&, const PodInfo&) { return says; },
       .interests = [](const std::string&) { return ~uint32_t{0}; }}};

  api::Uid add(std::string_view name, int32_t priority = 0) {
    auto pod = api::decodeText<api::Pod>(fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"d","uid":"{0}"}},"spec":{{"priority":{1}}}}})",
        name, priority));
    queue.add(cluster.makeInfo(std::make_shared<api::Pod>(*pod)));
    return api::Uid(name);
  }
  std::string pop() {
    QueuedPod* pod = queue.pop();
    return pod ? pod->pod->pod->meta.name.str() : "";
  }
};

TEST(Queue, orders_by_priority_then_by_age) {
  Waiting w;
  w.add("old");
  w.clock.advance(seconds(1));
  w.add("young");
  w.add("high", 7);
  for (auto name : {"high", "old", "young", ""}) EXPECT_EQ(w.pop(), name);
}

TEST(Queue, rejected_pods_wait_for_events_and_back_off) {
  Waiting w;
  const api::Uid a = w.add("a");
  w.pop();
  w.queue.returned(a, {"Fit"}, {}, false);
  EXPECT_EQ(w.queue.sizes().pool, 1u);
  ClusterEvent event;
  event.kind = EventKind::kNodeAdd;
  w.says = Hint::kSkip;
  w.queue.happened(event);
  EXPECT_EQ(w.queue.sizes().pool, 1u);
  w.says = Hint::kQueue;
  w.queue.happened(event);
  EXPECT_EQ(w.queue.sizes().backoff, 1u);
  w.clock.advance(seconds(1));
  w.queue.flush();
  EXPECT_EQ(w.queue.sizes().active, 1u);
}

TEST(Queue, events_of_the_flight_are_not_lost) {
  Waiting w;
  const api::Uid a = w.add("a");
  w.pop();
  ClusterEvent event;
  event.kind = EventKind::kAssignedPodDelete;
  w.queue.happened(event);
  w.queue.returned(a, {"Fit"}, {}, false);
  EXPECT_EQ(w.queue.sizes().pool, 0u);
}

TEST(Queue, errors_back_off_without_being_popped_early) {
  Waiting w;
  const api::Uid a = w.add("a");
  w.pop();
  w.queue.returned(a, {}, {}, true);
  EXPECT_EQ(w.pop(), "");
  w.clock.advance(std::chrono::milliseconds(1100));
  w.queue.flush();
  EXPECT_EQ(w.pop(), "a");
}

TEST(Queue, rejected_pods_are_popped_early_when_nobody_else_is_ready) {
  Waiting w;
  const api::Uid a = w.add("a");
  w.pop();
  w.queue.returned(a, {"Fit"}, {}, false);
  w.queue.happened(ClusterEvent{.kind = EventKind::kNodeAdd});
  EXPECT_EQ(w.pop(), "a");
}

TEST(Queue, gated_pods_wait_for_their_gate) {
  Waiting w;
  w.gate = "SchedulingGates";
  const api::Uid a = w.add("a");
  EXPECT_EQ(w.pop(), "");
  EXPECT_EQ(w.queue.sizes().gated, 1u);
  w.gate = "";
  w.queue.activate(a);
  EXPECT_EQ(w.pop(), "a");
}

TEST(Queue, nobody_waits_longer_than_five_minutes) {
  Waiting w;
  const api::Uid a = w.add("a");
  w.pop();
  w.queue.returned(a, {"Fit"}, {}, false);
  w.clock.advance(std::chrono::minutes(6));
  w.queue.flush();
  EXPECT_EQ(w.pop(), "a");
}

}  // namespace
}  // namespace mangrove::placement
