#include "agent/interference/acquittals.h"

#include <algorithm>

#include "base/text/time_text.h"
#include "json/value.h"

namespace mangrove::agent::interference {
namespace {

constexpr int kMostDoublings = 10;

WallTime plus(WallTime at, Duration more) {
  return at + std::chrono::duration_cast<WallTime::duration>(more);
}

std::string textOf(const json::Object& from, const char* name) {
  const json::Value* value = from.if_contains(name);
  return value && value->is_string() ? std::string(std::string_view(value->get_string())) : "";
}

}  // namespace

void Acquittals::add(const std::string& victim, const std::string& suspect, WallTime now,
                     Duration lasts) {
  if (all_.size() >= kMost && all_.count({victim, suspect}) == 0) return;
  One& one = all_[{victim, suspect}];
  const Duration length = lasts * (1 << std::min(one.times, kMostDoublings));
  one.until = std::max(one.until, plus(now, std::min(length, kLongest)));
  ++one.times;
}

bool Acquittals::holds(const std::string& victim, const std::string& suspect, WallTime now) const {
  const auto found = all_.find({victim, suspect});
  return found != all_.end() && now < found->second.until;
}

void Acquittals::age(WallTime now) {
  std::erase_if(all_, [&](const auto& one) { return plus(one.second.until, kForgotten) < now; });
}

json::Value Acquittals::state() const {
  json::Array out;
  for (const auto& [pair, one] : all_)
    out.push_back(json::Object{{"victim", pair.first},
                               {"suspect", pair.second},
                               {"times", one.times},
                               {"until", formatMicroTime(one.until)}});
  return out;
}

void Acquittals::restore(const json::Value& state) {
  const json::Array* all = state.if_array();
  if (all == nullptr) return;
  for (const json::Value& value : *all) {
    const json::Object* one = value.if_object();
    if (one == nullptr || textOf(*one, "suspect").empty()) continue;
    const auto until = parseTime(textOf(*one, "until"));
    const json::Value* times = one->if_contains("times");
    if (!until || !times || !times->is_number() || all_.size() >= kMost) continue;
    all_[{textOf(*one, "victim"), textOf(*one, "suspect")}] = {
        std::clamp(times->to_number<int>(), 0, kMostDoublings), *until};
  }
}

}  // namespace mangrove::agent::interference
