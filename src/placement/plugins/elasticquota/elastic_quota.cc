#include "placement/plugins/elasticquota/elastic_quota.h"

#include <unordered_set>
#include <utility>

#include "base/os/log.h"
#include "placement/plugins/elasticquota/keeper.h"
#include "placement/plugins/elasticquota/line.h"
#include "placement/plugins/elasticquota/page.h"
#include "placement/plugins/elasticquota/quota_desk.h"
#include "placement/plugins/elasticquota/room.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {

namespace {

const Logger log("quota");

class ElasticQuota final : public Plugin,
                           public PodFeed,
                           public RoomMaking,
                           public Reporting,
                           public Transactional,
                           public ClusterListener {
 public:
  ElasticQuota(const PluginHandle& handle, const QuotaArgs& args)
      : cluster_(handle.cluster),
        clock_(handle.clock),
        pods_(handle.pods),
        desk_(handle.cluster, args, handle.quotaGates),
        line_(desk_),
        room_(handle.cluster, handle.clock, handle.deeds, desk_),
        keeper_(handle, desk_) {}

  std::string_view name() const override { return "ElasticQuota"; }
  PodFeed* podFeed() override { return this; }
  RoomMaking* roomMaking() override { return this; }
  Reporting* reporting() override { return this; }
  Transactional* transactional() override { return this; }
  ClusterListener* listener() override { return this; }

  // ---- what there is
  void podSeen(const PodObject& before, const PodObject& after) override {
    const api::Uid& uid = after ? after->meta.uid : before->meta.uid;
    const QuotaPod* known = desk_.book().podOf(uid);
    const bool gave = known != nullptr && known->assigned;
    const QuotaPlace place = gave ? desk_.book().placeOf(uid) : QuotaPlace();
    // Whom the book does not know has no node from us either: the first look at a pod is quick.
    if (after)
      desk_.see(*after, known != nullptr && cluster_.find(uid) != nullptr, timeFor(*after),
                leftOf(uid));
    else
      forget(uid);
    if (known != nullptr) line_.seen(uid);
    if (after && after->meta.isDeleting()) keeper_.podSeen(*after);
    if (gave && desk_.book().podOf(uid) == nullptr) call(line_.callableIn(place));
  }
  void podAdded(const PodInfo& pod, Row, bool trial) override {
    const api::Uid& uid = pod.pod->meta.uid;
    if (!trial && desk_.book().podOf(uid) == nullptr) desk_.see(*pod.pod, true, clock_.wall());
    if (!cluster_.reservations.empty()) standInChanged(pod);
    desk_.book().assign(uid, meant(trial));
    if (trial) return;
    line_.erase(uid);
    room_.settled(uid);
  }
  // A pod whose object names a node is used as long as the object is there, also while the node is
  // not known.
  void podRemoved(const PodInfo& pod, Row, bool trial) override {
    if (trial || pod.pod->nodeName.empty()) desk_.book().unassign(pod.pod->meta.uid, meant(trial));
  }
  // A reservation counts in the quota of its template for what its owners have not taken; they
  // count in theirs.
  void standInChanged(const PodInfo& pod) override {
    const api::Uid& uid = pod.pod->meta.uid;
    if (const ReservationPtr entry = cluster_.reservations.find(uid); entry && entry->standIn)
      desk_.recount(*pod.pod, leftOf(uid), meant(false));
  }
  void nodeChanged(Row row) override { desk_.nodeChanged(row); }
  void nodeGone(Row row) override { desk_.nodeGone(row); }
  void quotaChanged(std::string_view key) override {
    if (desk_.quotaChanged(key)) line_.treesChanged();
    keeper_.objectChanged(key);
    if (const auto fault = desk_.faults().find(std::string(key)); fault != desk_.faults().end())
      log.warn("ElasticQuota {}: {}; it counts as absent", key, fault->second);
  }

  // ---- decisions
  bool prepares() const override { return true; }
  PodVerdict prepare(const PodPlan&, const api::Pod& pod) override {
    const QuotaDesk::Asked asked = desk_.askedBy(pod);
    if (!asked.place) return skip();
    if (!insideOnly_.empty()) insideOnly_.erase(pod.meta.uid);
    auto refusal = desk_.verdict(asked);
    if (refusal && hasRoomInside(pod, asked, *refusal)) {
      refusal.reset();
      insideOnly_.insert(pod.meta.uid);
    }
    const auto objection = refusal ? std::nullopt : desk_.objection(asked);
    if (!refusal && !objection) return {};
    line_.put(pod.meta.uid, refusal ? refusal->quota : kRootId, cluster_.table.isTrying());
    return PodVerdict::refuse(
        PodVerdict::Kind::kRefused,
        objection ? *objection
                  : messageOf(*asked.place.ledger, *refusal, *asked.request, desk_.rules()));
  }
  // Who was let in because a reservation would count for less must have got into it.
  Result<> reserve(const Decision& decision) override {
    const api::Pod& pod = *decision.pod->pod;
    if (insideOnly_.empty() || insideOnly_.erase(pod.meta.uid) == 0) return {};
    const auto refusal = desk_.verdictOnPlaced(desk_.askedBy(pod));
    if (!refusal) return {};
    line_.put(pod.meta.uid, refusal->quota, true);
    return fail(mangrove::Code::kDenied,
                "quota {} has room for it inside of a reservation only, and it found its place "
                "outside",
                desk_.book().placeOf(pod.meta.uid).name());
  }
  RoomAnswer makeRoom(const Stranded& stranded) override { return room_.make(stranded); }

  // What hooks say may change without a number of a quota.
  bool wakes(const PodInfo& pod) const override {
    return !desk_.hasHooks() && line_.holds(pod.pod->meta.uid);
  }
  // ---- waiting pods: called when the numbers of the moment admit them, by nobody else
  uint32_t interests() const override { return bit(EventKind::kPodUpdate); }
  Hint hint(const ClusterEvent&, const PodInfo&) override { return Hint::kQueue; }
  void tick(WallTime now) override {
    call(line_.callable());
    call(room_.worthATry());
    keeper_.tick(now);
  }

  // ---- figures of quotas, and overuse, while leading
  std::vector<ObjectPatch> takePatches(WallTime now) override { return keeper_.takePatches(now); }
  void written(const ObjectPatch& patch) override { keeper_.written(patch); }
  void notWritten(const ObjectPatch& patch) override { keeper_.notWritten(patch); }

  std::optional<json::Value> serve(std::string_view path) override {
    return quotaPage(desk_, keeper_.borrowings(), path);
  }

 private:
  // Who is not being deleted is the same at all times.
  WallTime timeFor(const api::Pod& pod) const {
    return pod.meta.isDeleting() ? clock_.wall() : WallTime();
  }
  // What owners have left of a reservation; null: it is none, or they have left all.
  QuotaDesk::Counts leftOf(const api::Uid& uid) const {
    if (cluster_.reservations.empty()) return nullptr;
    const ReservationPtr entry = cluster_.reservations.find(uid);
    if (!entry || !entry->standIn || (entry->owners.empty() && !entry->spent)) return nullptr;
    return std::make_shared<Amounts>(entry->held());
  }
  // Whether the pod would have room if it took its part of a reservation that it matches.
  bool hasRoomInside(const api::Pod& pod, const QuotaDesk::Asked& asked,
                     const QuotaRefusal& refusal) const {
    bool out = false;
    if (cluster_.reservations.empty() || isReservePod(pod)) return out;
    cluster_.reservations.each([&](const ReservationPtr& entry) {
      if (out || !entry->isOpen() || entry->place == kNoRow) return;
      const QuotaPlace place = desk_.book().placeOf(entry->uid);
      if (place.ledger == asked.place.ledger && place.ledger->isBelow(place.id, refusal.quota) &&
          entry->offer->owners.match(pod))
        out = desk_.admitsInside(asked, entry->uid);
    });
    return out;
  }
  static PodVerdict skip() {
    PodVerdict out;
    out.kind = PodVerdict::Kind::kSkip;
    return out;
  }
  // Inside a transaction everything may be undone, and helps nobody.
  QuotaBook::Meant meant(bool trial) const {
    return trial || cluster_.table.isTrying() ? QuotaBook::Meant::kTrial : QuotaBook::Meant::kReal;
  }
  void forget(const api::Uid& uid) {
    desk_.gone(uid);
    room_.settled(uid);
    keeper_.podGone(uid);
  }
  void call(const std::vector<api::Uid>& pods) {
    if (pods_ == nullptr) return;
    for (const api::Uid& uid : pods) pods_->activate(uid);
  }

  Cluster& cluster_;
  Clock& clock_;
  WaitingPods* pods_;
  QuotaDesk desk_;
  QuotaLine line_;  // refused by us, and not on a node since
  QuotaRoom room_;
  QuotaKeeper keeper_;
  std::unordered_set<api::Uid> insideOnly_;  // may start inside of a reservation only
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeElasticQuota(const json::Value& value, PluginHandle handle) {
  auto args = readQuotaArgs(value);
  if (!args) return pass(args.error());
  return std::make_unique<ElasticQuota>(handle, *args);
}

}  // namespace mangrove::placement
