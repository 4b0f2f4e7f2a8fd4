#pragma once
// Which CPUs a pod gets: whole cores or one thread of each, near each other, away from pods that
// want to be alone.
//
//   CpuBooks books(layout, /*maxRefCount=*/1);
//   books.add(set, Exclusive::kNone);                      // pods already there
//   Result<CpuSet> cpus = takeCpus(books, {.need = 4, .policy = BindPolicy::kFullPcpus});
//
// Pure functions of the books; any thread while nobody changes them.

#include <cstdint>
#include <string>
#include <vector>

#include "base/number/cpu_set.h"
#include "base/result.h"
#include "placement/plugins/numa/topology.h"

namespace mangrove::placement {

enum class BindPolicy : uint8_t { kNone, kFullPcpus, kSpreadByPcpus, kConstrainedBurst };
BindPolicy bindPolicyOf(std::string_view word);
std::string_view bindPolicyName(BindPolicy policy);

enum class Exclusive : uint8_t { kNone, kPcpuLevel, kNumaNodeLevel };
Exclusive exclusiveOf(std::string_view word);

// Who has which CPUs: how often each is given out, and which of them are wanted alone.
class CpuBooks {
 public:
  explicit CpuBooks(const CpuLayout& layout, int maxRefCount = 1)
      : layout_(&layout), maxRefCount_(maxRefCount) {}

  void add(const CpuSet& cpus, Exclusive exclusive);
  void remove(const CpuSet& cpus, Exclusive exclusive);
  // As if these CPUs had been given out once less: what a reservation or victims hand back.
  CpuBooks without(const CpuSet& cpus) const;

  const CpuLayout& layout() const { return *layout_; }
  int maxRefCount() const { return maxRefCount_; }
  int refCount(int cpu) const;
  CpuSet available(const CpuSet& reserved) const;
  CpuSet taken() const;
  // Cores and NUMA nodes that hold a pod of that level.
  bool coreIsExclusive(int core) const;
  bool nodeIsExclusive(int node) const;

 private:
  struct Use {
    int refs = 0;
    int alone[3] = {0, 0, 0};  // by Exclusive
  };
  const CpuLayout* layout_;
  int maxRefCount_;
  std::vector<Use> uses_;  // by CPU id
};

struct CpuWish {
  int need = 0;
  BindPolicy policy = BindPolicy::kFullPcpus;
  bool required = false;
  Exclusive exclusive = Exclusive::kNone;
  bool mostAllocated = false;  // fill up NUMA nodes; otherwise spread over them
  // Of an odd number under kFullPcpus the last threads come from cores that are broken already, if
  // the place that serves the rest has such; the reference breaks a fresh core.
  bool preferOrphans = false;
  CpuSet preferred = {};  // taken before others: what a reservation holds for the pod
};

// From exactly these CPUs, by the preferences of the wish; `required` is not looked at.
Result<CpuSet> accumulate(const CpuBooks& books, const CpuSet& available, const CpuWish& wish);
// What of them a required policy leaves: fully free cores, or the first free CPU of each core.
CpuSet usableUnder(const CpuLayout& layout, const CpuSet& available, const CpuWish& wish);
// The whole rule: books minus what is reserved, preferred CPUs first, required policies checked.
Result<CpuSet> takeCpus(const CpuBooks& books, const CpuSet& reserved, const CpuSet& preferred,
                        const CpuWish& wish);
// The same among given CPUs, for one NUMA node.
Result<CpuSet> takeFrom(const CpuBooks& books, const CpuSet& available, const CpuSet& preferred,
                        const CpuWish& wish);
// Whether the result is whole cores, or one CPU per core, as required.
bool satisfies(const CpuLayout& layout, const CpuSet& cpus, BindPolicy policy);

}  // namespace mangrove::placement
