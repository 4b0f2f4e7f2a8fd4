#pragma once
// What the applications of YARN use of a NodeManager's pod, as our agents add it to the pod's entry in
// the NodeMetric (`extensions`, which others leave alone):
//
//   "extensions":{"Object":{"colocation.mangrove.io/yarn-applications":
//     [{"application":"application_1700000000000_0001","milliCpu":1200,"memory":314572800,"containers":2}]}}
//
// Measured from the processes of their containers (gate YarnNodeManager). Pure, any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/node_metric.h"
#include "base/number/units.h"
#include "json/fwd.h"

namespace mangrove::api {

inline constexpr std::string_view kYarnApplications = "colocation.mangrove.io/yarn-applications";

struct YarnUse {
  std::string application;
  double cores = 0;
  Bytes memory;  // resident
  int64_t containers = 0;
  bool operator==(const YarnUse&) const = default;
};

json::Array yarnJson(const std::vector<YarnUse>& uses);
void addYarn(const std::vector<YarnUse>& uses, std::optional<Extensions>& out);
// None: nobody has measured it, or what stands there is none of ours.
std::vector<YarnUse> yarnOf(const PodMetric& pod);

// "container_e17_1700000000000_0001_01_000002" → "application_1700000000000_0001"; "" for other texts.
std::string yarnApplicationOf(std::string_view container);
// The first container of YARN that a text (a command line, an environment) names; "" where none is.
std::string_view yarnContainerIn(std::string_view text);

}  // namespace mangrove::api
