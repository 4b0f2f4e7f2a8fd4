#pragma once
// Statuses of pods that wait, on their way to the server. Nobody waits for them, but each costs the
// server as much as a binding; so they stand in line, and bindings never do. Statuses of pods whose
// victims are going wait for kHold before: most of these pods are bound before anybody could read
// that they were waiting.
//
//   HeldStatuses held;
//   held.putInLine(pod.meta, status);             // refused
//   held.hold(pod.meta, status, clock.mono());    // its victims are going
//   held.take(uid);                       // it is being bound, or something newer is to be said
//   held.ripen(clock.mono());                     // about once a second
//   while (mayWrite) if (auto next = held.next()) write(*next);
//
// Of each pod there is one status, the newest. Owner thread only.

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "api/object/meta.h"
#include "base/number/units.h"
#include "json/value.h"

namespace mangrove::scheduler {

struct HeldStatus {
  api::ObjectMeta pod;  // name, namespace and uid
  json::Object status;
  MonoTime since{};
  uint64_t turn = 0;  // what stands in a line under another number is out of date
};

class HeldStatuses {
 public:
  static constexpr Duration kHold = std::chrono::seconds(1);

  // In place of what was held for that pod before.
  void hold(const api::ObjectMeta& pod, json::Object status, MonoTime now);
  void putInLine(const api::ObjectMeta& pod, json::Object status);
  std::optional<HeldStatus> take(const api::Uid& pod);
  // Whatever has waited for kHold gets in line.
  void ripen(MonoTime now);
  // The first in line, which leaves it.
  std::optional<HeldStatus> next();
  void clear();
  size_t size() const { return held_.size(); }

 private:
  using Line = std::deque<std::pair<uint64_t, api::Uid>>;
  void put(const api::ObjectMeta& pod, json::Object status, MonoTime now, Line& line);
  bool stands(const Line::value_type& place) const;

  std::unordered_map<api::Uid, HeldStatus> held_;
  Line waiting_, line_;  // in the order they came
  uint64_t turns_ = 0;
};

}  // namespace mangrove::scheduler
