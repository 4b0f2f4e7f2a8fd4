#include "apiserver/subresources/pod_parts.h"

#include <memory>

#include <fmt/core.h>

#include "apiserver/apply/managed_fields.h"
#include "apiserver/core/body.h"
#include "apiserver/core/commit.h"
#include "apiserver/core/object.h"
#include "apiserver/core/patch.h"
#include "apiserver/core/read.h"
#include "apiserver/core/strategy.h"
#include "apiserver/kinds/validators.h"
#include "apiserver/schema/defaulting.h"

namespace mangrove::apiserver {

namespace {

struct PartRules {
  void (*take)(json::Object& pod, const json::Object& sent);
  ValidateUpdate* validate;
};

const json::Object* byName(const json::Array& list, std::string_view name) {
  for (const json::Value& one : list) {
    if (one.is_object() && textAt(one.get_object(), "name") == name) return &one.get_object();
  }
  return nullptr;
}

void takeResources(json::Object& spec, const json::Object& sent, std::string_view key) {
  json::Value* list = spec.if_contains(key);
  const json::Array* wanted = findArray(sent, key);
  if (!list || !list->is_array() || !wanted) return;
  for (json::Value& one : list->get_array()) {
    if (!one.is_object()) continue;
    const json::Object* from = byName(*wanted, textAt(one.get_object(), "name"));
    if (!from) continue;
    copyMember(one.get_object(), *from, "resources");
    copyMember(one.get_object(), *from, "resizePolicy");
  }
}

void takeResize(json::Object& pod, const json::Object& sent) {
  const json::Object* from = findObject(sent, "spec");
  if (!from) return;
  json::Object& spec = objectAt(pod, "spec");
  for (std::string_view key : {"containers", "initContainers"}) takeResources(spec, *from, key);
  copyMember(spec, *from, "resources");
}

void takeEphemeral(json::Object& pod, const json::Object& sent) {
  const json::Object* from = findObject(sent, "spec");
  if (from) copyMember(objectAt(pod, "spec"), *from, "ephemeralContainers");
}

constexpr PartRules kResize{&takeResize, &validatePodResize};
constexpr PartRules kEphemeral{&takeEphemeral, &validateEphemeralContainers};

class PartWrite : public std::enable_shared_from_this<PartWrite> {
 public:
  PartWrite(Context& context, const Call& call, ResourcePtr pods, ResponderPtr to,
            const PartRules& rules)
      : context_(context), call_(call), pods_(std::move(pods)), to_(std::move(to)), rules_(rules) {}

  void start() {
    auto dry = dryRunParameter(call_.info);
    if (!dry) return to_->answer(dry.error());
    request_.resource = pods_;
    request_.subresource = call_.info.subresource;
    request_.operation = Operation::kUpdate;
    request_.ns = call_.info.ns;
    request_.name = call_.info.name;
    request_.who = call_.who;
    request_.dryRun = *dry;
    attempt();
  }

 private:
  static constexpr int kMostAttempts = 5;

  void answer(Answer a) {
    for (const auto* list : {&warnings_, &request_.warnings})
      a.warnings.insert(a.warnings.end(), list->begin(), list->end());
    to_->answer(std::move(a));
  }

  void attempt() {
    seen_ = context_.store.getHead(pods_->stored, call_.info.ns, call_.info.name);
    if (!seen_) return answer(answer::notFound(*pods_->kind, call_.info.name));
    auto pod = json::parse(*seen_->json());
    if (!pod || !pod->is_object()) return answer(answer::internal("the pod cannot be read"));
    request_.oldObject = *pod;
    request_.object = std::move(*pod);
    if (auto ok = change(request_.object); !ok) return answer(ok.error());
    context_.admission.mutate(request_, [self = shared_from_this()](std::optional<Answer> no) {
      if (no) return self->answer(std::move(*no));
      self->check();
    });
  }

  // Admission may have written anything, so types are checked before the rules look at it.
  void check() {
    if (auto ok = normalise(call_.info, *pods_, request_.object, warnings_); !ok)
      return answer(ok.error());
    const json::Object& now = request_.object.get_object();
    const json::Object& old = request_.oldObject.get_object();
    FieldErrors errors;
    validatePod(now, errors);
    rules_.validate(now, old, errors);
    if (!errors.empty())
      return answer(answer::unprocessable(*pods_->kind, call_.info.name, errors));
    context_.admission.validate(request_, [self = shared_from_this()](std::optional<Answer> no) {
      if (no) return self->answer(std::move(*no));
      self->store();
    });
  }

  void store() {
    json::Object& now = request_.object.get_object();
    const json::Object& old = request_.oldObject.get_object();
    if (json::equal(request_.object, request_.oldObject))
      return answer(answer::json(200, *seen_->json()));
    stampUpdate(*pods_->kind, now, old);
    trackUpdate(*pods_->kind->schema, &old, now,
                {managerOf(call_), pods_->kind->apiVersion(), call_.info.subresource,
                 context_.clock.wall()});
    if (request_.dryRun) return answer(answer::json(200, json::write(request_.object)));
    putObject(context_, pods_, std::move(request_.object), seen_,
              [self = shared_from_this()](Result<store::ObjectPtr> stored) {
                if (stored) return self->answer(answer::json(200, *(*stored)->json()));
                self->lost(stored.error());
              });
  }

  void lost(const Error& error) {
    const bool race = error.code() == Code::kConflict || error.code() == Code::kNotFound;
    if (race && ++attempts_ < kMostAttempts) return attempt();
    answer(answer::ofError(error));
  }

  Outcome<json::Value> sent(const json::Object& current) {
    warnings_.clear();
    if (call_.info.verb == Verb::kUpdate) return readObject(call_, *pods_, warnings_);
    auto patch = readPatch(call_, *pods_);
    if (!patch) return tl::unexpected(patch.error());
    if (patch->type == PatchType::kApply)
      return refuse(answer::unsupportedMediaType(
          call_.contentType,
          fmt::format("a JSON, merge or strategic patch for pods/{}", call_.info.subresource)));
    auto object = patched(*patch, *pods_, current);
    if (!object) return object;
    if (auto ok = normalise(call_.info, *pods_, *object, warnings_); !ok)
      return tl::unexpected(ok.error());
    return object;
  }

  Outcome<> checkMeta(const json::Object& object, const json::Object& current) {
    const KindInfo& kind = *pods_->kind;
    const std::string_view version = resourceVersionOf(object), uid = uidOf(object);
    if (!nameOf(object).empty() && nameOf(object) != call_.info.name)
      return refuse(answer::badRequest(
          fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                      nameOf(object), call_.info.name)));
    if (!version.empty() && version != resourceVersionOf(current))
      return refuse(answer::conflict(kind, call_.info.name,
                                     "the object has been modified; please apply your changes to "
                                     "the latest version and try again"));
    if (!uid.empty() && uid != uidOf(current))
      return refuse(answer::conflict(
          kind, call_.info.name,
          fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid,
                      uidOf(current))));
    return {};
  }

  Outcome<> change(json::Value& pod) {
    auto wanted = sent(pod.get_object());
    if (!wanted) return tl::unexpected(wanted.error());
    if (auto ok = checkMeta(wanted->get_object(), pod.get_object()); !ok) return ok;
    rules_.take(pod.get_object(), wanted->get_object());
    applyDefaults(*pods_->kind, pod);
    return {};
  }

  Context& context_;
  const Call call_;
  ResourcePtr pods_;
  ResponderPtr to_;
  const PartRules& rules_;
  AdmissionRequest request_;
  store::ObjectPtr seen_;
  std::vector<std::string> warnings_;
  int attempts_ = 0;
};

void servePart(Context& context, const Call& call, ResourcePtr pods, ResponderPtr to,
               const PartRules& rules) {
  switch (call.info.verb) {
    case Verb::kGet:
      return to->answer(getObject(context, call, *pods));
    case Verb::kUpdate:
    case Verb::kPatch:
      return std::make_shared<PartWrite>(context, call, std::move(pods), std::move(to), rules)
          ->start();
    default:
      return to->answer(
          answer::methodNotAllowed(fmt::format("the server does not allow {} on pods/{}",
                                               verbName(call.info.verb), call.info.subresource)));
  }
}

}  // namespace

void servePodResize(Context& context, const Call& call, ResourcePtr pods, ResponderPtr to) {
  servePart(context, call, std::move(pods), std::move(to), kResize);
}

void serveEphemeralContainers(Context& context, const Call& call, ResourcePtr pods,
                              ResponderPtr to) {
  servePart(context, call, std::move(pods), std::move(to), kEphemeral);
}

}  // namespace mangrove::apiserver
