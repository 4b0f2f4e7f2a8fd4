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

std::optional<double> tailMeanOf(const stats::Buckets& buckets, double above) {
  const double all = stats::countOf(buckets);
  const double from = above * all;
  if (all <= 0) return std::nullopt;
  double below = 0, bound = 0, sum = 0, weight = 0;
  for (const auto& [upper, count] : buckets) {
    const double inside = count - below;
    const double taken = std::min(inside, count - from);
    if (taken > 0) {
      // The upper part of the bucket in which the tail begins.
      const double top = std::isfinite(upper) ? upper : bound;
      const double low = top - (top - bound) * taken / inside;
      sum += taken * (low + top) / 2;
      weight += taken;
    }
    below = count;
    if (std::isfinite(upper)) bound = upper;
  }
  return weight > 0 ? std::optional(sum / weight) : std::nullopt;
}

std::optional<double> tailMeanOf(std::vector<double> values, double above) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto skip =
      std::min(static_cast<size_t>(above * static_cast<double>(values.size())), values.size() - 1);
  double sum = 0;
  for (size_t i = skip; i < values.size(); ++i) sum += values[i];
  return sum / static_cast<double>(values.size() - skip);
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

std::optional<double> LatencyMeter::slowest(MonoTime now) {
  const MonoTime since = std::exchange(asked_, now);
  if (scrapes_.size() >= 2) {
    const auto& [at, last] = scrapes_.back();
    if (at <= since) return std::nullopt;
    const auto before = scrapes_[scrapes_.size() - 2];
    return tailMeanOf(stats::difference(last, before.second), kSlowest);
  }
  std::vector<double> values;
  for (const auto& [at, ms] : probes_)
    if (at > since) values.push_back(ms);
  return tailMeanOf(std::move(values), kSlowest);
}

}  // namespace mangrove::agent::interference
