#include "descheduler/evictor/proxy.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/os/log.h"

namespace mangrove::descheduler {
namespace {
const Logger log("descheduler");

std::string limitText(std::string_view limit) {
  return fmt::format("this cycle has had its evictions: {}", limit);
}

}  // namespace

bool EvictorProxy::permits(const api::Pod& pod) {
  for (EvictPlugin* filter : filters_) {
    auto why = filter->refusal(pod);
    if (!why) continue;
    tellStays(pod, std::move(*why));
    return false;
  }
  return true;
}

bool EvictorProxy::permitsNow(const api::Pod& pod) {
  return std::none_of(filters_.begin(), filters_.end(),
                      [&](EvictPlugin* filter) { return filter->refusalNow(pod).has_value(); });
}

bool EvictorProxy::evict(const api::Pod& pod, std::string_view plugin, std::string_view reason) {
  if (foresight_ == nullptr) return carryOut({pod, plugin, reason});
  if (const Pods all = companionsOf(pod); !all.empty()) return evictWhole(all, plugin, reason);
  const auto target = foresight_->landing(pod, {});
  if (!target) {
    tellStays(pod, target.error().text());
    return evictAnyway(pod, plugin, reason);
  }
  const bool taken = carryOut({pod, plugin, reason, *target});
  if (!taken) foresight_->takeBack();
  return taken;
}

bool EvictorProxy::evictTo(const api::Pod& pod, std::string_view target, std::string_view plugin,
                           std::string_view reason) {
  return carryOut({pod, plugin, reason, target});
}

bool EvictorProxy::evictAnyway(const api::Pod& pod, std::string_view plugin,
                               std::string_view reason) {
  return evict_.takesUnplaceable(pod) && carryOut({pod, plugin, reason, "", true});
}

Pods EvictorProxy::companionsOf(const api::Pod& pod) {
  return foresight_ == nullptr ? Pods() : evict_.companionsOf(pod);
}

bool EvictorProxy::evictWhole(const Pods& pods, std::string_view plugin, std::string_view reason) {
  const auto targets = foresight_->landings(pods, {});
  if (!targets) {
    for (const api::Pod* pod : pods) tellStays(*pod, targets.error().text());
    return false;
  }
  const bool taken = evictTogether(pods, *targets, plugin, reason);
  if (!taken) foresight_->takeBack();
  return taken;
}

// Of the cycle, with all of them counted.
std::optional<std::string> EvictorProxy::limitFor(const Pods& pods) const {
  CycleCount trial = count_;
  for (const api::Pod* pod : pods) {
    if (auto limit = trial.refusal(*pod)) return limit;
    trial.count(*pod);
  }
  return std::nullopt;
}

bool EvictorProxy::evictTogether(const Pods& pods, const std::vector<std::string>& targets,
                                 std::string_view plugin, std::string_view reason) {
  std::vector<Eviction> all;
  for (size_t i = 0; i < pods.size(); ++i) {
    all.push_back({*pods[i], plugin, reason, targets[i]});
    all.back().mode = evict_.modeOf(all.back());
  }
  if (const auto limit = limitFor(pods)) {
    for (const Eviction& one : all) counted_(one, *limit);
    for (const api::Pod* pod : pods) tellStays(*pod, limitText(*limit));
    return false;
  }
  const bool taken = dryRun_ || evict_.evictTogether(all);
  if (dryRun_) log.info("dry run: {} would move {} pods together: {}", plugin, pods.size(), reason);
  for (const Eviction& one : all) {
    if (!dryRun_) counted_(one, taken ? "success" : "error");
    if (taken) count_.count(one.pod);
    if (taken) note(one);
  }
  return taken;
}

bool EvictorProxy::carryOut(Eviction eviction) {
  eviction.mode = evict_.modeOf(eviction);
  const api::Pod& pod = eviction.pod;
  const std::string name = api::keyOf(pod.meta).text();
  if (auto limit = count_.refusal(pod)) {
    log.debug("{} is not evicted: {}", name, *limit);
    counted_(eviction, *limit);
    tellStays(pod, limitText(*limit));
    return false;
  }
  if (dryRun_) {
    log.info("dry run: {} would evict {} from {}{}{}: {}", eviction.plugin, name,
             pod.nodeName.view(), eviction.target.empty() ? "" : " to ", eviction.target,
             eviction.reason);
    count_.count(pod);
    note(eviction);
    return true;
  }
  const bool taken = evict_.evict(eviction);
  counted_(eviction, taken ? "success" : "error");
  if (taken) count_.count(pod);
  if (taken) note(eviction);
  return taken;
}

void EvictorProxy::tellStays(const api::Pod& pod, std::string why) {
  if (journal_ != nullptr) journal_->refused(pod, std::move(why));
}

void EvictorProxy::tellNeeded(size_t moves) {
  if (journal_ != nullptr) journal_->needed(moves);
}

void EvictorProxy::note(const Eviction& eviction) {
  if (journal_ == nullptr) return;
  journal_->moved({api::keyOf(eviction.pod.meta).text(), eviction.pod.nodeName.str(),
                   std::string(eviction.target), std::string(eviction.plugin),
                   std::string(eviction.reason), std::string(basisOf(eviction))});
}

std::string_view basisOf(const Eviction& eviction) {
  if (eviction.unplaceable) return "unplaceable";
  return eviction.target.empty() ? "unproven" : "proven";
}

}  // namespace mangrove::descheduler
