#pragma once
// How long a service's answers take, from what it shows: the histogram of its metrics page, read now
// and then, or requests of our own. Pure but for what the meter remembers; one owner.
//
//   LatencyMeter meter(0.99);
//   meter.scraped(buckets, now);        // or meter.probed(3ms, now)
//   meter.tail(now)                     // ms, of the last ten seconds
//   meter.slowest(now)                  // ms, mean of the slowest tenth since the last asking
//
// Experiments go by the slowest tenth: it moves with the tail and is a mean, so that a second or two
// of answers say something, which a 99th percentile of so few does not.

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/number/units.h"
#include "stats/histogram_text.h"

namespace mangrove::agent::interference {

// Of the values above the quantile; evenly within buckets, the last one at its lower bound.
std::optional<double> tailMeanOf(const stats::Buckets& buckets, double above);
std::optional<double> tailMeanOf(std::vector<double> values, double above);

class LatencyMeter {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(10);
  static constexpr double kSlowest = 0.9;

  explicit LatencyMeter(double quantile = 0.99) : quantile_(quantile) {}
  // The page's histogram since the service began, in ms.
  void scraped(stats::Buckets buckets, MonoTime at);
  // One request of ours; `took` beyond the time limit counts as that limit.
  void probed(Duration took, MonoTime at);

  std::optional<double> tail(MonoTime now) const;
  std::optional<double> slowest(MonoTime now);

 private:
  void forget(MonoTime now);
  std::optional<double> tailOfScrapes() const;

  double quantile_;
  std::deque<std::pair<MonoTime, stats::Buckets>> scrapes_;
  std::deque<std::pair<MonoTime, double>> probes_;
  MonoTime asked_ = MonoTime::min();
};

}  // namespace mangrove::agent::interference
