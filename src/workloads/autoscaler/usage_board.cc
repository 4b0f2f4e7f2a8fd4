#include "workloads/autoscaler/usage_board.h"

#include <algorithm>
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

void UsageBoard::add(Subjects& subjects, WallTime at, Seen seen) {
  Subject& subject = subjects[fmt::format("{}/{}", seen.ns, seen.pod)];
  // A rate is that of the time since the sample before, so that the products add up to the kernel's
  // own counter.
  const WallTime before = subject.samples.empty() ? at : subject.samples.back().at;
  const double time = std::chrono::duration<double>(at - before).count();
  for (const Container& one : seen.containers)
    subject.cpuSeconds[one.name] += one.cores * std::max(0.0, time);
  subject.samples.push_back({at, std::move(seen.containers)});
  subject.ns = std::move(seen.ns);
  subject.name = std::move(seen.pod);
  subject.labels = std::move(seen.labels);
}

void UsageBoard::forget(Subjects& subjects, WallTime before) {
  for (auto& [key, subject] : subjects) {
    while (!subject.samples.empty() && subject.samples.front().at < before) {
      subject.samples.pop_front();
    }
  }
  std::erase_if(subjects, [](const auto& entry) { return entry.second.samples.empty(); });
}

void UsageBoard::note(WallTime at, std::vector<Seen> pods) {
  const std::lock_guard lock(mutex_);
  for (Seen& one : pods) add(pods_, at, std::move(one));
  forget(pods_, at - kWindow);
}

void UsageBoard::noteNode(WallTime at, std::string name, double cores, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  add(nodes_, at, {"", std::move(name), {{"", cores, bytes}}, {}});
  forget(nodes_, at - kWindow);
}

Measured UsageBoard::meanOf(const Subject& subject) {
  std::map<std::string, Sum> sums;
  for (const Sample& sample : subject.samples) {
    for (const Container& one : sample.containers) {
      Sum& sum = sums[one.name];
      sum.cores += one.cores;
      sum.bytes = one.bytes;
      ++sum.samples;
    }
  }
  Measured out;
  out.at = subject.samples.back().at;
  out.window = out.at - subject.samples.front().at;
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

std::optional<Measured> UsageBoard::of(std::string_view ns, std::string_view pod) const {
  const std::lock_guard lock(mutex_);
  const auto found = pods_.find(fmt::format("{}/{}", ns, pod));
  if (found == pods_.end()) return std::nullopt;
  return meanOf(found->second);
}

std::vector<UsageBoard::Known> UsageBoard::all(const Subjects& subjects) {
  std::vector<Known> out;
  for (const auto& [key, one] : subjects)
    out.push_back({one.ns, one.name, one.labels, meanOf(one), one.cpuSeconds});
  return out;
}

std::vector<UsageBoard::Known> UsageBoard::pods() const {
  const std::lock_guard lock(mutex_);
  return all(pods_);
}

std::vector<UsageBoard::Known> UsageBoard::nodes() const {
  const std::lock_guard lock(mutex_);
  return all(nodes_);
}

}  // namespace mangrove::workloads
