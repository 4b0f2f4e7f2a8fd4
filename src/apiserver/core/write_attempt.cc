#include "apiserver/core/write_attempt.h"

#include <utility>

#include "apiserver/core/body.h"
#include "apiserver/core/commit.h"
#include "apiserver/core/object.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/object_rules.h"
#include "apiserver/schema/defaulting.h"

namespace mangrove::apiserver {

namespace {

constexpr int kMostAttempts = 5;

}  // namespace

Write::Write(Context& context, Call call, ResourcePtr resource, ResponderPtr to)
    : context_(context),
      call_(std::move(call)),
      resource_(std::move(resource)),
      to_(std::move(to)) {}

Part Write::part() const {
  const std::string_view below = call_.info.subresource;
  return below == "status" || below == "approval" ? Part::kStatus : Part::kMain;
}

Manager Write::manager() const {
  return {managerOf(call_), kind().apiVersion(), call_.info.subresource, context_.clock.wall(),
          part() == Part::kMain && kind().hasStatus()};
}

void Write::start() {
  auto shape = shapeOf(call_.accept, call_.info, *resource_->kind);
  if (!shape) return answer(shape.error());
  shape_ = *shape;
  shape_.now = context_.clock.wall();
  auto dry = dryRunParameter(call_.info);
  if (!dry) return answer(dry.error());
  request_.dryRun = *dry;
  request_.resource = resource_;
  request_.subresource = call_.info.subresource;
  request_.who = call_.who;
  request_.ns = resource_->kind->namespaced ? call_.info.ns : "";
  if (auto ok = read(); !ok) return answer(ok.error());
  attempt();
}

void Write::answer(Answer a) {
  for (auto* list : {&warnings_, &request_.warnings}) {
    for (auto& text : *list) a.warnings.push_back(std::move(text));
  }
  for (auto& note : request_.auditAnnotations) a.auditNotes.emplace_back(note);
  to_->answer(std::move(a));
}

void Write::attempt() {
  seen_ = call_.info.name.empty()
              ? nullptr
              : context_.store.getHead(resource_->stored, request_.ns, call_.info.name);
  json::take(request_.oldObject, nullptr);
  request_.isForeign = applies();  // what apply merges has not been looked at as a whole
  if (seen_) {
    auto parsed = json::parse(*seen_->json(), storage());
    if (!parsed) return answer(answer::internal(parsed.error().text()));
    fromStored(kind(), *parsed);
    json::take(request_.oldObject, std::move(*parsed));
  }
  const json::Object* current = seen_ ? &request_.oldObject.get_object() : nullptr;
  auto object = propose(current);
  if (!object) return answer(object.error());
  request_.operation = seen_ ? Operation::kUpdate : Operation::kCreate;
  if (auto refusal = mayNotCreate()) return answer(std::move(*refusal));
  // What admission adds belongs to nobody, so that its author may still apply it.
  if (!applies()) trackUpdate(*kind().schema, current, object->get_object(), manager());
  json::take(request_.object, std::move(*object));
  request_.name = nameOf(request_.object.get_object());
  admit();
}

// Whoever creates by an update or by applying needs the right to create, too.
std::optional<Answer> Write::mayNotCreate() {
  if (seen_ || call_.info.verb == Verb::kCreate) return std::nullopt;
  Attributes wanted = Attributes::of(call_.info);
  wanted.verb = verbName(Verb::kCreate);
  const Decision decision = context_.authorizer.authorize(call_.who, wanted);
  if (decision.allowed) return std::nullopt;
  return denied(call_.who, wanted, decision.reason);
}

void Write::admit() {
  auto self = shared_from_this();
  context_.admission.mutate(request_, [self](std::optional<Answer> refusal) {
    if (refusal) return self->answer(std::move(*refusal));
    self->settle();
  });
}

// Others may have changed anything: types and defaults again, then the last names and the checks.
void Write::settle() {
  json::Value& object = request_.object;
  if (request_.isForeign) {
    if (auto ok = normalise(call_.info, *resource_, object, warnings_); !ok)
      return answer(ok.error());
    applyDefaults(kind(), object);
  }
  if (seen_) onUpdate(kind(), object, old());
  if (seen_ && isUnchanged()) return answerStored(seen_);
  nameAndStamp();
  if (auto refusal = invalidity()) return answer(std::move(*refusal));
  auto self = shared_from_this();
  context_.admission.validate(request_, [self](std::optional<Answer> refusal) {
    if (refusal) return self->answer(std::move(*refusal));
    self->store();
  });
}

// The same but for the version, which the client may have left out.
bool Write::isUnchanged() {
  copyMember(metadataOf(request_.object.get_object()), metadataOf(old().get_object()),
             "resourceVersion");
  return json::equal(request_.object, old());
}

void Write::nameAndStamp() {
  json::Object& object = request_.object.get_object();
  if (seen_) {
    stampUpdate(kind(), object, old().get_object());
  } else {
    json::Object& metadata = metadataOf(object);
    const bool generated = nameOf(object).empty() && !textAt(metadata, "generateName").empty();
    if (generated) metadata["name"] = generatedName(textAt(metadata, "generateName"), context_.rng);
    request_.name = nameOf(object);
    stampCreate(kind(), object, context_.clock.wall(), context_.rng);
    onCreate(kind(), request_.object);
    finishCreate(kind(), object);
  }
}

std::optional<Answer> Write::invalidity() {
  FieldErrors errors = !seen_ ? validateCreate(kind(), request_.object)
                       : part() == Part::kStatus
                           ? validateStatusUpdate(kind(), request_.object, old())
                           : validateUpdate(kind(), request_.object, old());
  if (errors.empty()) return std::nullopt;
  return answer::unprocessable(kind(), request_.name, errors);
}

void Write::store() {
  if (request_.dryRun) return answerDry();
  // The trees are not needed while the disk is at work, and another attempt makes its own.
  const auto arena = std::move(arena_);
  json::Value object(std::move(request_.object));
  json::take(request_.oldObject, nullptr);
  auto self = shared_from_this();
  auto done = [self](Result<store::ObjectPtr> stored) {
    if (stored) return self->answerStored(*stored);
    self->lost(stored.error());
  };
  // What only its finalizers kept goes with the last one.
  const json::Object& root = object.get_object();
  const bool finished = seen_ && isBeingDeleted(root) && !isKept(root);
  if (finished) {
    removeObject(context_, resource_, std::move(object), seen_, done);
  } else {
    putObject(context_, resource_, std::move(object), seen_, done);
  }
}

void Write::lost(const Error& error) {
  const bool race = error.code() == Code::kConflict || error.code() == Code::kExists ||
                    error.code() == Code::kNotFound;
  if (!race) return answer(answer::ofError(error));
  if (mayRepeat() && ++attempts_ < kMostAttempts) return attempt();
  if (error.code() == Code::kExists) return answer(answer::alreadyExists(kind(), request_.name));
  if (error.code() == Code::kNotFound) return answer(answer::notFound(kind(), request_.name));
  answer(answer::conflict(kind(), request_.name, kModified));
}

void Write::answerStored(const store::ObjectPtr& stored) {
  answer(answer::json(request_.operation == Operation::kCreate ? 201 : 200,
                      encodeOne(*resource_, *stored, shape_)));
}

void Write::answerDry() {
  json::Object& object = request_.object.get_object();
  if (seen_) {
    metadataOf(object)["resourceVersion"] = std::to_string(seen_->revision().v);
  } else {
    metadataOf(object).erase("resourceVersion");
  }
  answer(answer::json(seen_ ? 200 : 201, json::write(request_.object)));
}

}  // namespace mangrove::apiserver
