#pragma once
// Whether a node is hot for long enough to act. One reading is no reason: more than N hot ones in a
// row are, and then for a while.
//
//   Detector d({.timeout = 1min, .abnormalities = 5, .normalities = 3});
//   d.mark(hot, now);
//   if (d.isAnomaly(now)) …
//
// Worked, one look each 10 s: hot from t=0 on, the sixth look at t=50 s makes it an anomaly, which
// lasts until t=110 s; six more hot looks, and the next begins at t=170 s.
//
// The caller serialises. Time is given, so tests and the simulator use the same code.

#include <map>
#include <string>
#include <string_view>

#include "base/number/units.h"

namespace mangrove::descheduler {

struct AnomalyCondition {
  Duration timeout = std::chrono::minutes(1);
  int64_t abnormalities = 5;
  int64_t normalities = 3;
  bool operator==(const AnomalyCondition&) const = default;
};

class Detector {
 public:
  explicit Detector(const AnomalyCondition& condition) : condition_(condition) {}

  void mark(bool hot, MonoTime now);
  bool isAnomaly(MonoTime now);  // ends one that is over
  void reset();

 private:
  void clear();

  AnomalyCondition condition_;
  bool anomaly_ = false;
  int64_t hot_ = 0;  // in a row
  int64_t calm_ = 0;
  MonoTime expiry_{};
};

// The detectors of many nodes. One that has not been hot for `ttl` is forgotten.
class Detectors {
 public:
  explicit Detectors(Duration ttl) : ttl_(ttl) {}
  // Marks a hot node and says whether that has become an anomaly. Where a single hot look is
  // enough, nothing is remembered.
  bool observeHot(std::string_view node, const AnomalyCondition& condition, MonoTime now);
  void observeCalm(std::string_view node, MonoTime now);
  void reset(std::string_view node);
  void forgetOld(MonoTime now);
  size_t size() const { return nodes_.size(); }

 private:
  struct Entry {
    Detector detector;
    MonoTime hotAt;
  };
  Duration ttl_;
  std::map<std::string, Entry, std::less<>> nodes_;
};

}  // namespace mangrove::descheduler
