#include "client/events/event_recorder.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>

#include "base/os/log.h"
#include "json/value.h"

namespace mangrove::client {

namespace {

const Logger log("events");

// What repeats: the count, the time and, for combined events, the newest message.
json::Object repetition(const api::Event& event) {
  json::Object whole = event.toCoreJson();
  json::Object out;
  for (const char* field : {"count", "lastTimestamp", "message"})
    if (whole.contains(field)) out[field] = whole[field];
  return out;
}

}  // namespace

class EventRecorder::Impl : public std::enable_shared_from_this<EventRecorder::Impl> {
 public:
  Impl(ApiClient& client, Mailbox& home, Clock& clock, EventRecorderOptions options)
      : client_(client),
        home_(home),
        clock_(clock),
        options_(std::move(options)),
        correlator_(options_.correlator) {
    if (options_.metrics == nullptr) return;
    CounterFamily& family = options_.metrics->counters(
        "mangrove_events_total", "Kubernetes Events by what became of them.", {"result"});
    sentMetric_ = family.with({"sent"});
    droppedMetric_ = family.with({"dropped"});
  }

  void record(api::Event event) {
    event.reportingController = options_.component;
    event.reportingInstance = options_.host;
    event.host = options_.host;
    std::lock_guard lock(mutex_);
    ++stats_.recorded;
    if (stopped_) return;
    if (queue_.size() >= options_.queueLimit) {
      ++stats_.overflowed;
      droppedMetric_.inc();
      return;
    }
    queue_.push_back(std::move(event));
    wake();
  }

  // Home thread. Several are on their way at a time, so that a storm of them costs few wake-ups.
  void next() {
    {
      std::lock_guard lock(mutex_);
      posted_ = false;
    }
    while (auto verdict = take()) send(std::move(*verdict));
  }

  void send(EventCorrelator::Verdict verdict) {
    Request request;
    std::string ns = verdict.event.regarding.ns;
    if (ns.empty()) ns = "default";  // events about cluster-scoped objects live there
    verdict.event.meta.ns = Interned(ns);
    bool creates = verdict.fate == EventCorrelator::Fate::kCreate;
    request.verb = creates ? Verb::kCreate : Verb::kPatch;
    request.ref = {kind::kEvent, ns, creates ? "" : verdict.event.meta.name.str()};
    request.body = json::write(creates ? verdict.event.toCoreJson() : repetition(verdict.event));
    request.flow = "events";
    client_.submit(std::move(request), [weak = weak_from_this(),
                                        verdict = std::move(verdict)](Result<Reply> reply) mutable {
      auto self = weak.lock();
      if (!self) return;
      if (reply) return self->settle(&EventRecorderStats::sent);
      self->postFailure(std::move(verdict), reply.error());
    });
  }

  // After stop() home is not touched any more, whatever thread a late answer comes on.
  void postFailure(EventCorrelator::Verdict verdict, const Error& why) {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    home_.post([self = shared_from_this(), verdict = std::move(verdict), why]() mutable {
      self->failed(std::move(verdict), why);
    });
  }

  void failed(EventCorrelator::Verdict verdict, const Error& why) {
    // The server keeps events for an hour; ours goes on under the same name.
    if (verdict.fate == EventCorrelator::Fate::kPatch && why.code() == Code::kNotFound) {
      verdict.fate = EventCorrelator::Fate::kCreate;
      return send(std::move(verdict));
    }
    if (verdict.fate == EventCorrelator::Fate::kCreate) correlator_.forget(verdict.key);
    log.debug("event dropped: {}", why.text());
    settle(&EventRecorderStats::failed);
  }

  void stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    queue_.clear();
  }

  EventRecorderStats stats() const {
    std::lock_guard lock(mutex_);
    return stats_;
  }

 private:
  using Verdict = EventCorrelator::Verdict;

  // Counted as on its way from now on. A repetition waits until nothing else is: what it repeats
  // must be there.
  std::optional<Verdict> take() {
    if (!held_) held_ = judgeNext();
    std::lock_guard lock(mutex_);
    holds_ = held_.has_value();
    if (!holds_ || stopped_) return std::nullopt;
    const bool repeats = held_->fate == EventCorrelator::Fate::kPatch;
    wakeAt_ = repeats ? 0 : kUnderWay / 2;
    if (underWay_ >= (repeats ? 1 : kUnderWay)) return std::nullopt;
    ++underWay_;
    holds_ = false;
    wakeAt_ = kUnderWay / 2;
    return std::exchange(held_, std::nullopt);
  }

  // Names are made of it: two events of one object in one moment need two.
  WallTime ownMoment() {
    judgedAt_ = std::max(clock_.wall(), judgedAt_ + WallTime::duration(1));
    return judgedAt_;
  }

  std::optional<Verdict> judgeNext() {
    while (auto event = pop()) {
      Verdict verdict = correlator_.judge(std::move(*event), clock_.mono(), ownMoment());
      if (verdict.fate != EventCorrelator::Fate::kDrop) return verdict;
      droppedMetric_.inc();
      std::lock_guard lock(mutex_);
      ++stats_.suppressed;
    }
    return std::nullopt;
  }

  std::optional<api::Event> pop() {
    std::lock_guard lock(mutex_);
    if (stopped_ || queue_.empty()) return std::nullopt;
    api::Event event = std::move(queue_.front());
    queue_.pop_front();
    return event;
  }

  // Any thread: one that was on its way is not any more.
  void settle(uint64_t EventRecorderStats::*what) {
    (what == &EventRecorderStats::sent ? sentMetric_ : droppedMetric_).inc();
    std::lock_guard lock(mutex_);
    ++(stats_.*what);
    --underWay_;
    wake();
  }

  // Under the mutex. Nobody is woken for the first of many places that become free.
  void wake() {
    if (stopped_ || posted_ || (queue_.empty() && !holds_) || underWay_ > wakeAt_) return;
    posted_ = true;
    home_.post([self = shared_from_this()] { self->next(); });
  }

  static constexpr size_t kUnderWay = 16;

  ApiClient& client_;
  Mailbox& home_;
  Clock& clock_;
  const EventRecorderOptions options_;
  EventCorrelator correlator_;   // home thread only
  WallTime judgedAt_{};          // the same
  std::optional<Verdict> held_;  // judged and not sent yet; home thread only
  mutable std::mutex mutex_;
  std::deque<api::Event> queue_;
  EventRecorderStats stats_;
  Counter sentMetric_, droppedMetric_;
  size_t underWay_ = 0;
  size_t wakeAt_ = kUnderWay / 2;  // so few on their way let the next ones go
  bool holds_ = false;             // held_
  bool posted_ = false;            // next() is about to run
  bool stopped_ = false;
};

EventRecorder::EventRecorder(ApiClient& client, Mailbox& home, Clock& clock,
                             EventRecorderOptions options)
    : impl_(std::make_shared<Impl>(client, home, clock, std::move(options))) {}

EventRecorder::~EventRecorder() {
  impl_->stop();
}

void EventRecorder::record(api::Event event) {
  impl_->record(std::move(event));
}

void EventRecorder::normal(const api::ObjectRef& about, std::string_view reason,
                           std::string_view message) {
  api::Event event;
  event.regarding = about;
  event.type = "Normal";
  event.reason = reason;
  event.note = message;
  record(std::move(event));
}

void EventRecorder::warning(const api::ObjectRef& about, std::string_view reason,
                            std::string_view message) {
  api::Event event;
  event.regarding = about;
  event.type = "Warning";
  event.reason = reason;
  event.note = message;
  record(std::move(event));
}

EventRecorderStats EventRecorder::stats() const {
  return impl_->stats();
}

}  // namespace mangrove::client
