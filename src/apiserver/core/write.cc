#include "apiserver/core/write.h"

#include <utility>

#include <fmt/core.h>

#include "apiserver/apply/managed_fields.h"
#include "apiserver/core/body.h"
#include "apiserver/core/object.h"
#include "apiserver/core/patch.h"
#include "apiserver/core/strategy.h"
#include "apiserver/core/write_attempt.h"
#include "apiserver/schema/defaulting.h"

namespace mangrove::apiserver {

namespace {

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
    return refuse(answer::conflict(kind, nameOf(current), Write::kModified));
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
    if (auto ok = normalise(call_.info, *resource_, sent, warnings_, {}, true); !ok)
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
