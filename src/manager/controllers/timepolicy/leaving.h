#pragma once
// Which batch pods go when a stricter time begins, and when they hear of it.
//
//   for (const Holder& pod : whoLeaves(holders, allowed, now)) evict(pod);
//   if (now >= noticeTime(closesAt, grace, *pod.sold)) tell(pod, closesAt);
//
// Pure; any thread. Pods are borrowed.

#include <string>
#include <string_view>
#include <vector>

#include "manager/controllers/noderesource/node_inputs.h"

namespace mangrove::manager {

// A pod that holds sold resources.
struct Holder {
  std::string_view ns, name;
  const PodSold* sold = nullptr;
  CpuMemory holds;  // under all names together
};

CpuMemory holdings(const PodSold& sold);

// As many as must go until the rest fits into what is allowed: those first that would run longest
// (longest of all those that do not say), then the lower priority, the larger share, the one that
// started last.
std::vector<Holder> whoLeaves(std::vector<Holder> holders, const CpuMemory& allowed, WallTime now);

// With the grace, or earlier where the pod asks for it.
WallTime noticeTime(WallTime closesAt, Duration grace, const PodSold& sold);

}  // namespace mangrove::manager
