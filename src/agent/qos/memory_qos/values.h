#pragma once
// Memory protection by class: what memory.min, low, high and their kin should be for the three QoS
// directories, pods and containers. Pure functions, any thread.
//
//   MemoryQosValues want = memoryQosValues(in);
//   for (const MemorySetting& s : want.pods) …      // s.cgroup, s.resource, s.value

#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/pod_said.h"
#include "agent/executor/value.h"
#include "api/koordinator/resource_qos.h"
#include "api/object/node.h"
#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "kernel/cgroup_layout.h"

namespace mangrove::agent {

struct MemorySetting {
  std::string cgroup;
  std::string_view resource;
  FileValue value;
};

struct MemoryQosInputs {
  const api::ResourceQosStrategy& strategy;  // disabled classes already replaced by neutral values
  const api::Node& node;
  std::vector<const api::Pod*> pods;
  kernel::CgroupLayout layout;
  Bytes pageSize{4096};
  bool gradeByLow = false;  // the kernel has no memory.wmark_min_adj: gradedByLow() stands in
  std::vector<const PodSaid*> said = {};  // of the pods, in their order; none: decoded here
};

struct MemoryQosValues {
  std::vector<MemorySetting> tiers;
  std::vector<MemorySetting> pods;
  std::vector<MemorySetting> containers;
};
MemoryQosValues memoryQosValues(const MemoryQosInputs& in);

// ---- parts, for tests ------------------------------------------------------------------------

// The class's settings under the pod's annotation.
api::MemoryQos memoryQosOf(const api::Pod& pod, const api::ResourceQosStrategy& strategy);
// The same with the annotation, decoded already.
api::MemoryQos memoryQosOf(const api::Pod& pod,
                           const Result<std::optional<api::PodMemoryQos>>& said,
                           const api::ResourceQosStrategy& strategy);
// wmarkMinAdj says who meets the node's watermark first, from -25 (spared longest) to 50. Where the
// kernel cannot move watermarks, memory.low grades: of what was asked for a share is spared, all of
// it at -25, unless a share was said (0 too); from 1 on a protection shrinks, to none at 50.
api::MemoryQos gradedByLow(api::MemoryQos qos);

struct MemoryAmounts {
  Bytes request;
  Bytes limit;  // 0: none
};
// memory.high of a container; kUnlimited when throttling is off.
int64_t throttleAt(MemoryAmounts amounts, Bytes allocatable, Percent throttling, Bytes page);
Bytes protectedBytes(Bytes request, Percent percent);

}  // namespace mangrove::agent
