#include "descheduler/foresight/scheduler_foresight.h"

#include <fmt/core.h>

#include "api/annotations/scheduling.h"
#include "api/wire/names.h"
#include "placement/explain/group_explanation.h"

namespace mangrove::descheduler {

namespace {

using placement::Row;

// What the scheduler wrote into the pod when it was placed, and what binds it to its past.
constexpr std::string_view kOfThePast[] = {api::annotation::kResourceStatus,
                                           api::annotation::kDeviceAllocated,
                                           api::annotation::kReservationAllocated};
// A copy is no member: whether the gang may move, and with whom, is asked apart (gang/gang_way.h).
constexpr std::string_view kOfTheGang[] = {api::label::kPodGroup, api::label::kOldPodGroupName,
                                           api::label::kOldPodGroupMinAvailable};
constexpr std::string_view kNotesOfTheGang[] = {
    api::annotation::kGangName, api::annotation::kGangMinAvailable, api::annotation::kGangGroups};

// Informers that the descheduler has anyway are not asked for twice.
template <class T>
client::Informer<T>* known(Caches&, const api::Kind&) {
  return nullptr;
}
template <>
client::Informer<api::NodeMetric>* known(Caches& caches, const api::Kind&) {
  return &caches.metrics;
}
template <>
client::Informer<api::Reservation>* known(Caches& caches, const api::Kind&) {
  return &caches.reservations;
}
template <>
client::Informer<api::Workload>* known(Caches& caches, const api::Kind& kind) {
  if (kind.kind == api::kind::kReplicaSet.kind) return &caches.replicaSets;
  if (kind.kind == api::kind::kStatefulSet.kind) return &caches.statefulSets;
  return &caches.replicationControllers;
}

}  // namespace

struct SchedulerForesight::Followed {
  virtual ~Followed() = default;
  virtual void start() = 0;
  virtual bool ready() const = 0;
  std::string name;
};

template <class T>
struct SchedulerForesight::Of final : Followed {
  explicit Of(client::InformerSetup setup) : informer(std::move(setup)) {}
  void start() override { informer.start(); }
  // A cluster may lack a kind.
  bool ready() const override { return informer.hasSynced() || informer.trouble().has_value(); }
  client::Informer<T> informer;
};

SchedulerForesight::SchedulerForesight(const CacheSetup& setup, Folded folded)
    : folded_(std::move(folded)), engine_(*setup.clock, effects_, registry_), ingress_(engine_) {}

SchedulerForesight::~SchedulerForesight() = default;

Result<std::unique_ptr<SchedulerForesight>> SchedulerForesight::make(
    Caches& caches, const CacheSetup& setup, const placement::SchedulerConfig& config) {
  std::unique_ptr<SchedulerForesight> out(new SchedulerForesight(setup, foldTwins(config)));
  if (auto ok = out->engine_.configure(out->folded_.config); !ok) return pass(ok.error());
  out->listen(caches, setup);
  return out;
}

template <class T, class Take>
void SchedulerForesight::follow(client::Informer<T>* known, const CacheSetup& setup,
                                const api::Kind& kind, Take take) {
  if (known == nullptr) {
    client::InformerSetup informer;
    informer.client = setup.client;
    informer.owner = setup.owner;
    informer.home = setup.home;
    informer.clock = setup.clock;
    informer.follow.kind = kind;
    informer.raw = client::RawKeep::kNone;
    auto made = std::make_unique<Of<T>>(std::move(informer));
    made->name = std::string(kind.plural);
    known = &made->informer;
    followed_.push_back(std::move(made));
  }
  known->onChange([take](const client::Change<T>& change) { take(change); });
}

void SchedulerForesight::listen(Caches& caches, const CacheSetup& setup) {
  caches.nodes.onChange([this](const auto& c) { ingress_.node(c.before, c.after); });
  caches.pods.onChange([this](const auto& c) { ingress_.pod(c.before, c.after); });
  follow<api::Namespace>(nullptr, setup, api::kind::kNamespace,
                         [this](const auto& c) { ingress_.ns(c.key, c.after.get()); });
#define INGRESS(type, which, take)                                             \
  follow<type>(known<type>(caches, api::kind::which), setup, api::kind::which, \
               [this](const auto& c) { ingress_.take(c.key, c.after); });
#include "placement/engine/ingress.def"
#undef INGRESS
}

void SchedulerForesight::start() {
  for (auto& followed : followed_) followed->start();
}

std::string SchedulerForesight::waitingFor() const {
  for (const auto& followed : followed_)
    if (!followed->ready())
      return fmt::format("the first list of {} is not there yet", followed->name);
  return "";
}

void SchedulerForesight::beginCycle(std::span<const UnderWay> underWay) {
  trial_.emplace(engine_.cluster());
  for (const UnderWay& move : underWay) anticipate(move);
}

// A reservation that stands keeps the room by itself; before that nobody else is promised it.
void SchedulerForesight::anticipate(const UnderWay& move) {
  placement::Profile* profile = profileOf(*move.pod);
  const placement::PodPtr here = engine_.cluster().find(move.pod->meta.uid);
  if (profile == nullptr || here == nullptr || here->row == placement::kNoRow) return;
  trial_->takeAway(here);
  if (move.isReserved) return;
  const Row row = engine_.cluster().table.find(move.target);
  if (row != placement::kNoRow) (void)trial_->place(*profile, afresh(*move.pod), row);
}

void SchedulerForesight::endCycle() {
  marks_.clear();
  trial_.reset();
}

void SchedulerForesight::takeBack() {
  if (marks_.empty()) return;
  trial_->rollbackTo(marks_.back());
  marks_.pop_back();
}

// The pod that its owner will make in its place.
placement::PodPtr SchedulerForesight::afresh(const api::Pod& pod) {
  auto copy = std::make_shared<api::Pod>();
  copy->meta = pod.meta;
  copy->meta.uid = api::Uid(fmt::format("00000000-0000-4000-a000-{:012x}", ++copies_));
  // A reservation that was made for a sibling is no room for it.
  copy->meta.owners = {};
  for (const std::string_view past : kOfThePast) copy->meta.annotations.erase(past);
  for (const std::string_view label : kOfTheGang) copy->meta.labels.erase(label);
  for (const std::string_view note : kNotesOfTheGang) copy->meta.annotations.erase(note);
  copy->spec = pod.spec;
  copy->status.phase = api::PodPhase::kPending;
  return engine_.cluster().makeInfo(std::move(copy));
}

std::vector<uint8_t> SchedulerForesight::welcome(Row source, const Accepts& accepts) {
  const placement::NodeTable& table = engine_.cluster().table;
  std::vector<uint8_t> rows(table.rows());
  for (const Row row : table.liveRows())
    rows[row] = row != source && (!accepts || accepts(table.info(row).name.view())) ? 1 : 0;
  return rows;
}

// Whom a plugin that reserves refuses asks for the next best node.
Result<std::string> SchedulerForesight::place(placement::Profile& profile,
                                              const placement::PodPtr& copy,
                                              std::vector<uint8_t> rows) {
  placement::Cluster& cluster = engine_.cluster();
  for (;;) {
    placement::CycleOptions options;
    options.only = &rows;
    placement::Cycle cycle(profile, cluster, copy, options);
    const auto placed = cycle.run();
    if (!placed) return fail(Code::kUnavailable, "{}", cycle.diagnosis().message());
    if (!trial_->place(profile, copy, placed->row))
      return cluster.table.info(placed->row).name.str();
    rows[placed->row] = 0;
  }
}

placement::Profile* SchedulerForesight::profileOf(const api::Pod& pod) const {
  std::string_view name = api::schedulerNameOf(pod.meta.labels, pod.spec->schedulerName.view());
  name = folded_.standsFor(name.empty() ? std::string_view("default-scheduler") : name);
  for (const auto& profile : engine_.profiles())
    if (profile->config().schedulerName == name) return profile.get();
  return nullptr;
}

Result<placement::Profile*> SchedulerForesight::judgeOf(const api::Pod& pod) {
  if (!trial_) return fail(Code::kInternal, "nobody looks at the cluster now");
  if (placement::Profile* profile = profileOf(pod)) return profile;
  return fail(Code::kUnsupported,
              "its scheduler is '{}', whose rules are not in the scheduler's configuration",
              api::schedulerNameOf(pod.meta.labels, pod.spec->schedulerName.view()));
}

// The pod as the engine has it, on its node.
Result<placement::PodPtr> SchedulerForesight::standing(const api::Pod& pod) {
  if (const auto judge = judgeOf(pod); !judge) return pass(judge.error());
  const placement::PodPtr here = engine_.cluster().find(pod.meta.uid);
  if (here == nullptr || here->row == placement::kNoRow)
    return fail(Code::kNotFound, "it is on no node that is known");
  return here;
}

Result<std::string> SchedulerForesight::seat(const api::Pod& pod, Row source,
                                             const Accepts& accepts) {
  const auto judge = judgeOf(pod);
  if (!judge) return pass(judge.error());
  return place(**judge, afresh(pod), welcome(source, accepts));
}

Result<std::string> SchedulerForesight::landing(const api::Pod& pod, const Accepts& accepts) {
  const auto here = standing(pod);
  if (!here) return pass(here.error());
  const size_t mark = trial_->mark();
  const Row source = (*here)->row;
  trial_->takeAway(*here);
  auto found = seat(pod, source, accepts);
  if (found)
    marks_.push_back(mark);
  else
    trial_->rollbackTo(mark);
  return found;
}

// Everybody who leaves is away before the first gets a place; refused, nothing of it stays.
Result<std::vector<std::string>> SchedulerForesight::settle(const Pods& leaving, const Pods& coming,
                                                            const AcceptsFor& accepts) {
  if (!trial_) return fail(Code::kInternal, "nobody looks at the cluster now");
  std::vector<placement::PodPtr> here;
  std::vector<Row> sources;
  for (const api::Pod* pod : leaving) {
    auto found = standing(*pod);
    if (!found) return found.error().in("{}", api::keyOf(pod->meta).text());
    sources.push_back((*found)->row);
    here.push_back(std::move(*found));
  }
  const size_t mark = trial_->mark();
  for (const placement::PodPtr& pod : here) trial_->takeAway(pod);
  std::vector<std::string> left, came;
  const auto take = [&](const api::Pod& pod, Row source, const Accepts& own,
                        std::vector<std::string>& out) -> Result<> {
    auto found = seat(pod, source, own);
    if (!found) trial_->rollbackTo(mark);
    if (!found) return found.error().in("{}", api::keyOf(pod.meta).text());
    out.push_back(std::move(*found));
    return {};
  };
  for (const api::Pod* pod : coming)
    if (auto ok = take(*pod, placement::kNoRow, {}, came); !ok) return pass(ok.error());
  for (size_t i = 0; i < leaving.size(); ++i) {
    const api::Pod& pod = *leaving[i];
    const Accepts own = [&](std::string_view node) { return !accepts || accepts(pod, node); };
    if (auto ok = take(pod, sources[i], own, left); !ok) return pass(ok.error());
  }
  marks_.push_back(mark);
  left.insert(left.end(), came.begin(), came.end());
  return left;
}

Result<std::vector<std::string>> SchedulerForesight::landings(const Pods& pods,
                                                              const AcceptsFor& accepts) {
  return settle(pods, {}, accepts);
}

Result<std::vector<std::string>> SchedulerForesight::rearranged(const Pods& leaving,
                                                                const Pods& coming) {
  return settle(leaving, coming, {});
}

std::optional<GangFacts> SchedulerForesight::gangOf(const api::Pod& pod) {
  placement::Profile* profile = profileOf(pod);
  const auto view = profile == nullptr ? std::nullopt : placement::viewOf(pod, *profile);
  if (!view) return std::nullopt;
  GangFacts out;
  out.isStrict = view->isStrict;
  out.isNetworked = static_cast<bool>(view->task.spread);
  for (const auto& part : view->parts) out.parts.push_back({part.name, part.min, part.bound});
  return out;
}

}  // namespace mangrove::descheduler
