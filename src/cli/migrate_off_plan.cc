#include "cli/migrate_off_plan.h"

#include <algorithm>
#include <array>

#include "api/object/node_pause.h"
#include "api/wire/names.h"
#include "base/number/elapsed.h"
#include "cli/raw_objects.h"
#include "manager/webhook/node/amplify.h"

namespace mangrove::cli {
namespace {

// Names the manager writes: for sale, devices, and the same under other names.
constexpr std::array<std::string_view, 6> kSold = {"kubernetes.io/batch-",
                                                   "kubernetes.io/mid-",
                                                   "koordinator.sh/",
                                                   "gocrane.io/",
                                                   "resource.katalyst.kubewharf.io/reclaimed_",
                                                   "caster.io/colocation-"};

constexpr std::string_view kOurTaints = "colocation.mangrove.io/";
constexpr Duration kSilence = std::chrono::seconds(60);

bool isSold(std::string_view name) {
  return std::any_of(kSold.begin(), kSold.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

json::Object withoutSold(const json::Value& node, std::string_view list) {
  json::Object out;
  const json::Value* found = valueAt(node, {"status", list});
  if (found == nullptr || !found->is_object()) return out;
  for (const auto& member : found->get_object())
    if (isSold(member.key())) out[member.key()] = nullptr;
  return out;
}

// What manager and webhook say about a node. Ratios of amplification stay: people write them too.
json::Object withoutNotes(const json::Value& node) {
  namespace annotation = api::annotation;
  json::Object out;
  for (std::string_view note :
       {annotation::kOriginExtendedAllocatable, annotation::kCpuNormalizationRatio,
        annotation::kRawAllocatable, manager::kRawAllocatableFrom})
    if (valueAt(node, {"metadata", "annotations", note}) != nullptr) out[note] = nullptr;
  return out;
}

// The list without ours; nothing when ours is not in it.
std::optional<json::Array> without(const json::Value& node, std::string_view part,
                                   std::string_view list, std::string_view key,
                                   std::string_view beginning) {
  json::Array kept;
  const auto all = elementsAt(node, {part, list});
  for (const auto& one : all)
    if (!textAt(one, {key}).starts_with(beginning)) kept.push_back(one);
  if (kept.size() == all.size()) return std::nullopt;
  return kept;
}

}  // namespace

std::string statusLeftovers(const json::Value& node) {
  json::Object status, patch;
  for (std::string_view list : {"capacity", "allocatable"})
    if (json::Object gone = withoutSold(node, list); !gone.empty()) status[list] = std::move(gone);
  if (auto kept = without(node, "status", "conditions", "type", api::kBestEffortPaused))
    status["conditions"] = *std::move(kept);
  if (!status.empty()) patch["status"] = std::move(status);
  if (json::Object notes = withoutNotes(node); !notes.empty())
    patch["metadata"] = json::Object{{"annotations", std::move(notes)}};
  return patch.empty() ? "" : json::write(patch);
}

std::string taintLeftovers(const json::Value& node) {
  auto kept = without(node, "spec", "taints", "key", kOurTaints);
  if (!kept) return "";
  return json::write(json::Object{{"spec", json::Object{{"taints", *std::move(kept)}}}});
}

bool isAlive(const api::Lease& lease, WallTime now) {
  return !lease.holderIdentity.empty() && elapsed(lease.renewTime, now) < kSilence;
}

}  // namespace mangrove::cli
