#include "manager/webhook/quota/desk.h"

#include <utility>

#include "api/annotations/annotation.h"
#include "api/wire/names.h"
#include "client/informer/resource_version.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

constexpr size_t kOwnWrites = 100;  // remembered; more means that the caches do not follow at all

Review internalTrouble(std::string message) {
  return Review::refuse(kBrokenHandler, "quota-admission", std::move(message));
}

Result<Quota> decodeQuota(std::string_view body) {
  auto object = api::decodeText<api::ElasticQuota>(body);
  if (!object) return pass(object.error());
  return quotaOf(*object);
}

}  // namespace

QuotaDesk::QuotaDesk(DeskSetup setup) : setup_(std::move(setup)), rng_(setup_.seed) {
  if (setup_.clock == nullptr) setup_.clock = &realClock();
}

QuotaDesk::~QuotaDesk() = default;

void QuotaDesk::book(const std::string& quota, api::ResourceList request, bool dryRun,
                     ReviewDone done) {
  counters_[quota].line.push_back(
      {std::move(request), dryRun, std::move(done), setup_.clock->mono() + setup_.timeout});
  serve(quota);
}

Result<Quota> QuotaDesk::latest(const std::string& name) const {
  const auto tree = setup_.picture->now()->quotas;
  const size_t count = tree->countOf(name);
  if (count != 1) return invalid("there are {} quotas called {}; want exactly one", count, name);
  const Quota& cached = *tree->find(name);
  const auto own = own_.find(name);
  if (own != own_.end() && client::surelyOlder(cached.resourceVersion, own->second.resourceVersion))
    return own->second;
  return cached;
}

void QuotaDesk::dropLate(Counter& counter) {
  const MonoTime now = setup_.clock->mono();
  std::erase_if(counter.underWay, [&](Waiting& one) {
    if (one.until > now) return false;
    one.done(internalTrouble("quota admission took too long"));
    return true;
  });
}

void QuotaDesk::serve(const std::string& name) {
  Counter& counter = counters_[name];
  if (counter.busy || counter.line.empty()) return;
  counter.busy = true;
  for (Waiting& one : counter.line) counter.underWay.push_back(std::move(one));
  counter.line.clear();
  counter.retriesLeft = retryBudget(counter.underWay.size(), setup_.maxRetries);
  counter.jitterLeft = setup_.maxTotalJitter;
  auto quota = latest(name);
  if (!quota) return close(name, pass(quota.error()));
  judge(name, std::move(*quota));
}

// In the order of arrival; whom the quota has no room for is told at once.
void QuotaDesk::judge(const std::string& name, Quota quota) {
  Counter& counter = counters_[name];
  dropLate(counter);
  const api::ResourceList before = quota.childRequest;
  std::vector<Waiting> accepted;
  for (Waiting& one : counter.underWay) {
    auto booked = bookOn(quota, one.request);
    if (!booked)
      one.done(Review::refuse(kForbidden, "exceeded-quota", booked.error().text()));
    else if (one.dryRun)
      one.done(Review());
    else {
      quota.childRequest = std::move(*booked);
      accepted.push_back(std::move(one));
    }
  }
  counter.underWay = std::move(accepted);
  if (counter.underWay.empty() || quota.childRequest == before) return close(name, {});
  write(name, quota);
}

void QuotaDesk::write(const std::string& name, const Quota& quota) {
  json::Object body;
  json::Object& metadata = metadataOf(body);
  setText(metadata, "resourceVersion", quota.resourceVersion);
  setText(objectIn(metadata, "annotations"), api::annotation::kQuotaChildRequest,
          api::annotationText(quota.childRequest));
  auto request = client::patchRequest({client::kind::kElasticQuota, quota.ns, quota.name},
                                      client::PatchType::kMerge, json::write(body));
  request.timeout = setup_.timeout;
  setup_.client->submit(*setup_.owner, std::move(request),
                        life_.guard([this, name, quota](Result<client::Reply> reply) {
                          written(name, quota, std::move(reply));
                        }));
}

void QuotaDesk::written(const std::string& name, const Quota& sent, Result<client::Reply> reply) {
  Counter& counter = counters_[name];
  if (!reply && reply.error().code() == Code::kConflict && counter.retriesLeft-- > 0)
    return retry(name, sent);
  if (!reply) return close(name, pass(reply.error()));
  if (auto now = decodeQuota(reply->body)) {
    if (own_.size() >= kOwnWrites) own_.clear();
    own_[name] = std::move(*now);
  }
  close(name, {});
}

// Replicas that met once would meet again: each waits for half the jitter and a random part of the
// other half.
void QuotaDesk::retry(const std::string& name, const Quota& old) {
  Counter& counter = counters_[name];
  if (setup_.retryJitter <= Duration::zero() || counter.jitterLeft < setup_.retryJitter)
    return readAgain(name, old);
  counter.jitterLeft -= setup_.retryJitter;
  const double part = (1 + rng_.unit()) / 2;
  const Duration wait(static_cast<int64_t>(static_cast<double>(setup_.retryJitter.count()) * part));
  counter.pause =
      life_.later(*setup_.clock, *setup_.owner, wait, [this, name, old] { readAgain(name, old); });
}

void QuotaDesk::readAgain(const std::string& name, const Quota& old) {
  client::Request request;
  request.ref = {client::kind::kElasticQuota, old.ns, old.name};
  const auto heard = [this, name](const Result<client::Reply>& reply) {
    if (!reply) return close(name, pass(reply.error()));
    auto quota = decodeQuota(reply->body);
    if (!quota) return close(name, pass(quota.error()));
    judge(name, std::move(*quota));
  };
  setup_.client->submit(*setup_.owner, std::move(request), life_.guard(heard));
}

void QuotaDesk::close(const std::string& name, const Result<>& outcome) {
  Counter& counter = counters_[name];
  std::vector<Waiting> answered = std::exchange(counter.underWay, {});
  counter.busy = false;
  for (Waiting& one : answered)
    one.done(outcome ? Review() : internalTrouble("quota " + name + ": " + outcome.error().text()));
  if (counter.line.empty())
    counters_.erase(name);
  else
    serve(name);
}

}  // namespace mangrove::manager
