#include "stakes/tally.h"

#include <algorithm>

namespace mangrove::stakes {

void EvictionTally::add(std::string_view job, WallTime at) {
  forget(at);
  at_[std::string(job)].push_back(at);
}

int EvictionTally::today(std::string_view job, WallTime now) const {
  const auto found = at_.find(job);
  if (found == at_.end()) return 0;
  return static_cast<int>(std::count_if(found->second.begin(), found->second.end(),
                                        [&](WallTime at) { return now - at < kDay; }));
}

void EvictionTally::forget(WallTime now) {
  for (auto& [job, times] : at_)
    while (!times.empty() && now - times.front() >= kDay) times.pop_front();
  std::erase_if(at_, [](const auto& one) { return one.second.empty(); });
}

}  // namespace mangrove::stakes
