#include "manager/webhook/owner_judge.h"

#include <utility>

#include "client/informer/follow.h"
#include "manager/webhook/pod/colocate.h"
#include "manager/webhook/quota/pods_of_quota.h"
#include "manager/webhook/server_core.h"

namespace mangrove::manager {
namespace {

constexpr Duration kPatience = std::chrono::seconds(8);  // below the API server's own of 10

DeskSetup deskSetup(const OwnerJudgeSetup& setup) {
  DeskSetup out;
  out.client = setup.client;
  out.owner = setup.owner;
  out.clock = setup.clock;
  out.picture = setup.picture;
  out.maxRetries = setup.quotaMaxRetries;
  out.retryJitter = setup.quotaRetryJitter;
  out.maxTotalJitter = setup.quotaMaxTotalJitter;
  if (setup.clock != nullptr)
    out.seed = static_cast<uint64_t>(setup.clock->wall().time_since_epoch().count());
  return out;
}

// Pods that ask for colocation by label escape the namespace's ResourceQuota otherwise.
bool asksByLabel(const AdmissionRequest& request) {
  const json::View labels = request.object["metadata"]["labels"];
  return request.operation == Operation::kCreate &&
         (labels[kCasterResourceType].exists() || labels[kResourceType].exists());
}

Result<Quota> quotaIn(json::View object) {
  if (!object.exists()) return quotaOf(api::ElasticQuota());
  auto decoded = api::decode<api::ElasticQuota>(object);
  if (!decoded) return pass(decoded.error());
  return quotaOf(*decoded);
}

}  // namespace

OwnerJudge::OwnerJudge(OwnerJudgeSetup setup)
    : setup_(std::move(setup)),
      desk_(deskSetup(setup_)),
      namespaceQuotas_(client::follow(setup_, client::kind::kResourceQuota)) {
  if (setup_.clock == nullptr) setup_.clock = &realClock();
}

OwnerJudge::~OwnerJudge() = default;

OwnerJudge::NeedsSecondLook OwnerJudge::needsSecondLook() const {
  return [any = namespaceQuotas_.anyFlag()](const AdmissionRequest& request,
                                            const Surroundings& around) {
    if (request.resource != "pods" || !request.group.empty() || !request.subresource.empty())
      return false;
    return around.gates.quotaAdmission || (*any && asksByLabel(request));
  };
}

void OwnerJudge::judge(const Route& route, const AdmissionRequest& request, ReviewDone done) {
  if (route.resource == "elasticquotas") return judgeQuota(route, request, std::move(done));
  if (route.subresource == "binding") return judgeBinding(route, request, std::move(done));
  Surroundings around = *setup_.picture->now();
  if (setup_.nodes) around.nodes = std::make_shared<const std::vector<NodeLabels>>(setup_.nodes());
  done(callHandler(route, request, around));
}

void OwnerJudge::judgeBinding(const Route& route, const AdmissionRequest& request,
                              ReviewDone done) {
  client::Request get;
  get.ref = {client::kind::kPod, request.ns, request.name};
  get.timeout = kPatience;
  auto heard = [this, &route, &request,
                done = std::move(done)](const Result<client::Reply>& reply) mutable {
    Surroundings around = *setup_.picture->now();
    auto pod = reply ? api::decodeText<api::Pod>(reply->body) : pass(reply.error());
    around.findPod = [&pod](std::string_view, std::string_view) {
      return pod ? std::make_shared<const api::Pod>(*pod) : nullptr;
    };
    done(callHandler(route, request, around));
  };
  setup_.client->submit(*setup_.owner, std::move(get), life_.guard(std::move(heard)));
}

void OwnerJudge::judgeQuota(const Route& route, const AdmissionRequest& request, ReviewDone done) {
  setup_.picture->settle();
  const auto quota = quotaIn(request.oldObject);
  const bool deleting = request.operation == Operation::kDelete;
  const bool asks = !route.mutating && quota &&
                    (deleting || (request.operation == Operation::kUpdate && !quota->isParent));
  if (!asks) return done(judgeQuotaWith({}, route, request));
  std::vector<std::string> namespaces;
  if (!deleting) {
    namespaces = quota->namespaces;
    namespaces.push_back(quota->name);
  }
  auto heard = [this, &route, &request,
                done = std::move(done)](const Result<PodsOfQuota>& pods) mutable {
    done(pods ? judgeQuotaWith(*pods, route, request)
              : Review::refuse(kBrokenHandler, "pods-of-quota", pods.error().text()));
  };
  askPodsOfQuota(*setup_.client, *setup_.owner, quota->name, namespaces,
                 life_.guard(std::move(heard)));
}

Review OwnerJudge::judgeQuotaWith(const PodsOfQuota& pods, const Route& route,
                                  const AdmissionRequest& request) {
  Surroundings around = *setup_.picture->now();
  around.podsOfQuota = [&pods](std::string_view, const std::vector<std::string>&) { return pods; };
  Review review = callHandler(route, request, around);
  if (review.allowed && !route.mutating && !request.dryRun) expect(request);
  return review;
}

// The next question about quotas may come before the informers have heard of this one.
void OwnerJudge::expect(const AdmissionRequest& request) {
  const bool deleting = request.operation == Operation::kDelete;
  auto quota = quotaIn(deleting ? request.oldObject : request.object);
  if (quota && deleting)
    setup_.picture->expectGone(quota->ns, quota->name);
  else if (quota)
    setup_.picture->expect(std::move(*quota));
}

void OwnerJudge::secondLook(const AdmissionRequest& request, ReviewDone done) {
  auto pod = api::decode<api::Pod>(request.object);
  auto old = request.oldObject.exists() ? api::decode<api::Pod>(request.oldObject) : api::Pod();
  if (!pod || !old)
    return done(Review::refuse(kBadRequest, "unreadable", "the pod cannot be read"));
  const std::string ns = pod->meta.ns.empty() ? request.ns : pod->meta.ns.str();
  if (!asksByLabel(request)) return charge(request, *pod, ns, std::move(done));
  auto judged = [this, &request, pod = *pod, ns, done = std::move(done)](Review review) mutable {
    if (!review.allowed) return done(std::move(review));
    charge(request, pod, ns, std::move(done));
  };
  namespaceQuotas_.judge(*pod, ns, life_.guard(std::move(judged)));
}

void OwnerJudge::charge(const AdmissionRequest& request, const api::Pod& pod, const std::string& ns,
                        ReviewDone done) {
  const auto around = setup_.picture->now();
  auto old = request.oldObject.exists() ? api::decode<api::Pod>(request.oldObject) : api::Pod();
  if (!around->gates.quotaAdmission || !old) return done(Review());
  const std::string quota =
      quotaToCharge(pod, request.oldObject.exists() ? &*old : nullptr, ns, *around);
  if (quota.empty()) return done(Review());
  desk_.book(quota, chargeOf(pod, around->gates, setup_.clock->wall()), request.dryRun,
             std::move(done));
}

}  // namespace mangrove::manager
