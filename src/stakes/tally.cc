#include "stakes/tally.h"

#include <algorithm>

#include "base/number/elapsed.h"
#include "base/text/time_text.h"
#include "json/value.h"

namespace mangrove::stakes {

void EvictionTally::add(std::string_view job, WallTime at) {
  forget(at);
  at_[std::string(job)].push_back(at);
}

int EvictionTally::today(std::string_view job, WallTime now) const {
  const auto found = at_.find(job);
  if (found == at_.end()) return 0;
  return static_cast<int>(std::count_if(found->second.begin(), found->second.end(),
                                        [&](WallTime at) { return elapsed(at, now) < kDay; }));
}

json::Value EvictionTally::state() const {
  if (at_.empty()) return nullptr;
  json::Object out;
  for (const auto& [job, times] : at_) {
    json::Array& list = out[job].emplace_array();
    for (const WallTime at : times) list.emplace_back(formatMicroTime(at));
  }
  return out;
}

void EvictionTally::restore(const json::Value& state) {
  const json::Object* jobs = state.if_object();
  if (jobs == nullptr) return;
  for (const auto& member : *jobs) {
    const json::Array* list = member.value().if_array();
    if (list == nullptr) continue;
    for (const json::Value& one : *list) {
      const auto* text = one.if_string();
      const auto at = text ? parseTime(std::string_view(*text)) : Result<WallTime>(kZeroTime);
      if (at && *at != kZeroTime) at_[std::string(member.key())].push_back(*at);
    }
  }
}

void EvictionTally::forget(WallTime now) {
  for (auto& [job, times] : at_)
    while (!times.empty() && elapsed(times.front(), now) >= kDay) times.pop_front();
  std::erase_if(at_, [](const auto& one) { return one.second.empty(); });
}

}  // namespace mangrove::stakes
