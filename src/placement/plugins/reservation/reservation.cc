#include "placement/plugins/reservation/reservation.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/annotations/expected_duration.h"
#include "api/annotations/reservation.h"
#include "api/wire/names.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"
#include "placement/device/request.h"
#include "placement/plugins/deviceshare/device_books.h"
#include "placement/plugins/reservation/gauges.h"
#include "placement/plugins/reservation/judge.h"
#include "placement/plugins/reservation/keeper.h"
#include "placement/plugins/reservation/page.h"
#include "placement/plugins/reservation/status.h"
#include "placement/plugins/reservation/takeover.h"
#include "placement/reservation/expiry.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {
namespace {

constexpr size_t kTriedFirst = 32;  // rows with a reservation, before the search
constexpr std::string_view kNoneMatches = "node(s) no reservations match reservation affinity";
constexpr std::string_view kMixedPolicies =
    "node(s) reservation's allocate policy cannot coexist with those on the node";
constexpr std::string_view kOver =
    "node(s) over-committed by another scheduler beside their reservations";

class ReservationPlugin final : public Plugin,
                                public NodeLocal,
                                public Transforming,
                                public Suggesting,
                                public Transactional,
                                public RoomMaking,
                                public Binder,
                                public PodFeed,
                                public Reporting,
                                public ClusterListener {
 public:
  ReservationPlugin(const PluginHandle& handle, ReservationArgs args)
      : cluster_(handle.cluster),
        clock_(handle.clock),
        args_(std::move(args)),
        judge_(cluster_, args_),
        keeper_(cluster_, args_, handle.deeds),
        gauges_(handle.metrics) {}

  std::string_view name() const override { return "Reservation"; }
  NodeLocal* nodeLocal() override { return this; }
  Transforming* transforming() override { return this; }
  Suggesting* suggesting() override { return this; }
  Transactional* transactional() override { return this; }
  RoomMaking* roomMaking() override { return this; }
  Binder* binder() override { return this; }
  PodFeed* podFeed() override { return this; }
  Reporting* reporting() override { return this; }
  ClusterListener* listener() override { return this; }

  std::unique_ptr<PlanData> compile(const PodClass& cls) override {
    if (cls.annotations.has(api::annotation::kExpectedDuration))
      cluster_.reservations.hasTimedClasses = true;
    return compileReservation(cls, cluster_);
  }

  // ---- the pod as a whole
  bool prepares() const override { return true; }
  PodVerdict prepare(const PodPlan& plan, const api::Pod& pod) override;
  // A pod that a reservation names is like no other, and so is a reservation that takes pods over or
  // begins later.
  PodPtr beforeFilters(const PodPtr& pod) override {
    const ReservationBook& book = cluster_.reservations;
    if (!pod->cls->only.empty()) return nullptr;
    const bool isSole = pod->isStandIn
                            ? pod->pod->meta.annotations.has(api::annotation::kIsPreAllocation) ||
                                  pod->pod->meta.annotations.has(api::annotation::kReservationStart)
                            : book.namesPods() && book.namesPod(*pod->pod);
    return isSole ? cluster_.makeSoleInfo(pod->pod) : nullptr;
  }

  // ---- rows
  void meet(const std::vector<Plugin*>& all) override {
    std::vector<Reservable*> found;
    for (Plugin* plugin : all)
      if (Reservable* part = plugin->reservable()) found.push_back(part);
    judge_.setReservables(std::move(found));
  }
  bool concerns(const PodPlan& plan) const override {
    if (cluster_.reservations.empty()) return false;
    const auto& mine = matched(plan);
    return !mine.matches.restoresNothing() || takes(mine);
  }
  void restore(const PodPlan& plan, Row row) override;
  void unrestore(const PodPlan&, Row row) override {
    given_.reset();
    if (cluster_.deviceBooks) cluster_.deviceBooks->takeBack(row);
  }
  std::vector<Row> restored(const PodPlan& plan) override {
    return matched(plan).matches.restoredRows();
  }
  bool filters(const PodPlan&) const override { return true; }
  void fits(const PodPlan& plan, const NodeTable&, std::span<const Row> rows,
            Verdict* out) const override;
  std::vector<std::string> reasons(const PodPlan&, uint32_t why) const override {
    std::vector<std::string> out;
    for (auto part : split(texts_[why], '\n')) out.emplace_back(part);
    return out;
  }

  // ---- scores
  std::vector<std::vector<Row>> tiers(const PodPlan& plan, const api::Pod&) override {
    if (cluster_.reservations.empty()) return {};
    const auto& mine = matched(plan);
    if (mine.matches.empty() || mine.ignores()) return {};
    return mine.matches.best(kTriedFirst);
  }
  bool scores(const PodPlan&) const override { return true; }
  Scale scale() const override { return Scale::kShareOfMax; }
  void score(const PodPlan& plan, const NodeTable&, std::span<const Row> rows,
             int32_t* out) const override;

  // ---- decisions
  Result<> enter(const Decision& decision) override;
  Result<> preBind(const Decision& decision, BindNotes& notes) override;
  bool binds(const PodInfo& pod) const override { return pod.isStandIn; }
  std::vector<ObjectPatch> binding(const Decision& decision, const BindNotes& notes) override;
  void answered(const PodInfo& standIn, bool isBound) override;
  RoomAnswer makeRoom(const Stranded& stranded) override;

  // ---- waiting pods
  uint32_t interests() const override {
    return bit(EventKind::kReservation) | bit(EventKind::kAssignedPodDelete) |
           bit(EventKind::kAssignedPodUpdate) | bit(EventKind::kNodeAdd) |
           bit(EventKind::kNodeUpdate) | bit(EventKind::kPodUpdate);
  }
  Hint hint(const ClusterEvent&, const PodInfo&) override { return Hint::kQueue; }

  // ---- statuses
  void tick(WallTime now) override { cluster_.reservations.setTime(now); }
  void podSeen(const PodObject&, const PodObject& after) override {
    if (after && api::isTerminated(*after)) cluster_.reservations.ended(*after);
  }
  std::vector<ObjectPatch> takePatches(WallTime now) override {
    if (cluster_.reservations.keeper == &keeper_) gauges_.show(cluster_.reservations, now);
    return keeper_.takePatches(now);
  }
  void written(const ObjectPatch& patch) override { keeper_.written(patch); }
  void notWritten(const ObjectPatch& patch) override { keeper_.notWritten(patch); }
  bool isUrgent() const override { return keeper_.isUrgent(); }
  void podAdded(const PodInfo& pod, Row row, bool trial) override {
    const bool isStranger = !trial && !pod.assumed && !pod.isStandIn;
    if (isStranger && !cluster_.reservations.on(row).empty()) keeper_.strangerCame(pod, row);
  }
  std::optional<json::Value> serve(std::string_view path) override {
    return reservationPage(cluster_, path);
  }

 private:
  const ReservationPlan& matched(const PodPlan& plan) const {
    const auto& mine = plan.get<ReservationPlan>(slot());
    mine.matches.refresh(mine, cluster_);
    return mine;
  }
  static DeviceLoan loanOf(const ReservationPlan& mine, const ReservationEntry& entry) {
    return {entry.uid, entry.room.policy == AllocatePolicy::kRestricted, mine.mustReserve()};
  }
  void giveBack(const ReservationPlan& mine, Row row);
  static bool takes(const ReservationPlan& mine) {
    return mine.isStandIn && !mine.pod.meta.uid.empty();
  }
  std::string whyNotLater(const ReservationEntry& entry) const;
  Verdict judgeStandIn(const ReservationPlan& mine, Row row) const;
  RoomAnswer beforeStart(const PodInfo& standIn) const;
  Result<> enterAsStandIn(const Decision& decision);
  uint32_t numberOf(const std::string& text) const {
    const auto found = std::ranges::find(texts_, text);
    const auto number = static_cast<uint32_t>(found - texts_.begin());
    if (found == texts_.end()) texts_.push_back(text);
    return number;
  }

  Cluster& cluster_;
  Clock& clock_;
  ReservationArgs args_;
  ReservationJudge judge_;
  ReservationKeeper keeper_;
  ReservationGauges gauges_;
  std::unique_ptr<GivenBack> given_;          // of the row at hand
  std::optional<PreAllocationVerdict> take_;  // the same, of a reservation that takes pods over
  mutable std::vector<std::string> texts_;    // of refusals, by number
};

// CPUs and cards are chosen one by one, and who has them at a later time nobody knows.
std::string ReservationPlugin::whyNotLater(const ReservationEntry& entry) const {
  if (!entry.waits || entry.beginning.start <= cluster_.reservations.time()) return "";
  constexpr std::string_view kText =
      "a reservation with a start in the future keeps amounts only, and this one asks for ";
  if (entry.object->spec.preAllocation) return std::string(kText) + "running pods (preAllocation)";
  if (!readDeviceRequest(entry.room.allocatable).request.byType.empty())
    return std::string(kText) + "devices";
  const api::Qos qos =
      api::parseQos(entry.object->meta.labels.get(api::label::kQosClass).value_or(""));
  if (qos == api::Qos::kLse || qos == api::Qos::kLsr) return std::string(kText) + "exclusive CPUs";
  return "";
}

PodVerdict ReservationPlugin::prepare(const PodPlan& plan, const api::Pod& pod) {
  using Kind = PodVerdict::Kind;
  const auto& mine = matched(plan);
  if (!mine.trouble.empty()) return PodVerdict::refuse(Kind::kUnresolvable, mine.trouble);
  PodVerdict out;
  if (mine.isStandIn) {
    const ReservationPtr entry = cluster_.reservations.find(pod.meta.uid);
    // The keeper says so, too, and his word must not be followed by a binding.
    if (entry && entry->object && isExpired(*entry->object, clock_.wall(), true))
      return PodVerdict::refuse(Kind::kUnresolvable, "the time of the reservation is over");
    if (entry && entry->isBeingWritten())
      return PodVerdict::refuse(Kind::kUnresolvable, "its status is being written");
    if (std::string why = entry ? whyNotLater(*entry) : ""; !why.empty())
      return PodVerdict::refuse(Kind::kUnresolvable, std::move(why));
    if (entry && entry->object && entry->object->spec.preAllocation)
      if (std::string why = whyNoTakeover(*entry->object, args_); !why.empty())
        return PodVerdict::refuse(Kind::kUnresolvable, std::move(why));
    if (mine.node.empty()) return out;
    out.narrows = true;
    out.rows = cluster_.table.find(std::vector<std::string>{mine.node});
    return out;
  }
  if (!mine.mustReserve() || mine.ignores()) return out;
  out.narrows = true;
  out.rows = mine.matches.rows();
  if (out.rows.empty()) return PodVerdict::refuse(Kind::kUnresolvable, std::string(kNoneMatches));
  return out;
}

void ReservationPlugin::restore(const PodPlan& plan, Row row) {
  const auto& mine = matched(plan);
  take_.reset();
  if (!takes(mine)) {
    if (mine.matches.isOn(row) || !mine.matches.until(row).empty()) giveBack(mine, row);
    return;
  }
  const ReservationPtr entry = cluster_.reservations.find(mine.pod.meta.uid);
  if (!entry || !entry->object) return;
  if (!entry->object->spec.preAllocation) {
    given_ = std::make_unique<GivenBack>(cluster_, cluster_.reservations.goneBy(*entry, row));
    return;
  }
  Takeover found = takeOver(*entry->object, cluster_, row, args_);
  take_ = std::move(found.verdict);
  given_ = std::make_unique<GivenBack>(cluster_, found.pods);
}

// Cards are lent by name, so that those of the reservation are chosen.
void ReservationPlugin::giveBack(const ReservationPlan& mine, Row row) {
  const auto matched = mine.matches.on(row);
  std::vector<PodPtr> away = standInsOf(matched);
  for (const PodPtr& pod : standInsOf(mine.matches.until(row))) away.push_back(pod);
  given_ = std::make_unique<GivenBack>(cluster_, away);
  if (cluster_.deviceBooks && !mine.ignores())
    for (const ReservationPtr& entry : matched)
      cluster_.deviceBooks->lend(row, loanOf(mine, *entry));
}

Verdict ReservationPlugin::judgeStandIn(const ReservationPlan& mine, Row row) const {
  for (const ReservationPtr& other : cluster_.reservations.on(row))
    if (!mayShareNode(mine.policy, other->room.policy))
      return {Code::kUnresolvable, 0, numberOf(std::string(kMixedPolicies))};
  if (take_ && !take_->pass) return {Code::kUnschedulable, 0, numberOf(join(take_->reasons, "\n"))};
  return {};
}

void ReservationPlugin::fits(const PodPlan& plan, const NodeTable&, std::span<const Row> rows,
                             Verdict* out) const {
  if (cluster_.reservations.empty()) return;
  const auto& mine = matched(plan);
  const bool holds = mine.isStandIn || mine.isOperating;
  for (size_t i = 0; i < rows.size(); i++) {
    if (cluster_.reservations.isOver(rows[i]) && !mine.matches.isOn(rows[i])) {
      out[i] = {Code::kUnschedulable, 0, numberOf(std::string(kOver))};
      continue;
    }
    if (holds) out[i] = judgeStandIn(mine, rows[i]);
    if (!out[i].fits() || mine.ignores() || !mine.matches.isOn(rows[i])) continue;
    const FitVerdict verdict = judge_.fit(plan, mine, rows[i]);
    if (!verdict.pass) out[i] = {Code::kUnschedulable, 0, numberOf(join(verdict.reasons, "\n"))};
  }
}

void ReservationPlugin::score(const PodPlan& plan, const NodeTable&, std::span<const Row> rows,
                              int32_t* out) const {
  if (cluster_.reservations.empty()) return;
  const auto& mine = matched(plan);
  if (mine.matches.empty() || mine.ignores()) return;
  for (size_t i = 0; i < rows.size(); i++) out[i] = mine.matches.rawScore(rows[i]);
}

Result<> ReservationPlugin::enter(const Decision& decision) {
  if (cluster_.reservations.empty()) return {};
  const auto& mine = matched(decision.plan);
  if (mine.isStandIn) return enterAsStandIn(decision);
  if (mine.ignores()) return {};
  const ReservationPtr entry = judge_.nominate(decision.plan, mine, decision.row);
  if (entry && cluster_.deviceBooks)
    cluster_.deviceBooks->nominate(decision.pod->pod->meta.uid, loanOf(mine, *entry));
  if (entry) cluster_.reservations.enter(entry, decision.pod);
  if (!entry && mine.mustReserve())
    return fail(mangrove::Code::kUnavailable, "no reservation of node {} takes the pod",
                cluster_.table.info(decision.row).name.view());
  return {};
}

Result<> ReservationPlugin::enterAsStandIn(const Decision& decision) {
  const ReservationPtr entry = cluster_.reservations.find(decision.pod->pod->meta.uid);
  if (!entry || !entry->object) return fail(mangrove::Code::kNotFound, "the reservation is gone");
  entry->isPlanned = entry->waits && entry->beginning.start > cluster_.reservations.time();
  if (!entry->object->spec.preAllocation) return {};
  const Takeover found = takeOver(*entry->object, cluster_, decision.row, args_);
  if (!found.verdict.pass)
    return fail(mangrove::Code::kUnavailable, "{}", join(found.verdict.reasons, ", "));
  for (const PodPtr& pod : found.pods) cluster_.reservations.enter(entry, pod);
  return {};
}

Result<> ReservationPlugin::preBind(const Decision& decision, BindNotes& notes) {
  const ReservationPtr entry = cluster_.reservations.ofOwner(decision.pod->pod->meta.uid);
  if (!entry) return {};
  if (!entry->offer) return fail(mangrove::Code::kConflict, "reservation {} is gone", entry->name);
  notes.annotations.emplace_back(api::annotation::kReservationAllocated, allocatedText(*entry));
  return {};
}

std::vector<ObjectPatch> ReservationPlugin::binding(const Decision& decision,
                                                    const BindNotes& notes) {
  const ReservationPtr entry = cluster_.reservations.find(decision.pod->pod->meta.uid);
  if (!entry || !entry->object) return {};
  entry->writing();
  return bindingPatches(*entry, decision.pod->nodeName.view(), notes, clock_.wall());
}

void ReservationPlugin::answered(const PodInfo& standIn, bool isBound) {
  if (const auto entry = cluster_.reservations.find(standIn.pod->meta.uid))
    entry->answered(isBound);
}

// Nobody goes for a reservation before its time comes.
RoomAnswer ReservationPlugin::beforeStart(const PodInfo& standIn) const {
  const ReservationPtr entry = cluster_.reservations.find(standIn.pod->meta.uid);
  if (!entry || !entry->waits || entry->beginning.start <= cluster_.reservations.time()) return {};
  return {RoomAnswer::Kind::kFinal,
          "nobody is evicted before it begins at " + formatTime(entry->beginning.start)};
}

// Nothing is evicted here: pods that must use a reservation are told what is in the way.
RoomAnswer ReservationPlugin::makeRoom(const Stranded& stranded) {
  const ReservationClaim* claim = nullptr;
  const auto read = ReservationClaim::of(*stranded.pod->pod);
  if (read) claim = &*read;
  if (stranded.pod->isStandIn) return beforeStart(*stranded.pod);
  if (!claim || !claim->affinity) return {};
  return {RoomAnswer::Kind::kPass, whyNoReservation(*claim, cluster_)};
}

}  // namespace

Result<std::unique_ptr<Plugin>> makeReservation(const json::Value& value, PluginHandle handle) {
  auto args = readReservationArgs(value);
  if (!args) return pass(args.error());
  handle.cluster.reservations.setTime(handle.clock.wall());
  return std::make_unique<ReservationPlugin>(handle, *std::move(args));
}

}  // namespace mangrove::placement
