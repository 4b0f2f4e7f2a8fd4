// Gangs under random events against books that are kept the slow way.
#include <map>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "base/testing/size.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

constexpr int kGangs = 12;

// A gang as the test wants it: groups are pairs of neighbours or single gangs.
struct Terms {
  int min = 1;
  bool isStrict = true;
  std::string policy;
  int group = 0;  // first gang of its group
};

class Storm {
 public:
  explicit Storm(uint64_t seed) : rng_(seed), lab_(defaultConfig({"default-scheduler"})) {
    for (int i = 0; i < kGangs; i++) {
      const bool paired = i >= 8;
      terms_.push_back({static_cast<int>(rng_.between(1, 5)), rng_.between(0, 3) > 0,
                        i % 4 == 3 ? "waiting-and-running" : "once-satisfied",
                        paired ? i - i % 2 : i});
    }
    // Gangs of one group agree on what they are.
    for (Terms& terms : terms_) {
      terms.isStrict = terms_[static_cast<size_t>(terms.group)].isStrict;
      terms.policy = terms_[static_cast<size_t>(terms.group)].policy;
    }
    lab_.refusesBinding = [this](std::string_view key) {
      const bool refuses = mayRefuse_ && rng_.between(0, 19) == 0;
      if (refuses) refused_.insert(groupOf(std::string(key)));
      return refuses;
    };
    for (int i = 0; i < 6; i++) addNode();
  }

  void run(int events) {
    for (int i = 0; i < events && !::testing::Test::HasFailure(); i++) {
      step();
      if (rng_.between(0, 2) == 0) settle();
    }
    converge();
  }

 private:
  void step() {
    switch (rng_.between(0, 9)) {
      case 0:
        return rng_.between(0, 3) == 0 ? addNode() : removeNode();
      case 1:
      case 2:
        return removePod();
      case 3:
        return pass();
      case 4:
        return addNode();
      default:
        return addPod();
    }
  }

  void addNode() {
    if (nodes_.size() >= 12) return;
    const std::string name = fmt::format("n{}", next_++);
    const int64_t cpu = rng_.between(2, 6);
    nodes_[name] = cpu * 1000;
    lab_.node(fmt::format(
        R"({{"metadata":{{"name":"{}"}},"status":{{"allocatable":{{"cpu":"{}","memory":"64Gi"}}}}}})",
        name, cpu));
  }
  // With everybody on it, as the node's controller would.
  void removeNode() {
    if (nodes_.size() <= 3) return;
    auto at = nodes_.begin();
    std::advance(at, rng_.between(0, static_cast<int64_t>(nodes_.size()) - 1));
    const std::string name = at->first;
    nodes_.erase(at);
    std::vector<std::string> gone;
    for (const auto& [pod, gang] : pods_)
      if (lab_.nodeOf(pod) == name) gone.push_back(pod);
    lab_.removeNode(name);
    for (const auto& pod : gone) forget(pod);
  }
  void addPod() {
    if (pods_.size() >= 40) return;
    const auto gang = static_cast<size_t>(rng_.between(0, kGangs - 1));
    const Terms& terms = terms_[gang];
    const std::string name = fmt::format("p{}", next_++);
    std::string groups;
    if (gang >= 8)
      groups = fmt::format(
          R"(,"gang.scheduling.koordinator.sh/groups":"[\"default/g{}\",\"default/g{}\"]")",
          terms.group, terms.group + 1);
    pods_[name] = gang;
    cpu_[name] = rng_.between(1, 3) * 1000;
    lab_.pod(fmt::format(
        R"({{"metadata":{{"name":"{}","annotations":{{"gang.scheduling.koordinator.sh/name":"g{}","gang.scheduling.koordinator.sh/min-available":"{}","gang.scheduling.koordinator.sh/mode":"{}","gang.scheduling.koordinator.sh/match-policy":"{}","gang.scheduling.koordinator.sh/waiting-time":"20s"{}}}}},"spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}m"}}}}}}]}}}})",
        name, gang, terms.min, terms.isStrict ? "Strict" : "NonStrict", terms.policy, groups,
        cpu_[name]));
  }
  void removePod() {
    if (pods_.empty()) return;
    auto at = pods_.begin();
    std::advance(at, rng_.between(0, static_cast<int64_t>(pods_.size()) - 1));
    forget(at->first);
  }
  void forget(std::string pod) {
    const int group = groupOf("default/" + pod);
    lab_.removePod(pod);
    pods_.erase(pod);
    cpu_.erase(pod);
    // A group that has no pods is forgotten, and what it once had with it.
    const bool left = std::any_of(pods_.begin(), pods_.end(), [&](const auto& one) {
      return terms_[one.second].group == group;
    });
    if (!left) started_.erase(group);
  }
  void pass() {
    refused_.clear();
    lab_.wait(std::chrono::seconds(rng_.between(1, 15)));
    judgeGangs();
  }

  int groupOf(const std::string& key) const {
    const auto at = pods_.find(key.substr(key.find('/') + 1));
    return at == pods_.end() ? -1 : terms_[at->second].group;
  }

  void settle() {
    refused_.clear();
    lab_.run();
    judgeGangs();
    judgeBooks();
  }

  std::map<size_t, int> boundByGang() const {
    std::map<size_t, int> out;
    for (const auto& [pod, gang] : pods_) out[gang] += !lab_.nodeOf(pod).empty();
    return out;
  }

  // A strict group that has not started has nobody on a node, or enough of every gang.
  void judgeGangs() {
    const auto bound = boundByGang();
    std::map<int, int> ofGroup;
    for (const auto& [gang, count] : bound) ofGroup[terms_[gang].group] += count;
    for (const auto& [group, count] : ofGroup) {
      if (count == 0 || started_.contains(group)) continue;
      started_.insert(group);
      if (!terms_[static_cast<size_t>(group)].isStrict || refused_.contains(group)) continue;
      for (size_t gang = 0; gang < terms_.size(); gang++) {
        if (terms_[gang].group != group) continue;
        const auto at = bound.find(gang);
        EXPECT_GE(at == bound.end() ? 0 : at->second, terms_[gang].min)
            << "gang g" << gang << " of group g" << group;
      }
    }
  }

  // Amounts on nodes and the members of every gang, counted from the pods alone.
  void judgeBooks() {
    std::map<std::string, int64_t> used;
    std::map<size_t, std::set<std::string>> members, placed;
    for (const auto& [pod, gang] : pods_) {
      members[gang].insert("default/" + pod);
      const std::string node = lab_.nodeOf(pod);
      if (!node.empty()) {
        used[node] += cpu_.at(pod);
        placed[gang].insert("default/" + pod);
      } else {
        const api::Uid& uid = lab_.find(pod)->meta.uid;
        EXPECT_TRUE(lab_.engine().queue().find(uid) || lab_.cluster().find(uid))
            << pod << " is lost";
      }
    }
    for (const auto& [node, cpu] : nodes_) {
      EXPECT_LE(used[node], cpu) << node;
      const Row row = lab_.cluster().table.find(node);
      ASSERT_NE(row, kNoRow);
      int64_t waiting = 0;  // has the node and waits for the others
      for (const PodPtr& pod : lab_.engine().waitingPods().waiting())
        if (pod->nodeName.view() == node) waiting += cpu_.at(pod->pod->meta.name.str());
      EXPECT_EQ(lab_.cluster().table.requested(kCpuId)[row], used[node] + waiting) << node;
    }
    Plugin& plugin = *lab_.engine().profiles()[0]->find("Coscheduling");
    for (const auto& [gang, names] : members) {
      const auto page = plugin.serve(fmt::format("gang/default/g{}", gang));
      ASSERT_TRUE(page) << "gang g" << gang;
      EXPECT_EQ(listed(page->at("children")), names);
      EXPECT_EQ(listed(page->at("boundChildren")), placed[gang]);
    }
  }
  static std::set<std::string> listed(const json::Value& array) {
    std::set<std::string> out;
    for (const auto& name : array.as_array()) out.insert(std::string(name.as_string()));
    return out;
  }

  // With room for everybody, whoever is in a complete group gets a node.
  void converge() {
    mayRefuse_ = false;
    for (int i = 0; i < 20; i++) {
      const std::string name = fmt::format("big{}", i);
      nodes_[name] = 64000;
      lab_.node(fmt::format(
          R"({{"metadata":{{"name":"{}"}},"status":{{"allocatable":{{"cpu":"64","memory":"64Gi"}}}}}})",
          name));
    }
    settle();
    lab_.wait(std::chrono::minutes(7));
    judgeGangs();
    settle();
    std::map<size_t, int> members;
    for (const auto& [pod, gang] : pods_) members[gang]++;
    for (const auto& [pod, gang] : pods_) {
      bool isComplete = true;
      for (size_t other = 0; other < terms_.size(); other++)
        if (terms_[other].group == terms_[gang].group)
          isComplete = isComplete && members[other] >= terms_[other].min;
      if (!isComplete) continue;
      EXPECT_NE(lab_.nodeOf(pod), "") << pod << ": " << lab_.said(pod) << "\n" << queued(pod);
    }
  }

  // Where a pod without a node stands, for whoever must find out why.
  std::string queued(const std::string& pod) {
    const QueuedPod* one = lab_.engine().queue().find(lab_.find(pod)->meta.uid);
    if (!one) return "not in the queue";
    std::string out = fmt::format("area {}, gated by '{}', refused by", static_cast<int>(one->area),
                                  one->gatedBy);
    for (const auto& plugin : one->refusedBy) out += " " + plugin;
    const auto page = lab_.engine()
                          .profiles()[0]
                          ->find("Coscheduling")
                          ->serve(fmt::format("gang/default/g{}", pods_.at(pod)));
    return out + "\n" + (page ? json::write(*page) : "");
  }

  Rng rng_;
  Lab lab_;
  std::vector<Terms> terms_;
  std::map<std::string, int64_t> nodes_;  // milli-cores
  std::map<std::string, size_t> pods_;    // gang
  std::map<std::string, int64_t> cpu_;
  std::set<int> started_;  // groups that had a member on a node
  std::set<int> refused_;  // groups of which a binding was refused in the wave at hand
  bool mayRefuse_ = true;
  int next_ = 0;
};

TEST(GangStorm, no_strict_group_starts_below_its_minimum_and_nobody_is_lost) {
  const int storms = sized(12, 200), events = sized(250, 5000);
  for (int storm = 1; storm <= storms && !HasFailure(); storm++) {
    SCOPED_TRACE(fmt::format("storm {}", storm));
    Storm(static_cast<uint64_t>(storm)).run(events);
  }
}

}  // namespace
}  // namespace mangrove::placement
