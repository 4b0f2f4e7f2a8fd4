#pragma once
// How much CPU best-effort work may have while services wait for theirs: down at once, up slowly,
// and not again to where it hurt. A pure core: samples in, a limit out; no files, no clock.
//
//   PressureGovernor governor({.machine = 200'000});
//   Ruling ruling = governor.step({now, /*used*/ 1.7}, waits);     // one entry per service
//   if (ruling.cut) write(ruling.cap);
//
// Each service is judged by what it is used to; the one that suffers most decides. Between `calm` and `enter` nothing changes (the dead band). What services wait for while
// best-effort work does nothing is not its doing, and does not count against it; nor, where the
// kernel's idle class holds it, does what a cut did not change. One owner.

#include <cstdint>
#include <map>
#include <span>

#include "agent/executor/value.h"
#include "agent/pressure/wait_sense.h"
#include "base/number/units.h"

namespace mangrove::agent {

// Waiting at which the kernel's own alarm rings (pressure/meter.cc).
inline constexpr double kAlarmShare = 0.10;

struct GovernorOptions {
  int64_t machine = 100'000;  // all CPUs: microseconds per period of 100 ms
  int64_t floor = 2000;
  // Shares of time in which at least one task of the services waited for a CPU.
  double enter = 0.10;
  double calm = 0.05;
  // The same of waiting that comes in single stalls of a few milliseconds, fading over `fade`.
  double enterFading = 0.075;
  Duration fade = std::chrono::milliseconds(50);
  double idleBelow = 0.05;  // cores: best-effort work that uses less is not what services wait for
  Duration settle = std::chrono::milliseconds(60);  // between two cuts, for the first one to show
  Duration hold = std::chrono::seconds(2);          // after a cut nothing grows
  double growPerSecond = 0.10;                      // of the machine
  // A level that hurt is stayed below for so long; twice as long each time it hurts again.
  Duration remember = std::chrono::seconds(30);
  Duration rememberMost = std::chrono::minutes(8);
  double stayBelow = 0.9;
  // Waiting has to last so long before the first cut; zero: two samples.
  Duration sustain = Duration::zero();
  // A cut is a trial: when waiting has not fallen to this share of what it was within a
  // second, best-effort work was not the reason and gets everything back. Zero: cuts stand.
  double helps = 0;
};

// Where best-effort pods are in the kernel's idle class, below a group with the least weight:
// services hardly wait for them but for one another, and only much waiting is worth a cut.
GovernorOptions forIdlePods(GovernorOptions options);
// Where the whole group is in the idle class services do not wait for it at all by the kernel's
// rules: waiting must last, and a cut must show that it helps.
GovernorOptions forIdleClass(GovernorOptions options);

struct PressureSample {
  MonoTime at{};
  double used = 0;       // cores of best-effort work since the sample before
  bool alarmed = false;  // the kernel itself said that kAlarmShare was crossed
};

struct ServiceWait {
  uint32_t id = 0;    // of the service, for as long as it is watched
  double waited = 0;  // share since the sample before, less its own throttling
};

struct Ruling {
  int64_t cap = kUnlimited;  // quota of the best-effort group
  bool cut = false;          // the cap shrank with this sample
};

class PressureGovernor {
 public:
  explicit PressureGovernor(GovernorOptions options) : options_(options) {}
  Ruling step(const PressureSample& sample, std::span<const ServiceWait> services);
  // The machine or its floor changed. What was cut before the floor was there has not been tried
  // with it, and is given back.
  void setOptions(const GovernorOptions& options);

  int64_t cap() const { return cap_; }
  // What the service that suffered most at the last step waits for anyway.
  double baseline() const;
  // That service; 0: none waited.
  uint32_t worst() const { return worst_; }
  uint64_t cuts() const { return cuts_; }
  // Cuts that changed nothing and were taken back.
  uint64_t futile() const { return futile_; }

 private:
  BatchActivity activity(const PressureSample& sample);
  Waiting judge(const PressureSample& sample, std::span<const ServiceWait> services,
                Duration since);
  bool waitsTooLong(const Waiting& seen) const;
  bool mayCut(const PressureSample& sample) const;
  void cut(const PressureSample& sample, const Waiting& seen);
  void grow(const PressureSample& sample, Duration since);
  int64_t inForce(double used) const;
  bool lasts(MonoTime at, bool tooLong);
  void forgetCuts();
  bool endTrial(const PressureSample& sample, Duration since);

  GovernorOptions options_;
  int64_t cap_ = kUnlimited;
  double growth_ = 0;                     // what is left of a microsecond
  std::map<uint32_t, WaitSense> senses_;  // by service
  std::map<uint32_t, double> waited_;     // of the last step
  uint32_t worst_ = 0;
  MonoTime lastAt_ = MonoTime::min();
  MonoTime cutAt_ = MonoTime::min();
  MonoTime idleSince_ = MonoTime::min();
  int64_t bad_ = kUnlimited;  // best-effort work at this level hurt
  MonoTime badUntil_ = MonoTime::min();
  Duration remember_{};
  uint64_t cuts_ = 0, futile_ = 0;
  MonoTime highSince_ = MonoTime::min();
  // The present trial: who waited before its first cut, how much, and since then.
  uint32_t tried_ = 0;
  double before_ = 0, after_ = 0, afterSeconds_ = 0;
  bool tries_ = false;
};

}  // namespace mangrove::agent
