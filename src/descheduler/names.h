#pragma once
// Keys that the descheduler reads and writes on pods, jobs and reservations.

#include <string_view>

namespace mangrove::descheduler {

namespace key {
inline constexpr std::string_view kEvictReason = "koordinator.sh/evict-reason";    // on jobs
inline constexpr std::string_view kEvictTrigger = "koordinator.sh/evict-trigger";  // on jobs
inline constexpr std::string_view kCreatedBy = "koordinator.sh/job-created-by";    // on jobs
// Label of a pod, then of its job: Eviction, Delete or SoftEviction.
inline constexpr std::string_view kEvictPolicy = "koordinator.sh/evict-policy";
inline constexpr std::string_view kPassedArbitration =
    "descheduler.koordinator.sh/passed-arbitration";
// Annotation of a pod, whatever its value: no filter holds it. On a job: no object limiter does.
inline constexpr std::string_view kEvictAnyway = "descheduler.alpha.kubernetes.io/evict";
inline constexpr std::string_view kReservationOrder = "scheduling.koordinator.sh/reservation-order";
inline constexpr std::string_view kMadeBy = "app.kubernetes.io/created-by";  // on reservations
// On jobs: the node the pod leaves, the one where it was proven to land, and that nobody had room
// for it.
inline constexpr std::string_view kSource = "descheduler.mangrove.io/source";
inline constexpr std::string_view kTarget = "descheduler.mangrove.io/target";
inline constexpr std::string_view kUnplaceable = "descheduler.mangrove.io/unplaceable";
// On jobs of ours: the uid of what controls the pod.
inline constexpr std::string_view kWorkload = "descheduler.mangrove.io/workload";
// On jobs that move together: the mark that they share, and how many they are.
inline constexpr std::string_view kTogether = "descheduler.mangrove.io/together";
inline constexpr std::string_view kTogetherSize = "descheduler.mangrove.io/together-size";
// On pods: how long their answers take, "12.5ms", by whoever measures it; accounts of moves keep it.
inline constexpr std::string_view kLatency = "colocation.mangrove.io/latency";
// Label of jobs that one cycle has made: `kubectl delete podmigrationjobs -l …=ID` stops all of them
// that have not left.
inline constexpr std::string_view kPlan = "descheduler.mangrove.io/plan";
// On pods that came by a migration: when.
inline constexpr std::string_view kMovedAt = "descheduler.mangrove.io/moved-at";
inline constexpr std::string_view kConfigSource = "kubernetes.io/config.source";
}  // namespace key

inline constexpr std::string_view kMe = "koord-descheduler";

}  // namespace mangrove::descheduler
