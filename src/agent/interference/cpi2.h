#pragma once
// Outliers of a job's CPI, and who was busy when they happened. Correlation names suspects and no
// more: everything that runs at the same hours correlates (proof.h decides). Pure functions and
// values; any thread.

#include <deque>
#include <optional>
#include <span>

#include "base/number/units.h"

namespace mangrove::agent::interference {

inline constexpr double kAntagonistCorrelation = 0.35;
inline constexpr double kSensitiveCorrelation = 0.15;

struct CpiSpec {
  double mean = 0, sigma = 0;
  double threshold() const { return mean + 2 * sigma; }
};
// What was known counts 0.9 for each day of its age.
CpiSpec blended(const CpiSpec& before, double ageDays, const CpiSpec& now);
bool isOutlier(double cpi, const CpiSpec& spec, double cores);

// Three outliers within five minutes are an anomaly.
class OutlierWindow {
 public:
  static constexpr size_t kMany = 3;
  static constexpr Duration kWindow = std::chrono::minutes(5);
  bool add(MonoTime at, bool outlier);

 private:
  std::deque<MonoTime> at_;
};

// The running mean and deviation of one pod where the cluster knows none of its job; outliers are
// left out once there are enough samples.
class OwnSpec {
 public:
  static constexpr size_t kEnough = 60;
  void add(double cpi, double cores);
  std::optional<CpiSpec> spec() const;  // nullopt: not enough seen

 private:
  size_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

// Samples of the same moments: the victim's signal and the suspect's use. Within (-1, 1); 0 where
// the suspect did nothing.
double correlation(double threshold, std::span<const double> victim, std::span<const double> use);

}  // namespace mangrove::agent::interference
