#pragma once
// What strategies that know of interference have to tell the cluster: they write nothing themselves.
// Filled at a tick, emptied after it by who has a client. Owner thread.

#include <string>
#include <vector>

#include "agent/executor/audit.h"
#include "api/interference/report.h"

namespace mangrove::agent {

struct InterferenceBoard {
  std::vector<api::InterferenceReport> reports;
  std::vector<AuditRecord> records;  // what was only said: previews, dry runs
  bool blocked = false;              // no new work: a watermark of Crane's was crossed
  std::string blockedWhy;
};

}  // namespace mangrove::agent
