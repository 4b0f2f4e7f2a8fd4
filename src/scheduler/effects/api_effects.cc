#include "scheduler/effects/api_effects.h"

#include <memory>

#include <fmt/core.h>

#include "api/annotations/checkpoint.h"
#include "api/pod/classes.h"
#include "api/wire/names.h"
#include "base/os/log.h"
#include "base/text/time_text.h"
#include "json/print.h"
#include "placement/reservation/reserve_pod.h"
#include "placement/reservation/status.h"
#include "scheduler/effects/departures.h"

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

Result<> nothingOf(const Result<client::Reply>& reply) {
  if (reply) return {};
  return pass(reply.error());
}

}  // namespace

ApiEffects::ApiEffects(client::ApiClient& client, Mailbox& owner, Mailbox& home, Clock& clock,
                       Registry& metrics)
    : client_(client),
      clock_(clock),
      events_(client, home, clock, metrics),
      saving_(client, owner, clock, metrics),
      answers_(std::make_shared<Answers>(owner)) {}

ApiEffects::~ApiEffects() {
  answers_->close();
}

void ApiEffects::tick() {
  answers_->deliver();
  held_.ripen(clock_.mono());
  writeStatuses();
  events_.tick(pending_);
}

// In a storm most events would be dropped: they need not even be made.
template <class Make>
void ApiEffects::tell(std::string_view profile, Make make) {
  if (!events_.hasRoom()) return events_.drop();
  events_.add(profile, make(), pending_);
}

void ApiEffects::send(client::Request request, Answers::Done done) {
  pending_++;
  answers_->sent();
  auto answered = [this, done = std::move(done)](Result<client::Reply> reply) mutable {
    pending_--;
    done(std::move(reply));
    writeStatuses();
    onAnswer_();
  };
  client_.submit(std::move(request),
                 [answers = answers_, answered = Answers::Done(std::move(answered))](
                     auto reply) mutable { answers->add(std::move(answered), std::move(reply)); });
}

void ApiEffects::bind(const PodInfo& pod, std::string_view node, const BindNotes& notes,
                      Done done) {
  held_.take(pod.pod->meta.uid);
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
  tell(profile, [&] { return PodEvent::scheduled(pod, node); });
}

void ApiEffects::failed(const api::Pod& pod, const PodFailure& failure, std::string_view profile) {
  tell(profile, [&] { return PodEvent::failed(pod, failure.message); });
  if (placement::isReservePod(pod)) return failedReservation(pod, failure);
  json::Object status;
  if (!isSaid(pod, failure.reason, failure.message))
    status["conditions"] = json::Array{unscheduledCondition(pod, failure, clock_.wall())};
  if (failure.changesNomination)
    status["nominatedNodeName"] =
        failure.nominatedNode.empty() ? json::Value() : json::Value(failure.nominatedNode);
  held_.take(pod.meta.uid);
  if (status.empty()) return;
  const bool awaitsVictims = failure.changesNomination && !failure.nominatedNode.empty();
  if (awaitsVictims) return held_.hold(pod.meta, std::move(status), clock_.mono());
  held_.putInLine(pod.meta, std::move(status));
  writeStatuses();
}

// A refusal of thousands must not stand before the bindings that are decided after it.
void ApiEffects::writeStatuses() {
  while (statuses_ < (pending_ > statuses_ ? kStatusesBeside : kMostStatuses)) {
    const auto next = held_.next();
    if (!next) return;
    statuses_++;
    patchStatus(next->pod, json::write(next->status), [this](Result<>) { statuses_--; });
  }
}

void ApiEffects::create(const ObjectPatch& object, Done done) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = {*object.kind, object.ns, ""};
  request.body = json::write(object.body);
  send(std::move(request), [done = std::move(done)](Result<client::Reply> reply) mutable {
    const bool there = reply || reply.error().code() == mangrove::Code::kExists;
    done(there ? Result<>() : Result<>(pass(reply.error())));
  });
}

// What is said about the pod that stands for it goes to the Reservation.
void ApiEffects::failedReservation(const api::Pod& pod, const PodFailure& failure) {
  const auto said =
      placement::unschedulablePatch(pod, failure.reason, failure.message, clock_.wall());
  if (!said) return;
  patch(*said, [](const Result<>& result) {
    if (!result && result.error().code() != mangrove::Code::kNotFound)
      log.warn("{}", result.error().text());
  });
}

namespace {

client::Request removalOf(const ObjectPatch& patch) {
  client::DeleteOptions options;
  const json::Value* uid = patch.body.if_contains("uid");
  if (uid && uid->is_string()) options.uid = api::Uid(uid->get_string());
  return client::deleteRequest({*patch.kind, patch.ns, patch.name}, options);
}

}  // namespace

void ApiEffects::patch(const ObjectPatch& patch, Done done) {
  const std::string object = fmt::format("{}/{}/{}", patch.kind->kind, patch.ns, patch.name);
  auto answered = [this, object, done = std::move(done)](Result<> result) mutable {
    done(std::move(result));
    order_.finished(object);
  };
  order_.begin(object, [this, patch, answered = Done(std::move(answered))]() mutable {
    sendPatch(patch, std::move(answered));
  });
}

void ApiEffects::sendPatch(const ObjectPatch& patch, Done done) {
  if (patch.create) return create(patch, std::move(done));
  if (patch.remove)
    return send(removalOf(patch), [done = std::move(done)](Result<client::Reply> reply) mutable {
      done(nothingOf(reply));
    });
  client::Ref ref{*patch.kind, patch.ns, patch.name};
  if (patch.status) ref.subresource = "status";
  send(client::patchRequest(std::move(ref), client::PatchType::kMerge, json::write(patch.body)),
       [done = std::move(done)](Result<client::Reply> reply) mutable {
         done(reply ? Result<>() : Result<>(pass(reply.error())));
       });
}

void ApiEffects::deviceTrouble(const api::Pod& pod, const std::string& what,
                               std::string_view profile) {
  tell(profile, [&] { return PodEvent::device(pod, what); });
}

void ApiEffects::overcommitted(const api::Pod& standIn, const std::string& what,
                               std::string_view profile) {
  tell(profile, [&] { return PodEvent::overcommitted(standIn, what); });
}

void ApiEffects::ignored(const api::Pod& pod, const std::string& what, std::string_view profile) {
  tell(profile, [&] { return PodEvent::ignored(pod, what); });
}

void ApiEffects::clearNomination(const api::Pod& pod) {
  if (placement::isReservePod(pod)) return;
  auto held = held_.take(pod.meta.uid);
  if (!held) return patchStatus(pod.meta, R"({"nominatedNodeName":null})", {});
  held->status["nominatedNodeName"] = nullptr;  // an older one may be on the server
  patchStatus(held->pod, json::write(held->status), {});
}

void ApiEffects::nominate(const api::Pod& pod, std::string_view node) {
  if (placement::isReservePod(pod)) return;
  held_.take(pod.meta.uid);
  if (pod.status.nominatedNodeName.view() == node) return;
  patchStatus(pod.meta, json::write(json::Object{{"nominatedNodeName", node}}), {});
}

// `status` is JSON text.
void ApiEffects::patchStatus(const api::ObjectMeta& pod, std::string_view status, Done done) {
  std::string body = R"({"metadata":{"uid":)";
  json::appendString(pod.uid.str(), body);
  body.append(R"(},"status":)").append(status).append("}");
  auto request = client::patchRequest({api::kind::kPod, pod.ns.str(), pod.name.str(), "status"},
                                      client::PatchType::kStrategic, std::move(body));
  send(std::move(request), [done = std::move(done)](Result<client::Reply> reply) mutable {
    if (!reply && reply.error().code() != mangrove::Code::kNotFound)
      log.debug("{}", reply.error().text());
    if (done) done(nothingOf(reply));
  });
}

// Services insist; others take the next one when this one has not saved in time.
void ApiEffects::preempt(const api::Pod& victim, const api::Pod& preemptor,
                         std::string_view profile, std::string_view loss, Done done) {
  tell(profile, [&] { return PodEvent::preempted(victim, preemptor, loss); });
  if (!savesFirst_ || !api::saidCheckpoint(victim.meta.annotations).contract)
    return preemptNow(victim.meta, profile, std::move(done));
  const bool insists = api::bandWithDefault(preemptor) == api::PriorityBand::kProd;
  saving_.ask(victim, {"Preemption", insists},
              [this, meta = victim.meta, name = std::string(profile),
               answer = std::make_shared<Done>(std::move(done))](const Result<>& mayGo) {
                if (!mayGo) return (*answer)(pass(mayGo.error()));
                preemptNow(meta, name, std::move(*answer));
              });
}

void ApiEffects::preemptNow(const api::ObjectMeta& victim, std::string_view profile, Done done) {
  // The mark first, so that whoever sees the pod go knows why.
  patchStatus(victim, victimStatus(profile, clock_.wall()),
              [this, deletion = victimDeletion(victim), done = std::move(done)](Result<>) mutable {
                send(std::move(deletion),
                     [done = std::move(done)](Result<client::Reply> reply) mutable {
                       done(nothingOf(reply));
                     });
              });
}

void ApiEffects::evict(const api::Pod& pod, std::string_view reason, Done done) {
  if (!savesFirst_ || !api::saidCheckpoint(pod.meta.annotations).contract)
    return evictNow(pod.meta, reason, std::move(done));
  saving_.ask(pod, {"Eviction", true},
              [this, meta = pod.meta, why = std::string(reason),
               answer = std::make_shared<Done>(std::move(done))](const Result<>&) {
                evictNow(meta, why, std::move(*answer));
              });
}

// The reason stands on the pod first, so that whoever sees it go knows why; the server asks the
// budgets.
void ApiEffects::evictNow(const api::ObjectMeta& pod, std::string_view reason, Done done) {
  patchStatus(pod, revokedStatus(reason, clock_.wall()),
              [this, request = eviction(pod), done = std::move(done)](Result<>) mutable {
                send(std::move(request),
                     [done = std::move(done)](Result<client::Reply> reply) mutable {
                       done(nothingOf(reply));
                     });
              });
}

}  // namespace mangrove::scheduler
