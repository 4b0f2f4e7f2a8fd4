#include "apiserver/core/write.h"

#include <utility>

#include <fmt/core.h>

#include "apiserver/apply/managed_fields.h"
#include "apiserver/core/body.h"
#include "apiserver/core/commit.h"
#include "apiserver/core/object.h"
#include "apiserver/core/patch.h"
#include "apiserver/core/strategy.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/object_rules.h"
#include "apiserver/output/encode.h"
#include "apiserver/schema/defaulting.h"

namespace mangrove::apiserver {

namespace {

constexpr int kMostAttempts = 5;
constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

// What every verb does the same way. A verb says what the object should become; the rest follows.
class Write : public std::enable_shared_from_this<Write> {
 public:
  Write(Context& context, Call call, ResourcePtr resource, ResponderPtr to)
      : context_(context),
        call_(std::move(call)),
        resource_(std::move(resource)),
        to_(std::move(to)) {}
  virtual ~Write() = default;

  void start() {
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

 protected:
  // Reads the body, once.
  virtual Outcome<> read() = 0;
  // The new object from the one at the head (null: there is none). May refuse; an object equal to
  // `current` ends the request without a write.
  virtual Outcome<json::Value> propose(const json::Object* current) = 0;
  // May a lost race be tried again from the new head?
  virtual bool mayRepeat() const = 0;
  virtual bool applies() const { return false; }  // server-side apply keeps its own books

  const KindInfo& kind() const { return *resource_->kind; }
  const json::Value& old() const { return request_.oldObject; }  // null: created
  Part part() const {
    const std::string_view below = call_.info.subresource;
    return below == "status" || below == "approval" ? Part::kStatus : Part::kMain;
  }
  Manager manager() const {
    return {managerOf(call_), kind().apiVersion(), call_.info.subresource, context_.clock.wall(),
            part() == Part::kMain && kind().hasStatus()};
  }

  // Where the trees of this attempt are.
  json::Storage storage() {
    if (!arena_) arena_ = std::make_unique<json::Arena>();
    return arena_->storage();
  }

  Context& context_;
  Call call_;
  ResourcePtr resource_;
  std::unique_ptr<json::Arena> arena_;  // before everything that may be in it
  AdmissionRequest request_;
  std::vector<std::string> warnings_;

 private:
  void answer(Answer a) {
    for (auto* list : {&warnings_, &request_.warnings}) {
      for (auto& text : *list) a.warnings.push_back(std::move(text));
    }
    to_->answer(std::move(a));
  }

  void attempt() {
    seen_ = call_.info.name.empty()
                ? nullptr
                : context_.store.getHead(resource_->stored, request_.ns, call_.info.name);
    json::take(request_.oldObject, nullptr);
    request_.isForeign = applies();  // what apply merges has not been looked at as a whole
    if (seen_) {
      auto parsed = json::parse(*seen_->json(), storage());
      if (!parsed) return answer(answer::internal(parsed.error().text()));
      fromStored(kind(), parsed->get_object());
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
  std::optional<Answer> mayNotCreate() {
    if (seen_ || call_.info.verb == Verb::kCreate) return std::nullopt;
    Attributes wanted = Attributes::of(call_.info);
    wanted.verb = verbName(Verb::kCreate);
    const Decision decision = context_.authorizer.authorize(call_.who, wanted);
    if (decision.allowed) return std::nullopt;
    return denied(call_.who, wanted, decision.reason);
  }

  void admit() {
    auto self = shared_from_this();
    context_.admission.mutate(request_, [self](std::optional<Answer> refusal) {
      if (refusal) return self->answer(std::move(*refusal));
      self->settle();
    });
  }

  // Others may have changed anything: types and defaults again, then the last names and the checks.
  void settle() {
    json::Value& object = request_.object;
    if (request_.isForeign) {
      if (auto ok = normalise(call_.info, *resource_, object, warnings_); !ok)
        return answer(ok.error());
      applyDefaults(kind(), object);
    }
    if (seen_) onUpdate(kind(), object, old());
    if (seen_ && isUnchanged()) return answerStored(seen_);
    if (auto refusal = nameAndStamp()) return answer(std::move(*refusal));
    if (auto refusal = invalidity()) return answer(std::move(*refusal));
    auto self = shared_from_this();
    context_.admission.validate(request_, [self](std::optional<Answer> refusal) {
      if (refusal) return self->answer(std::move(*refusal));
      self->store();
    });
  }

  // The same but for the version, which the client may have left out.
  bool isUnchanged() {
    copyMember(metadataOf(request_.object.get_object()), metadataOf(old().get_object()),
               "resourceVersion");
    return json::equal(request_.object, old());
  }

  std::optional<Answer> nameAndStamp() {
    json::Object& object = request_.object.get_object();
    if (seen_) {
      stampUpdate(kind(), object, old().get_object());
    } else {
      json::Object& metadata = metadataOf(object);
      const bool generated = nameOf(object).empty() && !textAt(metadata, "generateName").empty();
      if (generated)
        metadata["name"] = generatedName(textAt(metadata, "generateName"), context_.rng);
      request_.name = nameOf(object);
      stampCreate(kind(), object, context_.clock.wall(), context_.rng);
      onCreate(kind(), request_.object);
      finishCreate(kind(), object);
    }
    return std::nullopt;
  }

  std::optional<Answer> invalidity() {
    FieldErrors errors = !seen_ ? validateCreate(kind(), request_.object)
                         : part() == Part::kStatus
                             ? validateStatusUpdate(kind(), request_.object, old())
                             : validateUpdate(kind(), request_.object, old());
    if (errors.empty()) return std::nullopt;
    return answer::unprocessable(kind(), request_.name, errors);
  }

  void store() {
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

  void lost(const Error& error) {
    const bool race = error.code() == Code::kConflict || error.code() == Code::kExists ||
                      error.code() == Code::kNotFound;
    if (!race) return answer(answer::ofError(error));
    if (mayRepeat() && ++attempts_ < kMostAttempts) return attempt();
    if (error.code() == Code::kExists) return answer(answer::alreadyExists(kind(), request_.name));
    if (error.code() == Code::kNotFound) return answer(answer::notFound(kind(), request_.name));
    answer(answer::conflict(kind(), request_.name, kModified));
  }

  void answerStored(const store::ObjectPtr& stored) {
    answer(answer::json(request_.operation == Operation::kCreate ? 201 : 200,
                        encodeOne(*resource_, *stored, shape_)));
  }

  void answerDry() {
    json::Object& object = request_.object.get_object();
    if (seen_) {
      metadataOf(object)["resourceVersion"] = std::to_string(seen_->revision().v);
    } else {
      metadataOf(object).erase("resourceVersion");
    }
    answer(answer::json(seen_ ? 200 : 201, json::write(request_.object)));
  }

  ResponderPtr to_;
  Shape shape_;
  store::ObjectPtr seen_;
  int attempts_ = 0;
};

Outcome<> checkNamespaceAndName(const Call& call, const KindInfo& kind, json::Object& object) {
  json::Object& metadata = metadataOf(object);
  const std::string_view ns = namespaceOf(object);
  if (!kind.namespaced) {
    metadata.erase("namespace");
  } else if (ns.empty()) {
    metadata["namespace"] = call.info.ns;
  } else if (ns != call.info.ns) {
    return refuse(answer::badRequest(
        fmt::format("the namespace of the provided object ({}) does not match the namespace sent "
                    "on the request ({})",
                    ns, call.info.ns)));
  }
  if (call.info.name.empty()) return {};
  if (nameOf(object).empty()) metadata["name"] = call.info.name;
  if (nameOf(object) != call.info.name) {
    return refuse(answer::badRequest(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                    nameOf(object), call.info.name)));
  }
  return {};
}

// A write that names a version or a uid means exactly that one.
Outcome<> checkPreconditions(const KindInfo& kind, const json::Object& object,
                             const json::Object& current) {
  const std::string_view version = resourceVersionOf(object);
  if (!version.empty() && version != resourceVersionOf(current)) {
    return refuse(answer::conflict(kind, nameOf(current), kModified));
  }
  if (!uidOf(object).empty() && uidOf(object) != uidOf(current)) {
    return refuse(answer::conflict(
        kind, nameOf(current),
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                    uidOf(object), uidOf(current))));
  }
  return {};
}

class Create final : public Write {
 public:
  using Write::Write;

 private:
  Outcome<> read() override {
    auto object = readObject(call_, *resource_, warnings_, storage());
    if (!object) return tl::unexpected(object.error());
    if (auto ok = checkNamespaceAndName(call_, kind(), object->get_object()); !ok) return ok;
    const json::Object& root = object->get_object();
    if (!resourceVersionOf(root).empty()) {
      return refuse(
          answer::badRequest("resourceVersion should not be set on objects to be created"));
    }
    if (nameOf(root).empty() && textAt(metadataOf(root), "generateName").empty()) {
      FieldErrors errors;
      errors.required(FieldPath("metadata").child("name"), "name or generateName is required");
      return refuse(answer::unprocessable(kind(), "", errors));
    }
    // Only a generated name is tried again, and then from what outlives the attempt.
    generated_ = nameOf(root).empty();
    generated_ ? void(sent_ = *object) : json::take(sent_, std::move(*object));
    return {};
  }
  Outcome<json::Value> propose(const json::Object*) override {
    json::Value object = generated_ ? json::Value(sent_, storage()) : json::Value(std::move(sent_));
    prepareCreate(kind(), object.get_object());
    applyDefaults(kind(), object);
    return object;
  }
  bool mayRepeat() const override { return generated_; }

  json::Value sent_;
  bool generated_ = false;
};

class Update final : public Write {
 public:
  using Write::Write;

 private:
  Outcome<> read() override {
    auto object = readObject(call_, *resource_, warnings_);
    if (!object) return tl::unexpected(object.error());
    if (auto ok = checkNamespaceAndName(call_, kind(), object->get_object()); !ok) return ok;
    sent_ = std::move(*object);
    return {};
  }
  Outcome<json::Value> propose(const json::Object* current) override {
    json::Value object(sent_, storage());
    if (!current) return proposeNew(std::move(object));
    json::Object& root = object.get_object();
    const std::string_view version = resourceVersionOf(root);
    if (version.empty() && !strategyOf(kind()).unconditionalUpdate) {
      FieldErrors errors;
      errors.invalid(FieldPath("metadata").child("resourceVersion"), 0,
                     "must be specified for an update");
      return refuse(answer::invalid(kind().group, kind().plural, call_.info.name, errors));
    }
    if (auto ok = checkPreconditions(kind(), root, *current); !ok)
      return tl::unexpected(ok.error());
    prepareUpdate(kind(), part(), root, *current);
    applyDefaults(kind(), object);
    return object;
  }
  Outcome<json::Value> proposeNew(json::Value object) {
    if (!strategyOf(kind()).createOnUpdate || part() == Part::kStatus) {
      return refuse(answer::notFound(kind(), call_.info.name));
    }
    metadataOf(object.get_object()).erase("resourceVersion");
    prepareCreate(kind(), object.get_object());
    applyDefaults(kind(), object);
    return object;
  }
  bool mayRepeat() const override { return resourceVersionOf(sent_.get_object()).empty(); }

  json::Value sent_;
};

// The patch was readable, what it makes of the object is not: 422, as for other bad values.
Answer asPatchFailure(const Answer& refusal) {
  auto body = refusal.status == 400 ? json::parse(refusal.body) : Result<json::Value>(nullptr);
  if (!body || !body->is_object()) return refusal;
  const std::string why(textAt(body->get_object(), "message"));
  json::Object cause{{"reason", "FieldValueInvalid"}, {"message", why}, {"field", "patch"}};
  return answer::status(422, "Invalid", "patch: Invalid value: " + why,
                        json::Object{{"causes", json::Array{std::move(cause)}}});
}

class PatchWrite final : public Write {
 public:
  using Write::Write;

 private:
  Outcome<> read() override {
    auto patch = readPatch(call_, *resource_);
    if (!patch) return tl::unexpected(patch.error());
    patch_ = std::move(*patch);
    return {};
  }
  bool applies() const override { return patch_.type == PatchType::kApply; }

  Outcome<json::Value> propose(const json::Object* current) override {
    if (!current && (!applies() || part() == Part::kStatus))
      return refuse(answer::notFound(kind(), call_.info.name));
    if (applies()) return proposeApplied(current);
    auto object = patched(patch_, *resource_, *current, storage());
    if (!object) return object;
    if (auto ok = normalise(call_.info, *resource_, *object, warnings_); !ok)
      return refuse(asPatchFailure(ok.error()));
    return finishUpdate(std::move(*object), *current);
  }

  Outcome<json::Value> proposeApplied(const json::Object* current) {
    json::Value sent = patch_.body;
    if (auto ok = checkNamesItsKind(sent); !ok) return tl::unexpected(ok.error());
    if (auto ok = normalise(call_.info, *resource_, sent, warnings_); !ok)
      return tl::unexpected(ok.error());
    if (auto ok = checkNamespaceAndName(call_, kind(), sent.get_object()); !ok)
      return tl::unexpected(ok.error());
    auto object =
        applyConfiguration(*kind().schema, current, sent.get_object(), manager(), patch_.force);
    if (!object) return object;
    if (current) return finishUpdate(std::move(*object), *current);
    if (auto uid = uidOf(sent.get_object()); !uid.empty())
      return refuse(answer::conflict(
          kind(), call_.info.name,
          fmt::format("uid mismatch: the provided object specified uid {}, and no existing object "
                      "was found",
                      uid)));
    prepareCreate(kind(), object->get_object());
    applyDefaults(kind(), *object);
    return object;
  }

  // A configuration must say what it is: the fields of another version would be taken away.
  static Outcome<> checkNamesItsKind(const json::Value& sent) {
    if (!sent.is_object()) return {};
    const json::Object& root = sent.get_object();
    if (!textAt(root, "apiVersion").empty() && !textAt(root, "kind").empty()) return {};
    return refuse(answer::badRequest(
        fmt::format("invalid object type: apiVersion '{}', kind '{}': an applied configuration "
                    "needs both",
                    textAt(root, "apiVersion"), textAt(root, "kind"))));
  }

  Outcome<json::Value> finishUpdate(json::Value object, const json::Object& current) {
    json::Object& root = object.get_object();
    if (auto ok = checkNamespaceAndName(call_, kind(), root); !ok)
      return tl::unexpected(ok.error());
    if (auto ok = checkPreconditions(kind(), root, current); !ok) return tl::unexpected(ok.error());
    prepareUpdate(kind(), part(), root, current);
    applyDefaults(kind(), object);
    return object;
  }
  // A patch that names a version is refused by finishUpdate once that version is gone, so trying
  // again is always right.
  bool mayRepeat() const override { return true; }

  Patch patch_;
};

}  // namespace

void createObject(Context& context, Call call, ResourcePtr resource, ResponderPtr to) {
  std::make_shared<Create>(context, std::move(call), std::move(resource), std::move(to))->start();
}

void updateObject(Context& context, Call call, ResourcePtr resource, ResponderPtr to) {
  std::make_shared<Update>(context, std::move(call), std::move(resource), std::move(to))->start();
}

void patchObject(Context& context, Call call, ResourcePtr resource, ResponderPtr to) {
  std::make_shared<PatchWrite>(context, std::move(call), std::move(resource), std::move(to))
      ->start();
}

}  // namespace mangrove::apiserver
