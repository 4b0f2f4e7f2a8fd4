#include "manager/webhook/quota/namespace_quota.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "client/informer/json_slices.h"
#include "manager/controllers/noderesource/alias_views.h"

namespace mangrove::manager {
namespace {

constexpr Duration kPatience = std::chrono::seconds(8);  // below the API server's own of 10
constexpr int64_t kPage = 500;

bool readSpec(const api::In& in, NamespaceQuota& out) {
  struct Spec {
    api::ResourceList hard;
    std::vector<std::string> scopes;
  } spec;
  static constexpr api::Fields fields{api::field<&Spec::hard>("hard"),
                                      api::field<&Spec::scopes>("scopes")};
  if (!fields.read(in, spec)) return false;
  out.hard = std::move(spec.hard);
  out.countsBestEffort =
      std::find(spec.scopes.begin(), spec.scopes.end(), "NotBestEffort") == spec.scopes.end();
  return true;
}

CpuMemory allOf(const api::ResourceList& list) {
  CpuMemory out = cpuMemoryOf(list);
  const auto add = [&](std::string_view cpu, std::string_view memory, int64_t milliPerUnit) {
    out.cpu += Quantity::ofMilli(list.amount(cpu).value() * milliPerUnit);
    out.memory += list.amount(memory);
  };
  add(canonicalView().cpuName, canonicalView().memoryName, canonicalView().milliPerUnit);
  for (const auto& view : aliasViews()) add(view.cpuName, view.memoryName, view.milliPerUnit);
  add(api::resource::kMidCpu, api::resource::kMidMemory, 1);
  return out;
}

bool hasEnded(const api::Pod& pod) {
  return pod.status.phase == api::PodPhase::kSucceeded ||
         pod.status.phase == api::PodPhase::kFailed;
}

std::string shown(const api::ResourceList& list, const api::ResourceList& names) {
  std::string out;
  for (const auto& [name, unused] : names)
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", name.view(),
                       list.amount(name.view()).text());
  return out;
}

}  // namespace

bool read(const api::In& in, NamespaceQuota& out) {
  static constexpr api::Fields fields{api::field<&NamespaceQuota::meta>("metadata"),
                                      api::via<readSpec>("spec")};
  return fields.read(in, out);
}

api::ResourceList namespaceCharge(const api::PodSpec& spec) {
  const CpuMemory requests = allOf(api::podRequests(spec));
  const CpuMemory limits = allOf(api::podLimits(spec));
  api::ResourceList out;
  for (std::string_view name : {"cpu", "requests.cpu"}) out.set(name, requests.cpu);
  for (std::string_view name : {"memory", "requests.memory"}) out.set(name, requests.memory);
  out.set("limits.cpu", limits.cpu);
  out.set("limits.memory", limits.memory);
  const auto raw = api::podRequests(spec);
  for (const auto& [name, amount] : raw) {
    if (name == api::resource::kCpu || name == api::resource::kMemory) continue;
    out.set(std::string("requests.") + name.str(), amount);
  }
  return out;
}

Result<api::ResourceList> chargeInPage(std::string_view listBody) {
  auto page = client::sliceList(listBody);
  if (!page) return page.error().in("list of pods");
  api::ResourceList out;
  for (std::string_view item : page->items) {
    const auto pod = api::decodeText<api::Pod>(item);
    if (pod && !hasEnded(*pod)) out.add(namespaceCharge(*pod->spec));
  }
  return out;
}

std::string exceeded(const NamespaceQuota& quota, const api::ResourceList& used,
                     const api::ResourceList& charge) {
  api::ResourceList over;
  for (const auto& [name, limit] : quota.hard) {
    const Quantity* asked = charge.find(name);
    if (asked == nullptr || asked->isZero()) continue;
    if (used.amount(name.view()) + *asked > limit) over.set(name, limit);
  }
  if (over.empty()) return "";
  return fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}",
                     quota.meta.name.view(), shown(charge, over), shown(used, over),
                     shown(over, over));
}

// One question on its way: the pods of the namespace, page by page.
struct NamespaceQuotas::Counting {
  std::string ns;
  api::ResourceList charge, used;
  ReviewDone done;
};

NamespaceQuotas::NamespaceQuotas(client::InformerSetup setup)
    : client_(*setup.client), owner_(*setup.owner), quotas_(std::move(setup)) {
  quotas_.addIndex("namespace",
                   [](const NamespaceQuota& quota) { return client::Values{quota.meta.ns.str()}; });
  quotas_.onChange([this](const auto&) { *any_ = quotas_.size() > 0; });
}

NamespaceQuotas::~NamespaceQuotas() = default;

void NamespaceQuotas::judge(const api::Pod& pod, const std::string& ns, ReviewDone done) {
  bool counted = false;
  for (const auto& quota : quotas_.by("namespace", ns)) counted |= quota->countsBestEffort;
  if (!counted) return done(Review());
  auto counting = std::make_shared<Counting>();
  counting->ns = ns;
  counting->charge = namespaceCharge(*pod.spec);
  counting->done = std::move(done);
  nextPage(std::move(counting), "");
}

void NamespaceQuotas::nextPage(std::shared_ptr<Counting> counting, const std::string& token) {
  client::Request request;
  request.verb = client::Verb::kList;
  request.ref = {client::kind::kPod, counting->ns, ""};
  request.query.limit = kPage;
  request.query.continueToken = token;
  request.timeout = kPatience;
  client_.submit(owner_, std::move(request),
                 life_.guard([this, counting](Result<client::Reply> reply) mutable {
                   auto sum = reply ? chargeInPage(reply->body) : pass(reply.error());
                   if (!sum)
                     return counting->done(
                         Review::refuse(kBrokenHandler, "namespace-quota", sum.error().text()));
                   counting->used.add(*sum);
                   const auto page = client::sliceList(reply->body);
                   if (page && !page->continueToken.empty())
                     return nextPage(std::move(counting), page->continueToken);
                   for (const auto& quota : quotas_.by("namespace", counting->ns)) {
                     if (!quota->countsBestEffort) continue;
                     if (auto why = exceeded(*quota, counting->used, counting->charge);
                         !why.empty())
                       return counting->done(Review::refuse(kForbidden, "exceeded-quota", why));
                   }
                   counting->done(Review());
                 }));
}

}  // namespace mangrove::manager
