#include "scheduler/effects/held_statuses.h"

namespace mangrove::scheduler {

void HeldStatuses::put(const api::ObjectMeta& pod, json::Object status, MonoTime now, Line& line) {
  HeldStatus& held = held_[pod.uid];
  held.pod.name = pod.name;
  held.pod.ns = pod.ns;
  held.pod.uid = pod.uid;
  held.status = std::move(status);
  held.since = now;
  held.turn = ++turns_;
  line.emplace_back(held.turn, pod.uid);
}

void HeldStatuses::hold(const api::ObjectMeta& pod, json::Object status, MonoTime now) {
  put(pod, std::move(status), now, waiting_);
}

void HeldStatuses::putInLine(const api::ObjectMeta& pod, json::Object status) {
  put(pod, std::move(status), MonoTime(), line_);
}

std::optional<HeldStatus> HeldStatuses::take(const api::Uid& pod) {
  auto node = held_.extract(pod);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

bool HeldStatuses::stands(const Line::value_type& place) const {
  const auto at = held_.find(place.second);
  return at != held_.end() && at->second.turn == place.first;
}

void HeldStatuses::ripen(MonoTime now) {
  for (; !waiting_.empty(); waiting_.pop_front()) {
    if (!stands(waiting_.front())) continue;
    if (now - held_.at(waiting_.front().second).since < kHold) return;
    line_.push_back(std::move(waiting_.front()));
  }
}

std::optional<HeldStatus> HeldStatuses::next() {
  while (!line_.empty()) {
    const Line::value_type place = std::move(line_.front());
    line_.pop_front();
    if (stands(place)) return take(place.second);
  }
  return std::nullopt;
}

void HeldStatuses::clear() {
  held_.clear();
  waiting_.clear();
  line_.clear();
}

}  // namespace mangrove::scheduler
