#include "placement/plugins/coscheduling/gang_settings.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/wire/names.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "placement/framework/args.h"

namespace mangrove::placement {

namespace {

using api::GangMatchPolicy;

const Logger settingsLog("coscheduling");

constexpr std::pair<std::string_view, std::string_view> kWithoutEffect[] = {
    {"controllerWorkers", "the scheduler's own thread writes what PodGroups are told"},
    {"skipCheckScheduleCycle", "deprecated, as in the reference"},
};

std::optional<GangMatchPolicy> policyOf(std::string_view text) {
  if (text == "once-satisfied") return GangMatchPolicy::kOnceSatisfied;
  if (text == "only-waiting") return GangMatchPolicy::kOnlyWaiting;
  if (text == "waiting-and-running") return GangMatchPolicy::kWaitingAndRunning;
  return std::nullopt;
}

GangMatchPolicy policyIn(const api::Annotations& annotations, const GangArgs& args) {
  auto text = annotations.get(api::annotation::kGangMatchPolicy).value_or("");
  if (text.empty()) text = annotations.get(api::annotation::kOldGangMatchPolicy).value_or("");
  return policyOf(text).value_or(args.defaultMatchPolicy);
}

// What a pod and a PodGroup say in the same annotations.
void readCommon(const api::Annotations& annotations, const std::string& id, const GangArgs& args,
                GangSettings& out) {
  out.mode = api::gangModeOf(annotations);
  out.policy = policyIn(annotations, args);
  out.total = out.min;
  if (const auto total = api::parseGangTotalNumber(annotations); total && *total)
    out.total = std::max(out.min, **total);
  if (auto groups = api::parseGangGroups(annotations); groups && *groups) out.groups = **groups;
  if (out.groups.empty()) out.groups = {id};
  std::sort(out.groups.begin(), out.groups.end());
  out.groupId = join(out.groups, ",");
  if (auto network = api::parseNetworkTopologySpec(annotations)) out.network = std::move(*network);
}

std::optional<int32_t> minimumOf(const api::Pod& pod) {
  const auto label = pod.meta.labels.get(api::label::kOldPodGroupMinAvailable);
  if (label && !label->empty()) {
    const auto parsed = api::parseGoInt(*label, 32);
    return parsed ? std::optional(static_cast<int32_t>(*parsed)) : std::nullopt;
  }
  const auto parsed = api::parseGangMinAvailable(pod.meta.annotations);
  return parsed ? *parsed : std::nullopt;
}

}  // namespace

std::string_view policyName(GangMatchPolicy policy) {
  if (policy == GangMatchPolicy::kOnlyWaiting) return "only-waiting";
  return policy == GangMatchPolicy::kWaitingAndRunning ? "waiting-and-running" : "once-satisfied";
}

std::string_view modeName(api::GangMode mode) {
  return mode == api::GangMode::kStrict ? "Strict" : "NonStrict";
}

std::string gangIdOf(const api::Pod& pod) {
  const auto name = api::gangNameOf(pod.meta.labels, pod.meta.annotations);
  return name.empty() ? "" : pod.meta.ns.str() + "/" + std::string(name);
}

bool isByObject(const api::Pod& pod) {
  return !pod.meta.labels.get(api::label::kPodGroup).value_or("").empty();
}

std::optional<GangSettings> settingsOf(const api::Pod& pod, const GangArgs& args) {
  if (isByObject(pod)) return std::nullopt;
  const auto min = minimumOf(pod);
  const std::string id = gangIdOf(pod);
  if (!min || id.empty()) return std::nullopt;
  GangSettings out;
  out.min = *min;
  out.wait = args.defaultTimeout;
  if (const auto wait = api::parseGangWaitingTime(pod.meta.annotations);
      wait && *wait && **wait > Duration::zero())
    out.wait = **wait;
  out.created = pod.meta.creationTimestamp;
  readCommon(pod.meta.annotations, id, args, out);
  return out;
}

GangSettings settingsOf(const api::PodGroup& group, const GangArgs& args) {
  GangSettings out;
  out.min = group.spec.minMember;
  out.wait = args.defaultTimeout;
  if (group.spec.scheduleTimeoutSeconds.value_or(0) > 0)
    out.wait = std::chrono::seconds(*group.spec.scheduleTimeoutSeconds);
  out.fromObject = true;
  out.created = group.meta.creationTimestamp;
  readCommon(group.meta.annotations, group.meta.ns.str() + "/" + group.meta.name.str(), args, out);
  return out;
}

Result<GangArgs> readGangArgs(const json::Value& value) {
  Args args(value, "CoschedulingArgs");
  args.only({"defaultTimeout", "controllerWorkers", "skipCheckScheduleCycle", "enablePreemption",
             "awareNetworkTopology", "defaultMatchPolicy", "placeWhole", "backfill"});
  GangArgs out;
  out.defaultTimeout = args.duration("defaultTimeout").value_or(out.defaultTimeout);
  if (out.defaultTimeout <= Duration::zero()) args.complain("defaultTimeout must be above 0");
  if (const int64_t workers = args.integer("controllerWorkers", 1); workers < 1)
    args.complain(fmt::format("controllerWorkers: {} is not above 0", workers));
  args.boolean("skipCheckScheduleCycle", false);
  for (const auto& [key, why] : kWithoutEffect)
    if (args.has(key)) settingsLog.warn("CoschedulingArgs: {} has no effect: {}", key, why);
  out.enablePreemption = args.boolean("enablePreemption", out.enablePreemption);
  out.awareNetworkTopology = args.boolean("awareNetworkTopology", out.awareNetworkTopology);
  out.placeWhole = args.boolean("placeWhole", out.placeWhole);
  Args backfill = args.object("backfill");
  backfill.only({"enabled", "agedAfter"});
  out.backfill.on = backfill.boolean("enabled", false);
  out.backfill.agedAfter = backfill.duration("agedAfter").value_or(out.backfill.agedAfter);
  if (out.backfill.agedAfter < Duration::zero()) backfill.complain("agedAfter must not be below 0");
  if (out.backfill.on && !out.placeWhole)
    backfill.complain("only groups that are placed whole have a head: want placeWhole true");
  args.take(backfill);
  const std::string policy = args.text("defaultMatchPolicy", "once-satisfied");
  if (const auto known = policyOf(policy))
    out.defaultMatchPolicy = *known;
  else
    args.complain(fmt::format(
        "defaultMatchPolicy '{}': want once-satisfied, only-waiting or waiting-and-running",
        policy));
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::placement
