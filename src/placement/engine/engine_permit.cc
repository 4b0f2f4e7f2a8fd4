// Pods that have their node and wait for the word of plugins.
#include <utility>

#include <fmt/core.h>

#include "placement/engine/engine.h"

namespace mangrove::placement {

namespace {

double secondsOf(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::vector<PodPtr> Engine::waiting() const {
  std::vector<PodPtr> out;
  for (const auto& uid : bindingsThat([](const Binding& b) { return !b.permits.empty(); }))
    out.push_back(binding_.at(uid).pod);
  return out;
}

// One loop at a time: what its work asks for in turn comes after what was asked for before, and not
// on top of it.
void Engine::runDeferred() {
  if (runsDeferred_) return;
  runsDeferred_ = true;
  while (!deferred_.empty())
    for (auto& work : std::exchange(deferred_, {})) work();
  runsDeferred_ = false;
}

void Engine::allow(const api::Uid& pod, std::string_view plugin) {
  if (depth_ > 0) {
    deferred_.push_back([this, pod, name = std::string(plugin)] { allow(pod, name); });
    return;
  }
  const auto at = binding_.find(pod);
  if (at == binding_.end() || at->second.permits.empty()) return;
  auto left = at->second.permits;
  left.erase(std::string(plugin));
  setIdle(at->second, false, left);
  if (!left.empty()) return;
  const Duration waited = clock_.mono() - at->second.since;
  queue_->settled(*at->second.queued);
  metrics_.permitWait.with({"allowed"}).observe(secondsOf(waited));
  beside_.at(at->second.profile).metrics.took(Point::kPermit, true, waited);
  proceed(pod);
}

void Engine::reject(const api::Uid& pod, std::string_view plugin, std::string reason) {
  if (depth_ > 0) {
    deferred_.push_back([this, pod, name = std::string(plugin), reason = std::move(reason)] {
      reject(pod, name, reason);
    });
    return;
  }
  const Busy busy(*this);
  const auto at = binding_.find(pod);
  if (at == binding_.end() || at->second.permits.empty()) return;
  setIdle(at->second, false, {});
  Binding binding = std::move(at->second);
  binding_.erase(at);
  Interned room = plugin == kJobReject ? binding.nominated : Interned();
  if (plugin == kJobPreempts) room = binding.pod->nodeName;
  undo(binding);
  // Before and after are the same: sent back by its group, which must not be woken by that.
  const bool isSentBack = plugin == kJobReject || plugin == kJobPreempts || plugin == kJobFails;
  const PodObject& object = binding.pod->pod;
  assignedPodEvent(EventKind::kAssignedPodDelete, isSentBack ? object : nullptr, object, 0);
  progress_();
  const auto latest = waiting_.find(pod);
  if (latest == waiting_.end()) return queue_->settled(*binding.queued);
  const std::string& name = binding.profile->config().schedulerName;
  const auto told =
      Diagnosis::refusal(cluster_.table.size(), std::string(plugin), std::move(reason));
  const MonoTime now = clock_.mono();
  metrics_.permitWait.with({"rejected"}).observe(secondsOf(now - binding.since));
  beside_.at(binding.profile).metrics.unschedulable.add(now - binding.queued->lastAttempt);
  binding.queued->pod = cluster_.makeInfo(latest->second);
  if (!room.empty()) cluster_.nominate(binding.queued->pod, room);
  queue_->giveBack(std::move(binding.queued), told.plugins, {}, false);
  effects_.failed(*latest->second, {"Unschedulable", told.message(), room.str(), true}, name);
}

void Engine::activate(const api::Uid& pod) {
  queue_->activate(pod);
}

void Engine::lookForPermits() {
  const MonoTime now = clock_.mono();
  if (now < permitDue_) return;
  permitDue_ = MonoTime::max();
  const auto late = bindingsThat([&](const Binding& b) {
    if (b.permits.empty()) return false;
    if (now < b.permitUntil) permitDue_ = std::min(permitDue_, b.permitUntil);
    return now >= b.permitUntil;
  });
  for (const auto& uid : late) {
    const auto at = binding_.find(uid);  // one may have taken others with it
    if (at == binding_.end() || at->second.permits.empty()) continue;
    const std::string plugin = *at->second.permits.begin();
    reject(uid, plugin, fmt::format("rejected due to timeout after waiting at plugin {}", plugin));
  }
}

}  // namespace mangrove::placement
