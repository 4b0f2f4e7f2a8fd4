#include "scheduler/core/api_effects.h"

#include <fmt/core.h>

#include "api/event.h"
#include "api/names.h"
#include "base/log.h"
#include "base/time_text.h"

namespace mangrove::scheduler {

namespace {

const Logger log("scheduler");

json::Value toObject(const std::vector<std::pair<std::string, std::string>>& texts) {
  json::Object out;
  for (const auto& [key, value] : texts) out[key] = value;
  return out;
}

// The binding carries annotations with it: the server merges them into the pod in the same write.
client::Request bindingWith(const api::ObjectMeta& pod, std::string_view node,
                            const BindNotes& notes) {
  client::Request request = client::bindRequest(pod, node);
  if (notes.annotations.empty() && notes.labels.empty()) return request;
  json::Object body = api::bindingBody(pod, node);
  json::Object& meta = body["metadata"].is_object() ? body["metadata"].get_object()
                                                    : body["metadata"].emplace_object();
  if (!notes.annotations.empty()) meta["annotations"] = toObject(notes.annotations);
  if (!notes.labels.empty()) meta["labels"] = toObject(notes.labels);
  request.body = json::write(body);
  return request;
}

constexpr Duration kLongestDoubt = std::chrono::minutes(5);

// Whether the server surely did nothing.
bool isDecided(const Error& error) {
  return error.detail() >= 400 && error.detail() < 500 && error.detail() != 409 &&
         error.detail() != 408;
}

bool isSaid(const api::Pod& pod, std::string_view reason, std::string_view message) {
  const api::Condition* now = api::findCondition(pod.status.conditions, "PodScheduled");
  return now && now->status == api::Truth::kFalse && now->reason == reason &&
         now->message == message;
}

json::Object unscheduledCondition(const api::Pod& pod, const PodFailure& failure, WallTime now) {
  const api::Condition* before = api::findCondition(pod.status.conditions, "PodScheduled");
  const bool since = before && before->status == api::Truth::kFalse;
  json::Object out;
  out["type"] = "PodScheduled";
  out["status"] = "False";
  out["reason"] = failure.reason;
  out["message"] = failure.message;
  out["lastTransitionTime"] = formatTime(since ? before->lastTransitionTime : now);
  if (pod.meta.generation > 0) out["observedGeneration"] = pod.meta.generation;
  return out;
}

// In a storm most events would be dropped: they need not even be made.
bool isFull(const client::EventRecorder& recorder) {
  const client::EventRecorderStats s = recorder.stats();
  const uint64_t waiting = s.recorded - s.sent - s.suppressed - s.overflowed - s.failed;
  return waiting >= client::EventRecorderOptions().queueLimit;
}

Result<> nothingOf(const Result<client::Reply>& reply) {
  if (reply) return {};
  return pass(reply.error());
}

api::Event eventAbout(const api::Pod& pod, std::string_view type, std::string_view reason,
                      std::string_view action, std::string note) {
  api::Event event;
  event.regarding = api::refTo(api::kind::kPod, pod.meta);
  event.type = type;
  event.reason = reason;
  event.action = action;
  event.note = api::eventNote(note);
  return event;
}

}  // namespace

ApiEffects::ApiEffects(client::ApiClient& client, Mailbox& owner, Mailbox& home, Clock& clock,
                       Registry& metrics)
    : client_(client),
      home_(home),
      clock_(clock),
      metrics_(metrics),
      answers_(std::make_shared<Answers>(owner)) {}

ApiEffects::~ApiEffects() {
  answers_->close();
}

client::EventRecorder& ApiEffects::events(std::string_view profile) {
  const auto at = recorders_.find(profile);
  if (at != recorders_.end()) return *at->second;
  client::EventRecorderOptions options;
  options.component = std::string(profile);
  auto recorder = std::make_unique<client::EventRecorder>(client_, home_, clock_, options);
  return *(recorders_[std::string(profile)] = std::move(recorder));
}

void ApiEffects::send(client::Request request, Answers::Done done) {
  pending_++;
  answers_->sent();
  auto answered = [this, done = std::move(done)](Result<client::Reply> reply) mutable {
    pending_--;
    done(std::move(reply));
    onAnswer_();
  };
  client_.submit(std::move(request),
                 [answers = answers_, answered = Answers::Done(std::move(answered))](
                     auto reply) mutable { answers->add(std::move(answered), std::move(reply)); });
}

void ApiEffects::bind(const PodInfo& pod, std::string_view node, const BindNotes& notes,
                      Done done) {
  send(bindingWith(pod.pod->meta, node, notes),
       [this, object = pod.pod, node = std::string(node),
        done = std::move(done)](Result<client::Reply> reply) mutable {
         if (reply) return done({});
         if (isDecided(reply.error())) return done(pass(reply.error()));
         findOut(object->meta, node, reply.error(), std::move(done));
       });
}

// The answer was lost, or the pod has a node already: the room must not be given to another pod
// before it is clear whether our own binding took effect.
void ApiEffects::findOut(const api::ObjectMeta& pod, const std::string& node, const Error& why,
                         Done done) {
  client::Request request;
  request.verb = client::Verb::kGet;
  request.ref = {api::kind::kPod, pod.ns.str(), pod.name.str()};
  request.timeout = kLongestDoubt;
  request.maxTries = 1000;
  send(std::move(request),
       [uid = pod.uid, node, why, done = std::move(done)](Result<client::Reply> reply) mutable {
         if (!reply) return done(pass(reply.error()));
         auto now = api::decodeText<api::Pod>(reply->body);
         const bool ours = now && now->meta.uid == uid && now->nodeName.view() == node;
         if (ours) return done({});
         done(pass(why));
       });
}

namespace {

client::Request volumeRequest(const VolumeNote& note) {
  const auto [ns, name] = client::splitKey(note.claim);
  json::Object body;
  if (note.volume.empty()) {
    body["metadata"] = json::Object{
        {"uid", note.claimUid},
        {"annotations",
         json::Object{{std::string(api::annotation::kSelectedNode), note.selectedNode}}}};
    return client::patchRequest(
        {api::kind::kPersistentVolumeClaim, std::string(ns), std::string(name)},
        client::PatchType::kMerge, json::write(body));
  }
  body["metadata"] =
      json::Object{{"annotations", json::Object{{"pv.kubernetes.io/bound-by-controller", "yes"}}}};
  body["spec"] = json::Object{{"claimRef", json::Object{{"apiVersion", "v1"},
                                                        {"kind", "PersistentVolumeClaim"},
                                                        {"namespace", ns},
                                                        {"name", name},
                                                        {"uid", note.claimUid}}}};
  return client::patchRequest({api::kind::kPersistentVolume, "", note.volume},
                              client::PatchType::kMerge, json::write(body));
}

}  // namespace

void ApiEffects::bindVolumes(const std::vector<VolumeNote>& notes, Done done) {
  struct Joined {
    size_t left;
    Result<> result;
    Done done;
  };
  auto joined = std::make_shared<Joined>(Joined{notes.size(), {}, std::move(done)});
  for (const VolumeNote& note : notes)
    send(volumeRequest(note), [joined](Result<client::Reply> reply) {
      if (!reply) joined->result = pass(reply.error());
      if (--joined->left == 0) joined->done(joined->result);
    });
}

void ApiEffects::scheduled(const api::Pod& pod, std::string_view node, std::string_view profile) {
  client::EventRecorder& recorder = events(profile);
  if (isFull(recorder)) return;
  recorder.record(eventAbout(pod, "Normal", "Scheduled", "Binding",
                             fmt::format("Successfully assigned {}/{} to {}", pod.meta.ns.view(),
                                         pod.meta.name.view(), node)));
}

void ApiEffects::failed(const api::Pod& pod, const PodFailure& failure, std::string_view profile) {
  if (client::EventRecorder& recorder = events(profile); !isFull(recorder))
    recorder.record(eventAbout(pod, "Warning", "FailedScheduling", "Scheduling", failure.message));
  json::Object status;
  if (!isSaid(pod, failure.reason, failure.message))
    status["conditions"] = json::Array{unscheduledCondition(pod, failure, clock_.wall())};
  if (failure.changesNomination)
    status["nominatedNodeName"] =
        failure.nominatedNode.empty() ? json::Value() : json::Value(failure.nominatedNode);
  if (!status.empty()) patchStatus(pod, std::move(status), {});
}

void ApiEffects::clearNomination(const api::Pod& pod) {
  json::Object status;
  status["nominatedNodeName"] = json::Value();
  patchStatus(pod, std::move(status), {});
}

void ApiEffects::nominate(const api::Pod& pod, std::string_view node) {
  if (pod.status.nominatedNodeName.view() == node) return;
  json::Object status;
  status["nominatedNodeName"] = node;
  patchStatus(pod, std::move(status), {});
}

void ApiEffects::patchStatus(const api::Pod& pod, json::Object status, Done done) {
  json::Object body;
  body["metadata"] = json::Object{{"uid", pod.meta.uid.str()}};
  body["status"] = std::move(status);
  auto request =
      client::patchRequest({api::kind::kPod, pod.meta.ns.str(), pod.meta.name.str(), "status"},
                           client::PatchType::kStrategic, json::write(body));
  send(std::move(request), [done = std::move(done)](Result<client::Reply> reply) mutable {
    if (!reply && reply.error().code() != mangrove::Code::kNotFound)
      log.debug("{}", reply.error().text());
    if (done) done(nothingOf(reply));
  });
}

void ApiEffects::tellPreempted(const api::Pod& victim, const api::Pod& preemptor,
                               std::string_view profile) {
  client::EventRecorder& recorder = events(profile);
  if (isFull(recorder)) return;
  api::Event event = eventAbout(victim, "Normal", "Preempted", "Preempting",
                                fmt::format("Preempted by pod {} on node {}",
                                            preemptor.meta.uid.str(), victim.nodeName.view()));
  event.related = api::refTo(api::kind::kPod, preemptor.meta);
  recorder.record(std::move(event));
}

void ApiEffects::preempt(const api::Pod& victim, const api::Pod& preemptor,
                         std::string_view profile, Done done) {
  json::Object target{
      {"type", "DisruptionTarget"},
      {"status", "True"},
      {"reason", "PreemptionByScheduler"},
      {"message", fmt::format("{}: preempting to accommodate a higher priority pod", profile)},
      {"lastTransitionTime", formatTime(clock_.wall())}};
  json::Object status;
  status["conditions"] = json::Array{std::move(target)};
  client::DeleteOptions options;
  options.uid = victim.meta.uid;
  auto deletion = client::deleteRequest(
      {api::kind::kPod, victim.meta.ns.str(), victim.meta.name.str()}, options);
  tellPreempted(victim, preemptor, profile);
  // The mark first, so that whoever sees the pod go knows why.
  patchStatus(victim, std::move(status),
              [this, deletion = std::move(deletion), done = std::move(done)](Result<>) mutable {
                send(std::move(deletion),
                     [done = std::move(done)](Result<client::Reply> reply) mutable {
                       done(nothingOf(reply));
                     });
              });
}

}  // namespace mangrove::scheduler
