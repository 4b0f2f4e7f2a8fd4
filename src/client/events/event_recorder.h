#pragma once
// Tells users what happened where they look for it: Kubernetes Events about an object, shown by
// kubectl describe.
//
//   EventRecorder events(client, worker.mailbox(), clock, {.component = "koord-scheduler"});
//   events.warning(api::refTo(kind::kPod, pod.meta), "FailedScheduling",
//                  "0/3 nodes are available");
//
// record() may be called from any thread and never waits: events go into a bounded queue and are
// dropped (and counted) when it is full. They are correlated (event_correlator.h) and sent from the
// `home` mailbox's thread, several at a time, a repetition only after what it repeats. An event
// that the server refuses is dropped; one that cannot be delivered is tried as ApiClient tries,
// then dropped. Events are hints, not records.

#include <memory>
#include <string>

#include "api/object/event.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/api_client.h"
#include "client/events/event_correlator.h"

namespace mangrove::client {

struct EventRecorderOptions {
  std::string component = {};
  std::string host = {};
  size_t queueLimit = 1000;
  CorrelatorOptions correlator = {};
  Registry* metrics = nullptr;
};

struct EventRecorderStats {
  uint64_t recorded = 0;    // asked for
  uint64_t sent = 0;        // created or patched on the server
  uint64_t suppressed = 0;  // by the spam filter
  uint64_t overflowed = 0;  // the queue was full
  uint64_t failed = 0;      // the server refused or was not there
};

class EventRecorder {
 public:
  EventRecorder(ApiClient& client, Mailbox& home, Clock& clock, EventRecorderOptions options);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  void normal(const api::ObjectRef& about, std::string_view reason, std::string_view message);
  void warning(const api::ObjectRef& about, std::string_view reason, std::string_view message);
  // Everything but name, count, times and source, which are filled in. With an eventTime it is told
  // as of then: for events that waited elsewhere.
  void record(api::Event event);

  EventRecorderStats stats() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace mangrove::client
