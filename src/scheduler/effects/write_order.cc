#include "scheduler/effects/write_order.h"

#include <utility>

namespace mangrove::scheduler {

void WriteOrder::begin(const std::string& object, Start start) {
  const auto [at, isFirst] = waiting_.try_emplace(object);
  if (!isFirst) return at->second.push_back(std::move(start));
  start();
}

void WriteOrder::finished(const std::string& object) {
  const auto at = waiting_.find(object);
  if (at == waiting_.end()) return;
  if (at->second.empty()) {
    waiting_.erase(at);
    return;
  }
  Start next = std::move(at->second.front());
  at->second.pop_front();
  next();
}

}  // namespace mangrove::scheduler
