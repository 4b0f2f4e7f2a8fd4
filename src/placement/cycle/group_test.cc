// Groups against slow searches: what can be placed is placed.
#include "placement/cycle/group.h"

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "base/testing/size.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

struct Demand {
  int64_t cpu, memory;   // thousandths of a core, MiB
  bool hasPort = false;  // of the host, the same for all
};
Demand cores(int64_t cpu, int64_t gib) {
  return {cpu * 1000, gib * 1024};
}

class Board {
 public:
  explicit Board(const std::vector<Demand>& nodes) {
    for (size_t i = 0; i < nodes.size(); i++)
      lab_.node(R"({"metadata":{"name":"n)" + std::to_string(i) +
                R"("},"status":{"allocatable":{"cpu":")" + std::to_string(nodes[i].cpu) +
                R"(m","memory":")" + std::to_string(nodes[i].memory) + R"(Mi"}}})");
  }
  bool place(const std::vector<Demand>& pods, size_t needed) {
    std::vector<PodPtr> made;
    GroupTask task{"g", {}, {static_cast<int32_t>(needed)}};
    for (size_t i = 0; i < pods.size(); i++) {
      auto pod = api::decodeText<api::Pod>(
          R"({"metadata":{"namespace":"d","name":"p","uid":"u)" + std::to_string(i) +
          R"("},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":")" +
          std::to_string(pods[i].cpu) + R"(m","memory":")" + std::to_string(pods[i].memory) +
          R"(Mi"}})" + (pods[i].hasPort ? R"(,"ports":[{"containerPort":80,"hostPort":80}])" : "") +
          "}]}}");
      made.push_back(lab_.cluster().makeInfo(std::make_shared<api::Pod>(std::move(*pod))));
      task.members.push_back({made.back()->pod->meta.uid, 0, kNoRow});
    }
    Transaction trial(lab_.cluster());
    const auto got = placeGroup({*lab_.engine().profiles()[0], lab_.cluster(), trial, task, made});
    size_t rows = 0;
    for (Row row : got.rows) rows += row != kNoRow;
    EXPECT_EQ(got.placed(), rows >= needed && rows == trial.mark());
    EXPECT_TRUE(got.placed() || trial.mark() == 0);
    return got.placed();
  }

 private:
  Lab lab_{defaultConfig({"default-scheduler"})};
};

// Tries everything.
bool canPlace(std::vector<Demand>& free, const std::vector<Demand>& pods, size_t at,
              size_t needed) {
  if (needed == 0) return true;
  if (pods.size() - at < needed) return false;
  for (auto& node : free) {
    if (node.cpu < pods[at].cpu || node.memory < pods[at].memory) continue;
    node.cpu -= pods[at].cpu;
    node.memory -= pods[at].memory;
    const bool ok = canPlace(free, pods, at + 1, needed - 1);
    node.cpu += pods[at].cpu;
    node.memory += pods[at].memory;
    if (ok) return true;
  }
  return canPlace(free, pods, at + 1, needed);
}

TEST(Groups, small_ones_are_placed_whenever_that_is_possible) {
  Rng rng(24);
  int possible = 0;
  for (int round = 0; round < sized(150, 5000); round++) {
    std::vector<Demand> nodes, pods;
    for (int64_t i = rng.between(1, 6); i > 0; i--)
      nodes.push_back(cores(rng.between(4, 10), rng.between(8, 20)));
    for (int64_t i = rng.between(1, 6); i > 0; i--)
      pods.push_back(cores(rng.between(1, 6), rng.between(1, 12)));
    const auto needed = static_cast<size_t>(rng.between(1, static_cast<int64_t>(pods.size())));
    std::vector<Demand> free = nodes;
    const bool can = canPlace(free, pods, 0, needed);
    possible += can;
    EXPECT_EQ(Board(nodes).place(pods, needed), can) << "round " << round;
  }
  EXPECT_GT(possible, 50);
}

TEST(Groups, full_clusters_are_packed_nearly_always) {
  Rng rng(95);
  const int kRounds = sized(12, 300);
  int placed = 0;
  for (int round = 0; round < kRounds; round++) {
    std::vector<Demand> nodes, pods;
    // A placement that exists: nodes are cut into members, 95 % of each.
    for (int node = 0; node < 40; node++) {
      nodes.push_back(cores(20, 80));
      Demand left = cores(19, 76);
      while (left.cpu > 0 && left.memory > 0 && pods.size() < 100) {
        const Demand size = cores(rng.between(2, 12), rng.between(8, 48));
        const Demand cut{std::min(left.cpu, size.cpu), std::min(left.memory, size.memory)};
        pods.push_back(cut);
        left.cpu -= cut.cpu;
        left.memory -= cut.memory;
      }
    }
    placed += Board(nodes).place(pods, pods.size());
  }
  EXPECT_GE(placed * 100, kRounds * 99);
}

// A placement that exists: uneven nodes, some already partly used, of whose room up to three members
// take 95 % together.
void cutUneven(Rng& rng, size_t members, std::vector<Demand>& nodes, std::vector<Demand>& pods) {
  std::vector<int64_t> counts(100);
  for (size_t i = 0; i < members;) {
    int64_t& count = counts[rng.below(counts.size())];
    if (count < 3) count++, i++;
  }
  for (int64_t count : counts) {
    const double used = 0.3 + 0.7 * rng.unit();
    const auto room = [&](int64_t least, int64_t most) {
      return static_cast<int64_t>(used * static_cast<double>(rng.between(least, most)));
    };
    const Demand free{room(4'000, 64'000), room(8'192, 262'144)};
    nodes.push_back(count > 0 ? free : Demand{free.cpu / 50, free.memory / 50});
    Demand left{free.cpu * 95 / 100, free.memory * 95 / 100};
    for (; count > 0; count--) {
      const auto cut = [&](int64_t amount) {
        return count == 1 ? amount : amount * rng.between(15, 85) / 100;
      };
      pods.push_back({cut(left.cpu), cut(left.memory)});
      left = {left.cpu - pods.back().cpu, left.memory - pods.back().memory};
    }
  }
}

TEST(Groups, uneven_full_clusters_are_packed_nearly_always) {
  Rng rng(2024);
  const int kRounds = sized(5, 300);
  int placed = 0;
  for (int round = 0; round < kRounds; round++) {
    std::vector<Demand> nodes, pods;
    cutUneven(rng, 100, nodes, pods);
    placed += Board(nodes).place(pods, pods.size());
  }
  EXPECT_GE(placed * 100, kRounds * 99);
}

// The search knows amounts; what a node refuses besides is learnt by trying.
TEST(Groups, what_is_refused_besides_amounts_is_placed_elsewhere) {
  Rng rng(80);
  const int kRounds = sized(3, 100);
  int placed = 0;
  for (int round = 0; round < kRounds; round++) {
    std::vector<Demand> nodes, pods;
    cutUneven(rng, 100, nodes, pods);
    for (size_t i = 0; i < pods.size(); i += 8) pods[i].hasPort = true;
    placed += Board(nodes).place(pods, pods.size());
  }
  EXPECT_GE(placed * 10, kRounds * 9);
}

TEST(Groups, members_beyond_the_need_are_left_out_of_a_full_cluster) {
  Rng rng(7);
  std::vector<Demand> nodes, pods;
  cutUneven(rng, 100, nodes, pods);
  for (int i = 0; i < 20; i++) pods.push_back(cores(rng.between(10, 30), rng.between(20, 60)));
  EXPECT_TRUE(Board(nodes).place(pods, 100));
  EXPECT_FALSE(Board(nodes).place(pods, 120));
}

}  // namespace
}  // namespace mangrove::placement
