#pragma once
// Sends pods away through the Eviction API: with the pod's uid, so that a namesake is safe; with an
// Event that says why; with a budget that all evictors share. Budgets of the cluster are respected:
// a refusal is reported and the pod stays.
//
//   EvictionSender sender({client, owner, clock, events, audit}, {.perMinute = 10});
//   sender.evict(ousting);
//
// Owner thread.

#include <deque>
#include <functional>
#include <memory>

#include "agent/executor/audit.h"
#include "agent/executor/wish.h"
#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/api_client.h"
#include "client/events/event_recorder.h"

namespace mangrove::agent {

enum class EvictionAnswer : uint8_t {
  kEvicted,
  kRefused,  // the server says no, a disruption budget for instance
  kNobody,   // there was no answer
};

struct EvictionSetup {
  client::ApiClient& client;
  Mailbox& owner;
  Clock& clock;
  client::EventRecorder& events;
  AuditLog& audit;
  Registry& metrics;
  // After the server's answer.
  std::function<void(const Ousting&, EvictionAnswer)> answered = {};
  // False: it is still waited for. Empty: everybody may go at once.
  std::function<bool(const Ousting&)> mayGo = {};
};

struct EvictionOptions {
  size_t perMinute = 10;  // of this node, all features together
};

struct EvictionStats {
  uint64_t sent = 0, evicted = 0, refused = 0, overBudget = 0;
};

class EvictionSender {
 public:
  EvictionSender(EvictionSetup setup, EvictionOptions options);
  ~EvictionSender();

  // False: the budget of this minute is spent, or the pod is waited for.
  bool evict(const Ousting& ousting);
  const EvictionStats& stats() const { return stats_; }

 private:
  void finished(const Ousting& ousting, const Result<client::Reply>& reply);
  void record(const Ousting& ousting, std::string outcome);

  EvictionSetup setup_;
  EvictionOptions options_;
  std::deque<MonoTime> sent_;
  EvictionStats stats_;
  Lifetime life_;
};

}  // namespace mangrove::agent
