#pragma once
// How YARN's NodeManagers are known on a cluster. The names are the reference's, but for the last:
//
//   metadata:
//     labels: {app.kubernetes.io/component: node-manager}
//     annotations:
//       yarn.hadoop.apache.org/node-id: "n1:45454"            as the ResourceManager calls it
//       yarn.hadoop.apache.org/cluster-id: "prod"             of several ResourceManagers
//       colocation.mangrove.io/yarn-capacity: {"vcores":28,"memoryMb":81920}
//
// The last is written by `mangrove yarn sync`: what YARN may use there, for the agent that bounds the
// pod. Pure functions, any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/annotations/annotation.h"

namespace mangrove::api {

namespace annotation {
inline constexpr std::string_view kYarnNodeId = "yarn.hadoop.apache.org/node-id";
inline constexpr std::string_view kYarnClusterId = "yarn.hadoop.apache.org/cluster-id";
inline constexpr std::string_view kYarnCapacity = "colocation.mangrove.io/yarn-capacity";
}  // namespace annotation
namespace label {
inline constexpr std::string_view kComponent = "app.kubernetes.io/component";
}  // namespace label
inline constexpr std::string_view kNodeManager = "node-manager";
// Its name among the third parties of a node (annotations/node.h).
inline constexpr std::string_view kHadoopYarn = "hadoop-yarn";

struct YarnCapacity {
  int64_t vcores = 0;
  int64_t memoryMb = 0;
  std::optional<double> vcoresPerCpu = {};  // nullopt: 1
  bool operator==(const YarnCapacity&) const = default;
};
bool read(const In& in, YarnCapacity& out);
json::Value toJson(const YarnCapacity& value);
// nullopt: nobody has said it.
Result<std::optional<YarnCapacity>> parseYarnCapacity(const Annotations& pod);

bool isNodeManager(const Labels& pod);

}  // namespace mangrove::api
