#include "agent/pressure/wait_sense.h"

#include <algorithm>
#include <cmath>

#include "agent/pressure/governor.h"

namespace mangrove::agent {
namespace {

constexpr double kLearnSeconds = 1;
constexpr double kForgetSeconds = 600;

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

void WaitSense::expect(double waited) {
  baseline_ = std::max(baseline_, waited);
}

void WaitSense::learn(BatchActivity batch, double waited, Duration since) {
  if (batch == BatchActivity::kWorks) baseline_ *= std::exp(-seconds(since) / kForgetSeconds);
  if (batch != BatchActivity::kIdleLong) return;
  baseline_ += (waited - baseline_) * (1 - std::exp(-seconds(since) / kLearnSeconds));
}

Waiting WaitSense::step(const GovernorOptions& options, const WaitSample& sample) {
  fading_ +=
      (sample.waited - fading_) * (1 - std::exp(-seconds(sample.since) / seconds(options.fade)));
  if (sample.settling) fading_ = 0;  // what was before a cut says nothing about it
  double mean = (last_ + sample.waited) / 2;
  last_ = sample.waited;
  // The alarm names a group of services; it counts for those who do wait.
  const bool counts =
      sample.alarmed && options.enter <= kAlarmShare && sample.waited >= options.enter / 2;
  if (counts) mean = std::max(mean, options.enter);
  learn(sample.batch, mean, sample.since);
  return {mean, sample.waited, mean - baseline_, fading_ - baseline_};
}

}  // namespace mangrove::agent
