#pragma once
// Whether a suspect hurts a service, by experiment: for a few seconds it gets half of its CPU time,
// for a few it does not, which of the two comes first is decided by lot, and this is repeated. What
// runs at the same hours correlates; only what causes the trouble makes it smaller when it is held.
//
// Fixed before the first pair, and not changed by what they show:
//  - the number of pairs, and which are thrown away (Discard);
//  - the test: the signed-rank interval of the differences (stats/paired.h), exact for any number of
//    pairs because the lot makes the differences symmetric where there is no effect. Three pairs
//    could never reach 5 % (their best is 12.5 %), five can (3.1 %);
//  - the verdict: guilty when the whole interval is above zero and the effect is a tenth of the
//    excess at least; innocent when the interval excludes an effect of that size; else not known.
//
//   Series series(rules, seed, excess, usual);
//   Step step = series.step(now, sample);       // every tick
//   if (step.throttle) want(half of the suspect's CPU time);
//   if (step.done) Verdict verdict = series.verdict();
//
// Holds no file and no clock. A killed agent's successor restores the finished pairs and begins the
// pair anew; the suspect's limit is given back by the executor as any other file. One owner.

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/number/rng.h"
#include "base/number/units.h"
#include "json/fwd.h"

namespace mangrove::agent::interference {

struct SeriesRules {
  size_t pairs = 10;         // kept ones
  size_t spare = 10;         // so many may be thrown away on top
  double confidence = 0.95;  // of the two-sided interval: at most 2.5 % guilty by chance
  double throttleTo = 0.5;   // of the suspect's CPU time
  double leastEffect = 0.1;  // of the excess over the fence
  Duration settle = std::chrono::seconds(1);  // before each half, for the change to show
  Duration half = std::chrono::seconds(2);
  Duration restLeast = std::chrono::seconds(2), restMost = std::chrono::seconds(6);
  // A pair begins, and counts, while the suspect works about as much as when it became one: with
  // this share of that, and these cores at least. Of both halves the same is asked, or the choice of
  // pairs would do what the throttle should.
  double suspectShare = 0.5;
  double suspectLeast = 0.05;
  Duration longestWait = std::chrono::minutes(10);  // for it to work
  double loadChange = 0.5;                          // of the victim's load between the halves
};
constexpr size_t kLeastPairs = 5;
// Why these rules cannot be used; "": they can.
std::string troubleOf(const SeriesRules& rules);

struct SeriesSample {
  std::optional<double> victim = {};  // its signal; absent: not measured
  // What that is of: so long, until so long ago. A page that is read now says what was until now,
  // and is here at the next tick.
  Duration length = std::chrono::seconds(1), age{};
  double victimLoad = 0;  // cores
  double suspectUse = 0;  // cores
  bool foreign = false;   // somebody else moved, or limits, the suspect's file
  bool suffers = false;   // the victim got worse for another reason
};

struct Pair {
  double normal = 0, throttled = 0;
  bool operator==(const Pair&) const = default;
};

enum class Discard : uint8_t { kNone, kForeign, kIdleSuspect, kLoadChanged, kNotMeasured };
std::string_view discardName(Discard reason);

struct Verdict {
  enum class Kind : uint8_t { kNotKnown, kGuilty, kInnocent } kind = Kind::kNotKnown;
  double effect = 0, low = 0, high = 0;  // what the whole of it adds, as a share of without
  size_t pairs = 0;
  std::string why = {};
  std::string text() const;  // "guilty: +31 % [24, 39] by 8 pairs"
};
std::string_view verdictName(Verdict::Kind kind);  // guilty, innocent, not known
// `excess`: by how much the signal was over its fence when the series began, in its unit.
Verdict judge(std::span<const Pair> kept, const SeriesRules& rules, double excess);

class Series {
 public:
  // `usual`: cores that the suspect used when it was named.
  Series(SeriesRules rules, uint64_t seed, double excess, double usual = 0);

  struct Step {
    bool throttle = false;  // until the next step
    bool done = false;
  };
  Step step(MonoTime now, const SeriesSample& sample);
  bool isDone() const { return ended_ || kept_.size() >= rules_.pairs || tried_ >= mostTried(); }
  Verdict verdict() const;

  const SeriesRules& rules() const { return rules_; }
  size_t kept() const { return kept_.size(); }
  size_t discarded() const { return tried_ - kept_.size(); }
  Discard lastDiscard() const { return lastDiscard_; }

  json::Value state() const;
  void restore(const json::Value& state);

 private:
  struct Half {
    double signal = 0, load = 0, use = 0;
    size_t samples = 0, ticks = 0;
    double mean() const { return signal / static_cast<double>(samples); }
    double perTick(double sum) const { return ticks > 0 ? sum / static_cast<double>(ticks) : 0; }
  };
  Half* halfOf(Duration from, Duration until);
  void add(Duration into, const SeriesSample& sample);
  size_t mostTried() const { return rules_.pairs + rules_.spare; }
  double leastUse() const { return std::max(rules_.suspectLeast, rules_.suspectShare * usual_); }
  void begin(MonoTime now);
  bool mayStart(MonoTime now, const SeriesSample& sample);
  void finish();
  Discard reasonAgainst(const Half& normal, const Half& throttled) const;
  bool throttles(Duration into) const;

  SeriesRules rules_;
  Rng rng_;
  double excess_, usual_;
  std::vector<Pair> kept_;
  size_t tried_ = 0;
  bool ended_ = false;
  std::string endedWhy_;
  // The pair under way.
  bool running_ = false, started_ = false, throttledFirst_ = false, foreign_ = false;
  MonoTime from_ = MonoTime::min();
  Half halves_[2];
  Discard lastDiscard_ = Discard::kNone;
};

}  // namespace mangrove::agent::interference
