#include <algorithm>
#include <cmath>

#include "api/annotations/node.h"
#include "api/annotations/scheduling.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "placement/cluster/node_table.h"
#include "placement/plugins/loadaware/load.h"

namespace mangrove::placement {

namespace {

constexpr int64_t kDefaultCpu = 250;  // milli-cores of a pod that names none
constexpr int64_t kDefaultMemory = 200 * int64_t{1024} * 1024;
constexpr int64_t kLargestFactor = 1000;  // percent, from a pod's own annotation

int64_t amountOf(const Quantity& amount, std::string_view resource) {
  return resource == api::resource::kCpu ? amount.milliValue() : amount.value();
}

int64_t defaultFor(std::string_view resource) {
  if (resource == api::resource::kCpu || resource == api::resource::kBatchCpu) return kDefaultCpu;
  if (resource == api::resource::kMemory || resource == api::resource::kBatchMemory)
    return kDefaultMemory;
  return 0;
}

LoadVector factorsFor(const LoadArgs& args, const api::Annotations& annotations) {
  LoadVector out = args.factors;
  if (!args.allowCustomize) return out;
  const auto own = api::loadEstimatedScalingFactorsOf(annotations);
  if (!own) return out;
  for (const auto& [name, factor] : *own)
    if (const size_t at = args.indexOf(name); at < out.size())
      out[at] = std::clamp<int64_t>(factor, 1, kLargestFactor);
  return out;
}

// One resource, asked for under the name of the pod's band; "" for bands that have none.
int64_t estimateOne(std::string_view name, int64_t factor, const api::ResourceList& requests,
                    const api::ResourceList& limits) {
  if (name.empty()) return 0;
  const int64_t limit = amountOf(limits.amount(name), name);
  const int64_t asked = std::max(limit, amountOf(requests.amount(name), name));
  if (asked == 0) return defaultFor(name);
  const auto share = std::llround(static_cast<double>(asked) * static_cast<double>(factor) / 100);
  return limit > 0 ? std::min<int64_t>(share, limit) : share;
}

std::optional<WallTime> transitionTo(const api::Pod& pod, std::string_view type) {
  const api::Condition* found = api::findCondition(pod.status.conditions, type);
  if (!found || found->status != api::Truth::kTrue || found->lastTransitionTime == kZeroTime)
    return std::nullopt;
  return found->lastTransitionTime;
}

std::optional<int64_t> secondsOf(bool allowed, std::optional<int64_t> own,
                                 std::optional<int64_t> fallback) {
  return allowed && own && *own >= 0 ? own : fallback;  // below zero: as if not set
}

}  // namespace

LoadVector amountsOf(const LoadArgs& args, const api::ResourceList& list) {
  LoadVector out(args.resources.size());
  for (size_t i = 0; i < out.size(); i++)
    if (const Quantity* amount = list.find(args.resources[i]))
      out[i] = amountOf(*amount, args.resources[i].view());
  return out;
}

LoadVector estimate(const LoadArgs& args, const api::PodSpec& spec, api::PriorityBand band,
                    const api::Annotations& annotations) {
  const LoadVector factors = factorsFor(args, annotations);
  const api::ResourceList requests = api::podRequests(spec), limits = api::podLimits(spec);
  LoadVector out(args.resources.size());
  for (size_t i = 0; i < out.size(); i++) {
    if (factors[i] == 0) continue;
    const std::string_view name = args.resources[i].view();
    out[i] = estimateOne(api::translated(name, band), factors[i], requests, limits);
    if (out[i] == 0 && args.estimateEveryBand)
      out[i] = estimateOne(name, factors[i], requests, limits);
  }
  return out;
}

LoadVector loadAllocatable(const LoadArgs& args, const api::Node& node) {
  LoadVector out = amountsOf(args, schedulableAmounts(node));
  const auto raw = api::parseRawAllocatable(node.meta.annotations);
  if (!raw || !*raw) return out;
  for (size_t i = 0; i < out.size(); i++)
    if (const Quantity* amount = (*raw)->find(args.resources[i]))
      out[i] = amountOf(*amount, args.resources[i].view());
  return out;
}

AssignedPod assignedPod(const LoadArgs& args, const api::Pod& pod, WallTime now) {
  const api::PriorityBand band = api::bandWithDefault(pod);
  return assignedPod(args, pod, now, estimate(args, *pod.spec, band, pod.meta.annotations), band);
}

AssignedPod assignedPod(const LoadArgs& args, const api::Pod& pod, WallTime now,
                        LoadVector estimate, api::PriorityBand band) {
  AssignedPod out;
  out.key = pod.meta.ns.str() + "/" + pod.meta.name.str();
  out.estimate = std::move(estimate);
  out.isProd = band == api::PriorityBand::kProd;
  setTimes(args, pod, now, out);
  return out;
}

void setTimes(const LoadArgs& args, const api::Pod& pod, WallTime now, AssignedPod& out) {
  out.scheduledAt = transitionTo(pod, "PodScheduled").value_or(now);
  out.deadline.reset();
  const auto& notes = pod.meta.annotations;
  const auto afterScheduled =
      secondsOf(args.allowCustomize, api::loadEstimatedSecondsAfterScheduledOf(notes),
                args.secondsAfterScheduled);
  const auto afterInitialized =
      secondsOf(args.allowCustomize, api::loadEstimatedSecondsAfterInitializedOf(notes),
                args.secondsAfterInitialized);
  const auto initialized = transitionTo(pod, "Initialized");
  if (afterInitialized.value_or(0) > 0 && initialized)
    out.deadline = *initialized + std::chrono::seconds(*afterInitialized);
  else if (afterScheduled.value_or(0) > 0)
    out.deadline = out.scheduledAt + std::chrono::seconds(*afterScheduled);
}

}  // namespace mangrove::placement
