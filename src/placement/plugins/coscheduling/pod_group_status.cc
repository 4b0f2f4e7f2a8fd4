#include "placement/plugins/coscheduling/pod_group_status.h"

#include "base/number/elapsed.h"

namespace mangrove::placement {

namespace {

// A group whose members were placed but never ran is given up after two days.
constexpr auto kTooLong = std::chrono::hours(48);

}  // namespace

GroupCounts countsOf(const Gang& gang) {
  GroupCounts out;
  out.members = static_cast<int32_t>(gang.members.size());
  out.scheduled = gang.count(MemberState::kBound) + gang.count(MemberState::kFinished);
  uint64_t first = ~uint64_t{0};  // seen, so that the answer does not depend on the order of a map
  for (const auto& [uid, member] : gang.members) {
    out.running += member.phase == api::PodPhase::kRunning;
    out.succeeded += member.phase == api::PodPhase::kSucceeded;
    out.failed += member.phase == api::PodPhase::kFailed;
    if (member.number > first) continue;
    first = member.number;
    out.owners = member.owners;
  }
  return out;
}

bool isSettled(const api::PodGroup& group) {
  const auto& status = group.status;
  if (status.phase == "Finished" || status.phase == "Failed") return true;
  return status.scheduled == group.spec.minMember && status.running == 0 &&
         status.scheduleStartTime != kZeroTime &&
         elapsed(group.meta.creationTimestamp, status.scheduleStartTime) > kTooLong;
}

api::PodGroupStatus nextStatus(const api::PodGroup& group, const GroupCounts& counts,
                               WallTime now) {
  api::PodGroupStatus out = group.status;
  const int32_t min = group.spec.minMember;
  if (out.phase.empty()) {
    out.phase = "Pending";
    return out;
  }
  if (out.phase == "Pending") {
    if (min <= 0 || counts.members < min) return out;
    out.phase = "PreScheduling";
    out.occupiedBy = counts.owners;
    return out;
  }
  if (counts.members == 0) {
    out.phase = "Pending";
    return out;
  }
  out.scheduled = counts.scheduled;
  out.running = counts.running;
  out.succeeded = counts.succeeded;
  out.failed = counts.failed;
  const int32_t alive = out.running + out.succeeded;
  out.phase = out.scheduled < min ? "Scheduling" : "Scheduled";
  if (out.phase == "Scheduling" && out.scheduleStartTime == kZeroTime) out.scheduleStartTime = now;
  if (out.phase == "Scheduled" && alive >= min) out.phase = "Running";
  if (out.failed != 0 && out.failed + alive >= min) out.phase = "Failed";
  if (out.succeeded >= min) out.phase = "Finished";
  return out;
}

}  // namespace mangrove::placement
