#include "agent/interference/latency.h"

#include <algorithm>
#include <cmath>

#include "stats/experiment.h"

namespace mangrove::agent::interference {
namespace {

double millisOf(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

std::optional<double> meanOf(const stats::Buckets& buckets, double most) {
  const double all = stats::countOf(buckets);
  if (all <= 0) return std::nullopt;
  double below = 0, bound = 0, sum = 0;
  for (const auto& [upper, count] : buckets) {
    const double middle = std::isfinite(upper) ? (bound + upper) / 2 : bound;
    sum += (count - below) * std::min(middle, most);
    below = count;
    if (std::isfinite(upper)) bound = upper;
  }
  return sum / all;
}

std::optional<double> meanOf(std::span<const double> values, double most) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += std::min(value, most);
  return sum / static_cast<double>(values.size());
}

// One scrape older than the window stays: the difference to it covers the whole window.
void LatencyMeter::forget(MonoTime now) {
  while (scrapes_.size() > 2 && scrapes_[1].first <= now - kWindow) scrapes_.pop_front();
  while (!probes_.empty() && probes_.front().first < now - kWindow) probes_.pop_front();
}

void LatencyMeter::scraped(stats::Buckets buckets, MonoTime at) {
  // A service that began anew: what was before is another's.
  if (!scrapes_.empty() && stats::countOf(buckets) < stats::countOf(scrapes_.back().second))
    scrapes_.clear();
  scrapes_.emplace_back(at, std::move(buckets));
  forget(at);
}

void LatencyMeter::probed(Duration took, MonoTime at) {
  probes_.emplace_back(at, millisOf(took));
  forget(at);
}

std::optional<double> LatencyMeter::tailOfScrapes() const {
  if (scrapes_.size() < 2) return std::nullopt;
  const stats::Buckets seen = stats::difference(scrapes_.back().second, scrapes_.front().second);
  return stats::quantileOf(seen, quantile_);
}

std::optional<double> LatencyMeter::tail(MonoTime now) const {
  if (!scrapes_.empty() && now - scrapes_.back().first < 3 * kWindow) return tailOfScrapes();
  std::vector<double> values;
  for (const auto& [at, ms] : probes_)
    if (at >= now - kWindow) values.push_back(ms);
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return stats::quantile(values, quantile_);
}

std::optional<RecentMean> LatencyMeter::recent(MonoTime now, double most) {
  const MonoTime since = std::exchange(asked_, now);
  std::optional<double> mean;
  RecentMean out{.until = now, .length = since == MonoTime::min() ? kWindow : now - since};
  if (scrapes_.size() >= 2) {
    const auto& [at, last] = scrapes_.back();
    const auto& [before, first] = scrapes_[scrapes_.size() - 2];
    if (at <= since) return std::nullopt;
    out.until = at;
    out.length = at - before;
    mean = meanOf(stats::difference(last, first), most);
  } else {
    std::vector<double> values;
    for (const auto& [at, ms] : probes_)
      if (at > since) values.push_back(ms);
    mean = meanOf(values, most);
  }
  if (!mean) return std::nullopt;
  out.ms = *mean;
  return out;
}

}  // namespace mangrove::agent::interference
