#include "apiserver/admission/builtin_quota.h"

#include <fmt/core.h>

#include "apiserver/admission/builtin_refusal.h"
#include "apiserver/core/object.h"
#include "apiserver/core/write.h"

namespace mangrove::apiserver {

namespace {

Interned storedQuotas() {
  static const Interned kName = Resources::storedName("", "resourcequotas");
  return kName;
}

ResourcePtr quotaResource(Context& context) {
  return context.resources.find("", "v1", "resourcequotas");
}

bool hasEnded(const store::ObjectPtr& pod) {
  return pod && (pod->json()->find("\"phase\":\"Succeeded\"") != std::string::npos ||
                 pod->json()->find("\"phase\":\"Failed\"") != std::string::npos);
}

}  // namespace

// One create and the quotas that still have to agree.
struct QuotaAdmission::Charge {
  AdmissionRequest& request;
  Done done;
  std::vector<store::ObjectPtr> left;
};

std::vector<store::ObjectPtr> QuotaAdmission::quotasOf(std::string_view ns) const {
  auto page = context_.store.list({.resource = storedQuotas(), .ns = std::string(ns)});
  return page ? page->items : std::vector<store::ObjectPtr>();
}

void QuotaAdmission::validate(AdmissionRequest& request, Done done) {
  const KindInfo& kind = *request.resource->kind;
  const bool isCounted = request.operation == Operation::kCreate && kind.namespaced &&
                         request.subresource.empty() && request.object.is_object();
  auto quotas = isCounted ? quotasOf(request.ns) : std::vector<store::ObjectPtr>();
  if (quotas.empty()) return done(std::nullopt);
  chargeNext(std::make_shared<Charge>(Charge{request, std::move(done), std::move(quotas)}));
}

void QuotaAdmission::chargeNext(std::shared_ptr<Charge> charge) {
  if (charge->left.empty()) return charge->done(std::nullopt);
  const store::ObjectPtr quota = charge->left.back();
  charge->left.pop_back();
  auto change = [charge](json::Object& now) -> Outcome<> {
    const KindInfo& kind = *charge->request.resource->kind;
    const json::Object& object = charge->request.object.get_object();
    if (!quotaCovers(now, kind, object)) return {};
    const Usage hard = hardOf(now);
    if (auto text = missingFor(hard, kind, object); !text.empty())
      return refuse(admissionForbids(charge->request,
                                     fmt::format("failed quota: {}: {}", nameOf(now), text)));
    const Usage more = masked(usageOf(kind, object), hard);
    Usage used = usedOf(now);
    if (auto text = excess(nameOf(now), hard, used, more); !text.empty())
      return refuse(admissionForbids(charge->request, text));
    if (charge->request.dryRun) return {};
    for (const auto& [name, amount] : more) used[name] += amount;
    objectAt(now, "status")["used"] = toJson(used);
    return {};
  };
  auto charged = [this, charge](Outcome<store::ObjectPtr> result) {
    const bool isGone = !result && result.error().status == 404;
    if (!result && !isGone) return charge->done(result.error());
    chargeNext(charge);
  };
  changeObject(context_, quotaResource(context_), std::string(quota->ns()),
               std::string(quota->name()), std::move(change), std::move(charged));
}

Usage QuotaAdmission::counted(const json::Object& quota, const std::string& ns) const {
  const Usage hard = hardOf(quota);
  Usage used;
  for (const auto& [name, amount] : hard) used[name] = Quantity();
  for (const ResourcePtr& resource : context_.resources.all()) {
    const KindInfo& kind = *resource->kind;
    if (!kind.namespaced || context_.resources.findStored(resource->stored) != resource) continue;
    auto page = context_.store.list({.resource = resource->stored, .ns = ns});
    if (!page) continue;
    for (const auto& item : page->items) {
      auto value = json::parse(*item->json());
      if (!value || !value->is_object() || !quotaCovers(quota, kind, value->get_object())) continue;
      for (const auto& [name, amount] : masked(usageOf(kind, value->get_object()), hard))
        used[name] += amount;
    }
  }
  return used;
}

namespace {

// The status repeats the limits; they are others, or somebody wrote over it.
bool saysItsLimits(const json::Object& quota) {
  const json::Object* status = findObject(quota, "status");
  const json::Object* said = status ? findObject(*status, "hard") : nullptr;
  return said && json::Value(*said) == json::Value(toJson(hardOf(quota)));
}

}  // namespace

void QuotaAdmission::recount(const std::string& ns) {
  due_.erase(ns);
  for (const auto& quota : quotasOf(ns)) {
    auto change = [this, ns](json::Object& now) -> Outcome<> {
      json::Object& status = objectAt(now, "status");
      status["hard"] = toJson(hardOf(now));
      status["used"] = toJson(counted(now, ns));
      return {};
    };
    changeObject(context_, quotaResource(context_), ns, std::string(quota->name()),
                 std::move(change), [](const auto&) {});
  }
}

void QuotaAdmission::recountSoon(std::string ns) {
  if (!due_.insert(ns).second) return;
  context_.owner.post([this, ns = std::move(ns)] { recount(ns); });
}

void QuotaAdmission::changed(const Resource& resource, const store::ObjectPtr& now,
                             const store::ObjectPtr& before) {
  const KindInfo& kind = *resource.kind;
  if (!kind.namespaced) return;
  const store::ObjectPtr& any = now ? now : before;
  const bool isQuota = kind.group.empty() && kind.plural == "resourcequotas";
  const bool isPod = kind.group.empty() && kind.plural == "pods";
  if (!isQuota && quotasOf(any->ns()).empty()) return;
  const bool hasNewLimits = isQuota && now && now->json()->find("\"used\"") == std::string::npos;
  const bool isLess = !now || (isPod && before && hasEnded(now) && !hasEnded(before));
  if (!hasNewLimits && !isLess) {
    if (!isQuota || !before || !now) return;
    auto object = json::parse(*now->json());
    if (!object || !object->is_object() || saysItsLimits(object->get_object())) return;
  }
  recountSoon(std::string(any->ns()));
}

}  // namespace mangrove::apiserver
