#include "api/interference/fence_book.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text/strings.h"
#include "base/text/time_text.h"
#include "json/value.h"

namespace mangrove::api {
namespace {

constexpr double kWidth = 1.01;
constexpr double kForgotten = 0.05;  // weight of a bucket
constexpr double kRebuildGrowth = 1.1;
constexpr std::string_view kBandwidth = "bandwidth";
constexpr std::string_view kFrequency = "frequency";

int bucketOf(double value) {
  return static_cast<int>(std::lround(std::log(value) / std::log(kWidth)));
}
double valueOf(int bucket) {
  return std::pow(kWidth, bucket);
}

double halves(double cpus) {
  return std::max(0.5, std::round(cpus * 2) / 2);
}

}  // namespace

std::vector<LoadBin> loadBins(double cpus) {
  std::vector<LoadBin> out;
  for (double low = 50 * cpus; low < 100 * (cpus + 1); low += 50) out.push_back({low, low + 50});
  return out;
}

std::optional<size_t> loadBinOf(double cpus, double util) {
  const size_t bins = loadBins(cpus).size();
  if (util < 50 * cpus || bins == 0) return std::nullopt;
  return std::min(bins - 1, static_cast<size_t>((util - 50 * cpus) / 50));
}

std::string workloadKey(std::string_view cpuModel, std::string_view application,
                        std::string_view version, double cpus) {
  return fmt::format("{}|{}|{}|{:.1f}", cpuModel, application, version, halves(cpus));
}

std::string_view fenceStateName(Fence::State state) {
  switch (state) {
    case Fence::State::kCold:
      return "cold";
    case Fence::State::kProvisional:
      return "provisional";
    case Fence::State::kLearned:
      return "learned";
  }
  return "cold";
}

void FenceBook::learn(const std::string& key, double cpus, double util, const Signals& signals,
                      WallTime now) {
  const auto bin = loadBinOf(halves(cpus), util);
  if (!bin) return;
  Workload& workload = workloads_[key];
  workload.seen = now;
  for (const auto& [name, value] : signals) {
    if (!(value > 0) || !std::isfinite(value)) continue;
    Histogram& histogram = workload.bins[{*bin, std::string(name)}];
    histogram.weights[bucketOf(value)] += 1;
    histogram.total += 1;
  }
  if (workloads_.size() > kMostWorkloads) dropOldest();
}

void FenceBook::dropOldest() {
  const auto oldest =
      std::min_element(workloads_.begin(), workloads_.end(),
                       [](const auto& a, const auto& b) { return a.second.seen < b.second.seen; });
  workloads_.erase(oldest);
}

Fence FenceBook::build(const Histogram& histogram, std::string_view signal) {
  Fence out;
  out.samples = histogram.total;
  if (histogram.total < kProvisional) return out;
  std::vector<stats::Weighted> samples;
  double sum = 0;
  for (const auto& [bucket, weight] : histogram.weights) {
    samples.push_back({valueOf(bucket), weight});
    sum += valueOf(bucket) * weight;
  }
  const double width = (kWidth - 1) * sum / histogram.total;
  const bool lower = signal == kBandwidth || signal == kFrequency;
  const auto side = lower ? stats::Side::kLower : stats::Side::kUpper;
  const auto fence = stats::fenceOf(stats::bestMixture(samples, 10, width), samples, side);
  if (!fence) return out;
  out.value = *fence;
  out.state = histogram.total < kEnough ? Fence::State::kProvisional : Fence::State::kLearned;
  return out;
}

// Fitting takes a moment: a fence is kept until a tenth more, or less, is known.
Fence FenceBook::fence(const std::string& key, double cpus, double util,
                       std::string_view signal) const {
  const auto bin = loadBinOf(halves(cpus), util);
  const auto workload = workloads_.find(key);
  if (!bin || workload == workloads_.end()) return {};
  const auto found = workload->second.bins.find({*bin, std::string(signal)});
  if (found == workload->second.bins.end()) return {};
  const Histogram& histogram = found->second;
  const bool stale = !histogram.built || histogram.total > histogram.builtAt * kRebuildGrowth ||
                     histogram.total * kRebuildGrowth < histogram.builtAt;
  if (stale) {
    histogram.built = build(histogram, signal);
    histogram.builtAt = histogram.total;
  }
  return *histogram.built;
}

std::optional<double> FenceBook::median(const std::string& key, std::string_view signal) const {
  const auto workload = workloads_.find(key);
  if (workload == workloads_.end()) return std::nullopt;
  std::map<int, double> all;
  double total = 0;
  for (const auto& [place, histogram] : workload->second.bins) {
    if (place.second != signal) continue;
    for (const auto& [bucket, weight] : histogram.weights) all[bucket] += weight;
    total += histogram.total;
  }
  if (total < kEnough) return std::nullopt;
  double below = 0;
  for (const auto& [bucket, weight] : all)
    if ((below += weight) * 2 >= total) return valueOf(bucket);
  return std::nullopt;
}

void FenceBook::add(const FenceBook& other) {
  for (const auto& [key, theirs] : other.workloads_) {
    Workload& mine = workloads_[key];
    mine.seen = std::max(mine.seen, theirs.seen);
    for (const auto& [place, histogram] : theirs.bins) {
      Histogram& sum = mine.bins[place];
      for (const auto& [bucket, weight] : histogram.weights) sum.weights[bucket] += weight;
      sum.total += histogram.total;
      sum.built.reset();
    }
  }
  while (workloads_.size() > kMostWorkloads) dropOldest();
}

std::vector<std::string> FenceBook::keys() const {
  std::vector<std::string> out;
  for (const auto& [key, workload] : workloads_) out.push_back(key);
  return out;
}

FenceBook FenceBook::only(std::string_view key) const {
  FenceBook out;
  out.aged_ = aged_;
  if (const auto found = workloads_.find(key); found != workloads_.end())
    out.workloads_.emplace(found->first, found->second);
  return out;
}

void FenceBook::dropBefore(WallTime then) {
  std::erase_if(workloads_, [&](const auto& one) { return one.second.seen < then; });
}

void FenceBook::age(WallTime now) {
  if (aged_ == WallTime{}) aged_ = now;
  const Duration since = now - aged_;
  if (since < kRebuild) return;
  aged_ = now;
  const double kept = std::exp2(-static_cast<double>(since.count()) /
                                static_cast<double>(Duration(kHalfLife).count()));
  for (auto& [key, workload] : workloads_)
    for (auto& [place, histogram] : workload.bins) {
      histogram.total = 0;
      for (auto& [bucket, weight] : histogram.weights) weight *= kept;
      std::erase_if(histogram.weights, [](const auto& one) { return one.second < kForgotten; });
      for (const auto& [bucket, weight] : histogram.weights) histogram.total += weight;
    }
  for (auto& [key, workload] : workloads_)
    std::erase_if(workload.bins, [](const auto& one) { return one.second.weights.empty(); });
  std::erase_if(workloads_, [](const auto& one) { return one.second.bins.empty(); });
}

json::Value FenceBook::state() const {
  json::Object workloads;
  for (const auto& [key, workload] : workloads_) {
    json::Object bins;
    for (const auto& [place, histogram] : workload.bins) {
      json::Array buckets;
      for (const auto& [bucket, weight] : histogram.weights)
        buckets.push_back(json::Array{bucket, weight});
      bins[fmt::format("{}/{}", place.first, place.second)] = std::move(buckets);
    }
    workloads[key] = json::Object{{"seen", formatTime(workload.seen)}, {"bins", std::move(bins)}};
  }
  return json::Object{{"aged", formatTime(aged_)}, {"workloads", std::move(workloads)}};
}

namespace {

const json::Object* objectIn(const json::Object& from, std::string_view name) {
  const json::Value* value = from.if_contains(name);
  return value ? value->if_object() : nullptr;
}

WallTime timeIn(const json::Object& from, std::string_view name) {
  const json::Value* value = from.if_contains(name);
  const auto* text = value ? value->if_string() : nullptr;
  const auto at = text ? parseTime(std::string_view(*text)) : Result<WallTime>(WallTime{});
  return at ? *at : WallTime{};
}

std::optional<double> numberOf(const json::Value& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.to_number<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<FenceBook> FenceBook::restore(const json::Value& state) {
  const json::Object* top = state.if_object();
  const json::Object* workloads = top ? objectIn(*top, "workloads") : nullptr;
  if (!workloads) return invalid("fences: found no member workloads, want an object of workloads");
  FenceBook out;
  out.aged_ = timeIn(*top, "aged");
  for (const auto& member : *workloads) {
    const json::Object* said = member.value().if_object();
    const json::Object* bins = said ? objectIn(*said, "bins") : nullptr;
    if (!bins) return invalid("fences of {}: found no member bins", std::string_view(member.key()));
    Workload& workload = out.workloads_[std::string(member.key())];
    workload.seen = timeIn(*said, "seen");
    for (const auto& bin : *bins) {
      const std::string_view place = bin.key();
      const size_t slash = place.find('/');
      const auto number = parseInt<size_t>(place.substr(0, slash));
      const json::Array* buckets = bin.value().if_array();
      if (slash == std::string_view::npos || !number || !buckets)
        return invalid("fences: found bin '{}', want such as 3/cpi with a list", place);
      Histogram& histogram = workload.bins[{*number, std::string(place.substr(slash + 1))}];
      for (const json::Value& one : *buckets) {
        const json::Array* pair = one.if_array();
        const auto bucket = pair && pair->size() == 2 ? numberOf((*pair)[0]) : std::nullopt;
        const auto weight = pair && pair->size() == 2 ? numberOf((*pair)[1]) : std::nullopt;
        if (!bucket || !weight || *weight < 0 || std::abs(*bucket) > 10000)
          return invalid("fences: bin '{}' has a bucket that is no pair of numbers", place);
        histogram.weights[static_cast<int>(*bucket)] += *weight;
        histogram.total += *weight;
      }
    }
  }
  return out;
}

}  // namespace mangrove::api
