#include "apiserver/core/remove.h"

#include <fmt/core.h>

#include "apiserver/core/body.h"
#include "apiserver/core/commit.h"
#include "apiserver/core/filter.h"
#include "apiserver/core/object.h"
#include "apiserver/core/strategy.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/output/encode.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

constexpr int64_t kDefaultGrace = 30;
constexpr int kMostAttempts = 5;

Outcome<Propagation> propagationOf(std::string_view text) {
  if (text.empty()) return Propagation::kDefault;
  if (text == "Background") return Propagation::kBackground;
  if (text == "Foreground") return Propagation::kForeground;
  if (text == "Orphan") return Propagation::kOrphan;
  FieldErrors errors;
  errors.notSupported(FieldPath("propagationPolicy"), json::Value(text),
                      {"Foreground", "Background", "Orphan", "nil"});
  return refuse(answer::invalid("meta.k8s.io", "DeleteOptions", "", errors));
}

Outcome<> readFromQuery(const RequestInfo& info, DeleteOptions& options) {
  auto dry = dryRunParameter(info);
  if (!dry) return tl::unexpected(dry.error());
  options.dryRun = *dry;
  if (const auto text = info.parameter("gracePeriodSeconds"); !text.empty()) {
    options.gracePeriodSeconds = parseInt<int64_t>(text);
    if (!options.gracePeriodSeconds) {
      return refuse(
          answer::badRequest(fmt::format("gracePeriodSeconds '{}': want a number", text)));
    }
  }
  auto propagation = propagationOf(info.parameter("propagationPolicy"));
  if (!propagation) return tl::unexpected(propagation.error());
  options.propagation = *propagation;
  return {};
}

Outcome<> readFromBody(const json::Object& body, DeleteOptions& options) {
  if (const json::Value* grace = body.if_contains("gracePeriodSeconds");
      grace && grace->is_int64()) {
    options.gracePeriodSeconds = grace->get_int64();
  }
  auto propagation = propagationOf(textAt(body, "propagationPolicy"));
  if (!propagation) return tl::unexpected(propagation.error());
  if (*propagation != Propagation::kDefault) options.propagation = *propagation;
  if (const json::Value* orphan = body.if_contains("orphanDependents");
      orphan && orphan->is_bool()) {
    options.propagation = orphan->get_bool() ? Propagation::kOrphan : Propagation::kBackground;
  }
  if (const json::Object* conditions = findObject(body, "preconditions")) {
    options.uid = textAt(*conditions, "uid");
    options.resourceVersion = textAt(*conditions, "resourceVersion");
  }
  const json::Array* dry = findArray(body, "dryRun");
  options.dryRun = options.dryRun || (dry && !dry->empty());
  return {};
}

// Jobs and replication controllers keep their children unless told otherwise: so it always was.
Propagation effective(const KindInfo& kind, Propagation asked) {
  if (asked != Propagation::kDefault) return asked;
  const bool orphans = (kind.group == "batch" && kind.kind == "Job") ||
                       (kind.group.empty() && kind.kind == "ReplicationController");
  return orphans ? Propagation::kOrphan : Propagation::kBackground;
}

// How long a pod may go on: 0 when nobody runs it.
int64_t podGrace(const json::Object& pod, const DeleteOptions& options) {
  const json::Object* spec = findObject(pod, "spec");
  const json::Object* status = findObject(pod, "status");
  const std::string_view phase = status ? textAt(*status, "phase") : std::string_view();
  const bool nobodyRuns =
      !spec || textAt(*spec, "nodeName").empty() || phase == "Succeeded" || phase == "Failed";
  if (nobodyRuns) return 0;
  if (options.gracePeriodSeconds) return std::max<int64_t>(0, *options.gracePeriodSeconds);
  const json::Value* own = spec->if_contains("terminationGracePeriodSeconds");
  return own && own->is_int64() ? own->get_int64() : kDefaultGrace;
}

// A second deletion may only shorten the wait.
bool markDeleted(json::Object& object, int64_t grace, WallTime now) {
  const auto current = remainingGrace(object);
  if (current && *current <= grace) return false;
  json::Object& metadata = metadataOf(object);
  json::Value* generation = metadata.if_contains("generation");
  if (!current && generation && generation->is_int64())
    *generation = generation->get_int64() + 1;  // a controller that watches it has work to do
  metadata["deletionTimestamp"] = formatTime(now + std::chrono::seconds(grace));
  metadata["deletionGracePeriodSeconds"] = grace;
  return true;
}

// One deletion under way: admission, then mark or remove, again from the new head when a write came
// between.
class Removal : public std::enable_shared_from_this<Removal> {
 public:
  using Finished = UniqueFn<void(Outcome<store::ObjectPtr>, bool gone)>;

  Removal(Context& context, AdmissionRequest request, DeleteOptions options, Finished done)
      : context_(context),
        request_(std::move(request)),
        options_(std::move(options)),
        done_(std::move(done)) {}

  void attempt() {
    seen_ = context_.store.getHead(request_.resource->stored, request_.ns, request_.name);
    if (!seen_) return done_(refuse(answer::notFound(kind(), request_.name)), false);
    auto parsed = json::parse(*seen_->json());
    if (!parsed) return done_(refuse(answer::internal(parsed.error().text())), false);
    fromStored(kind(), *parsed);
    request_.oldObject = std::move(*parsed);
    if (auto ok = preconditions(); !ok) return done_(tl::unexpected(ok.error()), false);
    admit();
  }

 private:
  const KindInfo& kind() const { return *request_.resource->kind; }

  Outcome<> preconditions() {
    const json::Object& object = request_.oldObject.get_object();
    if (!options_.uid.empty() && options_.uid != uidOf(object)) {
      return refuse(answer::conflict(
          kind(), request_.name,
          fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                      options_.uid, uidOf(object))));
    }
    if (!options_.resourceVersion.empty() &&
        options_.resourceVersion != resourceVersionOf(object)) {
      return refuse(answer::conflict(
          kind(), request_.name,
          fmt::format(
              "Precondition failed: ResourceVersion in precondition: {}, in object meta: {}",
              options_.resourceVersion, resourceVersionOf(object))));
    }
    return {};
  }

  void admit() {
    auto self = shared_from_this();
    context_.admission.mutate(request_, [self](std::optional<Answer> refusal) {
      if (refusal) return self->done_(refuse(std::move(*refusal)), false);
      self->context_.admission.validate(self->request_, [self](std::optional<Answer> no) {
        if (no) return self->done_(refuse(std::move(*no)), false);
        self->store();
      });
    });
  }

  void store() {
    Deletion plan = planDeletion(kind(), request_.oldObject, options_, context_.clock.wall());
    if (request_.dryRun || !plan.changed) return done_(seen_, plan.gone);
    auto self = shared_from_this();
    auto stored = [self, gone = plan.gone](Result<store::ObjectPtr> object) {
      if (object) return self->done_(*object, gone);
      self->lost(object.error());
    };
    if (plan.gone) {
      removeObject(context_, request_.resource, std::move(plan.object), seen_, stored);
    } else {
      putObject(context_, request_.resource, std::move(plan.object), seen_, stored);
    }
  }

  void lost(const Error& error) {
    if (error.code() == Code::kConflict && ++attempts_ < kMostAttempts) return attempt();
    if (error.code() == Code::kNotFound)
      return done_(refuse(answer::notFound(kind(), request_.name)), false);
    done_(refuse(answer::ofError(error)), false);
  }

  Context& context_;
  AdmissionRequest request_;
  DeleteOptions options_;
  Finished done_;
  store::ObjectPtr seen_;
  int attempts_ = 0;
};

AdmissionRequest admissionOf(const Identity& who, ResourcePtr resource, std::string ns,
                             std::string name, bool dryRun) {
  AdmissionRequest request;
  request.ns = resource->kind->namespaced ? std::move(ns) : "";
  request.resource = std::move(resource);
  request.operation = Operation::kDelete;
  request.name = std::move(name);
  request.who = who;
  request.dryRun = dryRun;
  return request;
}

Answer goneAnswer(const KindInfo& kind, const store::Object& object) {
  json::Object details{{"name", object.name()}};
  if (!kind.group.empty()) details["group"] = kind.group;
  details["kind"] = kind.plural;
  details["uid"] = object.uid();
  json::Object status{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", json::Object()},
                      {"status", "Success"},
                      {"details", std::move(details)}};
  return answer::json(200, json::write(status));
}

// Jobs are the one kind whose default surprises people.
std::vector<std::string> warningsOf(const KindInfo& kind, const DeleteOptions& options) {
  if (kind.group != "batch" || kind.kind != "Job" || options.propagation != Propagation::kDefault)
    return {};
  return {
      "child pods are preserved by default when jobs are deleted; set "
      "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
      "this warning"};
}

}  // namespace

Outcome<DeleteOptions> readDeleteOptions(const Call& call) {
  DeleteOptions options;
  if (auto ok = readFromQuery(call.info, options); !ok) return tl::unexpected(ok.error());
  if (call.body.empty()) return options;
  auto body = readBody(call);
  if (!body) return tl::unexpected(body.error());
  if (!body->is_object())
    return refuse(answer::badRequest("the body of a delete is not a DeleteOptions object"));
  if (auto ok = readFromBody(body->get_object(), options); !ok) return tl::unexpected(ok.error());
  return options;
}

Deletion planDeletion(const KindInfo& kind, json::Value value, const DeleteOptions& options,
                      WallTime now) {
  json::Object& object = value.get_object();
  const json::Object before = object;
  const Propagation propagation = effective(kind, options.propagation);
  if (propagation == Propagation::kForeground) addFinalizer(object, kForegroundFinalizer);
  if (propagation == Propagation::kOrphan) addFinalizer(object, kOrphanFinalizer);
  if (propagation != Propagation::kForeground) removeFinalizer(object, kForegroundFinalizer);
  if (propagation != Propagation::kOrphan) removeFinalizer(object, kOrphanFinalizer);

  const int64_t grace = strategyOf(kind).graceful ? podGrace(object, options) : 0;
  markDeleted(object, grace, now);
  const bool waits = isKept(object);
  if (textAt(object, "kind") == "Namespace") objectAt(object, "status")["phase"] = "Terminating";
  // What goes at once was never seen on its way out.
  if (!waits && !strategyOf(kind).graceful && !isBeingDeleted(before))
    return {json::Value(before), true, true};
  const bool changed = !waits || json::Value(object) != json::Value(before);
  return {std::move(value), !waits, changed};
}

void deleteObject(Context& context, Call call, ResourcePtr resource, ResponderPtr to) {
  auto shape = shapeOf(call.accept, call.info, *resource->kind);
  if (!shape) return to->answer(shape.error());
  shape->now = context.clock.wall();
  auto options = readDeleteOptions(call);
  if (!options) return to->answer(options.error());
  auto request = admissionOf(call.who, resource, call.info.ns, call.info.name, options->dryRun);
  auto warnings = warningsOf(*resource->kind, *options);
  auto done = [to, resource, shape = *shape, warnings](Outcome<store::ObjectPtr> object,
                                                       bool gone) {
    if (!object) return to->answer(object.error());
    const bool status = gone && !strategyOf(*resource->kind).answersDeleted;
    Answer a = status ? goneAnswer(*resource->kind, **object)
                      : answer::json(200, encodeOne(*resource, **object, shape));
    a.warnings = warnings;
    to->answer(std::move(a));
  };
  std::make_shared<Removal>(context, std::move(request), std::move(*options), std::move(done))
      ->attempt();
}

void deleteAs(Context& context, const Identity& who, ResourcePtr resource, std::string ns,
              std::string name, DeleteOptions options, Removed done) {
  auto request =
      admissionOf(who, std::move(resource), std::move(ns), std::move(name), options.dryRun);
  auto finished = [done = std::move(done)](Outcome<store::ObjectPtr> object, bool) mutable {
    if (object) return done({});
    done(tl::unexpected(object.error()));
  };
  std::make_shared<Removal>(context, std::move(request), std::move(options), std::move(finished))
      ->attempt();
}

void deleteCollection(Context& context, Call call, ResourcePtr resource, ResponderPtr to) {
  auto options = readDeleteOptions(call);
  if (!options) return to->answer(options.error());
  auto filter = ObjectFilter::of(call.info, *resource);
  if (!filter) return to->answer(filter.error());
  store::Query query{.resource = resource->stored, .ns = call.info.ns};
  query.filter = [&](const store::Object& o) { return filter->matches(o); };
  auto page = context.store.list(query);
  if (!page) return to->answer(answer::ofError(page.error()));

  ListHead head{std::to_string(page->revision.v), "", std::nullopt};
  auto body = std::make_shared<std::string>(encodeList(*resource, head, page->items, {}));
  if (page->items.empty()) return to->answer(answer::json(200, *body));
  auto left = std::make_shared<size_t>(page->items.size());
  for (const auto& item : page->items) {
    deleteAs(context, call.who, resource, std::string(item->ns()), std::string(item->name()),
             *options, [to, left, body](Outcome<> done) {
               const bool refused = !done && done.error().status != 404;
               if (refused && *left > 0) {
                 *left = 0;
                 return to->answer(done.error());
               }
               if (*left > 0 && --*left == 0) to->answer(answer::json(200, *body));
             });
  }
}

}  // namespace mangrove::apiserver
