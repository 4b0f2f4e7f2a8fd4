#include "agent/crane/watch.h"

#include <algorithm>

#include "base/text/time_text.h"
#include "json/value.h"

namespace mangrove::agent::crane {

// Below the watermark before the trigger the count begins anew: hits are consecutive.
Phase RuleWatch::sample(std::optional<bool> above, const Thresholds& thresholds) {
  if (!above) return Phase::kUnknown;
  if (*above) {
    miss_ = 0;
    hit_ = std::min(hit_ + 1, thresholds.avoidance);
    triggered_ = triggered_ || hit_ == thresholds.avoidance;
    return hit_ == thresholds.avoidance ? Phase::kTriggered : Phase::kQuiet;
  }
  miss_ = std::min(miss_ + 1, thresholds.restore);
  if (!triggered_) {
    hit_ = 0;
    return Phase::kQuiet;
  }
  if (miss_ < thresholds.restore) return Phase::kQuiet;
  hit_ = 0;
  triggered_ = false;
  return Phase::kRestored;
}

bool SchedulingBlock::step(WallTime now, std::span<const RulePhase> rules) {
  std::set<std::string> known;
  for (const RulePhase& rule : rules) {
    known.insert(rule.key);
    if (rule.phase == Phase::kRestored) pending_.erase(rule.key);
    if (rule.phase != Phase::kTriggered) continue;
    coolDown_ = pending_.empty() && !on_ ? rule.coolDown : std::max(coolDown_, rule.coolDown);
    pending_.insert(rule.key);
    lastTriggered_ = now;
    on_ = true;
  }
  // Rules that nobody sets any more hold nothing.
  std::erase_if(pending_, [&](const std::string& key) { return known.count(key) == 0; });
  if (rules.empty()) on_ = false;
  if (on_ && pending_.empty() &&
      now > lastTriggered_ + std::chrono::ceil<WallTime::duration>(coolDown_))
    on_ = false;
  return on_;
}

json::Value SchedulingBlock::state() const {
  if (!on_) return nullptr;
  json::Array pending;
  for (const std::string& key : pending_) pending.emplace_back(key);
  return json::Object{
      {"lastTriggered", formatMicroTime(lastTriggered_)},
      {"coolDownSeconds", std::chrono::duration_cast<std::chrono::seconds>(coolDown_).count()},
      {"pending", std::move(pending)}};
}

void SchedulingBlock::restore(const json::Value& state) {
  const json::Object* top = state.if_object();
  const json::Value* at = top ? top->if_contains("lastTriggered") : nullptr;
  const json::Value* cool = top ? top->if_contains("coolDownSeconds") : nullptr;
  const json::Value* pending = top ? top->if_contains("pending") : nullptr;
  if (!at || !at->is_string() || !cool || !cool->is_int64()) return;
  const auto time = parseTime(std::string_view(at->get_string()));
  if (!time) return;
  on_ = true;
  lastTriggered_ = *time;
  coolDown_ = std::chrono::seconds(std::clamp<int64_t>(cool->get_int64(), 0, 86400));
  if (pending && pending->is_array())
    for (const json::Value& one : pending->get_array())
      if (one.is_string()) pending_.insert(std::string(std::string_view(one.get_string())));
}

}  // namespace mangrove::agent::crane
