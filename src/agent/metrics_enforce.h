#pragma once
// The enforcing half's Prometheus series under the reference's names and labels: what best-effort
// work is cut to, scaled quotas, scores, cookies, evictions, and how long writes and hooks took.
//
//   EnforceMetrics metrics(registry, "node-1");
//   metrics.tick(look, executor, audit);
//   metrics.evicted(ousting, now);
//
// Owner thread, but for hookInvoked(), which any thread may call. Series about pods vanish five
// minutes after they were last true.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/executor/executor.h"
#include "agent/look.h"
#include "base/metrics.h"

namespace mangrove::agent {

// Where in the tree a pods' cgroup is: "kubeqos", "pod" or "container".
std::string_view levelOf(std::string_view cgroup);

class EnforceMetrics {
 public:
  EnforceMetrics(Registry& internal, std::string node);

  // Once the Node object was seen.
  void tick(const Look& look, const Executor& executor, const AuditLog& audit);
  void evicted(const Ousting& ousting, MonoTime now);
  void wrote(const WriteDone& done);
  void hookInvoked(std::string_view hook, std::string_view stage, bool ok, Duration took);
  // Forgets series that nobody set for five minutes; tick() does it once a minute.
  void sweep(MonoTime now);

 private:
  // A family whose children go when nobody set them for a while.
  template <class Family>
  struct Fading {
    Family& family;
    std::map<LabelValues, MonoTime> last = {};
    auto with(const LabelValues& labels, MonoTime now) {
      last[labels] = now;
      return family.with(labels);
    }
    void sweep(MonoTime now);
  };
  void suppression(const Look& look, const Executor& executor);
  void bursts(const Look& look, const Executor& executor);
  void scores(const Look& look, const Executor& executor);
  void cookies(const Look& look);
  void countCookies(const AuditLog& audit, MonoTime now);

  std::string node_;
  GaugeFamily& beCores_;
  GaugeFamily& lsUsed_;
  Fading<GaugeFamily> burst_, quota_, score_, cookie_;
  Fading<CounterFamily> detail_, managed_;
  CounterFamily& evictions_;
  HistogramFamily& updates_;
  HistogramFamily& hooks_;
  HistogramFamily& reconciles_;
  uint64_t audited_ = 0;  // records looked at
  MonoTime slowAt_ = MonoTime::min(), sweptAt_ = MonoTime::min();
};

}  // namespace mangrove::agent
