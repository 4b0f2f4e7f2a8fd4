#pragma once
// What a plugin may have done to the world besides reserving and binding; the engine does it.
//
// Owner thread only.

#include <string>
#include <vector>

#include "base/fn.h"
#include "base/result.h"
#include "placement/cluster/cluster.h"

namespace mangrove::placement {

struct GroupTask;
struct RoomAnswer;
struct Stranded;

class Deeds {
 public:
  using Done = UniqueFn<void(Result<>)>;
  // The pod is nominated to the row and the victims go, as with any preemption.
  virtual void makeRoom(const PodPtr& pod, Row row, const std::vector<PodPtr>& victims) = 0;
  // The same for a whole group of which the pod found no node, counting on the nodes of those that
  // wait at Permit: these go back to the queue, and everybody is nominated to where it will be.
  virtual RoomAnswer makeGroupRoom(const Stranded& stranded, const GroupTask& task) = 0;
  // Something the pod asks for is not done, and it is placed without: a warning Event.
  virtual void ignored(const api::Pod& pod, const std::string& what) = 0;
  // The pod's owner should know something about its devices: a warning Event.
  virtual void deviceTrouble(const api::Pod& pod, const std::string& what) = 0;
  // The pod goes now, so that one that matters more has the room that is kept for it.
  virtual void expel(const PodPtr& victim, const api::Pod& preemptor) = 0;
  // On a node with reservations more is taken than there is: a warning Event of the reservation.
  virtual void overcommitted(const api::Pod& standIn, const std::string& what) = 0;
  // The pod goes for a reason of its own; budgets are honoured by the server.
  virtual void evict(const PodPtr& victim, std::string reason, Done done) = 0;
  // Bindings wait for the server: what only tells of them should not stand before them.
  virtual bool isBusy() const = 0;

 protected:
  ~Deeds() = default;
};

}  // namespace mangrove::placement
