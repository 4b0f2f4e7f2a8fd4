#pragma once
// Moves of pods as the migrations page shows them: those under way first, then the newest; and how
// many go from where to where.
//
//   {"moves":[{"name":…,"pod":"default/web-1","from":"n1","to":"n2","why":…,"proof":…,
//     "phase":"Running","state":…,"created":ms,"ended":null,"paid":null,
//     "account":{"source":{"cpu":[91.2,70.1],"memory":[40,38],"waits":[12,null]},"target":…,
//                "podCores":[2,1.9],"podWaits":[17,2],"podThrottled":…,"podLatencyMs":…}}],
//    "arrows":[{"from":"n1","to":"n2","moves":3}],"underWay":1,"succeeded":4,"failed":0,
//    "stays":[{"pod":"default/web-2","node":"n1","why":…}],"staying":1}
//
// `stays` are those that the last cycle asked about and left where they are (descheduler/notice/).
//
// Words are those of `mangrove explain migration`. Pure functions, any thread.

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "api/koordinator/pod_migration_job.h"
#include "api/pod/pod.h"
#include "descheduler/notice/notice.h"
#include "json/value.h"

namespace mangrove::dashboard {

using MigrationObjects = std::vector<std::shared_ptr<const api::PodMigrationJob>>;
using FindPod = std::function<std::shared_ptr<const api::Pod>(std::string_view key)>;

json::Object migrationBoard(const MigrationObjects& jobs, const FindPod& pod,
                            const descheduler::Notice& notice = {});

}  // namespace mangrove::dashboard
