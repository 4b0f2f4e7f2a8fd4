#pragma once
// How long a service's answers take, from what it shows: the histogram of its metrics page, read now
// and then, or requests of our own. Pure but for what the meter remembers; one owner.
//
//   LatencyMeter meter(0.99);
//   meter.scraped(buckets, now);        // or meter.probed(3ms, now)
//   meter.tail(now)                     // ms, of the last ten seconds
//   meter.recent(now, 60)               // ms, mean since the last asking, none counted above 60
//
// Experiments go by the mean. A suspect that gets half of its CPU time works all it can for half of
// the time: half of the answers are as slow as ever, and so is every percentile beyond the middle and
// every mean of a tail; the mean of all is halfway. So that one answer in a thousand does not decide,
// none counts for more than a few times what is promised.

#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/number/units.h"
#include "stats/histogram_text.h"

namespace mangrove::agent::interference {

// Evenly within buckets, the last one at its lower bound; none counted above `most`.
std::optional<double> meanOf(const stats::Buckets& buckets, double most);
std::optional<double> meanOf(std::span<const double> values, double most);

// What was measured, and of which time: of `length` until `until`.
struct RecentMean {
  double ms = 0;
  MonoTime until{};
  Duration length{};
};

class LatencyMeter {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(10);

  explicit LatencyMeter(double quantile = 0.99) : quantile_(quantile) {}
  // The page's histogram since the service began, in ms.
  void scraped(stats::Buckets buckets, MonoTime at);
  // One request of ours; `took` beyond the time limit counts as that limit.
  void probed(Duration took, MonoTime at);

  std::optional<double> tail(MonoTime now) const;
  std::optional<RecentMean> recent(MonoTime now, double most);

 private:
  void forget(MonoTime now);
  std::optional<double> tailOfScrapes() const;

  double quantile_;
  std::deque<std::pair<MonoTime, stats::Buckets>> scrapes_;
  std::deque<std::pair<MonoTime, double>> probes_;
  MonoTime asked_ = MonoTime::min();
};

}  // namespace mangrove::agent::interference
