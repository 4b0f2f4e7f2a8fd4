// Preemption against a plain restatement of its rules, on random clusters that keep changing: the
// same victims on the node it chooses, and no node that would have hurt less.
#include "placement/preemption/preemption.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "placement/cycle/cycle.h"
#include "placement/testing/lab.h"
#include "placement/testing/oracle.h"

namespace mangrove::placement {
namespace {

struct PlainBudget {
  std::string app;
  int32_t allowed = 0;
};

struct PlainAnswer {
  bool helps = false;
  std::vector<const api::Pod*> victims;
  Harm harm{};
};

int32_t priorityOf(const api::Pod& pod) {
  return pod.spec->priority.value_or(0);
}
int64_t startOf(const api::Pod& pod) {
  const WallTime start = pod.status.startTime;
  return (start == kZeroTime ? WallTime::max() : start).time_since_epoch().count();
}
bool matters(const api::Pod* a, const api::Pod* b) {
  if (priorityOf(*a) != priorityOf(*b)) return priorityOf(*a) > priorityOf(*b);
  if (startOf(*a) != startOf(*b)) return startOf(*a) < startOf(*b);
  return a->meta.uid < b->meta.uid;
}

// Everybody of lower priority goes; then, the most important first, whoever may comes back.
class PlainPreemption {
 public:
  PlainPreemption(oracle::World world, const api::Pod& pod, std::vector<PlainBudget> budgets)
      : world_(std::move(world)), pod_(pod), budgets_(std::move(budgets)) {}

  PlainAnswer on(size_t place) {
    auto& pods = world_.places[place].pods;
    const auto before = pods;
    std::vector<const api::Pod*> lower;
    for (const api::Pod* pod : before)
      if (priorityOf(*pod) < priorityOf(pod_)) lower.push_back(pod);
    std::erase_if(pods, [&](const api::Pod* p) { return priorityOf(*p) < priorityOf(pod_); });
    PlainAnswer out;
    out.helps = !lower.empty() && oracle::refusal(world_, pod_, place).empty();
    if (out.helps) bringBack(place, lower, out);
    pods = before;
    return out;
  }

 private:
  void bringBack(size_t place, std::vector<const api::Pod*> lower, PlainAnswer& out) {
    std::sort(lower.begin(), lower.end(), matters);
    std::vector<const api::Pod*> order, harmless;
    auto left = budgets_;
    for (const api::Pod* pod : lower) {
      bool violates = false;
      for (auto& budget : left)
        if (*pod->meta.labels.find(Interned("app")) == Interned(budget.app))
          violates = --budget.allowed < 0 || violates;
      (violates ? order : harmless).push_back(pod);
    }
    const size_t violating = order.size();
    order.insert(order.end(), harmless.begin(), harmless.end());
    for (size_t i = 0; i < order.size(); i++) {
      auto& pods = world_.places[place].pods;
      pods.push_back(order[i]);
      if (oracle::refusal(world_, pod_, place).empty()) continue;
      pods.pop_back();
      out.victims.push_back(order[i]);
      out.harm[0] += i < violating;
    }
    std::sort(out.victims.begin(), out.victims.end(), matters);
    out.harm[1] = priorityOf(*out.victims[0]);
    out.harm[3] = static_cast<int64_t>(out.victims.size());
    out.harm[4] = -startOf(*out.victims[0]);
    for (const api::Pod* pod : out.victims) out.harm[2] += priorityOf(*pod) + (int64_t{1} << 31);
  }

  oracle::World world_;
  const api::Pod& pod_;
  std::vector<PlainBudget> budgets_;
};

class Comparison {
 public:
  explicit Comparison(uint64_t seed) : rng_(seed), lab_(config()) {
    for (size_t i = 0; i < 3 + rng_.below(6); i++) putNode(nodes_++);
    for (size_t i = 0; i < 25; i++) putPod();
  }

  void step() {
    for (size_t i = 0; i < 1 + rng_.below(3); i++) change();
    for (int i = 0; i < 2; i++) compare(preemptor(), rng_.below(2) == 0);
  }
  size_t found() const { return found_; }

 private:
  static SchedulerConfig config() {
    SchedulerConfig out;
    out.profiles.push_back(kubernetesProfile("plain"));
    return out;
  }

  void putNode(size_t number) {
    lab_.node(fmt::format(
        R"({{"metadata":{{"name":"n{0}","labels":{{"kubernetes.io/hostname":"n{0}","zone":"{1}"}}}},
            "status":{{"allocatable":{{"cpu":"{2}","memory":"8Gi","pods":"{3}"}}}}}})",
        number, rng_.below(2), 1 + rng_.below(4), 2 + rng_.below(6)));
  }

  std::string spec(int32_t priority, bool terms) {
    std::string out = fmt::format(
        R"("schedulerName":"plain","priority":{},"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}m"}}}}{}}}])",
        priority, 200 * (1 + rng_.below(8)),
        rng_.chance(0.1) ? R"(,"ports":[{"hostPort":80}])" : "");
    if (terms)
      out += fmt::format(
          R"(,"affinity":{{"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[
              {{"topologyKey":"{}","labelSelector":{{"matchLabels":{{"app":"{}"}}}}}}]}}}})",
          rng_.chance(0.5) ? "kubernetes.io/hostname" : "zone", rng_.below(3));
    return out;
  }

  void putPod() {
    const std::string status =
        rng_.chance(0.8) ? fmt::format(R"("startTime":"2026-01-01T00:00:{:02}Z")", rng_.below(60))
                         : "";
    lab_.pod(fmt::format(
        R"({{"metadata":{{"name":"p{}","namespace":"default","labels":{{"app":"{}"}}}},
            "spec":{{"nodeName":"n{}",{}}},"status":{{{}}}}})",
        pods_++, rng_.below(3), rng_.below(nodes_),
        spec(static_cast<int32_t>(rng_.below(4)), rng_.chance(0.05)), status));
  }

  void change() {
    if (rng_.chance(0.5)) lab_.removePod(fmt::format("p{}", rng_.below(pods_)));
    if (rng_.chance(0.6)) putPod();
    if (rng_.chance(0.1)) putNode(rng_.below(nodes_));
    if (rng_.chance(0.2)) putBudget();
    if (rng_.chance(0.3)) start(fmt::format("p{}", rng_.below(pods_)));
  }

  // Its node tells when it began: the same pod, another order of importance.
  void start(const std::string& name) {
    const auto known = lab_.find(name);
    if (!known) return;
    auto later = std::make_shared<api::Pod>(*known);
    later->status.startTime = WallTime(std::chrono::seconds(1'700'000'000 + rng_.below(1000)));
    lab_.engine().podChanged(known, later);
  }

  void putBudget() {
    const std::string app = std::to_string(rng_.below(3));
    const auto allowed = static_cast<int32_t>(rng_.below(3));
    std::erase_if(budgets_, [&](const PlainBudget& budget) { return budget.app == app; });
    budgets_.push_back({app, allowed});
    auto budget = api::decodeText<api::PodDisruptionBudget>(fmt::format(
        R"({{"metadata":{{"name":"b{0}","namespace":"default"}},"spec":{{"selector":{{"matchLabels":{{"app":"{0}"}}}}}},
            "status":{{"disruptionsAllowed":{1}}}}})",
        app, allowed));
    lab_.cluster().budgets.put("default/b" + app,
                               std::make_shared<api::PodDisruptionBudget>(std::move(*budget)));
    lab_.cluster().budgetGeneration++;
  }

  // Few classes that come back, so that remembered answers are used.
  PodPtr preemptor() {
    if (preemptors_.size() < 4 || rng_.chance(0.1)) {
      auto pod = api::decodeText<api::Pod>(fmt::format(
          R"({{"metadata":{{"name":"vip","namespace":"default","labels":{{"app":"{}"}}}},"spec":{{{}}}}})",
          rng_.below(3), spec(static_cast<int32_t>(1 + rng_.below(4)), rng_.chance(0.25))));
      pod->meta.uid = api::Uid(fmt::format("00000000-0000-4000-9000-{:012x}", ++preemptorUids_));
      preemptors_.push_back(lab_.cluster().makeInfo(std::make_shared<api::Pod>(std::move(*pod))));
    }
    return preemptors_[rng_.below(preemptors_.size())];
  }

  void compare(const PodPtr& pod, bool nominated) {
    Profile& profile = *lab_.engine().profiles()[0];
    Cluster& cluster = lab_.cluster();
    if (nominated) cluster.nominate(pod, Interned(fmt::format("n{}", rng_.below(nodes_))));
    Cycle cycle(profile, cluster, pod);
    ASSERT_TRUE(cycle.prepare());
    const auto feasible = cycle.feasibleRows();
    PreemptionSearch search{cluster,
                            cycle.state(),
                            profile.layout(),
                            pod,
                            {},
                            [&](Row row) { return cycle.fitsWithNominated(row); },
                            {100, 1}};
    oracle::World world;
    std::vector<Row> rows;
    for (Row row : cluster.table.liveRows()) {
      if (std::find(feasible.begin(), feasible.end(), row) == feasible.end()) rows.push_back(row);
      auto& place = world.places.emplace_back();
      place.node = &cluster.table.node(row);
      for (const PodPtr& there : cluster.table.info(row).pods)
        place.pods.push_back(there->pod.get());
    }
    search.rows = rows;
    const Preemption got = preempt(search, rng_);
    check(got, search, PlainPreemption(std::move(world), *pod->pod, budgets_));
    cluster.denominate(pod->pod->meta.uid);
  }

  void check(const Preemption& got, const PreemptionSearch& search, PlainPreemption plain) {
    const auto& rows = search.cluster.table.liveRows();
    PlainAnswer best, mine;
    for (size_t i = 0; i < rows.size(); i++) {
      if (std::find(search.rows.begin(), search.rows.end(), rows[i]) == search.rows.end()) continue;
      const PlainAnswer answer = plain.on(i);
      if (rows[i] == got.row) mine = answer;
      if (answer.helps && (!best.helps || answer.harm < best.harm)) best = answer;
    }
    ASSERT_EQ(best.helps, got.row != kNoRow) << got.message;
    if (!best.helps) return;
    found_++;
    ASSERT_EQ(mine.harm, best.harm);
    ASSERT_EQ(mine.victims.size(), got.victims.size());
    for (size_t i = 0; i < mine.victims.size(); i++)
      ASSERT_EQ(mine.victims[i]->meta.name.view(), got.victims[i]->pod->meta.name.view());
  }

  Rng rng_;
  Lab lab_;
  size_t nodes_ = 0, pods_ = 0, found_ = 0;
  int64_t preemptorUids_ = 0;
  std::vector<PlainBudget> budgets_;
  std::vector<PodPtr> preemptors_;
};

TEST(Preemption, agrees_with_the_plain_rules_while_the_cluster_changes) {
  size_t found = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    Comparison comparison(seed);
    for (int i = 0; i < 20 && !::testing::Test::HasFatalFailure(); i++) comparison.step();
    if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
    found += comparison.found();
  }
  EXPECT_GT(found, 500u);
}

TEST(Preemption, tries_as_many_candidates_as_asked) {
  struct Row {
    size_t nodes;
    PreemptionArgs args;
    size_t wanted;
  };
  for (const auto& row : std::initializer_list<Row>{{5000, {10, 100}, 500},
                                                    {500, {10, 100}, 100},
                                                    {50, {10, 100}, 50},
                                                    {5000, {0, 1}, 1},
                                                    {5000, {100, 0}, 5000},
                                                    {0, {10, 100}, 0}})
    EXPECT_EQ(candidatesWanted(row.nodes, row.args), row.wanted);
}

TEST(Preemption, refuses_arguments_that_make_no_sense) {
  const auto sentence = [](json::Object args) {
    auto read = readPreemptionArgs(std::move(args));
    return read ? std::string() : read.error().text();
  };
  EXPECT_EQ(sentence({{"minCandidateNodesPercentage", 5}}), "");
  EXPECT_NE(sentence({{"minCandidateNodesPercentage", 101}}).find("is not in 0..100"),
            std::string::npos);
  EXPECT_NE(sentence({{"minCandidateNodesPercentage", 0}, {"minCandidateNodesAbsolute", 0}})
                .find("both 0"),
            std::string::npos);
}

}  // namespace
}  // namespace mangrove::placement
