#pragma once
// A record of what the agent did as an event of the log in files: its kind, reason and level are those
// that readers of the reference's log know. Pure functions, any thread.
//
//   events.add(eventOf(record), auditLevel(record));

#include "agent/audit/events.h"
#include "agent/executor/audit.h"

namespace mangrove::agent {

AuditEvent eventOf(const AuditRecord& record);
// Evictions are always told (0), writes to control files by default (3), threads that move to a
// resctrl group only to who wants everything (5).
int auditLevel(const AuditRecord& record);

}  // namespace mangrove::agent
