#pragma once
// The workloads of the public kube-scheduler benchmark, by their names: which nodes, which pods
// first, which pods are measured.
//
//   const BenchCase* c = findCase("SchedulingBasic");
//   nodeJson(*c, 7), podJson(c->measured, 12)
//
// Pure functions, any thread.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::scheduler {

enum class BenchPod : uint8_t {
  kDefault,       // 100m, 500Mi
  kAffinity,      // near its like in the zone
  kAntiAffinity,  // away from its like, per host
  kPreferredAffinity,
  kPreferredAntiAffinity,
  kNodeAffinity,  // zone1 or zone2
  kSpread,        // maxSkew 5 over zones
  kPreferredSpread,
  kLowPriority,   // 900m
  kHighPriority,  // 3 cores, may preempt
  kTooLarge,      // fits nowhere
  kPinned,        // to one node by name, as daemon sets do
  kManyClasses,   // a label of its own for every ten
  kGang3,         // strict gangs of so many, all members needed
  kGang10,
  kGang20,
  kGang100,
  kGang1000,
  kGang5000,
  kDevices,     // cards by share, 1, 2, 4 and 8 of them with NICs; larger ones have priority
  kHugeGang10,  // members that fit nowhere: what the nodes have says no before anything is tried
  kHugeGang100,
  kHeldGang10,  // not strict, and one of ten fits nowhere: nine hold a node and wait for it
  kNobody,
  kQuotaOpen,     // in one of the quotas that have room
  kQuotaBlocked,  // in one of those that have none
  kReserved,      // three of ten are owners of reservations
};

// Quotas of a case that has them: so many leaves in three levels, ten at the top and ten below each
// of the second. Three of ten leaves have room.
inline constexpr size_t kQuotaLeaves = 1000;
bool hasQuotas(BenchPod kind);
size_t quotaCount(size_t leaves);                     // with those above them
std::string quotaJson(size_t number, size_t leaves);  // of namespace default
std::string quotaObjectName(size_t number, size_t leaves);

struct BenchCase {
  std::string_view name;
  BenchPod first;
  BenchPod measured;
  // For 500 and for 5 000 nodes.
  size_t firstSmall, measuredSmall, firstLarge, measuredLarge;
  int zones;   // 1: all nodes in zone1
  bool churn;  // nodes and services come and go meanwhile
  // Instead of pods so many ticks of the engine are measured; "cpu us" is then per tick.
  int ticks = 0;
  // Placed before everything else, each for one owner, on every so manieth node; 0: none.
  size_t nodesPerReservation = 0;
};

std::span<const BenchCase> benchCases();
const BenchCase* findCase(std::string_view name);

// Servers want the classes of pods with a priority to exist: "bench-10" has the value 10.
std::vector<int> prioritiesOf(const BenchCase& bench);
std::string priorityClassJson(int priority);

std::string nodeJson(const BenchCase& bench, size_t number);
// The Device object of a node of kDevices: eight cards in pairs on four switches, a NIC on each.
std::string deviceJson(size_t number);
inline bool hasDevices(const BenchCase& bench) {
  return bench.measured == BenchPod::kDevices;
}
size_t reservationsOf(const BenchCase& bench, size_t nodes);
// Available on its node.
std::string reservationJson(const BenchCase& bench, size_t number);
std::string metricJson(size_t number, std::string_view time);
// kPinned pods take their node from their number.
std::string podJson(BenchPod kind, std::string_view name, size_t number, size_t nodes,
                    std::string_view scheduler = "koord-scheduler", std::string_view ns = "default",
                    size_t leaves = kQuotaLeaves);

}  // namespace mangrove::scheduler
