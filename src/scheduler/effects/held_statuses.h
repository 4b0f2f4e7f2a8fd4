#pragma once
// Statuses of pods whose victims are going. Most of these pods are bound before anybody could read
// that they were waiting, and a write that is taken back at once costs the server as much as a
// binding. So the status waits for kHold, and goes out only when the pod is still there.
//
//   HeldStatuses held;
//   held.put(pod.meta, status, clock.mono());
//   held.take(uid);                       // it is being bound, or something newer is to be said
//   for (auto& late : held.takeLate(clock.mono())) send(late);       // about once a second
//
// Owner thread only.

#include <optional>
#include <unordered_map>
#include <vector>

#include "api/object/meta.h"
#include "base/number/units.h"
#include "json/value.h"

namespace mangrove::scheduler {

struct HeldStatus {
  api::ObjectMeta pod;  // name, namespace and uid
  json::Object status;
  MonoTime since{};
};

class HeldStatuses {
 public:
  static constexpr Duration kHold = std::chrono::seconds(1);

  // In place of what was held for that pod before.
  void put(const api::ObjectMeta& pod, json::Object status, MonoTime now);
  std::optional<HeldStatus> take(const api::Uid& pod);
  // Everything that has waited for kHold.
  std::vector<HeldStatus> takeLate(MonoTime now);

 private:
  std::unordered_map<api::Uid, HeldStatus> held_;
};

}  // namespace mangrove::scheduler
