// Random pods with CPUs and cards on a box of two NUMA nodes, under each policy and through the
// whole engine: the cards are those that loops over everything choose on the NUMA nodes that the
// pod was given, minor by minor, and nobody is refused whom one NUMA node could take.
#include <map>
#include <memory>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/annotations/cpu.h"
#include "api/wire/decode.h"
#include "api/wire/names.h"
#include "base/number/rng.h"
#include "base/testing/size.h"
#include "placement/testing/device_box.h"
#include "placement/testing/oracle_devices.h"

namespace mangrove::placement {
namespace {

using oracle::CardsWanted;

constexpr int kZoneCpus = 32;

void putZones(Lab& lab) {
  std::string zones;
  for (int node : {0, 1})
    zones += fmt::format(
        R"({}{{"name":"node-{}","type":"Node","resources":[{{"name":"cpu","allocatable":"{}"}},
            {{"name":"memory","allocatable":"512Gi"}}]}})",
        node ? "," : "", node, kZoneCpus);
  auto topology = api::decodeText<api::NodeResourceTopology>(
      fmt::format(R"({{"metadata":{{"name":"n1"}},"zones":[{}]}})", zones));
  ASSERT_TRUE(topology);
  lab.cluster().putTopology("n1", std::make_shared<api::NodeResourceTopology>(*topology));
}

struct Asks {
  CardsWanted cards;
  int cpus = 1;
};

Asks asksOf(Rng& rng) {
  Asks out;
  out.cpus = 1 + static_cast<int>(rng.below(6));
  out.cards.gpus = 1 + static_cast<int>(rng.below(rng.below(3) == 0 ? 8 : 3));
  if (rng.below(3) == 0) {
    out.cards.gpus = 1;
    out.cards.shared = true;
    out.cards.core = out.cards.ratio = 10 + 10 * static_cast<int>(rng.below(9));
  }
  return out;
}

std::string podText(const std::string& name, const Asks& asks) {
  const CardsWanted& cards = asks.cards;
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{"containers":[{{"name":"c","resources":{{"requests":{{
          "cpu":"{}","memory":"1Gi","koordinator.sh/gpu-core":"{}",
          "koordinator.sh/gpu-memory-ratio":"{}"}}}}}}]}}}})",
      name, asks.cpus, cards.core * cards.gpus, cards.ratio * cards.gpus);
}

class NumaHistory {
 public:
  NumaHistory(uint64_t seed, std::string_view policy) : rng_(seed), policy_(policy) {
    BoxOptions box;
    box.labels = fmt::format(R"({{"node.koordinator.sh/numa-topology-policy":"{}"}})", policy);
    for (int minor = 0; minor < 8; minor++)
      if (rng_.below(12) == 0) box.ill.push_back(minor);
    device_ = boxOf("n1", box);
    putBox(lab_, "n1", box);
    putZones(lab_);
  }

  // What is wrong; "": nothing.
  std::string step(int number) {
    if (!names_.empty() && rng_.below(3) == 0) leave();
    const Asks asks = asksOf(rng_);
    const Answers want = answersFor(asks);
    const std::string name = fmt::format("p{}", number);
    lab_.pod(podText(name, asks));
    lab_.run();
    const std::string got = devicesOf(lab_, name);
    const std::set<int> zones = zonesOf(name);
    const std::string wrong = judge(want, got, zones);
    if (!wrong.empty())
      return fmt::format("{} {}: {} cards, {} cpus: {}; got '{}': {}", policy_, name,
                         asks.cards.gpus, asks.cpus, wrong, got, lab_.said(name));
    if (got.empty()) {
      lab_.removePod(name);
      return "";
    }
    names_.push_back(name);
    placed++;
    return "";
  }
  int placed = 0;

 private:
  // By set of NUMA nodes, where the CPUs are there as well; "no": none.
  using Answers = std::map<std::set<int>, std::string>;

  Answers answersFor(const Asks& asks) const {
    std::vector<api::DeviceAllocations> held;
    std::map<int, int64_t> cpus = {{0, kZoneCpus * 1000}, {1, kZoneCpus * 1000}};
    for (const std::string& name : names_) {
      held.push_back(*api::parseDeviceAllocations(lab_.find(name)->meta.annotations).value());
      for (const auto& zone : statusOf(name).numaNodeResources)
        cpus[zone.node] -= zone.resources.amount("cpu").milliValue();
    }
    Answers out;
    const std::set<int> sets[] = {{0}, {1}, {0, 1}};
    for (const std::set<int>& zones : sets) {
      CardsWanted wanted = asks.cards;
      wanted.numa = zones;
      int64_t room = 0;
      for (int zone : zones) room += cpus[zone];
      out[zones] = room < asks.cpus * 1000
                       ? "no"
                       : oracle::chooseCards(*device_, false, false, held, wanted);
    }
    return out;
  }

  std::string judge(const Answers& want, const std::string& got, const std::set<int>& zones) const {
    const bool one = want.at({0}) != "no" || want.at({1}) != "no";
    if (got.empty()) return one ? "refused, though one NUMA node has room" : "";
    if (one && zones.size() != 1) return "spread, though one NUMA node has room";
    if (!one && policy_ == "SingleNUMANode") return "placed, though no NUMA node has room";
    const auto at = want.find(zones);
    if (at == want.end()) return "it has no NUMA node";
    return at->second == got ? "" : "the oracle says " + at->second;
  }

  api::ResourceStatus statusOf(const std::string& name) const {
    return api::parseResourceStatus(lab_.find(name)->meta.annotations)
        .value()
        .value_or(api::ResourceStatus());
  }
  std::set<int> zonesOf(const std::string& name) const {
    std::set<int> out;
    for (const auto& zone : statusOf(name).numaNodeResources) out.insert(zone.node);
    return out;
  }
  void leave() {
    const size_t at = rng_.below(names_.size());
    lab_.removePod(names_[at]);
    names_.erase(names_.begin() + static_cast<long>(at));
  }

  Rng rng_;
  std::string policy_;
  std::shared_ptr<api::Device> device_;
  Lab lab_;
  std::vector<std::string> names_;
};

TEST(DeviceOracle, agrees_under_numa_policies) {
  const int wanted = sized(600, 100000);
  constexpr const char* kPolicies[] = {"SingleNUMANode", "Restricted", "BestEffort"};
  int placed = 0, asked = 0;
  for (uint64_t seed = 1; placed < wanted; seed++) {
    NumaHistory history(seed, kPolicies[seed % 3]);
    for (int i = 0; i < 40; i++, asked++) {
      const std::string wrong = history.step(i);
      ASSERT_EQ(wrong, "") << "seed " << seed << " step " << i;
    }
    placed += history.placed;
  }
  EXPECT_GT(placed, asked / 5);
}

}  // namespace
}  // namespace mangrove::placement
