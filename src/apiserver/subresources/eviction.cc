#include "apiserver/subresources/eviction.h"

#include <memory>
#include <vector>

#include <fmt/core.h>

#include "apiserver/core/body.h"
#include "apiserver/core/object.h"
#include "apiserver/core/remove.h"
#include "apiserver/core/write.h"
#include "apiserver/subresources/admit.h"
#include "apiserver/subresources/conditions.h"
#include "apiserver/subresources/label_match.h"
#include "base/check.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

constexpr size_t kMostDisruptedPods = 2000;  // Kubernetes' own bound on what awaits confirmation
constexpr int kProcessingRetrySeconds = 10;

int64_t numberAt(const json::Object& parent, std::string_view key) {
  const json::Value* found = parent.if_contains(key);
  return found && found->is_int64() ? found->get_int64() : 0;
}

const json::Object& partOf(const json::Object& object, std::string_view key) {
  static const json::Object kNone;
  const json::Object* found = findObject(object, key);
  return found ? *found : kNone;
}

// Without Retry-After unless waiting alone helps: clients repeat such answers by themselves, and
// `kubectl drain` could not tell its user what it waits for.
Answer held(const std::string& why, std::optional<int> retry = std::nullopt) {
  json::Array causes{json::Object{{"reason", "DisruptionBudget"}, {"message", why}}};
  json::Object details{{"causes", std::move(causes)}};
  if (retry) details["retryAfterSeconds"] = *retry;
  Answer out = answer::status(429, "TooManyRequests",
                              "Cannot evict pod as it would violate the pod's disruption budget.",
                              std::move(details));
  out.retryAfterSeconds = retry;
  return out;
}

Answer budgetForbids(const json::Object& budget, std::string_view why) {
  const std::string name(nameOf(budget));
  return answer::forbidden(
      fmt::format("poddisruptionbudgets.policy \"{}\" is forbidden: {}", name, why),
      json::Object{{"name", name}, {"group", "policy"}, {"kind", "poddisruptionbudgets"}});
}

struct Eviction {
  std::string ns, pod;
  DeleteOptions options;
};

Outcome<json::Object> readEviction(const Call& call) {
  auto body = readBody(call);
  if (!body) return tl::unexpected(body.error());
  if (!body->is_object()) return refuse(answer::badRequest("the Eviction is not a JSON object"));
  json::Object& root = body->get_object();
  const std::string_view kind = textAt(root, "kind"), name = nameOf(root);
  if (!kind.empty() && kind != "Eviction")
    return refuse(answer::badRequest(fmt::format("the body is a {}, want an Eviction", kind)));
  if (!name.empty() && name != call.info.name)
    return refuse(answer::badRequest(fmt::format(
        "name in URL does not match name in Eviction object: {} and {}", call.info.name, name)));
  return std::move(root);
}

Outcome<Eviction> evictionOf(const Call& call, const json::Object& root) {
  Call inner = call;  // the options are those of a delete, in another place
  const json::Object* options = findObject(root, "deleteOptions");
  inner.body = options ? json::write(*options) : "";
  inner.contentType = "application/json";
  auto read = readDeleteOptions(inner);
  if (!read) return tl::unexpected(read.error());
  return Eviction{call.info.ns, call.info.name, std::move(*read)};
}

class Evict : public std::enable_shared_from_this<Evict> {
 public:
  Evict(Context& context, Identity who, Eviction eviction, ResponderPtr to)
      : context_(context),
        who_(std::move(who)),
        eviction_(std::move(eviction)),
        to_(std::move(to)),
        pods_(context.resources.find("", "v1", "pods")),
        budgets_(context.resources.find("policy", "v1", "poddisruptionbudgets")) {
    CHECK(pods_ && budgets_, "the tables lack pods or poddisruptionbudgets");
  }

  void start() {
    auto seen = context_.store.getHead(pods_->stored, eviction_.ns, eviction_.pod);
    if (!seen) return to_->answer(answer::notFound(*pods_->kind, eviction_.pod));
    auto pod = json::parse(*seen->json());
    if (!pod || !pod->is_object()) return to_->answer(answer::internal("the pod cannot be read"));
    const json::Object& root = pod->get_object();
    if (auto refusal = checkPreconditions(root)) return to_->answer(std::move(*refusal));
    if (evictsFreely(root)) return remove();
    auto chosen = budgetsFor(root);
    if (chosen.size() > 1)
      return to_->answer(
          answer::internal("This pod has more than one PodDisruptionBudget, which "
                           "the eviction subresource does not support."));
    if (chosen.empty() || unhealthyMayGo(root, chosen.front())) return mark();
    charge(chosen.front());
  }

 private:
  // Checked here and not by the deletion, because our own marks on the way change the version.
  std::optional<Answer> checkPreconditions(const json::Object& pod) {
    DeleteOptions& options = eviction_.options;
    if (!options.uid.empty() && options.uid != uidOf(pod))
      return answer::conflict(
          *pods_->kind, eviction_.pod,
          fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                      options.uid, uidOf(pod)));
    if (!options.resourceVersion.empty() && options.resourceVersion != resourceVersionOf(pod))
      return answer::conflict(
          *pods_->kind, eviction_.pod,
          fmt::format("Precondition failed: ResourceVersion in precondition: {}, ResourceVersion "
                      "in object meta: {}",
                      options.resourceVersion, resourceVersionOf(pod)));
    options.uid = uidOf(pod);
    options.resourceVersion.clear();
    return std::nullopt;
  }

  std::vector<json::Object> budgetsFor(const json::Object& pod) {
    std::vector<json::Object> out;
    auto page = context_.store.list({.resource = budgets_->stored, .ns = eviction_.ns});
    if (!page) return out;
    const api::Labels labels = labelsOf(pod);
    for (const store::ObjectPtr& item : page->items) {
      auto budget = json::parse(*item->json());
      if (!budget || !budget->is_object()) continue;
      const json::Object* wanted = findObject(partOf(budget->get_object(), "spec"), "selector");
      if (!wanted) continue;
      auto selector = selectorFrom(*wanted);
      if (selector && selector->matches(labels)) out.push_back(std::move(budget->get_object()));
    }
    return out;
  }

  void charge(const json::Object& budget) {
    if (eviction_.options.dryRun) {
      json::Object copy = budget;
      if (auto ok = chargeBudget(copy, eviction_.pod, context_.clock.wall()); !ok)
        return to_->answer(ok.error());
      return remove();
    }
    auto self = shared_from_this();
    changeObject(
        context_, budgets_, eviction_.ns, std::string(nameOf(budget)),
        [self](json::Object& object) {
          return chargeBudget(object, self->eviction_.pod, self->context_.clock.wall());
        },
        [self](Outcome<store::ObjectPtr> charged) {
          if (!charged) return self->to_->answer(charged.error());
          self->mark();
        });
  }

  // Whoever looks at the pod while it ends shall see why.
  void mark() {
    if (eviction_.options.dryRun) return remove();
    auto self = shared_from_this();
    changeObject(
        context_, pods_, eviction_.ns, eviction_.pod,
        [self](json::Object& pod) -> Outcome<> {
          putCondition(
              pod, {"DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting"},
              self->context_.clock.wall());
          return {};
        },
        [self](Outcome<store::ObjectPtr> marked) {
          if (!marked) return self->to_->answer(marked.error());
          self->remove();
        });
  }

  void remove() {
    auto done = [to = to_](Outcome<> removed) {
      to->answer(removed ? answer::status(201, "", "") : removed.error());
    };
    deleteAs(context_, who_, pods_, eviction_.ns, eviction_.pod, eviction_.options, done);
  }

  Context& context_;
  Identity who_;
  Eviction eviction_;
  ResponderPtr to_;
  ResourcePtr pods_, budgets_;
};

}  // namespace

bool evictsFreely(const json::Object& pod) {
  const std::string_view phase = textAt(partOf(pod, "status"), "phase");
  return isBeingDeleted(pod) || phase == "Pending" || phase == "Succeeded" || phase == "Failed";
}

bool unhealthyMayGo(const json::Object& pod, const json::Object& budget) {
  if (statusOfCondition(pod, "Ready") == "True") return false;
  if (textAt(partOf(budget, "spec"), "unhealthyPodEvictionPolicy") == "AlwaysAllow") return true;
  const json::Object& status = partOf(budget, "status");
  const int64_t desired = numberAt(status, "desiredHealthy");
  return desired > 0 && numberAt(status, "currentHealthy") >= desired;
}

Outcome<> chargeBudget(json::Object& budget, const std::string& pod, WallTime now) {
  json::Object& status = objectAt(budget, "status");
  if (numberAt(status, "observedGeneration") < numberAt(metadataOf(budget), "generation"))
    return refuse(held(fmt::format("The disruption budget {} is still being processed by the "
                                   "server.",
                                   nameOf(budget)),
                       kProcessingRetrySeconds));
  const int64_t allowed = numberAt(status, "disruptionsAllowed");
  if (allowed < 0) return refuse(budgetForbids(budget, "pdb disruptions allowed is negative"));
  if (partOf(status, "disruptedPods").size() > kMostDisruptedPods)
    return refuse(budgetForbids(budget,
                                "DisruptedPods map too big - too many evictions not confirmed by "
                                "PDB controller"));
  if (allowed == 0)
    return refuse(held(fmt::format(
        "The disruption budget {} needs {} healthy pods and has {} currently", nameOf(budget),
        numberAt(status, "desiredHealthy"), numberAt(status, "currentHealthy"))));
  status["disruptionsAllowed"] = allowed - 1;
  objectAt(status, "disruptedPods")[pod] = formatTime(now);
  if (allowed == 1) putCondition(budget, {"DisruptionAllowed", "False", "InsufficientPods"}, now);
  return {};
}

void evictPod(Context& context, const Call& call, ResponderPtr to) {
  if (call.info.verb != Verb::kCreate)
    return to->answer(answer::methodNotAllowed("an eviction can only be created"));
  auto root = readEviction(call);
  if (!root) return to->answer(root.error());
  auto eviction = evictionOf(call, *root);
  if (!eviction) return to->answer(eviction.error());
  auto request =
      partOfPod(context, call, call.info.name, std::move(*root), "policy/v1", "Eviction");
  request.subresource = "eviction";
  request.dryRun = eviction->options.dryRun;
  admitPart(context, std::move(request), std::move(to),
            [&context, who = call.who, eviction = std::move(*eviction)](const json::Value&,
                                                                        ResponderPtr back) mutable {
              std::make_shared<Evict>(context, std::move(who), std::move(eviction), std::move(back))
                  ->start();
            });
}

}  // namespace mangrove::apiserver
