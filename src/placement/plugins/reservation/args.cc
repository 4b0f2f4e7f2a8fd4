#include "placement/plugins/reservation/args.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/os/log.h"
#include "placement/cluster/resource_ids.h"
#include "placement/framework/args.h"

namespace mangrove::placement {
namespace {

const Logger log("reservation");

void checkIgnored(Args& args, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!isExtended(name))
      args.complain(fmt::format("ignoredResources '{}': want an extended resource", name));
}

// The reference's own way to be fast, or settings that change nothing here.
void saySuperfluous(const Args& args) {
  for (std::string_view key :
       {"minCandidateNodesPercentage", "minCandidateNodesAbsolute", "controllerWorkers",
        "resyncIntervalSeconds", "reservationSelectorIndex", "enablePreemption"})
    if (args.has(key)) log.info("ReservationArgs: {} has no effect here", key);
}

}  // namespace

bool ReservationArgs::isIgnored(std::string_view resource) const {
  if (!isExtended(resource)) return false;
  const std::string_view group = resource.substr(0, resource.find('/'));
  return std::ranges::find(ignored, resource) != ignored.end() ||
         std::ranges::find(ignoredGroups, group) != ignoredGroups.end();
}

Result<ReservationArgs> readReservationArgs(const json::Value& value) {
  Args args(value, "ReservationArgs");
  args.only({"enablePreemption", "minCandidateNodesPercentage", "minCandidateNodesAbsolute",
             "controllerWorkers", "gcDurationSeconds", "gcIntervalSeconds", "resyncIntervalSeconds",
             "disableGarbageCollection", "preAllocationConfig", "ignoredResources",
             "ignoredResourceGroups", "reservationSelectorIndex"});
  ReservationArgs out;
  out.gcDuration = std::chrono::seconds(args.integer("gcDurationSeconds", 86400));
  out.gcInterval = std::chrono::seconds(args.integer("gcIntervalSeconds", 60));
  if (out.gcInterval <= Duration::zero() || out.gcDuration < Duration::zero())
    args.complain("gcIntervalSeconds and gcDurationSeconds: want numbers above 0");
  out.collects = !args.boolean("disableGarbageCollection", false);
  args.boolean("enablePreemption", false);  // DefaultPreemption serves both, told to or not
  out.ignored = args.texts("ignoredResources");
  out.ignoredGroups = args.texts("ignoredResourceGroups");
  checkIgnored(args, out.ignored);
  Args taking = args.object("preAllocationConfig");
  taking.only({"enableClusterMode", "clusterLabelKey", "clusterPriorityAnnotationKey",
               "preferNoPreAllocatedPods"});
  for (std::string_view key : {"clusterLabelKey", "clusterPriorityAnnotationKey"})
    if (taking.has(key)) taking.complain(fmt::format("{}: only the default key is known", key));
  out.clusterPreAllocation = taking.boolean("enableClusterMode", false);
  out.prefersFree = taking.boolean("preferNoPreAllocatedPods", false);
  args.take(taking);
  saySuperfluous(args);
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::placement
