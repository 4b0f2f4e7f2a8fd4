#include "placement/queue/queue.h"

#include <algorithm>

namespace mangrove::placement {

namespace {

constexpr auto kWindow = std::chrono::seconds(1);

MonoTime aligned(MonoTime time) {
  return MonoTime(time.time_since_epoch() / kWindow * kWindow);
}

}  // namespace

Duration backoffAfter(int32_t failures, Duration initial, Duration max) {
  if (failures <= 0 || max <= Duration::zero()) return Duration::zero();
  Duration wait = initial;
  for (int32_t i = 1; i < failures && wait < max; i++) wait *= 2;
  return std::min(wait, max);
}

bool comesFirst(int32_t priorityA, MonoTime sinceA, int32_t priorityB, MonoTime sinceB) {
  return priorityA != priorityB ? priorityA > priorityB : sinceA < sinceB;
}

bool Queue::ByOrder::operator()(const QueuedPod* a, const QueuedPod* b) const {
  const int32_t pa = a->pod->cls->priority, pb = b->pod->cls->priority;
  if (pa != pb || a->since != b->since) return comesFirst(pa, a->since, pb, b->since);
  return a->number < b->number;
}

bool Queue::ByBackoff::operator()(const QueuedPod* a, const QueuedPod* b) const {
  const MonoTime ta = aligned ? placement::aligned(a->backoffUntil) : a->backoffUntil;
  const MonoTime tb = aligned ? placement::aligned(b->backoffUntil) : b->backoffUntil;
  return ta != tb ? ta < tb : ByOrder()(a, b);
}

Queue::Queue(Clock& clock, QueueOptions options, QueueRules rules)
    : clock_(clock), options_(options), rules_(std::move(rules)) {}
Queue::~Queue() = default;

void Queue::add(PodPtr pod) {
  const api::Uid uid = pod->pod->meta.uid;
  auto& slot = pods_[uid];
  if (slot) {
    update(std::move(pod), 0);
    return;
  }
  slot = std::make_unique<QueuedPod>();
  slot->pod = std::move(pod);
  slot->number = next_++;
  slot->since = slot->firstQueued = clock_.mono();
  if (!gate(*slot, "PodAdd")) toActive(*slot, "PodAdd");
}

// Runs PreEnqueue; a pod that is kept out waits in the pool.
bool Queue::gate(QueuedPod& pod, std::string_view event) {
  pod.gatedBy = rules_.admit(*pod.pod);
  if (pod.gatedBy.empty()) return false;
  pod.refusedBy.insert(pod.gatedBy);
  toPool(pod, event);
  return true;
}

void Queue::leave(QueuedPod& pod) {
  switch (pod.area) {
    case Area::kActive:
      active_.erase(&pod);
      break;
    case Area::kBackoff:
      backoff_.erase(&pod);
      break;
    case Area::kErrorBackoff:
      errors_.erase(&pod);
      break;
    case Area::kPool:
      pool_.erase(&pod);
      gated_ -= !pod.gatedBy.empty();
      timed_.erase(&pod);
      if (rules_.pooled) rules_.pooled(pod, -1);
      for (const auto& plugin : pod.refusedBy) poolByPlugin_[plugin].erase(&pod);
      for (const auto& plugin : pod.waitingFor) poolByPlugin_[plugin].erase(&pod);
      break;
    case Area::kInFlight:
      inFlight_.erase(&pod);
      trimEvents();
      break;
  }
}

// An update of a pod brings it nowhere: no event.
void Queue::note(Area area, std::string_view event) const {
  if (rules_.entered && !event.empty()) rules_.entered(area, event);
}

void Queue::toActive(QueuedPod& pod, std::string_view event) {
  note(Area::kActive, event);
  pod.area = Area::kActive;
  active_.insert(&pod);
}

void Queue::toPool(QueuedPod& pod, std::string_view event) {
  note(Area::kPool, event);
  pod.area = Area::kPool;
  pool_.insert(&pod);
  gated_ += !pod.gatedBy.empty();
  if (endsByTime(pod)) timed_.insert(&pod);
  if (rules_.pooled) rules_.pooled(pod, +1);
  if (pod.gatedBy == kEvicting) return;  // no event opens that gate
  for (const auto& plugin : pod.refusedBy) poolByPlugin_[plugin].insert(&pod);
  for (const auto& plugin : pod.waitingFor) poolByPlugin_[plugin].insert(&pod);
}

void Queue::toBackoff(QueuedPod& pod, std::string_view event) {
  note(Area::kBackoff, event);
  // Nobody refused it: trying again at once would only repeat the error, so it never leaves early.
  const bool error = pod.refusedBy.empty() && pod.waitingFor.empty();
  pod.area = error ? Area::kErrorBackoff : Area::kBackoff;
  (error ? errors_ : backoff_).insert(&pod);
}

bool Queue::endsByTime(const QueuedPod& pod) const {
  if (!pod.gatedBy.empty()) return false;
  if (!rules_.wakes || pod.refusedBy.empty() || !pod.waitingFor.empty()) return true;
  return !std::all_of(pod.refusedBy.begin(), pod.refusedBy.end(),
                      [&](const std::string& plugin) { return rules_.wakes(plugin, *pod.pod); });
}

bool Queue::isBackingOff(const QueuedPod& pod) const {
  if (pod.refusedBy.empty() && pod.waitingFor.empty()) return pod.backoffUntil > clock_.mono();
  return aligned(pod.backoffUntil) > aligned(clock_.mono());
}

void Queue::update(PodPtr pod, uint32_t actions) {
  QueuedPod* queued = find(pod->pod->meta.uid);
  if (!queued) return add(std::move(pod));
  const Area area = queued->area;
  if (area == Area::kInFlight) {
    queued->pod = std::move(pod);
    return;
  }
  leave(*queued);
  queued->pod = std::move(pod);
  if (area == Area::kActive) return toActive(*queued, "");
  if (area == Area::kBackoff || area == Area::kErrorBackoff) return toBackoff(*queued, "");
  toPool(*queued, "");
  if (actions == 0) return;
  ClusterEvent event;
  event.kind = EventKind::kPodUpdate;
  event.actions = actions;
  event.label = "UnscheduledPodUpdate";
  event.pod = queued->pod->pod;
  wake(*queued, answer(*queued, event), event.label);
}

void Queue::remove(const api::Uid& uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  leave(*at->second);
  pods_.erase(at);
}

QueuedPod* Queue::find(const api::Uid& uid) {
  const auto at = pods_.find(uid);
  return at == pods_.end() ? nullptr : at->second.get();
}

QueuedPod* Queue::pop() {
  QueuedPod* pod = nullptr;
  if (!active_.empty())
    pod = *active_.begin();
  else if (options_.popFromBackoff && !backoff_.empty())
    pod = *backoff_.begin();
  return pod ? takeOff(*pod) : nullptr;
}

QueuedPod* Queue::pop(const api::Uid& uid) {
  QueuedPod* pod = find(uid);
  return pod && pod->area != Area::kInFlight ? takeOff(*pod) : nullptr;
}

QueuedPod* Queue::takeOff(QueuedPod& pod) {
  leave(pod);
  pod.area = Area::kInFlight;
  pod.attempts++;
  pod.lastAttempt = clock_.mono();
  if (pod.firstAttempt == MonoTime{}) pod.firstAttempt = pod.lastAttempt;
  pod.refusedBy.clear();
  pod.waitingFor.clear();
  pod.gatedBy.clear();  // a gang takes members by name from behind their gate
  inFlight_[&pod] = eventsBase_ + events_.size();
  return &pod;
}

void Queue::done(const api::Uid& uid) {
  if (QueuedPod* pod = find(uid); pod && pod->area == Area::kInFlight) remove(uid);
}

void Queue::returned(const api::Uid& uid, std::set<std::string> refusedBy,
                     std::set<std::string> waitingFor, bool isError) {
  QueuedPod* pod = find(uid);
  if (!pod || pod->area != Area::kInFlight) return;
  const auto missed = eventsSince(inFlight_[pod]);
  leave(*pod);
  settle(*pod, std::move(refusedBy), std::move(waitingFor), isError);
  replay(*pod, missed);
}

// What is still remembered of the time since then; events beyond are of no use, as such a pod is
// retried by time.
std::vector<ClusterEvent> Queue::eventsSince(uint64_t first) const {
  const uint64_t from =
      std::min<uint64_t>(std::max(first, eventsBase_) - eventsBase_, events_.size());
  return {events_.begin() + static_cast<long>(from), events_.end()};
}

void Queue::replay(QueuedPod& pod, const std::vector<ClusterEvent>& missed) {
  for (const auto& event : missed) {
    if (pod.area != Area::kPool) return;
    wake(pod, answer(pod, event), event.label);
  }
}

// Where a pod that failed waits, and how long.
void Queue::settle(QueuedPod& pod, std::set<std::string> refusedBy,
                   std::set<std::string> waitingFor, bool isError) {
  pod.since = clock_.mono();
  pod.refusedBy = std::move(refusedBy);
  pod.waitingFor = std::move(waitingFor);
  pod.errors = isError ? pod.errors + 1 : 0;
  if (!isError) pod.rejections++;
  const int32_t failures = isError ? pod.errors : pod.rejections;
  pod.backoffUntil =
      pod.since + backoffAfter(failures, options_.initialBackoff, options_.maxBackoff);
  constexpr std::string_view kFailed = "ScheduleAttemptFailure";
  if (!isError && !(pod.refusedBy.empty() && pod.waitingFor.empty())) return toPool(pod, kFailed);
  isBackingOff(pod) ? toBackoff(pod, kFailed) : toActive(pod, kFailed);
}

std::unique_ptr<QueuedPod> Queue::take(const api::Uid& uid, bool waits) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return nullptr;
  const bool keeps = waits && at->second->area == Area::kInFlight;
  if (!keeps) leave(*at->second);
  auto out = std::move(at->second);
  pods_.erase(at);
  return out;
}

void Queue::settled(QueuedPod& pod) {
  if (inFlight_.erase(&pod) > 0) trimEvents();
}

void Queue::giveBack(std::unique_ptr<QueuedPod> pod, std::set<std::string> refusedBy,
                     std::set<std::string> waitingFor, bool isError) {
  const api::Uid uid = pod->pod->pod->meta.uid;
  const auto waited = inFlight_.find(pod.get());
  const auto missed =
      waited == inFlight_.end() ? std::vector<ClusterEvent>() : eventsSince(waited->second);
  settled(*pod);
  auto& slot = pods_[uid];
  if (slot) return;  // came back by another way
  slot = std::move(pod);
  settle(*slot, std::move(refusedBy), std::move(waitingFor), isError);
  replay(*slot, missed);
}

Queue::Wake Queue::answer(const QueuedPod& pod, const ClusterEvent& event) const {
  if (event.kind == EventKind::kWildcard) return Wake::kAfterBackoff;
  if (pod.refusedBy.empty() && pod.waitingFor.empty()) return Wake::kAfterBackoff;
  const auto says = [&](const std::string& plugin) {
    return (rules_.interests(plugin) & bit(event.kind)) &&
           rules_.hint(plugin, event, *pod.pod) == Hint::kQueue;
  };
  if (std::any_of(pod.waitingFor.begin(), pod.waitingFor.end(), says)) return Wake::kNow;
  if (std::any_of(pod.refusedBy.begin(), pod.refusedBy.end(), says)) return Wake::kAfterBackoff;
  return Wake::kNo;
}

void Queue::wake(QueuedPod& pod, Wake how, std::string_view event) {
  if (how == Wake::kNo || pod.area != Area::kPool) return;
  leave(pod);
  const bool wasGated = !pod.gatedBy.empty();
  if (gate(pod, "")) return;
  if (wasGated) {
    pod.refusedBy.clear();
    pod.since = clock_.mono();
  }
  if (how == Wake::kNow || !isBackingOff(pod)) return toActive(pod, event);
  toBackoff(pod, event);
}

void Queue::happened(const ClusterEvent& event) {
  if (!inFlight_.empty()) remember(event);
  if (pool_.empty()) return;
  std::vector<QueuedPod*> concerned;
  if (event.kind == EventKind::kWildcard) {
    concerned.assign(pool_.begin(), pool_.end());
    std::erase_if(concerned, [](const QueuedPod* pod) { return pod->gatedBy == kEvicting; });
  } else {
    for (const auto& [plugin, pods] : poolByPlugin_)
      if (!pods.empty() && (rules_.interests(plugin) & bit(event.kind)))
        concerned.insert(concerned.end(), pods.begin(), pods.end());
  }
  // In the order of the queue, so that a run can be repeated.
  std::sort(concerned.begin(), concerned.end(), ByOrder());
  concerned.erase(std::unique(concerned.begin(), concerned.end()), concerned.end());
  for (QueuedPod* pod : concerned)
    if (pod->area == Area::kPool) wake(*pod, answer(*pod, event), event.label);
}

void Queue::remember(const ClusterEvent& event) {
  constexpr size_t kMost = 10000;  // a pod that waits longer is retried by time anyway
  events_.push_back(event);
  if (events_.size() <= kMost) return;
  events_.pop_front();
  eventsBase_++;
}

void Queue::trimEvents() {
  if (inFlight_.empty()) {
    eventsBase_ += events_.size();
    events_.clear();
  }
}

void Queue::activate(const api::Uid& uid) {
  QueuedPod* pod = find(uid);
  if (!pod || pod->area == Area::kActive) return;
  if (pod->area == Area::kInFlight) {
    remember({});
    return;
  }
  leave(*pod);
  if (!gate(*pod, "ForceActivate")) toActive(*pod, "ForceActivate");
}

void Queue::flush() {
  const auto ready = [&](std::set<QueuedPod*, ByBackoff>& waiting) {
    while (!waiting.empty() && !isBackingOff(**waiting.begin())) {
      QueuedPod* pod = *waiting.begin();
      waiting.erase(waiting.begin());
      if (!gate(*pod, "BackoffComplete")) toActive(*pod, "BackoffComplete");
    }
  };
  ready(backoff_);
  ready(errors_);
  std::vector<QueuedPod*> old;
  for (QueuedPod* pod : timed_) {
    if (pod->since + options_.maxInPool >= clock_.mono()) break;
    old.push_back(pod);
  }
  std::sort(old.begin(), old.end(), ByOrder());
  for (QueuedPod* pod : old) wake(*pod, Wake::kAfterBackoff, "UnschedulableTimeout");
}

MonoTime Queue::nextFlush() const {
  MonoTime next = MonoTime::max();
  if (!backoff_.empty()) next = std::min(next, aligned((*backoff_.begin())->backoffUntil));
  if (!errors_.empty()) next = std::min(next, (*errors_.begin())->backoffUntil);
  return next;
}

Queue::Sizes Queue::sizes() const {
  return {active_.size(), backoff_.size() + errors_.size(), pool_.size() - gated_, gated_,
          inFlight_.size()};
}

}  // namespace mangrove::placement
