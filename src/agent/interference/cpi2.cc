#include "agent/interference/cpi2.h"

#include <algorithm>
#include <cmath>

namespace mangrove::agent::interference {
namespace {

constexpr double kKept = 0.9;  // a day
constexpr double kLeastCores = 0.25;

}  // namespace

CpiSpec blended(const CpiSpec& before, double ageDays, const CpiSpec& now) {
  const double weight = std::pow(kKept, ageDays);
  const auto mix = [&](double a, double b) { return (weight * a + b) / (weight + 1); };
  return {mix(before.mean, now.mean), mix(before.sigma, now.sigma)};
}

bool isOutlier(double cpi, const CpiSpec& spec, double cores) {
  return cores >= kLeastCores && cpi > spec.threshold();
}

bool OutlierWindow::add(MonoTime at, bool outlier) {
  if (outlier) at_.push_back(at);
  while (!at_.empty() && at - at_.front() > kWindow) at_.pop_front();
  return at_.size() >= kMany;
}

void OwnSpec::add(double cpi, double cores) {
  if (const auto known = spec(); known && isOutlier(cpi, *known, cores)) return;
  ++count_;
  const double before = cpi - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (cpi - mean_);
}

std::optional<CpiSpec> OwnSpec::spec() const {
  if (count_ < kEnough) return std::nullopt;
  return CpiSpec{mean_, std::sqrt(squares_ / static_cast<double>(count_))};
}

double correlation(double threshold, std::span<const double> victim, std::span<const double> use) {
  const size_t count = std::min(victim.size(), use.size());
  double total = 0;
  for (size_t i = 0; i < count; ++i) total += use[i];
  if (total <= 0 || threshold <= 0) return 0;
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const double c = victim[i];
    const double share = use[i] / total;
    sum += c > threshold ? share * (1 - threshold / c) : share * (c / threshold - 1);
  }
  return sum;
}

}  // namespace mangrove::agent::interference
