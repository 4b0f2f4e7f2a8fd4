#pragma once
// Batch work by job, as the jobs page shows it: how many of it live and wait, how far it is, and what
// it had, used and lost since this process looks (report/batch_ledger.h).
//
//   {"since":"…","jobs":[{"tenant":"etl","job":"etl/spark-1","kind":"spark-executor","gang":"etl/g",
//     "alive":4,"waiting":1,"done":0,"failed":0,"evicted":2,"lost":0.4,"sold":3.1,"used":2.2,
//     "saved":95}]}
//
// "lost", "sold" and "used" in core hours; "saved": seconds since the oldest of its pods' last
// checkpoints, null where none has one. Pure functions, any thread.

#include "dashboard/rows.h"
#include "report/batch_ledger.h"

namespace mangrove::dashboard {

// The ledger's next look at the best-effort pods of the view.
void feedLedger(const ClusterView& view, WallTime now, report::BatchLedger& ledger);
json::Object jobBoard(const ClusterView& view, const report::BatchLedger& ledger, WallTime now);

}  // namespace mangrove::dashboard
