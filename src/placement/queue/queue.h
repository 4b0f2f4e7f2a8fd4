#pragma once
// Pods that wait for a node: ready ones by priority, those that failed lately until their back-off
// is over, and those that no event has given a reason to try again.
//
//   Queue queue(clock, {}, {.admit = …, .hint = …, .interests = …});
//   queue.add(pod);
//   while (auto* next = queue.pop()) …           // then done() or returned()
//   queue.happened(event);                       // wakes whom it may help
//   queue.flush();                               // once a second
//
// Order: higher spec.priority, then who waited longer. A cycle runs between two messages of the
// owner thread, so events cannot come in between; for pods that stay in flight longer (permits) the
// events of that time are replayed when they come back. Owner thread only.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "placement/cluster/node_table.h"
#include "placement/framework/event.h"

namespace mangrove::placement {

enum class Area : uint8_t { kActive, kBackoff, kErrorBackoff, kPool, kInFlight };

// The gate of a pod whose victims are on their way out. Only their going opens it, so that events
// need not be held against it.
inline constexpr std::string_view kEvicting = "DefaultPreemption";

struct QueuedPod {
  PodPtr pod;
  Area area = Area::kActive;
  MonoTime since{};         // when it entered the queue last
  MonoTime firstAttempt{};  // zero: not tried yet
  MonoTime lastAttempt{};
  MonoTime firstQueued{};
  uint64_t number = 0;  // ties of equal times
  int32_t attempts = 0;
  int32_t rejections = 0;
  int32_t errors = 0;  // in a row
  std::set<std::string> refusedBy, waitingFor;
  std::string gatedBy;  // of PreEnqueue; "" : not gated
  MonoTime backoffUntil{};
};

struct QueueOptions {
  Duration initialBackoff = std::chrono::seconds(1);
  Duration maxBackoff = std::chrono::seconds(10);  // zero: none
  Duration maxInPool = std::chrono::minutes(5);
  bool popFromBackoff = true;  // when nothing is ready
};

struct QueueRules {
  // Name of the plugin that keeps the pod out; "" when it may come in.
  std::function<std::string(const PodInfo&)> admit;
  std::function<Hint(const std::string& plugin, const ClusterEvent&, const PodInfo&)> hint;
  std::function<uint32_t(const std::string& plugin)> interests;
  // A pod came into an area, and what brought it there; may be empty.
  std::function<void(Area, std::string_view event)> entered = {};
  // Whether the plugin calls a pod it refused by itself, as soon as that may help: time alone does
  // not. May be empty.
  std::function<bool(const std::string& plugin, const PodInfo&)> wakes = {};
  // A pod came to those who wait for an event (+1), or left them (-1). May be empty.
  std::function<void(const QueuedPod&, int sign)> pooled = {};
};

// min(initial · 2^(n−1), max); zero for n = 0 or max = 0.
Duration backoffAfter(int32_t failures, Duration initial, Duration max);
// PrioritySort.
bool comesFirst(int32_t priorityA, MonoTime sinceA, int32_t priorityB, MonoTime sinceB);

class Queue {
 public:
  Queue(Clock& clock, QueueOptions options, QueueRules rules);
  ~Queue();

  void add(PodPtr pod);
  // Another version of a pod that waits here; `actions` say what changed (action::).
  void update(PodPtr pod, uint32_t actions);
  void remove(const api::Uid& uid);
  QueuedPod* find(const api::Uid& uid);

  // The next pod to try, now in flight; null when nobody is ready.
  QueuedPod* pop();
  // This one, wherever it waits; null when it is not here or already tried.
  QueuedPod* pop(const api::Uid& uid);
  // The pod has its node, or is gone: forget it.
  void done(const api::Uid& uid);
  // Tried in vain. Plugins that refused, plugins that asked to wait; neither: an error.
  void returned(const api::Uid& uid, std::set<std::string> refusedBy,
                std::set<std::string> waitingFor, bool isError);

  // The same in two steps, for pods that are decided but not yet bound. Events that come while a
  // pod waits for permission are kept for it, until settled().
  std::unique_ptr<QueuedPod> take(const api::Uid& uid, bool waits = false);
  void settled(QueuedPod& pod);
  void giveBack(std::unique_ptr<QueuedPod> pod, std::set<std::string> refusedBy,
                std::set<std::string> waitingFor, bool isError);

  void happened(const ClusterEvent& event);
  void activate(const api::Uid& uid);
  void flush();
  // When flush() has something to do next; max: nothing.
  MonoTime nextFlush() const;

  struct Sizes {
    size_t active = 0, backoff = 0, pool = 0, gated = 0, inFlight = 0;
  };
  Sizes sizes() const;
  bool ready() const { return !active_.empty() || (options_.popFromBackoff && !backoff_.empty()); }

 private:
  struct ByOrder {
    bool operator()(const QueuedPod* a, const QueuedPod* b) const;
  };
  struct ByBackoff {
    bool aligned;
    bool operator()(const QueuedPod* a, const QueuedPod* b) const;
  };
  struct BySince {
    bool operator()(const QueuedPod* a, const QueuedPod* b) const {
      return a->since != b->since ? a->since < b->since : a->number < b->number;
    }
  };
  enum class Wake : uint8_t { kNo, kAfterBackoff, kNow };

  void settle(QueuedPod& pod, std::set<std::string> refusedBy, std::set<std::string> waitingFor,
              bool isError);
  void leave(QueuedPod& pod);
  QueuedPod* takeOff(QueuedPod& pod);
  void toActive(QueuedPod& pod, std::string_view event);
  void toPool(QueuedPod& pod, std::string_view event);
  void toBackoff(QueuedPod& pod, std::string_view event);
  void note(Area area, std::string_view event) const;
  void wake(QueuedPod& pod, Wake how, std::string_view event);
  Wake answer(const QueuedPod& pod, const ClusterEvent& event) const;
  bool gate(QueuedPod& pod, std::string_view event);
  bool isBackingOff(const QueuedPod& pod) const;
  bool endsByTime(const QueuedPod& pod) const;
  void remember(const ClusterEvent& event);
  std::vector<ClusterEvent> eventsSince(uint64_t first) const;
  void replay(QueuedPod& pod, const std::vector<ClusterEvent>& missed);
  void trimEvents();

  Clock& clock_;
  QueueOptions options_;
  QueueRules rules_;
  std::unordered_map<api::Uid, std::unique_ptr<QueuedPod>> pods_;
  std::set<QueuedPod*, ByOrder> active_;
  std::set<QueuedPod*, ByBackoff> backoff_{ByBackoff{true}};
  std::set<QueuedPod*, ByBackoff> errors_{ByBackoff{false}};
  std::unordered_set<QueuedPod*> pool_;
  size_t gated_ = 0;                     // of the pool
  std::set<QueuedPod*, BySince> timed_;  // of the pool: tried again when they waited too long
  std::unordered_map<std::string, std::unordered_set<QueuedPod*>> poolByPlugin_;
  // → number of the first event after the pop; those that wait for permission as well.
  std::unordered_map<const QueuedPod*, uint64_t> inFlight_;
  std::deque<ClusterEvent> events_;
  uint64_t eventsBase_ = 0;
  uint64_t next_ = 1;
};

}  // namespace mangrove::placement
