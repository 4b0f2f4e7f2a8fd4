#include "manager/controllers/quotaprofile/controller.h"

#include "api/object/event.h"
#include "api/wire/names.h"
#include "client/informer/follow.h"
#include "json/value.h"
#include "manager/controllers/list.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;

constexpr Duration kLookAgain = std::chrono::seconds(10);
constexpr Duration kAfterFailure = std::chrono::seconds(2);

}  // namespace

struct QuotaProfileController::Step {
  std::string key;
  std::shared_ptr<const api::QuotaProfile> profile;
  ProfiledQuota wanted;
  ControlLoop::Done done;
};

QuotaProfileController::QuotaProfileController(const ControllerSetup& setup)
    : desk_(setup.desk),
      keys_(setup.keys),
      profiles_(client::follow(setup.informers, kind::kElasticQuotaProfile)),
      quotas_(client::follow(setup.informers, kind::kElasticQuota)) {}

void QuotaProfileController::start() {
  profiles_.onChange(
      [this](const client::Change<api::QuotaProfile>& change) { keys_.add(change.key); });
  profiles_.start();
  quotas_.start();
}

void QuotaProfileController::each(const Visit& visit) const {
  profiles_.each([&](std::string_view key, const api::QuotaProfile&) { visit(key); });
}

std::vector<const api::Node*> QuotaProfileController::nodesOf(const api::Selector& selector) const {
  std::vector<const api::Node*> out;
  desk_.caches.nodes.each([&](std::string_view, const api::Node& node) {
    if (selector.matches(node.meta.labels)) out.push_back(&node);
  });
  return out;
}

void QuotaProfileController::reconcile(const std::string& key, ControlLoop::Done done) {
  const auto profile = profiles_.find(key);
  if (!profile) return done({});
  keys_.addAfter(key, kLookAgain);
  if (!quotas_.hasSynced()) return done({});
  const auto selector = compile(profile->spec.nodeSelector);
  if (!selector) {
    desk_.warn(api::refTo(kind::kElasticQuotaProfile, profile->meta), "SelectorInvalid",
               selector.error().text());
    return done({});
  }
  const auto nodes = nodesOf(*selector);
  auto wanted = quotaOf(*profile, nodes);
  if (!wanted) {
    desk_.warn(api::refTo(kind::kElasticQuotaProfile, profile->meta), "ResourceKeysInvalid",
               wanted.error().text());
    return done({});
  }
  saveTreeId(std::make_shared<Step>(Step{key, profile, std::move(*wanted), std::move(done)}));
}

void QuotaProfileController::saveTreeId(std::shared_ptr<Step> step) {
  const auto& meta = step->profile->meta;
  if (meta.labels.get(api::label::kQuotaTreeId) == std::string_view(step->wanted.treeId))
    return writeQuota(std::move(step));
  const json::Object patch = {
      {"metadata", {{"labels", {{api::label::kQuotaTreeId, step->wanted.treeId}}}}}};
  client::Ref ref{kind::kElasticQuotaProfile, std::string(meta.ns.view()), meta.name.str(), ""};
  desk_.send(client::patchRequest(ref, client::PatchType::kMerge, json::write(patch)),
             [this, step](Result<client::Reply> reply) mutable {
               if (!reply) return finish(*step, reply, "UpdateProfileFailed");
               writeQuota(std::move(step));
             });
}

void QuotaProfileController::writeQuota(std::shared_ptr<Step> step) {
  const std::string ns(step->profile->meta.ns.view());
  const auto& name = step->profile->spec.quotaName;
  const auto quota = quotas_.find(ns, name);
  client::Request request;
  if (!quota) {
    request.verb = client::Verb::kCreate;
    request.ref = {kind::kElasticQuota, ns, "", ""};
    request.body = json::write(objectOf(*step->profile, step->wanted));
  } else {
    const auto patch = patchOf(*quota, step->wanted);
    if (patch.empty()) return step->done({});
    request = client::patchRequest({kind::kElasticQuota, ns, name, ""}, client::PatchType::kMerge,
                                   json::write(patch));
  }
  const char* reason = quota ? "UpdateQuotaFailed" : "CreateQuotaFailed";
  desk_.send(std::move(request), [this, step, reason](Result<client::Reply> reply) mutable {
    finish(*step, reply, reason);
  });
}

void QuotaProfileController::finish(Step& step, const Result<client::Reply>& reply,
                                    std::string_view reason) {
  const bool raced = !reply && reply.error().code() == Code::kExists;
  if (!reply && !raced) {
    desk_.warn(api::refTo(kind::kElasticQuotaProfile, step.profile->meta), reason,
               reply.error().text());
    keys_.addAfter(step.key, kAfterFailure);
  }
  step.done({});
}

ControllerInfo controllers::quotaprofile() {
  return {.name = "quotaprofile",
          .make = makeController<QuotaProfileController>,
          .access = {{kind::kNode, kFollow},
                     {kind::kElasticQuotaProfile, "list watch patch"},
                     {kind::kElasticQuota, "list watch create patch"}}};
}

}  // namespace mangrove::manager
