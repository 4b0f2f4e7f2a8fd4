#pragma once
// What the demo compares, and what it found out in one block of it. Values only.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mangrove::demo {

enum class Condition : uint8_t {
  kAlone,     // the service and nobody else
  kAwake,     // alone, with an idle-class loop on every CPU so that none falls asleep
  kCareless,  // batch work started inside the service's own pod
  kPlain,     // a BestEffort pod as plain Kubernetes runs it: own group, least weight, no limit
  kMangrove,  // the same batch work as best-effort pods
};
inline constexpr Condition kConditions[] = {Condition::kAlone, Condition::kAwake,
                                            Condition::kCareless, Condition::kPlain,
                                            Condition::kMangrove};
// Whether batch work runs in it.
bool hasBatch(Condition condition);
std::string_view nameOf(Condition condition);
// One word, for JSON and progress lines.
std::string_view wordOf(Condition condition);

// A few seconds under one condition. Cores are CPU seconds per second.
struct Block {
  size_t round = 0;  // an hour of the compressed day; every condition has one block in it
  Condition condition{};
  double rate = 0;               // requests a second
  std::vector<float> latencies;  // ms, ascending
  uint64_t failed = 0;
  double batchCores = 0;
  double batchUnits = 0;    // pieces of work a second
  double busyCores = 0;     // of the machine, without loops that only keep CPUs awake
  double serviceCores = 0;  // of the service's pod, without careless batch work
  double ownCores = 0;      // the demo's other processes: the load, `mangrove up`
  double strangers = 0;     // cores of processes that are not ours
  double steal = 0;         // cores the hypervisor took
  bool kept = false;
};

}  // namespace mangrove::demo
