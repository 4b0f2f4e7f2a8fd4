#pragma once
// Asks the kubelet in time: for pods every ten seconds and as soon as a new pod's cgroup appears
// (where pods come from the kubelet at all), for its configuration at start, after it was restarted
// and every hour.
//
//   KubeletSource source({loop, owner, book}, options);
//   source.tick(look, node, newPods);
//
// Owner thread. No kubelet (its port is not in the Node) is a state, not an error.

#include <memory>
#include <optional>

#include "agent/look.h"
#include "agent/report/kubelet.h"
#include "base/lifetime.h"
#include "client/queue/token_bucket.h"

namespace mangrove::agent {

struct KubeletSourceOptions {
  KubeletOptions kubelet = {};
  bool pods = false;   // feed the book
  bool config = true;  // ask for /configz
  Duration interval = std::chrono::seconds(10);
};

struct KubeletStats {
  uint64_t podLists = 0, failures = 0, empty = 0;
};

class KubeletSource {
 public:
  static constexpr Duration kConfigInterval = std::chrono::hours(1);
  static constexpr Duration kConfigRetry = std::chrono::minutes(1);

  KubeletSource(net::Loop* loop, Mailbox& owner, PodBook& book, Registry* metrics,
                KubeletSourceOptions options);
  ~KubeletSource();

  void tick(MonoTime now, const api::Node* node, size_t newPods);
  const std::optional<KubeletConfig>& config() const { return config_; }
  // The kubelet was started anew: its configuration is asked for at the next tick.
  void askAgain() { nextConfig_ = MonoTime::min(); }
  bool connected() const { return client_ != nullptr; }
  bool synced() const { return !options_.pods || synced_; }
  bool asking() const { return asking_ || askingConfig_; }  // an answer is awaited
  const KubeletStats& stats() const { return stats_; }

 private:
  bool connect(const api::Node& node);
  void askPods(MonoTime now);
  void askConfig(MonoTime now);

  net::Loop* loop_;
  Mailbox& owner_;
  PodBook& book_;
  Registry* metrics_;
  KubeletSourceOptions options_;
  std::string url_;
  std::unique_ptr<KubeletClient> client_;
  // New pods make us ask at once, but a storm of them not more often than this.
  client::TokenBucket eager_{5, 10};
  bool wanted_ = false, asking_ = false, askingConfig_ = false, synced_ = false;
  MonoTime nextPods_ = MonoTime::min(), nextConfig_ = MonoTime::min();
  std::optional<KubeletConfig> config_;
  KubeletStats stats_;
  Lifetime life_;
};

}  // namespace mangrove::agent
