#include "placement/plugins/elasticquota/quota_desk.h"

#include <utility>

#include "api/annotations/quota.h"
#include "api/pod/pod_requests.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {

namespace {

constexpr size_t kSpecsRemembered = 4096;

BookRules rulesFor(const QuotaArgs& args, const QuotaGates& gates) {
  BookRules out;
  out.ledger = {args.scaleMins, gates.guaranteeUsage};
  out.noDefaultQuota = gates.noDefaultQuota;
  out.manyTrees = gates.manyTrees;
  out.defaultMax = args.defaultMax;
  out.systemMax = args.systemMax;
  return out;
}

PodKind kindOf(const api::Pod& pod) {
  return api::isPreemptibleInQuota(pod.meta.labels) ? PodKind::kPreemptible : PodKind::kFixed;
}

}  // namespace

QuotaDesk::QuotaDesk(Cluster& cluster, QuotaArgs args, QuotaGates gates)
    : cluster_(cluster), args_(std::move(args)), gates_(gates), book_(rulesFor(args_, gates_)) {
  // The arguments were read with the same function, and would have been refused.
  if (auto hooks = makeHooks(args_.hooks)) hooks_ = std::move(*hooks);
  if (hasHooks())
    book_.onAssigned([this](const QuotaPlace& place, const QuotaPod& pod, bool assigned) {
      for (const auto& hook : hooks_) hook->podAssigned(place, pod, assigned);
    });
  for (const auto& [key, quota] : cluster_.elasticQuotas) quotaChanged(key);
  for (Row row = 0; row < cluster_.table.rows(); row++)
    if (cluster_.table.live(row)) nodeChanged(row);
  cluster_.eachPod([this](const PodPtr& pod) { see(*pod->pod, true, {}); });
}

bool QuotaDesk::isIgnored(const api::Pod& pod, WallTime now) const {
  if (api::isTerminated(pod)) return true;
  if (!pod.meta.isDeleting()) return false;
  const auto grace = std::chrono::seconds(pod.meta.deletionGracePeriodSeconds);
  return gates_.ignoreTerminatingNow ||
         (gates_.ignoreTerminating && now > pod.meta.deletionTimestamp + grace);
}

std::shared_ptr<const Amounts> QuotaDesk::requestOf(const api::Pod& pod) {
  if (requests_.size() >= kSpecsRemembered) requests_.clear();
  Known& known = requests_[pod.spec.id()];
  if (!known.request) {
    api::RequestOptions options;
    options.withOverhead = !gates_.ignoreOverhead;
    known.spec = pod.spec;
    known.request = std::make_shared<Amounts>(amountsOf(api::podRequests(*pod.spec, options)));
  }
  return known.request;
}

void QuotaDesk::see(const api::Pod& pod, bool onNode, WallTime now, Counts counts) {
  if (isIgnored(pod, now)) return gone(pod.meta.uid);
  QuotaPod out;
  out.label = api::quotaHandleOf(pod.meta.labels);
  out.ns = pod.meta.ns;
  out.name = pod.meta.name.str();
  out.request = counts ? std::move(counts) : requestOf(pod);
  out.kind = kindOf(pod);
  out.assigned = onNode || !pod.nodeName.empty();
  out.reserves = isReservePod(pod);
  out.priority = pod.spec->priority.value_or(0);
  out.created = pod.meta.creationTimestamp;
  book_.see(pod.meta.uid, std::move(out));
}

void QuotaDesk::nodeChanged(Row row) {
  if (row >= ofRows_.size()) ofRows_.resize(row + 1);
  Amounts now = amountsOf(cluster_.table.node(row).status.allocatable);
  if (now == ofRows_[row]) return;
  total_.subtract(ofRows_[row]);
  total_.add(now);
  ofRows_[row] = std::move(now);
  book_.setTotal(total_);
}

void QuotaDesk::nodeGone(Row row) {
  if (row >= ofRows_.size()) return;
  total_.subtract(ofRows_[row]);
  ofRows_[row].clear();
  book_.setTotal(total_);
}

bool QuotaDesk::quotaChanged(std::string_view key) {
  const std::string name(key);
  const auto object = cluster_.elasticQuotas.find(key);
  faults_.erase(name);
  for (const auto& hook : hooks_) hook->quotaChanged(key.substr(key.find('/') + 1), object.get());
  if (!object) return book_.erase(name);
  std::vector<std::string> faults;
  const bool changed = book_.put(name, readableQuotaOf(*object, faults));
  if (!faults.empty()) faults_[name] = faults.front();
  return changed || hasHooks();
}

QuotaDesk::Asked QuotaDesk::askedBy(const api::Pod& pod) {
  if (const QuotaPod* known = book_.podOf(pod.meta.uid))
    return {book_.placeOf(pod.meta.uid), known->request, known->kind};
  return {book_.resolve(api::quotaNameOf(pod.meta.labels), pod.meta.ns.view()), requestOf(pod),
          kindOf(pod), false};
}

std::optional<std::string> QuotaDesk::objection(const Asked& asked) const {
  for (const auto& hook : hooks_)
    if (auto said = hook->check(asked.place, *asked.request, asked.kind)) return said;
  return std::nullopt;
}

void QuotaDesk::addStatus(const QuotaPlace& place, json::Object& annotations) const {
  for (const auto& hook : hooks_) hook->addStatus(place, annotations);
}

std::optional<QuotaRefusal> QuotaDesk::verdict(const Asked& asked) const {
  if (!asked.place) return std::nullopt;
  QuotaLedger& ledger = *asked.place.ledger;
  if (!asked.counted) ledger.request(asked.place.id, *asked.request, +1, asked.kind);
  auto out = judge(ledger, asked.place.id, *asked.request, asked.kind, rules());
  if (!asked.counted) ledger.request(asked.place.id, *asked.request, -1, asked.kind);
  return out;
}

bool QuotaDesk::admitsInside(const Asked& asked, const api::Uid& standIn) const {
  const QuotaPod* pod = book_.podOf(standIn);
  if (pod == nullptr || !pod->assigned) return false;
  const QuotaPlace place = book_.placeOf(standIn);
  Amounts taken = *pod->request;
  taken.keepOnly(*asked.request);
  taken.lowerTo(*asked.request);
  const PodKind kind = pod->kind;
  place.ledger->use(place.id, taken, -1, kind, QuotaLedger::Meant::kTrial);
  const bool out = !verdict(asked);
  place.ledger->use(place.id, taken, +1, kind, QuotaLedger::Meant::kTrial);
  return out;
}

std::optional<QuotaRefusal> QuotaDesk::verdictOnPlaced(const Asked& asked) const {
  if (!asked.place) return std::nullopt;
  QuotaLedger& ledger = *asked.place.ledger;
  ledger.use(asked.place.id, *asked.request, -1, asked.kind, QuotaLedger::Meant::kTrial);
  auto out = verdict(asked);
  ledger.use(asked.place.id, *asked.request, +1, asked.kind, QuotaLedger::Meant::kTrial);
  return out;
}

}  // namespace mangrove::placement
