#include "descheduler/evictor/object_limiter.h"

#include <chrono>

namespace mangrove::descheduler {
namespace {

std::string workloadKey(const api::Pod& pod) {
  const api::OwnerReference* owner = pod.meta.controller();
  return owner == nullptr ? std::string() : "uid/" + owner->uid.str();
}
std::string namespaceKey(const api::Pod& pod) {
  return "ns/" + pod.meta.ns.str();
}

}  // namespace

bool ObjectLimiter::isExceeded(const api::Pod& pod, MonoTime now) {
  dropIdle(now);
  for (const std::string& key : {workloadKey(pod), namespaceKey(pod)}) {
    const auto found = buckets_.find(key);
    if (found != buckets_.end() && found->second.tokens.tokens(now) < 1) return true;
  }
  return false;
}

void ObjectLimiter::take(const std::string& key, const ObjectLimit& limit, int64_t most,
                         MonoTime now) {
  if (limit.duration <= Duration::zero() || most <= 0) return;
  const double seconds = std::chrono::duration<double>(limit.duration).count();
  auto at = buckets_.find(key);
  if (at == buckets_.end()) {
    const client::TokenBucket full(static_cast<double>(most) / seconds,
                                   static_cast<double>(limit.burst));
    at = buckets_.emplace(key, Bucket{full, now, limit.duration}).first;
  }
  at->second.usedAt = now;
  at->second.tokens.tryTake(now);
}

void ObjectLimiter::took(const api::Pod& pod, int64_t replicas, MonoTime now) {
  if (const std::string key = workloadKey(pod); !key.empty()) {
    const auto most = maxOfWorkload(replicas, workload_.most ? workload_.most : perWorkload_);
    take(key, workload_, most.value_or(1), now);
  }
  if (ns_.most) take(namespaceKey(pod), ns_, ns_.most->number, now);
}

// Half as long again as it takes to refill it, a bucket says nothing any more.
void ObjectLimiter::dropIdle(MonoTime now) {
  std::erase_if(buckets_, [&](const auto& entry) {
    return now - entry.second.usedAt > entry.second.duration * 3 / 2;
  });
}

}  // namespace mangrove::descheduler
