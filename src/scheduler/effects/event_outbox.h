#pragma once
// Events about pods on their way to their recorders. Nobody waits for an event, but it costs the
// server as much as a binding. So events are written at once while there is little else to write;
// while there is much they wait, and kTrickle a second go out all the same. Beyond kMost new ones
// are dropped and counted: events are hints, not records.
//
//   EventOutbox outbox(client, home, clock, metrics);
//   outbox.add("koord-scheduler", PodEvent::scheduled(pod, "node-1"), requestsUnderWay);
//   outbox.tick(requestsUnderWay);                       // about once a second
//
// Owner thread only.

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "api/pod/pod.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/events/event_recorder.h"

namespace mangrove::scheduler {

// In a form that is cheap to make and to keep.
struct PodEvent {
  enum class What : uint8_t { kScheduled, kFailed, kPreempted, kIgnored, kDevice, kOver };
  struct About {
    api::Text name;
    Interned ns;
    api::Uid uid;
    std::string resourceVersion;
    bool isReservation = false;  // the pod stands for it
  };
  What what = What::kScheduled;
  About pod;
  std::string note;
  std::unique_ptr<About> related = {};
  WallTime at = kZeroTime;  // filled in by the outbox: when it happened, not when it is written

  static PodEvent scheduled(const api::Pod& pod, std::string_view node);
  static PodEvent failed(const api::Pod& pod, std::string_view message);
  static PodEvent ignored(const api::Pod& pod, std::string_view message);
  static PodEvent device(const api::Pod& pod, std::string_view message);
  static PodEvent overcommitted(const api::Pod& standIn, std::string_view message);
  static PodEvent preempted(const api::Pod& victim, const api::Pod& preemptor,
                            std::string_view loss = {});
  api::Event wholly() const;
};

class EventOutbox {
 public:
  static constexpr size_t kBusy = 16;     // requests under way
  static constexpr size_t kTrickle = 20;  // events a second while busy
  static constexpr size_t kMost = 4096;   // waiting

  EventOutbox(client::ApiClient& client, Mailbox& home, Clock& clock, Registry& metrics);

  // Whether a further event has a place, so that it need not even be made.
  bool hasRoom() const { return waiting_.size() < kMost; }
  void add(std::string_view profile, PodEvent event, size_t underWay);
  void drop() { dropped_.inc(); }
  void tick(size_t underWay);
  size_t waiting() const { return waiting_.size(); }
  bool idle() const;  // nothing waits, and the server has answered all

 private:
  struct Waiting {
    client::EventRecorder* recorder;
    PodEvent event;
  };
  client::EventRecorder& recorderOf(std::string_view profile);

  client::ApiClient& client_;
  Mailbox& home_;
  Clock& clock_;
  Registry& metrics_;
  std::map<std::string, std::unique_ptr<client::EventRecorder>, std::less<>> recorders_;
  std::deque<Waiting> waiting_;
  Counter dropped_;
};

}  // namespace mangrove::scheduler
