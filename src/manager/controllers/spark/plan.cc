#include "manager/controllers/spark/plan.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "api/annotations/reservation.h"
#include "api/pod/classes.h"
#include "api/wire/decode.h"
#include "api/wire/names.h"
#include "base/text/time_text.h"
#include "manager/webhook/draft.h"
#include "manager/webhook/pod/colocate.h"
#include "manager/webhook/workload/rewrite.h"

namespace mangrove::manager {
namespace {

constexpr std::chrono::seconds kLives{300};
constexpr std::chrono::seconds kRenewBefore{150};
constexpr std::string_view kDriver = "driver", kExecutor = "executor";

bool isOver(const api::Reservation& one) {
  return one.status.phase == api::reservation_phase::kSucceeded ||
         one.status.phase == api::reservation_phase::kFailed;
}

std::string_view roleOf(const api::ObjectMeta& meta) {
  return meta.labels.get(kSparkRole).value_or("");
}

const json::Object& partIn(const json::Object& spec, std::string_view role) {
  static const json::Object kNothing;
  const json::Object* found = findObject(spec, role);
  return found ? *found : kNothing;
}

api::PriorityBand bandOf(const json::Object& part) {
  const json::Object* labels = findObject(part, "labels");
  const auto type = labels ? textIn(*labels, kResourceType) : std::nullopt;
  if (type == "batch") return api::PriorityBand::kBatch;
  return type == "mid" ? api::PriorityBand::kMid : api::PriorityBand::kNone;
}

// What decides about its place is the pod's; it evicts nobody, and nobody evicts it. Amounts are
// under the names that the pod will ask for when admission has rewritten it.
json::Object podSpecOf(const json::Object& part, const api::Component& size) {
  const api::PriorityBand band = bandOf(part);
  const json::Object resources{{"requests", api::inBand(size.requests, band).toJson()}};
  json::Object out{
      {"containers", json::Array{json::Object{{"name", "room"}, {"resources", resources}}}},
      {"priority", api::rangeOf(band).shipped},
      {"preemptionPolicy", "Never"}};
  for (std::string_view member : {"nodeSelector", "tolerations", "affinity", "schedulerName"})
    if (const json::Value* value = part.if_contains(member)) out[member] = *value;
  return out;
}

struct Maker {
  const SparkApplication& application;
  WallTime now;
  int64_t gang = 0;  // members of the first set; 0: it stands alone

  json::Value body(std::string_view role, const std::string& name) const;
  json::Object annotations() const;
};

json::Object Maker::annotations() const {
  if (gang == 0) return {};
  return {{api::annotation::kGangName, gangName("spark", application.meta.name.view(), "minimum")},
          {api::annotation::kGangMinAvailable, std::to_string(gang)},
          {api::annotation::kGangTotalNumber, std::to_string(gang)},
          {api::annotation::kGangMode, "Strict"},
          {api::annotation::kGangMatchPolicy, "once-satisfied"},
          {api::annotation::kGangWaitingTime, "60s"}};
}

json::Value Maker::body(std::string_view role, const std::string& name) const {
  const std::string_view app = application.meta.name.view(), ns = application.meta.ns.view();
  const json::Object& part = partIn(application.spec.get_object(), role);
  const api::Component& size = application.parts[role == kDriver ? 0 : 1];
  json::Object labels;
  if (const json::Object* own = findObject(part, "labels")) labels = *own;
  const json::Object owner{
      {"object", json::Object{{"namespace", ns}}},
      {"labelSelector",
       json::Object{{"matchLabels", json::Object{{kSparkAppName, app}, {kSparkRole, role}}}}}};
  return json::Object{
      {"apiVersion", "scheduling.koordinator.sh/v1alpha1"},
      {"kind", "Reservation"},
      {"metadata",
       json::Object{{"name", name},
                    {"labels", json::Object{{kSparkOf, app}, {kSparkIn, ns}, {kSparkRole, role}}},
                    {"annotations", annotations()}}},
      {"spec",
       json::Object{{"owners", json::Array{owner}},
                    {"allocateOnce", true},
                    {"allocatePolicy", "Aligned"},
                    {"expires", formatTime(now + kLives)},
                    {"template",
                     json::Object{{"metadata", json::Object{{"namespace", ns}, {"labels", labels}}},
                                  {"spec", podSpecOf(part, size)}}}}}};
}

// What there is of one role: free ones by name, and how many pods have a node.
struct Standing {
  std::vector<std::shared_ptr<const api::Reservation>> open;
  int64_t bound = 0;
};

Standing standingOf(std::string_view role, const ReservationList& reservations,
                    const SparkPodList& pods) {
  Standing out;
  std::set<std::string> taken;
  for (const auto& pod : pods) {
    taken.insert(pod->reservation);
    out.bound += pod->isBound && roleOf(pod->meta) == role;
  }
  for (const auto& one : reservations)
    if (roleOf(one->meta) == role && !isOver(*one) && !one->meta.isDeleting() &&
        !taken.contains(one->meta.uid.str()))
      out.open.push_back(one);
  std::ranges::sort(out.open, {}, [](const auto& one) { return one->meta.name.str(); });
  return out;
}

class Names {
 public:
  Names(const SparkApplication& application, const ReservationList& reservations)
      : whose_(application.meta.ns.str() + "-" + application.meta.name.str()) {
    for (const auto& one : reservations) used_.insert(one->meta.name.str());
  }
  // The first that is free: asked again before it is seen, the server says that it is there.
  std::string next(std::string_view role) {
    for (int64_t number = 0;; number++)
      if (std::string name = fmt::format("{}-{}", gangName("spark", whose_, role), number);
          used_.insert(name).second)
        return name;
  }

 private:
  std::string whose_;
  std::set<std::string> used_;
};

void renewWhatIsWanted(const Standing& standing, int64_t wanted, WallTime now, SparkSteps& out) {
  for (size_t i = 0; i < standing.open.size(); i++) {
    const api::Reservation& one = *standing.open[i];
    if (static_cast<int64_t>(i) >= wanted)
      out.remove.push_back(one.meta.name.str());
    else if (one.spec.expires - now < kRenewBefore)
      out.renew[one.meta.name.str()] = now + kLives;
  }
}

void removeWhatIsOver(const ReservationList& reservations, SparkSteps& out) {
  for (const auto& one : reservations)
    if (isOver(*one) && !one->meta.isDeleting()) out.remove.push_back(one->meta.name.str());
}

struct StatusSeen {
  std::string state;
};
struct StateHolder {
  StatusSeen status;
};
bool read(const api::In& in, StatusSeen& out) {
  static constexpr api::Fields fields{api::field<&StatusSeen::state>("state")};
  return fields.read(in, out);
}
bool read(const api::In& in, StateHolder& out) {
  static constexpr api::Fields fields{api::field<&StateHolder::status>("applicationState")};
  return fields.read(in, out);
}

struct Whole {
  api::ObjectMeta meta;
  StateHolder status;
};
bool read(const api::In& in, Whole& out) {
  static constexpr api::Fields fields{api::field<&Whole::meta>("metadata"),
                                      api::field<&Whole::status>("status")};
  return fields.read(in, out);
}

}  // namespace

bool read(const api::In& in, SparkApplication& out) {
  Whole whole;
  if (!read(in, whole)) return false;
  out.meta = std::move(whole.meta);
  out.state = std::move(whole.status.status.state);
  const json::Value all = json::toValue(in.view);
  const json::Object* spec = all.is_object() ? findObject(all.get_object(), "spec") : nullptr;
  out.spec = spec ? json::Value(*spec) : json::Value(json::Object());
  auto parts = api::sparkComponents(in.view);
  if (parts)
    out.parts = std::move(*parts);
  else
    out.trouble = parts.error().text();
  return true;
}

bool read(const api::In& in, SparkPod& out) {
  api::Pod pod;
  if (!read(in, pod)) return false;
  out.isBound = !pod.nodeName.empty() && !api::isTerminated(pod);
  const auto entered = api::parseReservationAllocated(pod.meta.annotations);
  if (entered && *entered) out.reservation = (*entered)->uid;
  out.meta = std::move(pod.meta);
  return true;
}

bool SparkApplication::wantsRoom() const {
  const json::Object& driver = partIn(spec.get_object(), kDriver);
  const json::Object* annotations = findObject(driver, "annotations");
  const auto affinity =
      annotations ? textIn(*annotations, api::annotation::kReservationAffinity) : std::nullopt;
  const bool asks = affinity && affinity->find(kSparkOf) != std::string_view::npos;
  const bool ended = state == "COMPLETED" || state == "FAILED" || state == "SUCCEEDING" ||
                     state == "FAILING" || state == "SUBMISSION_FAILED";
  return asks && !ended && !meta.isDeleting();
}

SparkSteps lastSteps(const ReservationList& reservations) {
  SparkSteps out;
  for (const auto& one : reservations)
    if (!one->meta.isDeleting()) out.remove.push_back(one->meta.name.str());
  return out;
}

Result<SparkSteps> nextSteps(const SparkApplication& application,
                             const ReservationList& reservations, const SparkPodList& pods,
                             WallTime now) {
  if (!application.wantsRoom()) return lastSteps(reservations);
  if (!application.trouble.empty()) return invalid("{}", application.trouble);
  const int64_t executors = application.parts[1].minReplicas;
  const bool first = reservations.empty() &&
                     std::ranges::none_of(pods, [](const auto& pod) { return pod->isBound; });
  const Maker maker{application, now, first ? 1 + executors : 0};
  Names names(application, reservations);
  SparkSteps out;
  for (const auto& [role, least] : {std::pair<std::string_view, int64_t>{kDriver, 1},
                                    std::pair<std::string_view, int64_t>{kExecutor, executors}}) {
    const Standing standing = standingOf(role, reservations, pods);
    const int64_t wanted = std::max<int64_t>(least - standing.bound, 0);
    renewWhatIsWanted(standing, wanted, now, out);
    for (auto have = static_cast<int64_t>(standing.open.size()); have < wanted; have++)
      out.create.push_back(maker.body(role, names.next(role)));
  }
  removeWhatIsOver(reservations, out);
  return out;
}

}  // namespace mangrove::manager
