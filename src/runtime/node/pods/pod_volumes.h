#pragma once
// What a pod has on disk here: brings files from ConfigMaps and the like up to date, and measures
// whether it has more than its limits. The slow part runs in `preparing`.
//
//   PodVolumes volumes(prep, node, preparing, owner);
//   volumes.check(pod, [](std::string trouble) { ... });   // in the owner's thread
//
// All four outlive what was posted; this object need not.

#include <string>

#include "base/fn.h"
#include "base/mailbox.h"
#include "runtime/core/pod_model.h"
#include "runtime/node/pods/pod_prep.h"

namespace mangrove::runtime {

class PodVolumes {
 public:
  PodVolumes(PodPrep& prep, const NodeFacts& node, Mailbox& preparing, Mailbox& owner);

  void refresh(RunPodPtr pod, std::string ip);
  // `over` hears, once, what is beyond which limit; nothing when all is within.
  void check(RunPodPtr pod, UniqueFn<void(std::string)> over);

 private:
  PodPrep& prep_;
  const NodeFacts& node_;
  Mailbox& preparing_;
  Mailbox& owner_;
};

}  // namespace mangrove::runtime
