#include "manager/webhook/workload/rewrite.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "api/object/meta.h"
#include "api/wire/names.h"
#include "base/number/fnv.h"
#include "base/text/time_text.h"
#include "json/json_patch.h"
#include "manager/webhook/draft.h"
#include "manager/webhook/pod/colocate.h"

namespace mangrove::manager {
namespace {

using api::PriorityBand;

constexpr Duration kLongJob = std::chrono::minutes(30);
constexpr size_t kLongestLabel = 63;

struct Rewrite {
  std::string_view resource;
  void (*apply)(json::Object& object, const WorkloadContext& context);
};
constexpr Rewrite kRewrites[] = {
    {"sparkapplications", &rewriteSpark},
    {"flinkdeployments", &rewriteFlink},
    {"pytorchjobs", &rewritePyTorch},
    {"mpijobs", &rewriteMpi},
    {"trainjobs", &rewriteTrainJob},
    {"rayjobs", &rewriteRay},
    {"jobs", &rewriteJob},
};

bool asked(const api::ObjectMeta& meta, std::string_view ns, const Surroundings& around) {
  if (auto own = meta.labels.get(kColocate)) return *own == "true";
  const api::Labels* labels = around.labelsOf(ns);
  return labels != nullptr && labels->get(kColocate) == "true";
}

// Without a word from the author: job managers live as long as their job and get mid, drivers do
// when the job is long.
Result<PriorityBand> criticalBand(const api::ObjectMeta& meta, std::string_view resource) {
  const auto said = meta.annotations.get(kCriticalClass);
  if (said == "batch") return PriorityBand::kBatch;
  if (said == "mid") return PriorityBand::kMid;
  if (said == "prod") return PriorityBand::kProd;
  if (said)
    return invalid("annotation {}: '{}' is none of batch, mid, prod", kCriticalClass, *said);
  if (resource == "flinkdeployments") return PriorityBand::kMid;
  const auto expected = meta.annotations.get(kExpectedDuration);
  if (!expected) return PriorityBand::kBatch;
  auto duration = parseDuration(*expected);
  if (!duration) return duration.error().in("annotation {}", kExpectedDuration);
  const bool isLongDriver = resource == "sparkapplications" && *duration > kLongJob;
  return isLongDriver ? PriorityBand::kMid : PriorityBand::kBatch;
}

// Kept when the author chose a lower one.
bool keepsClass(const json::Object& podSpec, PriorityBand band, const PriorityClasses& classes) {
  const auto chosen = textIn(podSpec, "priorityClassName");
  if (!chosen || chosen->empty()) return false;
  const auto found = classes.find(*chosen);
  const auto wanted = classes.find(api::bandName(band));
  const int32_t ours = wanted != classes.end() ? wanted->second.value : api::rangeOf(band).shipped;
  return found != classes.end() && found->second.value <= ours;
}

}  // namespace

const api::Component* WorkloadContext::find(std::string_view component) const {
  const auto found = std::find_if(components.begin(), components.end(),
                                  [&](const api::Component& c) { return c.name == component; });
  return found == components.end() ? nullptr : &*found;
}

std::string gangName(std::string_view kind, std::string_view name, std::string_view role) {
  std::string full = fmt::format("{}-{}-{}", kind, name, role);
  if (full.size() <= kLongestLabel) return full;
  const std::string suffix = fmt::format("-{:08x}", static_cast<uint32_t>(fnv1a(full)));
  return full.substr(0, kLongestLabel - suffix.size()) + suffix;
}

void markTemplate(json::Object& labels, json::Object& podSpec, PriorityBand band,
                  const Surroundings& around) {
  if (band == PriorityBand::kProd) return;  // stays on resources of its own
  const bool batch = band == PriorityBand::kBatch;
  setText(labels, api::label::kQosClass, batch ? "BE" : "LS");
  setText(labels, kResourceType, batch ? "batch" : "mid");
  if (!keepsClass(podSpec, band, *around.priorityClasses))
    setText(podSpec, "priorityClassName", api::bandName(band));
  if (!around.defaultScheduler.empty() && !textIn(podSpec, "schedulerName"))
    setText(podSpec, "schedulerName", around.defaultScheduler);
}

Review mutateWorkload(const AdmissionRequest& request, const Surroundings& around) {
  if (request.operation != Operation::kCreate || !request.subresource.empty()) return {};
  auto head = api::decode<api::ObjectHead>(request.object);
  if (!head)
    return Review::refuse(kBadRequest, "unreadable", request.kind + ": " + head.error().text());
  if (!asked(head->meta, request.ns, around)) return {};
  auto critical = criticalBand(head->meta, request.resource);
  if (!critical) return Review::refuse(kBadRequest, "annotation", critical.error().text());
  const auto components = api::componentsOf(request.resource, request.object);
  if (!components)
    return Review::refuse(kBadRequest, "size", request.kind + ": " + components.error().text());
  const auto rewrite = std::find_if(std::begin(kRewrites), std::end(kRewrites),
                                    [&](const auto& r) { return r.resource == request.resource; });
  if (!*components || rewrite == std::end(kRewrites)) return {};
  const json::Value before = json::toValue(request.object);
  json::Value after = before;
  rewrite->apply(after.get_object(),
                 {head->meta.name.str(), request.ns, *critical, around, **components});
  Review review;
  json::Value patch = json::jsonDiff(before, after);
  if (!patch.get_array().empty()) review.patch = std::move(patch);
  return review;
}

}  // namespace mangrove::manager
