#pragma once
// How much longer than it is used to one service waits for a CPU. Each service has one: a service
// that always waits (for its own quota, for its own threads) neither hides nor fakes another's.
//
//   WaitSense sense;
//   Waiting seen = sense.step(options, {.since = 25ms, .waited = 0.6});
//   if (seen.overshoot >= options.enter) …
//
// A value; one owner.

#include "base/number/units.h"

namespace mangrove::agent {

struct GovernorOptions;

// What best-effort work does tells whose doing the waiting is.
enum class BatchActivity : uint8_t {
  kWorks,     // what was learnt fades
  kPaused,    // not for long enough to tell
  kIdleLong,  // what services wait for now is not its doing: learn it
};

struct WaitSample {
  Duration since{};       // since the sample before
  double waited = 0;      // share of that time, less what its own quota took
  bool alarmed = false;   // the kernel itself said that somebody waits
  bool settling = false;  // a cut of a moment ago has not shown yet
  BatchActivity batch = BatchActivity::kWorks;
};

struct Waiting {
  double waited = 0;  // two samples together: one alone may be a hiccup of a few milliseconds
  double latest = 0;
  double overshoot = 0;  // over the baseline
  double fading = 0;     // the same of waiting in single stalls, of the recent past
};

class WaitSense {
 public:
  Waiting step(const GovernorOptions& options, const WaitSample& sample);
  // What it waits for anyway, with best-effort work idle or cut down.
  double baseline() const { return baseline_; }
  // It turned out to wait so long whatever best-effort work does.
  void expect(double waited);

 private:
  void learn(BatchActivity batch, double waited, Duration since);

  double baseline_ = 0;
  double last_ = 0;    // waited, of the sample before
  double fading_ = 0;  // waited, of the recent past
};

}  // namespace mangrove::agent
