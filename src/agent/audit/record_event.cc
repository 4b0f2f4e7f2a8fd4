#include "agent/audit/record_event.h"

#include <fmt/format.h>

#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

enum class Deed : uint8_t { kEviction, kGroup, kTasks, kSchemata, kSystem, kProcess, kCgroup };

Deed deedOf(const AuditRecord& record) {
  const std::string_view file = record.file;
  if (file == "eviction") return Deed::kEviction;
  if (file == "group") return Deed::kGroup;
  // Of cgroups nobody moves threads here: these are resctrl's.
  if (file == "tasks") return Deed::kTasks;
  if (file.starts_with("schemata")) return Deed::kSchemata;
  if (file == "cookie" || file == "oom_score_adj") return Deed::kProcess;
  if (file == "parameter" || file == "switch" || file == "tc" || file.starts_with("sched_features"))
    return Deed::kSystem;
  return record.cgroup.empty() ? Deed::kSystem : Deed::kCgroup;
}

const char* reasonOf(Deed deed) {
  switch (deed) {
    case Deed::kEviction:
      return "evicted";
    case Deed::kGroup:
      return "CreateCATGroup";
    case Deed::kTasks:
    case Deed::kSchemata:
      return "UpdateResctrl";
    case Deed::kSystem:
      return "UpdateSystemConfig";
    case Deed::kProcess:
    case Deed::kCgroup:
      break;
  }
  return "UpdateCgroups";
}

AuditEvent ofEviction(const AuditRecord& record) {
  const Halves pod = cut(record.cgroup, '/');
  AuditEvent event;
  event.type = "pod";
  event.ns = pod.before;
  event.name = pod.after;
  event.message = fmt::format("{}: {} ({})", record.owner, record.why, record.outcome);
  return event;
}

}  // namespace

AuditEvent eventOf(const AuditRecord& record) {
  const Deed deed = deedOf(record);
  AuditEvent event;
  if (deed == Deed::kEviction) {
    event = ofEviction(record);
  } else {
    event.type = deed == Deed::kSystem ? "node" : deed == Deed::kProcess ? "unknown" : "group";
    event.name = record.cgroup;
    event.message = fmt::format("{} from {} to {}: {} ({}, {})", record.file, record.from,
                                record.to, record.why, record.owner, record.outcome);
  }
  event.createdAt = record.at;
  event.reason = deed == Deed::kGroup && record.to != "made" ? "RemoveCATGroup" : reasonOf(deed);
  return event;
}

int auditLevel(const AuditRecord& record) {
  const Deed deed = deedOf(record);
  return deed == Deed::kEviction ? 0 : deed == Deed::kTasks ? 5 : 3;
}

}  // namespace mangrove::agent
