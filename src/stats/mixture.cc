#include "stats/mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace mangrove::stats {
namespace {

constexpr int kMostRounds = 200;
constexpr double kSettled = 1e-7;        // of the likelihood, per unit of weight
constexpr double kLeastVariance = 1e-6;  // of the squared range
constexpr double kLeastShare = 1e-9;
constexpr double kDeviations = 3;

double totalOf(std::span<const Weighted> samples) {
  double sum = 0;
  for (const Weighted& one : samples) sum += one.weight;
  return sum;
}

double rangeOf(std::span<const Weighted> samples) {
  const auto [low, high] =
      std::minmax_element(samples.begin(), samples.end(),
                          [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  return high->value - low->value;
}

// A spread of nothing would make one sample infinitely likely.
double varianceFloor(std::span<const Weighted> samples, double leastSigma) {
  const double range = rangeOf(samples);
  return std::max({kLeastVariance * range * range, leastSigma * leastSigma, 1e-12});
}

double densityOf(const Component& one, double x) {
  const double z = (x - one.mean) / one.sigma;
  return std::exp(-z * z / 2) / (one.sigma * std::sqrt(2 * std::numbers::pi));
}

// The samples in order, cut into k parts of equal weight: each begins as a component.
std::vector<Component> startOf(std::span<const Weighted> sorted, size_t k, double floor) {
  const double total = totalOf(sorted);
  std::vector<Component> out(k);
  std::vector<double> squares(k, 0.0);
  double passed = 0;
  for (const Weighted& one : sorted) {
    const auto at = std::min(k - 1, static_cast<size_t>(passed / total * static_cast<double>(k)));
    out[at].share += one.weight;
    out[at].mean += one.weight * one.value;
    squares[at] += one.weight * one.value * one.value;
    passed += one.weight;
  }
  for (size_t i = 0; i < k; ++i) {
    if (out[i].share <= 0) continue;
    out[i].mean /= out[i].share;
    const double variance = squares[i] / out[i].share - out[i].mean * out[i].mean;
    out[i].sigma = std::sqrt(std::max(variance, floor));
    out[i].share /= total;
  }
  std::erase_if(out, [](const Component& one) { return one.share <= 0; });
  return out;
}

struct Sums {
  double weight = 0, value = 0, square = 0;
};

// One round: who is responsible for what, and what follows for the components. The likelihood is that
// of the components before.
double improve(std::vector<Component>& parts, std::span<const Weighted> samples, double floor) {
  std::vector<Sums> sums(parts.size());
  std::vector<double> densities(parts.size());
  double logLikelihood = 0;
  for (const Weighted& one : samples) {
    double all = 0;
    for (size_t i = 0; i < parts.size(); ++i)
      all += densities[i] = parts[i].share * densityOf(parts[i], one.value);
    all = std::max(all, std::numeric_limits<double>::min());
    logLikelihood += one.weight * std::log(all);
    for (size_t i = 0; i < parts.size(); ++i) {
      const double mine = one.weight * densities[i] / all;
      sums[i].weight += mine;
      sums[i].value += mine * one.value;
      sums[i].square += mine * one.value * one.value;
    }
  }
  const double total = totalOf(samples);
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].share = sums[i].weight / total;
    if (parts[i].share < kLeastShare) continue;
    parts[i].mean = sums[i].value / sums[i].weight;
    const double variance = sums[i].square / sums[i].weight - parts[i].mean * parts[i].mean;
    parts[i].sigma = std::sqrt(std::max(variance, floor));
  }
  std::erase_if(parts, [](const Component& one) { return one.share < kLeastShare; });
  return logLikelihood;
}

void findEnds(std::vector<Component>& parts, std::span<const Weighted> sorted) {
  for (Component& one : parts) one.least = one.most = one.mean;
  std::vector<bool> seen(parts.size(), false);
  for (const Weighted& sample : sorted) {
    size_t best = 0;
    double most = -1;
    for (size_t i = 0; i < parts.size(); ++i)
      if (const double d = parts[i].share * densityOf(parts[i], sample.value); d > most) {
        most = d;
        best = i;
      }
    if (!seen[best]) parts[best].least = sample.value;
    parts[best].most = sample.value;
    seen[best] = true;
  }
}

double outliersOf(std::span<const Weighted> samples, double fence, Side side) {
  double beyond = 0;
  for (const Weighted& one : samples)
    if (side == Side::kUpper ? one.value > fence : one.value < fence) beyond += one.weight;
  return beyond / totalOf(samples);
}

}  // namespace

Mixture fitMixture(std::span<const Weighted> samples, size_t components, double leastSigma) {
  Mixture out;
  if (samples.empty() || components == 0) return out;
  std::vector<Weighted> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  out.weight = totalOf(sorted);
  const double floor = varianceFloor(sorted, leastSigma);
  out.components = startOf(sorted, components, floor);
  double before = -std::numeric_limits<double>::infinity(), now = before;
  for (int round = 0; round < kMostRounds; ++round) {
    now = improve(out.components, sorted, floor);
    if (now - before < kSettled * out.weight) break;
    before = now;
  }
  findEnds(out.components, sorted);
  const auto k = static_cast<double>(out.components.size());
  out.bic = -2 * now + (3 * k - 1) * std::log(out.weight);
  return out;
}

Mixture bestMixture(std::span<const Weighted> samples, size_t most, double leastSigma) {
  Mixture best;
  for (size_t k = 1; k <= std::min(most, samples.size()); ++k) {
    Mixture fit = fitMixture(samples, k, leastSigma);
    if (k == 1 || fit.bic < best.bic) best = std::move(fit);
  }
  return best;
}

std::optional<double> chooseFence(std::span<const Candidate> candidates, double tolerated) {
  const Candidate* most = nullptr;
  const Candidate* fewest = nullptr;
  for (const Candidate& one : candidates) {
    if (!fewest || one.outliers < fewest->outliers) fewest = &one;
    if (one.outliers > tolerated) continue;
    if (!most || one.outliers > most->outliers) most = &one;
  }
  if (!fewest) return std::nullopt;
  return most ? most->fence : fewest->fence;
}

std::optional<double> fenceOf(const Mixture& mixture, std::span<const Weighted> samples,
                              Side side) {
  std::vector<Candidate> candidates;
  for (const Component& one : mixture.components) {
    const double fence = side == Side::kUpper
                             ? std::min(one.mean + kDeviations * one.sigma, one.most)
                             : std::max(one.mean - kDeviations * one.sigma, one.least);
    candidates.push_back({fence, outliersOf(samples, fence, side)});
  }
  return chooseFence(candidates);
}

}  // namespace mangrove::stats
