#pragma once
// Whether a pod would fit on some other node of the cycle (nodeFit), asked right before it is evicted.
// Knows nodes only between begin() and end(), because a Look ends with its cycle. Owner's thread.

#include <memory>
#include <optional>
#include <string>

#include "descheduler/fit.h"
#include "descheduler/plugins/selection.h"

namespace mangrove::descheduler {

class Elsewhere {
 public:
  void begin(const Look& look);
  void end();
  // Among the nodes that the selector takes; nullopt: it fits, or nobody knows.
  std::optional<std::string> refusal(const api::Pod& pod, const MaybeSelector& nodes);

 private:
  const Look* look_ = nullptr;
  std::unique_ptr<NodeFit> fit_;
};

}  // namespace mangrove::descheduler
