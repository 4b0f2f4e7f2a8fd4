#include "descheduler/evictor/proxy.h"

#include <algorithm>

#include "base/os/log.h"

namespace mangrove::descheduler {
namespace {
const Logger log("descheduler");
}

bool EvictorProxy::permits(const api::Pod& pod) {
  return std::none_of(filters_.begin(), filters_.end(),
                      [&](EvictPlugin* filter) { return filter->refusal(pod).has_value(); });
}

bool EvictorProxy::permitsNow(const api::Pod& pod) {
  return std::none_of(filters_.begin(), filters_.end(),
                      [&](EvictPlugin* filter) { return filter->refusalNow(pod).has_value(); });
}

bool EvictorProxy::evict(const api::Pod& pod, std::string_view plugin, std::string_view reason) {
  const std::string name = api::keyOf(pod.meta).text();
  if (auto limit = count_.refusal(pod)) {
    log.debug("{} is not evicted: {}", name, *limit);
    counted_(pod, plugin, *limit);
    return false;
  }
  if (dryRun_) {
    log.info("dry run: {} would evict {} from {}: {}", plugin, name, pod.nodeName.view(), reason);
    count_.count(pod);
    return true;
  }
  const bool taken = evict_.evict(pod, plugin, reason);
  counted_(pod, plugin, taken ? "success" : "error");
  if (taken) count_.count(pod);
  return taken;
}

}  // namespace mangrove::descheduler
