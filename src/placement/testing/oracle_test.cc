// Random clusters that change all the time: the engine's columns and counters against the plain
// oracle, node by node, plugin by plugin. A hundred thousand pairs in `make test-long`.
#include "placement/testing/oracle.h"

#include <cstdlib>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/testing/size.h"
#include "placement/cycle/cycle.h"
#include "placement/testing/lab.h"
#include "placement/testing/random_objects.h"

namespace mangrove::placement {
namespace {

class Comparison {
 public:
  explicit Comparison(uint64_t seed) : rng_(seed), lab_(config()) {
    for (size_t i = 0; i < 3 + rng_.below(8); i++) lab_.node(randomNode(rng_, nodes_++));
  }

  void step() {
    change();
    const std::string text = randomPod(rng_, pods_++);
    compare(text);
    lab_.pod(text);
    lab_.run();
  }

 private:
  static SchedulerConfig config() {
    SchedulerConfig out;
    out.profiles.push_back(kubernetesProfile("plain"));
    out.profiles[0].args["NodeResourcesFit"] = colocationProfile("").args["NodeResourcesFit"];
    return out;
  }

  void change() {
    if (rng_.chance(0.1)) lab_.node(randomNode(rng_, nodes_++));
    if (rng_.chance(0.15)) lab_.node(randomNode(rng_, rng_.below(nodes_)));
    if (rng_.chance(0.03)) lab_.removeNode(fmt::format("n{}", rng_.below(nodes_)));
    for (int i = 0; i < 2; i++)
      if (pods_ > 0 && rng_.chance(0.5)) {
        const size_t number = rng_.below(pods_);
        for (auto ns : {"default", "other"}) lab_.removePod(fmt::format("{}/p{}", ns, number));
      }
  }

  oracle::World world(std::vector<Row>& rows) {
    oracle::World out;
    const NodeTable& table = lab_.cluster().table;
    for (Row row = 0; row < table.rows(); row++) {
      if (!table.live(row)) continue;
      rows.push_back(row);
      auto& place = out.places.emplace_back();
      place.node = &table.node(row);
      for (const PodPtr& pod : table.info(row).pods) place.pods.push_back(pod->pod.get());
    }
    return out;
  }

  void compare(const std::string& text) {
    auto pod = std::make_shared<api::Pod>(*api::decodeText<api::Pod>(text));
    pod->meta.uid = api::Uid("11111111-1111-4111-8111-111111111111");
    const PodPtr info = lab_.cluster().makeInfo(pod);
    Profile& profile = *lab_.engine().profiles()[0];
    Cycle cycle(profile, lab_.cluster(), info);
    ASSERT_TRUE(cycle.prepare());
    std::vector<Row> rows;
    const oracle::World plain = world(rows);
    std::vector<Row> feasible = cycle.feasibleRows();
    std::vector<size_t> expected;
    for (size_t i = 0; i < rows.size(); i++) {
      const std::string why = oracle::refusal(plain, *pod, i);
      const bool fits = std::find(feasible.begin(), feasible.end(), rows[i]) != feasible.end();
      ASSERT_EQ(fits, why.empty()) << plain.places[i].node->meta.name.view() << ": " << why << "\n"
                                   << text;
      if (fits) expected.push_back(i);
    }
    if (feasible.empty()) return;
    feasible.clear();
    for (size_t i : expected) feasible.push_back(rows[i]);
    auto want = oracle::scores(plain, *pod, expected);
    std::vector<int64_t> totals(feasible.size());
    for (const auto& got : cycle.breakdown(feasible)) {
      for (size_t i = 0; i < totals.size(); i++) totals[i] += got.weight * got.scores[i];
      ASSERT_EQ(got.scores, want[std::string(got.plugin)]) << got.plugin << "\n" << text;
      want.erase(std::string(got.plugin));
    }
    ASSERT_TRUE(want.empty()) << want.begin()->first << " was not scored\n" << text;
    Cycle choice(profile, lab_.cluster(), info);
    const auto placed = choice.run();
    ASSERT_TRUE(placed.has_value()) << text;
    const auto at = std::find(feasible.begin(), feasible.end(), placed->row);
    ASSERT_NE(at, feasible.end()) << text;
    if (feasible.size() == 1) return;
    ASSERT_EQ(totals[static_cast<size_t>(at - feasible.begin())],
              *std::max_element(totals.begin(), totals.end()))
        << text;
  }

  Rng rng_;
  Lab lab_;
  size_t nodes_ = 0, pods_ = 0;
};

TEST(Oracle, agrees_on_every_node_and_plugin_while_the_cluster_changes) {
  const size_t pairs = sized<size_t>(3000, 100000);
  constexpr size_t kSteps = 50;
  for (size_t seed = 1; seed <= pairs / kSteps; seed++) {
    Comparison comparison(seed);
    for (size_t i = 0; i < kSteps && !::testing::Test::HasFatalFailure(); i++) comparison.step();
    if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace mangrove::placement
