#pragma once
// What the scheduler does to the world, so that the engine runs the same against a server, inside a
// benchmark and in a simulator. Implementations call `done` in the owner's thread, never from
// inside the call itself.

#include <string>
#include <string_view>

#include "base/fn.h"
#include "base/result.h"
#include "placement/framework/plugin.h"

namespace mangrove::placement {

struct PodFailure {
  std::string_view reason;  // Unschedulable or SchedulerError
  std::string message;
  std::string nominatedNode;
  bool changesNomination = false;
};

class Effects {
 public:
  virtual ~Effects() = default;
  using Done = UniqueFn<void(Result<>)>;

  virtual void bind(const PodInfo& pod, std::string_view node, const BindNotes& notes,
                    Done done) = 0;
  // Ties claims to volumes or nodes; done when the server has accepted all of it.
  virtual void bindVolumes(const std::vector<VolumeNote>& /*notes*/, Done done) { done({}); }
  virtual void scheduled(const api::Pod& pod, std::string_view node, std::string_view profile) = 0;
  // Event and PodScheduled condition.
  virtual void failed(const api::Pod& pod, const PodFailure& failure, std::string_view profile) = 0;
  // Marks the victim, deletes it and tells both sides. `loss`: what it loses and what the next one
  // would have lost; "": nobody weighed it.
  virtual void preempt(const api::Pod& victim, const api::Pod& preemptor, std::string_view profile,
                       std::string_view loss, Done done) = 0;
  // Something the pod asks for is not done by this scheduler, and the pod is placed without it.
  virtual void ignored(const api::Pod& /*pod*/, const std::string& /*what*/,
                       std::string_view /*profile*/) {}
  // A card the pod has is ill, gone, or given to others as well.
  virtual void deviceTrouble(const api::Pod& /*pod*/, const std::string& /*what*/,
                             std::string_view /*profile*/) {}
  // Another scheduler placed something where a reservation keeps the room.
  virtual void overcommitted(const api::Pod& /*standIn*/, const std::string& /*what*/,
                             std::string_view /*profile*/) {}
  virtual void clearNomination(const api::Pod& pod) = 0;
  // Writes something else than a binding, on behalf of a plugin. Those to one object get to the
  // server one after the other.
  virtual void patch(const ObjectPatch& patch, Done done) {
    done(fail(mangrove::Code::kInternal, "nobody writes {} here", patch.name));
  }
  // Asks the server to evict the pod, for a reason that it is told; budgets may refuse.
  virtual void evict(const api::Pod& pod, std::string_view /*reason*/, Done done) {
    done(fail(mangrove::Code::kInternal, "nobody evicts {} here", pod.meta.name.view()));
  }
  // The pod will go to this node, but not at once.
  virtual void nominate(const api::Pod& /*pod*/, std::string_view /*node*/) {}
};

}  // namespace mangrove::placement
