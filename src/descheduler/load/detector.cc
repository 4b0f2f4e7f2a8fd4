#include "descheduler/load/detector.h"

namespace mangrove::descheduler {

void Detector::clear() {
  hot_ = calm_ = 0;
}

bool Detector::isAnomaly(MonoTime now) {
  if (anomaly_ && (now > expiry_ || calm_ > condition_.normalities)) reset();
  return anomaly_;
}

// Within an anomaly a mark never moves its end.
void Detector::mark(bool hot, MonoTime now) {
  const bool anomaly = isAnomaly(now);
  (hot ? hot_ : calm_)++;
  (hot ? calm_ : hot_) = 0;
  if (anomaly || hot_ <= condition_.abnormalities) return;
  anomaly_ = true;
  clear();
  expiry_ = now + condition_.timeout;
}

void Detector::reset() {
  anomaly_ = false;
  clear();
}

bool Detectors::observeHot(std::string_view node, const AnomalyCondition& condition, MonoTime now) {
  if (condition.abnormalities <= 1) return true;
  auto at = nodes_.find(node);
  if (at == nodes_.end()) {
    at = nodes_.emplace(std::string(node), Entry{Detector(condition), now}).first;
  }
  at->second.hotAt = now;
  at->second.detector.mark(true, now);
  return at->second.detector.isAnomaly(now);
}

void Detectors::observeCalm(std::string_view node, MonoTime now) {
  if (const auto at = nodes_.find(node); at != nodes_.end()) at->second.detector.mark(false, now);
}

void Detectors::reset(std::string_view node) {
  if (const auto at = nodes_.find(node); at != nodes_.end()) at->second.detector.reset();
}

void Detectors::forgetOld(MonoTime now) {
  std::erase_if(nodes_, [&](const auto& entry) { return now - entry.second.hotAt > ttl_; });
}

}  // namespace mangrove::descheduler
