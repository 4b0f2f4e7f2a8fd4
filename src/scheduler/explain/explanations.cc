#include "scheduler/explain/explanations.h"

#include <algorithm>

#include "api/wire/kind.h"
#include "api/wire/names.h"
#include "base/number/elapsed.h"
#include "base/os/log.h"

namespace mangrove::scheduler {

namespace {

const Logger log("scheduler");

constexpr Duration kUsualLife = std::chrono::hours(24);

client::InformerSetup informerSetup(const ExplanationSetup& setup) {
  client::InformerSetup out;
  out.client = &setup.client;
  out.owner = &setup.owner;
  out.home = &setup.home;
  out.clock = &setup.clock;
  out.follow.kind = api::kind::kScheduleExplanation;
  out.follow.longestBackoff = std::chrono::minutes(5);  // most clusters lack the kind
  out.raw = client::RawKeep::kNone;
  out.seed = setup.seed;
  return out;
}

// The object may name the pods by label instead.
std::string wantedKey(const api::ScheduleExplanation& object) {
  if (!object.spec.questionObjectKey.empty()) return object.spec.questionObjectKey;
  return std::string(object.meta.labels.get(api::label::kQuestionedObjectKey).value_or(""));
}

bool sameAnswer(api::ScheduleExplanationStatus a, const api::ScheduleExplanationStatus& b) {
  a.lastUpdateTime = b.lastUpdateTime;
  return a == b;
}

// A merge patch: what the answer does not have any more must be named to go.
std::string statusPatch(const api::ObjectMeta& meta, const api::ScheduleExplanationStatus& status) {
  json::Value body = api::toJson(status);
  json::Object& members = body.get_object();
  for (const char* name :
       {"schedulable", "schedulableAfterPreemption", "failedMessage", "detailedExplanation"})
    if (!members.contains(name)) members[name] = json::Value();
  return json::write(json::Object{{"metadata", json::Object{{"uid", meta.uid.str()}}},
                                  {"status", std::move(body)}});
}

client::Ref refTo(const api::ObjectMeta& meta, std::string subresource = "") {
  return {api::kind::kScheduleExplanation, meta.ns.str(), meta.name.str(), std::move(subresource)};
}

}  // namespace

Explanations::Explanations(const ExplanationSetup& setup, Engine& engine)
    : setup_(setup),
      engine_(engine),
      informer_(informerSetup(setup)),
      self_(std::make_shared<Explanations*>(this)) {
  informer_.onChange([this](const auto& change) { changed(change); });
}

Explanations::~Explanations() = default;

void Explanations::changed(const client::Change<api::ScheduleExplanation>& change) {
  if (!change.after) {
    asked_.erase(std::string(change.key));
    return;
  }
  Asked& asked = asked_[std::string(change.key)];
  const bool isOther = !asked.object || asked.object->meta.uid != change.after->meta.uid ||
                       !(asked.object->spec == change.after->spec) ||
                       !(asked.object->meta.labels == change.after->meta.labels);
  asked.object = change.after;
  if (!isOther) return;
  asked.told.reset();
  asked.lookAt = MonoTime{};
}

Explanations::Due Explanations::takeDue() {
  const MonoTime now = setup_.clock.mono();
  Due due;
  for (auto& [key, asked] : asked_)
    if (!asked.underWay && asked.lookAt <= now) due.emplace_back(key, &asked);
  // Those that have waited longest first, so that many questions all get their turn.
  std::stable_sort(due.begin(), due.end(), [](const auto& a, const auto& b) {
    return a.second->lookAt < b.second->lookAt;
  });
  if (due.size() > kAtOnce) due.resize(kAtOnce);
  for (auto& [key, asked] : due) asked->lookAt = now + kEvery;
  return due;
}

// One pass over all pods, whatever is asked.
std::map<std::string, Question> Explanations::questionsOf(const Due& due) const {
  std::map<std::string, Question> out;
  for (const auto& [key, asked] : due) out[wantedKey(*asked->object)];
  Cluster& cluster = engine_.cluster();
  for (const auto& [uid, pod] : engine_.unassigned())
    if (const auto at = out.find(questionedKeyOf(*pod)); at != out.end() && !cluster.find(uid))
      at->second.waiting.push_back(pod);
  cluster.eachPod([&](const PodPtr& pod) {
    if (const auto at = out.find(questionedKeyOf(*pod->pod)); at != out.end())
      at->second.placed.push_back(pod);
  });
  for (auto& [key, question] : out) {
    const auto byName = [](const api::ObjectMeta& a, const api::ObjectMeta& b) {
      return std::pair(a.ns.view(), a.name.view()) < std::pair(b.ns.view(), b.name.view());
    };
    std::sort(question.waiting.begin(), question.waiting.end(),
              [&](const auto& a, const auto& b) { return byName(a->meta, b->meta); });
    std::sort(question.placed.begin(), question.placed.end(),
              [&](const auto& a, const auto& b) { return byName(a->pod->meta, b->pod->meta); });
  }
  return out;
}

void Explanations::tick() {
  if (asked_.empty()) return;
  const Due due = takeDue();
  if (due.empty()) return;
  const auto questions = questionsOf(due);
  for (const auto& [key, asked] : due) {
    if (isOver(*asked->object))
      remove(key, *asked);
    else
      answer(key, *asked, questions.at(wantedKey(*asked->object)));
  }
}

void Explanations::answer(const std::string& key, Asked& asked, Question question) {
  const api::ScheduleExplanation& object = *asked.object;
  const auto topology = [](const api::Labels& labels) {
    return std::string(labels.get(api::label::kTopologyKeyToExplain).value_or(""));
  };
  question.topologyKey = topology(object.meta.labels);
  if (question.topologyKey.empty() && !question.waiting.empty())
    question.topologyKey = topology(question.waiting.front()->meta.labels);
  api::ScheduleExplanationStatus status;
  if (wantedKey(object).empty())
    status.failedMessage =
        "spec.questionObjectKey is empty; want namespace/name of a pod, or a gang's key (templates "
        "are not answered here: see mangrove explain -f)";
  else
    status = answerTo(question, engine_);
  const api::ScheduleExplanationStatus& known = asked.told ? *asked.told : object.status;
  const bool isNews = known.lastUpdateTime == kZeroTime || !sameAnswer(status, known);
  const auto isOld = [&] {
    return elapsed(known.lastUpdateTime, setup_.clock.wall()) >= kLongestSilence;
  };
  if (isNews || (!question.waiting.empty() && isOld())) write(key, asked, std::move(status));
}

void Explanations::write(const std::string& key, Asked& asked,
                         api::ScheduleExplanationStatus status) {
  status.lastUpdateTime = setup_.clock.wall();
  const api::ObjectMeta& meta = asked.object->meta;
  auto request = client::patchRequest(refTo(meta, "status"), client::PatchType::kMerge,
                                      statusPatch(meta, status));
  asked.underWay = true;
  send(key, std::move(request),
       [status = std::move(status)](Asked& done, const Result<client::Reply>& reply) {
         if (!reply) return log.warn("explaining: {}", reply.error().text());
         done.told = status;
       });
}

bool Explanations::isOver(const api::ScheduleExplanation& object) const {
  const Duration life = object.spec.ttl.value_or(kUsualLife);
  return life > Duration::zero() && object.meta.creationTimestamp != kZeroTime &&
         elapsed(object.meta.creationTimestamp, setup_.clock.wall()) >= life;
}

void Explanations::remove(const std::string& key, Asked& asked) {
  client::DeleteOptions options;
  options.uid = asked.object->meta.uid;
  asked.underWay = true;
  send(key, client::deleteRequest(refTo(asked.object->meta), options),
       [](Asked&, const Result<client::Reply>& reply) {
         if (!reply && reply.error().code() != mangrove::Code::kNotFound)
           log.warn("deleting an explanation that is over: {}", reply.error().text());
       });
}

void Explanations::send(const std::string& key, client::Request request,
                        std::function<void(Asked&, const Result<client::Reply>&)> then) {
  setup_.client.submit(
      setup_.owner, std::move(request),
      [self = std::weak_ptr(self_), key, then = std::move(then)](Result<client::Reply> reply) {
        const auto me = self.lock();
        if (!me) return;
        const auto at = (*me)->asked_.find(key);
        if (at == (*me)->asked_.end()) return;  // gone meanwhile
        at->second.underWay = false;
        then(at->second, reply);
      });
}

}  // namespace mangrove::scheduler
