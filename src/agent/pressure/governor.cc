#include "agent/pressure/governor.h"

#include <algorithm>
#include <cmath>

namespace mangrove::agent {
namespace {

constexpr double kPeriodUs = 100'000;
// Best-effort work idle for so long, what services still wait for is somebody else's doing.
constexpr Duration kIdleShows = std::chrono::milliseconds(300);
constexpr double kLeastCut = 0.5;
constexpr Duration kTrial = std::chrono::seconds(1);

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

GovernorOptions forIdlePods(GovernorOptions options) {
  options.enter = options.enterFading = 0.5;
  options.calm = 0.3;
  options.helps = 0.8;
  return options;
}

GovernorOptions forIdleClass(GovernorOptions options) {
  options = forIdlePods(options);
  options.sustain = std::chrono::milliseconds(250);
  return options;
}

void PressureGovernor::setOptions(const GovernorOptions& options) {
  const bool floorCame = options_.helps == 0 && options.helps > 0;
  options_ = options;
  if (floorCame) forgetCuts();
}

void PressureGovernor::forgetCuts() {
  cap_ = bad_ = kUnlimited;
  cutAt_ = badUntil_ = highSince_ = MonoTime::min();
}

BatchActivity PressureGovernor::activity(const PressureSample& sample) {
  if (sample.used >= options_.idleBelow) {
    idleSince_ = MonoTime::min();
    return BatchActivity::kWorks;
  }
  if (idleSince_ == MonoTime::min()) idleSince_ = sample.at;
  return sample.at - idleSince_ < kIdleShows ? BatchActivity::kPaused : BatchActivity::kIdleLong;
}

double PressureGovernor::baseline() const {
  const auto found = senses_.find(worst_);
  return found == senses_.end() ? 0 : found->second.baseline();
}

// The service that waits most over what it is used to.
Waiting PressureGovernor::judge(const PressureSample& sample, std::span<const ServiceWait> services,
                                Duration since) {
  WaitSample one{since, 0, sample.alarmed, false, activity(sample)};
  one.settling = cutAt_ != MonoTime::min() && sample.at - cutAt_ < options_.settle;
  std::map<uint32_t, WaitSense> senses;
  waited_.clear();
  worst_ = 0;
  Waiting worst;
  for (const ServiceWait& service : services) {
    auto known = senses_.extract(service.id);
    WaitSense& sense =
        known ? senses.insert(std::move(known)).position->second : senses[service.id];
    one.waited = service.waited;
    const Waiting seen = sense.step(options_, one);
    waited_[service.id] = seen.waited;
    const bool first = worst_ == 0;
    if (first || std::max(seen.overshoot, seen.fading) > std::max(worst.overshoot, worst.fading))
      worst = seen, worst_ = service.id;
  }
  senses_ = std::move(senses);  // who is not watched any more is forgotten
  return worst;
}

// What best-effort work has now: its limit, or what it uses of a machine without one.
int64_t PressureGovernor::inForce(double used) const {
  const auto using_ = static_cast<int64_t>(used * kPeriodUs);
  return std::clamp(std::min(cap_, using_), options_.floor, options_.machine);
}

bool PressureGovernor::waitsTooLong(const Waiting& seen) const {
  return seen.overshoot >= options_.enter || seen.fading >= options_.enterFading;
}

bool PressureGovernor::mayCut(const PressureSample& sample) const {
  if (sample.used < options_.idleBelow) return false;
  if (cap_ <= options_.floor || tries_) return false;
  return cutAt_ == MonoTime::min() || sample.at - cutAt_ >= options_.settle;
}

void PressureGovernor::cut(const PressureSample& sample, const Waiting& seen) {
  // Two samples decide whether, the latest how much.
  const double overshoot = std::max(seen.overshoot, seen.latest - baseline());
  const int64_t present = inForce(sample.used);
  const bool sameEpisode = cutAt_ != MonoTime::min() && sample.at - cutAt_ < options_.hold;
  if (!sameEpisode) {
    tried_ = worst_;
    before_ = overshoot + baseline();
    after_ = afterSeconds_ = 0;
    tries_ = options_.helps > 0;
    const bool again = badUntil_ != MonoTime::min() && sample.at - badUntil_ < remember_;
    remember_ = again ? std::min(remember_ * 2, options_.rememberMost) : options_.remember;
    bad_ = present;
  }
  badUntil_ = sample.at + remember_;
  cutAt_ = sample.at;
  const double left = std::clamp(1 - overshoot, 0.0, kLeastCut);
  cap_ = std::max<int64_t>(options_.floor, std::llround(static_cast<double>(present) * left));
  growth_ = 0;
  ++cuts_;
}

void PressureGovernor::grow(const PressureSample& sample, Duration since) {
  const bool remembers = bad_ != kUnlimited && sample.at < badUntil_;
  const int64_t most = remembers
                           ? static_cast<int64_t>(static_cast<double>(bad_) * options_.stayBelow)
                           : options_.machine;
  growth_ += static_cast<double>(options_.machine) * options_.growPerSecond * seconds(since);
  const auto whole = static_cast<int64_t>(growth_);
  growth_ -= static_cast<double>(whole);
  cap_ = std::max(cap_, std::min(cap_ + whole, most));
  if (cap_ >= options_.machine) cap_ = kUnlimited;
}

bool PressureGovernor::lasts(MonoTime at, bool tooLong) {
  if (!tooLong) return highSince_ = MonoTime::min(), false;
  if (highSince_ == MonoTime::min()) highSince_ = at;
  return at - highSince_ >= options_.sustain;
}

// True when the trial ended and showed that best-effort work was not what services wait for. That
// counts as known for a while, so that the same waiting is not tried again at once.
bool PressureGovernor::endTrial(const PressureSample& sample, Duration since) {
  if (!tries_) return false;
  const auto waited = waited_.find(tried_);
  after_ += (waited == waited_.end() ? 0 : waited->second) * seconds(since);
  afterSeconds_ += seconds(since);
  if (sample.at - cutAt_ < kTrial) return false;
  tries_ = false;
  const double mean = after_ / afterSeconds_;
  if (mean <= before_ * options_.helps) return false;
  if (auto sense = senses_.find(tried_); sense != senses_.end()) sense->second.expect(mean);
  forgetCuts();
  ++futile_;
  return true;
}

Ruling PressureGovernor::step(const PressureSample& sample, std::span<const ServiceWait> services) {
  const Duration since = lastAt_ == MonoTime::min() ? Duration{} : sample.at - lastAt_;
  lastAt_ = sample.at;
  const Waiting seen = judge(sample, services, since);
  if (endTrial(sample, since)) return {cap_, false};
  const bool tooLong = waitsTooLong(seen);
  const bool lasting = lasts(sample.at, tooLong);
  if (tooLong && mayCut(sample) && (lasting || cap_ != kUnlimited)) {
    cut(sample, seen);
    return {cap_, true};
  }
  const bool held = cutAt_ != MonoTime::min() && sample.at - cutAt_ < options_.hold;
  // Before it leaves the bottom, what services wait for anyway must be known well.
  const double calm = sample.used < options_.idleBelow ? options_.calm / 8 : options_.calm;
  if (cap_ != kUnlimited && !held && seen.overshoot <= calm) grow(sample, since);
  return {cap_, false};
}

}  // namespace mangrove::agent
