#include "client/event_recorder.h"

#include <atomic>
#include <deque>
#include <mutex>

#include "base/log.h"
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
    if (!std::exchange(busy_, true)) home_.post([self = shared_from_this()] { self->next(); });
  }

  // Home thread; one event is on its way at a time.
  void next() {
    for (;;) {
      api::Event event;
      {
        std::lock_guard lock(mutex_);
        if (stopped_ || queue_.empty()) {
          busy_ = false;
          return;
        }
        event = std::move(queue_.front());
        queue_.pop_front();
      }
      auto verdict = correlator_.judge(std::move(event), clock_.mono(), clock_.wall());
      if (verdict.fate != EventCorrelator::Fate::kDrop) return send(std::move(verdict));
      count(&EventRecorderStats::suppressed);
      droppedMetric_.inc();
    }
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
      if (auto self = weak.lock()) self->postAnswer(std::move(verdict), std::move(reply));
    });
  }

  // After stop() home is not touched any more, whatever thread a late answer comes on.
  void postAnswer(EventCorrelator::Verdict verdict, Result<Reply> reply) {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    home_.post([self = shared_from_this(), verdict = std::move(verdict),
                reply = std::move(reply)]() mutable { self->answered(std::move(verdict), reply); });
  }

  void answered(EventCorrelator::Verdict verdict, const Result<Reply>& reply) {
    if (reply) {
      count(&EventRecorderStats::sent);
      sentMetric_.inc();
      return next();
    }
    // The server keeps events for an hour; ours goes on under the same name.
    if (verdict.fate == EventCorrelator::Fate::kPatch && reply.error().code() == Code::kNotFound) {
      verdict.fate = EventCorrelator::Fate::kCreate;
      return send(std::move(verdict));
    }
    if (verdict.fate == EventCorrelator::Fate::kCreate) correlator_.forget(verdict.key);
    log.debug("event dropped: {}", reply.error().text());
    count(&EventRecorderStats::failed);
    droppedMetric_.inc();
    next();
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
  void count(uint64_t EventRecorderStats::*what) {
    std::lock_guard lock(mutex_);
    ++(stats_.*what);
  }

  ApiClient& client_;
  Mailbox& home_;
  Clock& clock_;
  const EventRecorderOptions options_;
  EventCorrelator correlator_;  // home thread only
  mutable std::mutex mutex_;
  std::deque<api::Event> queue_;
  EventRecorderStats stats_;
  Counter sentMetric_, droppedMetric_;
  bool busy_ = false;  // somebody is in next() or waits for an answer
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
