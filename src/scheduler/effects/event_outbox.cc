#include "scheduler/effects/event_outbox.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/object/event.h"
#include "api/wire/kind.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::scheduler {

namespace {

struct Words {
  std::string_view type, reason, action;
};

Words wordsOf(PodEvent::What what) {
  switch (what) {
    case PodEvent::What::kScheduled:
      return {"Normal", "Scheduled", "Binding"};
    case PodEvent::What::kFailed:
      return {"Warning", "FailedScheduling", "Scheduling"};
    case PodEvent::What::kPreempted:
      return {"Normal", "Preempted", "Preempting"};
    case PodEvent::What::kIgnored:
      return {"Warning", "Ignored", "Scheduling"};
    case PodEvent::What::kDevice:
      return {"Warning", "DeviceTrouble", "Scheduling"};
    case PodEvent::What::kOver:
      return {"Warning", "NodeOvercommitted", "Scheduling"};
  }
  return {};
}

PodEvent::About aboutOf(const api::Pod& pod) {
  if (placement::isReservePod(pod))
    return {api::Text(placement::reservationNameOf(pod)), Interned(), pod.meta.uid,
            pod.meta.resourceVersion, true};
  return {pod.meta.name, pod.meta.ns, pod.meta.uid, pod.meta.resourceVersion};
}

api::ObjectRef refOf(const PodEvent::About& about) {
  api::ObjectMeta meta;
  meta.name = about.name;
  meta.ns = about.ns;
  meta.uid = about.uid;
  meta.resourceVersion = about.resourceVersion;
  return api::refTo(about.isReservation ? api::kind::kReservation : api::kind::kPod, meta);
}

uint64_t unsettledOf(const client::EventRecorder& recorder) {
  const client::EventRecorderStats s = recorder.stats();
  return s.recorded - s.sent - s.suppressed - s.overflowed - s.failed;
}

// How many more the recorder takes without dropping any.
size_t roomOf(const client::EventRecorder& recorder) {
  const uint64_t waiting = unsettledOf(recorder);
  const uint64_t limit = client::EventRecorderOptions().queueLimit;
  return waiting >= limit ? 0 : limit - waiting;
}

}  // namespace

PodEvent PodEvent::scheduled(const api::Pod& pod, std::string_view node) {
  About about = aboutOf(pod);
  std::string note = fmt::format("Successfully assigned {}{}{} to {}", about.ns.view(),
                                 about.ns.empty() ? "" : "/", about.name.view(), node);
  return {What::kScheduled, std::move(about), std::move(note)};
}

PodEvent PodEvent::failed(const api::Pod& pod, std::string_view message) {
  return {What::kFailed, aboutOf(pod), api::eventNote(message)};
}

PodEvent PodEvent::device(const api::Pod& pod, std::string_view message) {
  return {What::kDevice, aboutOf(pod), std::string(message)};
}

PodEvent PodEvent::overcommitted(const api::Pod& standIn, std::string_view message) {
  return {What::kOver, aboutOf(standIn), api::eventNote(message)};
}

PodEvent PodEvent::ignored(const api::Pod& pod, std::string_view message) {
  return {What::kIgnored, aboutOf(pod), std::string(message)};
}

PodEvent PodEvent::preempted(const api::Pod& victim, const api::Pod& preemptor,
                             std::string_view loss) {
  return {What::kPreempted, aboutOf(victim),
          api::eventNote(fmt::format("Preempted by pod {} on node {}{}{}", preemptor.meta.uid.str(),
                                     victim.nodeName.view(), loss.empty() ? "" : "; ", loss)),
          std::make_unique<About>(aboutOf(preemptor))};
}

api::Event PodEvent::wholly() const {
  const Words words = wordsOf(what);
  api::Event event;
  event.regarding = refOf(pod);
  if (related) event.related = refOf(*related);
  event.type = words.type;
  event.reason = words.reason;
  event.action = words.action;
  event.note = note;
  event.eventTime = at;
  return event;
}

EventOutbox::EventOutbox(client::ApiClient& client, Mailbox& home, Clock& clock, Registry& metrics)
    : client_(client),
      home_(home),
      clock_(clock),
      metrics_(metrics),
      dropped_(metrics
                   .counters("mangrove_events_total", "Kubernetes Events by what became of them.",
                             {"result"})
                   .with({"dropped"})) {}

client::EventRecorder& EventOutbox::recorderOf(std::string_view profile) {
  const auto at = recorders_.find(profile);
  if (at != recorders_.end()) return *at->second;
  client::EventRecorderOptions options;
  options.component = std::string(profile);
  options.metrics = &metrics_;
  auto recorder = std::make_unique<client::EventRecorder>(client_, home_, clock_, options);
  return *(recorders_[std::string(profile)] = std::move(recorder));
}

void EventOutbox::add(std::string_view profile, PodEvent event, size_t underWay) {
  client::EventRecorder& recorder = recorderOf(profile);
  event.at = clock_.wall();
  if (waiting_.empty() && underWay < kBusy && roomOf(recorder) > 0)
    return recorder.record(event.wholly());
  if (!hasRoom()) return drop();
  waiting_.push_back({&recorder, std::move(event)});
}

bool EventOutbox::idle() const {
  return waiting_.empty() && std::ranges::all_of(recorders_, [](const auto& recorder) {
           return unsettledOf(*recorder.second) == 0;
         });
}

// In the order in which they came, so that one profile whose recorder is full keeps the others
// waiting: a recorder is full only while the server takes no events at all.
void EventOutbox::tick(size_t underWay) {
  size_t most = underWay < kBusy ? waiting_.size() : std::min(kTrickle, waiting_.size());
  for (; most > 0 && roomOf(*waiting_.front().recorder) > 0; --most) {
    waiting_.front().recorder->record(waiting_.front().event.wholly());
    waiting_.pop_front();
  }
}

}  // namespace mangrove::scheduler
