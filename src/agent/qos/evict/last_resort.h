#pragma once
// When nobody can be asked to evict a pod any more: the API server has not answered evictions for so
// long that the owner of the node allowed us to end best-effort pods ourselves. Pure; any thread.
//
//   LastResort resort(flags.killWhenApiAway);       // zero: never
//   resort.asked(answered, now);
//   if (resort.isDue(now)) …                        // cgroup.kill of the pod that was to go

#include "base/number/units.h"

namespace mangrove::agent {

class LastResort {
 public:
  explicit LastResort(Duration after) : after_(after) {}
  // An eviction was asked for; any answer of the server, a refusal too, says that it is there.
  void asked(bool answered, MonoTime now);
  bool isDue(MonoTime now) const;

 private:
  Duration after_;
  MonoTime awaySince_ = MonoTime::min();
};

}  // namespace mangrove::agent
