#pragma once
// What Kubernetes tells of nodes that carry NodeManagers: what is for sale there, who has asked for
// it, and which pods are NodeManagers. Kept as small as the reckoning needs it; a large cluster has
// a hundred thousand pods.
//
//   client::Informer<YarnNode> nodes(client::follow(setup, kind::kNode));
//   client::Informer<YarnPod> pods(client::follow(setup, kind::kPod));
//
// Values, any thread.

#include <string>
#include <string_view>

#include "api/annotations/node.h"
#include "api/annotations/yarn.h"
#include "api/object/meta.h"
#include "api/wire/decode.h"
#include "yarn/capacity.h"

namespace mangrove::yarn {

struct YarnNode {
  Share sold;             // before third parties took theirs
  bool isClosed = false;  // cordoned or draining: nothing new may start
  api::ThirdPartyAllocations thirdParties;
  std::string trouble;  // an annotation that cannot be read
};
bool read(const api::In& in, YarnNode& out);

struct YarnPod {
  api::ObjectMeta meta;  // of NodeManagers only
  std::string node;      // "": it waits for one
  Share asks;            // batch resources; 0 when it has ended
  bool isManager = false;
  bool isRunning = false;
  bool isBestEffort = false;
  WallTime started = kZeroTime;
  std::string nodeId, cluster, capacity;  // annotations of a NodeManager
};
bool read(const api::In& in, YarnPod& out);

// The annotation with what YARN's containers have now; the others' entries stay.
std::string thirdPartiesWith(const api::ThirdPartyAllocations& now, const Share& used);
Share allocatedTo(const api::ThirdPartyAllocations& all, std::string_view name);

}  // namespace mangrove::yarn
