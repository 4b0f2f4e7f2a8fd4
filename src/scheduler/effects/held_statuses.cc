#include "scheduler/effects/held_statuses.h"

namespace mangrove::scheduler {

void HeldStatuses::put(const api::ObjectMeta& pod, json::Object status, MonoTime now) {
  HeldStatus held;
  held.pod.name = pod.name;
  held.pod.ns = pod.ns;
  held.pod.uid = pod.uid;
  held.status = std::move(status);
  held.since = now;
  held_.insert_or_assign(pod.uid, std::move(held));
}

std::optional<HeldStatus> HeldStatuses::take(const api::Uid& pod) {
  auto node = held_.extract(pod);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

std::vector<HeldStatus> HeldStatuses::takeLate(MonoTime now) {
  std::vector<HeldStatus> late;
  for (auto at = held_.begin(); at != held_.end();) {
    if (now - at->second.since < kHold) {
      ++at;
      continue;
    }
    late.push_back(std::move(at->second));
    at = held_.erase(at);
  }
  return late;
}

}  // namespace mangrove::scheduler
