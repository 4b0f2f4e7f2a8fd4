#include "workloads/autoscaler/usage_board.h"

#include <cmath>

#include <fmt/core.h>

namespace mangrove::workloads {
namespace {

struct Sum {
  double cores = 0;
  int64_t samples = 0;
  int64_t bytes = 0;  // of the last one
};

api::ResourceList amounts(double cores, int64_t bytes) {
  api::ResourceList out;
  out.set("cpu", Quantity::ofMilli(std::llround(cores * 1000)));
  out.set("memory", Quantity::ofMilli(bytes * 1000, Quantity::Format::kBinarySI));
  return out;
}

}  // namespace

void UsageBoard::forget(Samples& samples, WallTime before) {
  while (!samples.empty() && samples.front().at < before) samples.pop_front();
}

void UsageBoard::note(WallTime at, std::vector<Seen> pods) {
  const std::lock_guard lock(mutex_);
  for (Seen& one : pods) {
    pods_[fmt::format("{}/{}", one.ns, one.pod)].push_back({at, std::move(one.containers)});
  }
  for (auto& [key, samples] : pods_) forget(samples, at - kWindow);
  std::erase_if(pods_, [](const auto& entry) { return entry.second.empty(); });
}

std::optional<Measured> UsageBoard::of(std::string_view ns, std::string_view pod) const {
  const std::lock_guard lock(mutex_);
  const auto found = pods_.find(fmt::format("{}/{}", ns, pod));
  if (found == pods_.end()) return std::nullopt;
  std::map<std::string, Sum> sums;
  for (const Sample& sample : found->second) {
    for (const Container& one : sample.containers) {
      Sum& sum = sums[one.name];
      sum.cores += one.cores;
      sum.bytes = one.bytes;
      ++sum.samples;
    }
  }
  Measured out;
  out.at = found->second.back().at;
  out.window = out.at - found->second.front().at;
  double cores = 0;
  int64_t bytes = 0;
  for (const auto& [name, sum] : sums) {
    const double mean = sum.cores / static_cast<double>(sum.samples);
    out.containers[name] = amounts(mean, sum.bytes);
    cores += mean;
    bytes += sum.bytes;
  }
  out.usage = amounts(cores, bytes);
  return out;
}

}  // namespace mangrove::workloads
