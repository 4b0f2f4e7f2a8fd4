// The MigrationController and gangs: a member moves by itself where its gang keeps its minimum, else
// all members together or none.
#include <algorithm>

#include <fmt/core.h>

#include "base/os/log.h"
#include "descheduler/migration/controller.h"
#include "placement/plugins/coscheduling/gang_settings.h"

namespace mangrove::descheduler {
namespace {
const Logger log("descheduler");
}

// Members whose jobs live and who are still there.
int32_t MigrationController::leaving(std::string_view gang) const {
  const std::vector<JobView> all = views();
  return static_cast<int32_t>(std::count_if(all.begin(), all.end(), [&](const JobView& job) {
    return isLive(job) && job.pod != nullptr && job.pod->meta.uid.str() == job.podUid &&
           placement::gangIdOf(*job.pod) == gang;
  }));
}

GangVerdict MigrationController::gangVerdict(const api::Pod& pod) const {
  const std::string gang = placement::gangIdOf(pod);
  if (gang.empty()) return {GangWay::kAlone, ""};
  const auto facts = gangs_ ? gangs_(pod) : std::nullopt;
  if (!facts)
    return {GangWay::kStays,
            fmt::format("it is a member of gang {}, which does not move in part", gang)};
  return gangWay(*facts, gang, leaving(gang));
}

Pods MigrationController::companionsOf(const api::Pod& pod) {
  if (gangVerdict(pod).way != GangWay::kWhole) return {};
  Pods out;
  const auto facts = gangs_(pod);
  for (const GangPart& part : facts->parts)
    for (const api::Pod* member : desk_.caches.membersOf(part.id)) out.push_back(member);
  return out;
}

// One who may not move keeps them all. To the limits a gang is one move; others count one by one.
std::optional<std::string> MigrationController::wholeRefusal(const Pods& members) {
  const bool isGang = !placement::gangIdOf(*members.front()).empty();
  MigrationArgs args = args_;
  if (isGang) args.limits = asOneMove(args.limits);
  const FilterRules own = rules();
  LiveJobs live = own.live;
  const FilterRules together{args,           live,
                             own.workloadOf, own.hasLocalStorage,
                             own.settled,    [](const api::Pod&) { return std::nullopt; }};
  for (const api::Pod* member : members) {
    const std::string name = api::keyOf(member->meta).text();
    if (const auto why = descheduler::refusal(*member, together))
      return fmt::format("all of it moves or nobody does, and {} stays: {}", name, *why);
    if (!isGang) live.add({"", name, member->meta.uid.str(), "", true, {}, "", member});
  }
  return std::nullopt;
}

std::optional<std::string> MigrationController::neverArbitrated(const JobView& job,
                                                                const FilterRules& filter) {
  const bool isGang = !placement::gangIdOf(*job.pod).empty();
  if (job.together.empty() || !isGang) {
    if (isGang && gangVerdict(*job.pod).way == GangWay::kWhole)
      return std::string("its gang needs all its members and moves whole or not at all");
    return neverMoves(*job.pod, filter);
  }
  MigrationArgs args = args_;
  args.limits = asOneMove(args.limits);
  return neverMoves(*job.pod, {args, filter.live, filter.workloadOf, filter.hasLocalStorage,
                               filter.settled, [](const api::Pod&) { return std::nullopt; }});
}

bool MigrationController::evictTogether(std::span<const Eviction> evictions) {
  if (args_.dryRun || evictions.empty()) return !evictions.empty();
  Pods pods;
  for (const Eviction& one : evictions) pods.push_back(&one.pod);
  if (const auto why = wholeRefusal(pods)) {
    log.debug("{} pods are not migrated together: {}", pods.size(), *why);
    return false;
  }
  const std::string mark = randomUuid(rng_.next(), rng_.next());
  for (const Eviction& one : evictions) {
    NewJob job = newJob(one);
    job.together = mark;
    job.togetherSize = evictions.size();
    create(std::move(job), one.pod);
  }
  return true;
}

}  // namespace mangrove::descheduler
