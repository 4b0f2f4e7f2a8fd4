// Random histories of a whole scheduler with quotas: bindings that fail, pods that move between
// quotas, quotas that change, restarts. What must hold in every one of them.
#include <map>

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "base/os/log.h"
#include "base/testing/size.h"
#include "placement/plugins/elasticquota/debtors.h"
#include "placement/testing/quota_lab.h"

namespace mangrove::placement {
namespace {

constexpr int kQuotas = 4;
constexpr int kCpus = 24;

struct Pod {
  std::string quota;
  int cpu = 1;
  int priority = 0;
};

class History {
 public:
  History(Rng& rng, bool reclaim) : rng_(rng), reclaim_(reclaim) {
    for (int i = 0; i < kQuotas; i++) limits_[quotaName(i)] = anyTerms();
    restart();
  }

  void step() {
    switch (rng_.below(10)) {
      case 0:
        return restart();
      case 1:
        lab_->lab.refuseBindings = !lab_->lab.refuseBindings;
        break;
      case 2:
        move();
        break;
      case 3: {
        const std::string name = quotaName(static_cast<int>(rng_.below(kQuotas)));
        limits_[name] = anyTerms();
        lab_->quota(name, limits_[name]);
        break;
      }
      case 4:
      case 5:
        leave();
        break;
      default:
        arrive();
    }
    lab_->settle(2);
    forgetVictims();
  }

  void rest() {
    lab_->lab.refuseBindings = false;
    lab_->settle(25);
    forgetVictims();
  }

  // What each quota says it uses is what the pods on nodes ask for, each once.
  void expectCountedOnce() {
    std::map<std::string, int> used;
    for (const auto& [name, pod] : pods_)
      if (!lab_->nodeOf(name).empty()) used[pod.quota] += pod.cpu;
    for (int i = 0; i < kQuotas; i++)
      ASSERT_EQ(lab_->used(quotaName(i)), std::to_string(used[quotaName(i)])) << quotaName(i);
  }
  // Reclaim is on: whoever waits within its minimum could not be helped by any borrower's going.
  void expectNobodyWaitsInVain() {
    for (const auto& [name, pod] : pods_) {
      if (!lab_->nodeOf(name).empty()) continue;
      const int used = std::stoi(lab_->used(pod.quota));
      if (used + pod.cpu > limits_[pod.quota].min) continue;
      int free = kCpus, lent = 0;
      for (const auto& [other, running] : pods_) {
        if (lab_->nodeOf(other).empty()) continue;
        free -= running.cpu;
      }
      for (int i = 0; i < kQuotas; i++)
        if (quotaName(i) != pod.quota)
          lent += std::max(0, std::stoi(lab_->used(quotaName(i))) - limits_[quotaName(i)].min);
      ASSERT_LT(free + lent, pod.cpu)
          << name << " of " << pod.quota << " asks for " << pod.cpu << ", " << free
          << " are free and " << lent << " lent; it was told: " << lab_->said(name);
    }
  }

 private:
  static std::string quotaName(int i) { return "q" + std::to_string(i); }
  // Minimums together are at most the machine.
  QuotaLab::Terms anyTerms() {
    QuotaLab::Terms out;
    out.min = static_cast<int>(rng_.below(kCpus / kQuotas + 1));
    out.max = kCpus;
    return out;
  }
  void restart() {
    lab_ = std::make_unique<QuotaLab>(json::Object{{"reclaim", reclaim_}});
    lab_->machine("n1", kCpus);
    for (const auto& [name, terms] : limits_) lab_->quota(name, terms);
    for (const auto& [name, pod] : pods_) put(name, pod, nodes_[name]);
    lab_->settle(3);
    forgetVictims();
  }
  void put(const std::string& name, const Pod& pod, const std::string& node) {
    lab_->lab.pod(json::write(json::Object{
        {"metadata", json::Object{{"name", name},
                                  {"labels", json::Object{{"quota.scheduling.koordinator.sh/name",
                                                           pod.quota}}}}},
        {"spec",
         json::Object{
             {"priority", pod.priority},
             {"nodeName", node},
             {"containers",
              json::Array{json::Object{
                  {"name", "c"},
                  {"resources", json::Object{{"requests", json::Object{{"cpu", pod.cpu}}}}}}}}}}}));
  }
  void arrive() {
    const std::string name = "p" + std::to_string(next_++);
    Pod pod{quotaName(static_cast<int>(rng_.below(kQuotas))), 1 + static_cast<int>(rng_.below(4)),
            static_cast<int>(rng_.below(3))};
    put(name, pod, "");
    pods_[name] = pod;
  }
  std::string anyPod() {
    auto at = pods_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.below(pods_.size())));
    return at->first;
  }
  void leave() {
    if (pods_.empty()) return;
    const std::string name = anyPod();
    lab_->removePod(name);
    pods_.erase(name);
  }
  // Another label on a pod that is there.
  void move() {
    if (pods_.empty()) return;
    const std::string name = anyPod();
    Pod& pod = pods_[name];
    pod.quota = quotaName(static_cast<int>(rng_.below(kQuotas)));
    put(name, pod, lab_->nodeOf(name));
  }
  void forgetVictims() {
    std::erase_if(pods_, [&](const auto& entry) { return !lab_->isThere(entry.first); });
    nodes_.clear();
    for (const auto& [name, pod] : pods_) nodes_[name] = lab_->nodeOf(name);
  }

  Rng& rng_;
  bool reclaim_;
  std::unique_ptr<QuotaLab> lab_;
  std::map<std::string, QuotaLab::Terms> limits_;
  std::map<std::string, Pod> pods_;
  std::map<std::string, std::string> nodes_;
  int next_ = 0;
};

TEST(QuotaHistories, CountOnceThroughFailuresMovesAndRestarts) {
  const LogCapture quiet({LogLevel::kError, {}, false});
  Rng rng(21);
  for (int i = 0; i < sized(6, 100000); i++) {
    History history(rng, rng.below(2) == 0);
    for (int step = 0; step < 25; step++) {
      history.step();
      ASSERT_NO_FATAL_FAILURE(history.expectCountedOnce()) << "history " << i << " step " << step;
    }
  }
}

TEST(QuotaHistories, NobodyWithinItsMinimumWaitsWhileBorrowersCouldGo) {
  const LogCapture quiet({LogLevel::kError, {}, false});
  Rng rng(22);
  for (int i = 0; i < sized(6, 100000); i++) {
    History history(rng, true);
    for (int step = 0; step < 15; step++) history.step();
    history.rest();
    ASSERT_NO_FATAL_FAILURE(history.expectNobodyWaitsInVain()) << "history " << i;
    ASSERT_NO_FATAL_FAILURE(history.expectCountedOnce()) << "history " << i;
  }
}

}  // namespace
}  // namespace mangrove::placement
