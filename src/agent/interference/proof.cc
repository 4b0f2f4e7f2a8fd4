#include "agent/interference/proof.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "json/value.h"
#include "stats/paired.h"

namespace mangrove::agent::interference {
namespace {

constexpr Duration kLatest = std::chrono::seconds(3);  // that a measurement is waited for

}  // namespace

std::string troubleOf(const SeriesRules& rules) {
  if (rules.pairs < kLeastPairs)
    return fmt::format("{} pairs: want {} at least, fewer cannot show anything at 5 %", rules.pairs,
                       kLeastPairs);
  if (rules.throttleTo <= 0 || rules.throttleTo >= 1)
    return fmt::format("a throttle to {}: want a share between 0 and 1", rules.throttleTo);
  if (rules.confidence < 0.9 || rules.confidence >= 1)
    return fmt::format("a confidence of {}: want 0.9 to 1", rules.confidence);
  return "";
}

std::string_view discardName(Discard reason) {
  constexpr std::string_view kNames[] = {"", "somebody else moved the suspect's limit",
                                         "the suspect hardly worked", "the service's load changed",
                                         "the service was not measured"};
  return kNames[static_cast<size_t>(reason)];
}

std::string_view verdictName(Verdict::Kind kind) {
  constexpr std::string_view kNames[] = {"not known", "guilty", "innocent"};
  return kNames[static_cast<size_t>(kind)];
}

std::string Verdict::text() const {
  const std::string name(verdictName(kind));
  if (pairs < kLeastPairs) return fmt::format("{}: {}", name, why);
  return fmt::format("{}: {:+.0f} % [{:.0f}, {:.0f}] by {} pairs", name, effect * 100, low * 100,
                     high * 100, pairs);
}

// A throttle to one half shows half of what the suspect adds.
Verdict judge(std::span<const Pair> kept, const SeriesRules& rules, double excess) {
  Verdict out;
  out.pairs = kept.size();
  if (kept.size() < std::max(kLeastPairs, rules.pairs)) {
    out.why = fmt::format("{} of {} pairs could be kept", kept.size(), rules.pairs);
    return out;
  }
  std::vector<double> differences;
  double without = 0;
  for (const Pair& pair : kept) {
    differences.push_back(pair.normal - pair.throttled);
    without += pair.throttled / static_cast<double>(kept.size());
  }
  const stats::Interval shift = stats::pairedShift(differences, rules.confidence);
  if (!std::isfinite(shift.low) || !std::isfinite(shift.high)) {
    out.why =
        fmt::format("{} pairs are too few for a confidence of {}", out.pairs, rules.confidence);
    return out;
  }
  const double whole = 1 / (1 - rules.throttleTo);
  const double base = without > 0 ? without : 1;
  out.effect = shift.estimate * whole / base;
  out.low = shift.low * whole / base;
  out.high = shift.high * whole / base;
  const double least = rules.leastEffect * std::max(0.0, excess);
  if (shift.low > 0 && shift.estimate * whole >= least)
    out.kind = Verdict::Kind::kGuilty;
  else if (shift.high * whole < least || shift.high <= 0)
    out.kind = Verdict::Kind::kInnocent;
  else
    out.why = "the interval allows both";
  return out;
}

Series::Series(SeriesRules rules, uint64_t seed, double excess, double usual)
    : rules_(rules), rng_(seed), excess_(excess), usual_(usual) {}

// The half within which all of that time lies, after its settling; nullptr: neither.
Series::Half* Series::halfOf(Duration from, Duration until) {
  constexpr Duration kJitter = std::chrono::milliseconds(200);
  const Duration one = rules_.settle + rules_.half;
  for (const size_t i : {0, 1}) {
    const Duration begin = static_cast<int>(i) * one;
    if (from >= begin + rules_.settle - kJitter && until <= begin + one + kJitter)
      return &halves_[i];
  }
  return nullptr;
}

// What the suspect used is of the tick; what the service showed may be of earlier.
void Series::add(Duration into, const SeriesSample& sample) {
  constexpr Duration kTick = std::chrono::seconds(1);
  if (Half* half = halfOf(into - kTick, into)) {
    half->load += sample.victimLoad;
    half->use += sample.suspectUse;
    ++half->ticks;
  }
  const Duration until = into - sample.age;
  if (!sample.victim) return;
  if (Half* half = halfOf(until - sample.length, until)) {
    half->signal += *sample.victim;
    ++half->samples;
  }
}

// The rest before a pair is drawn too, so that nothing periodic keeps step with it.
void Series::begin(MonoTime now) {
  running_ = true;
  started_ = false;
  foreign_ = false;
  halves_[0] = halves_[1] = {};
  throttledFirst_ = rng_.below(2) == 0;
  const auto rest = rng_.between(rules_.restLeast.count(), rules_.restMost.count());
  from_ = now + (tried_ == 0 ? Duration::zero() : Duration(rest));
}

// Whether the suspect works is asked before the lot shows: it cannot favour either half.
bool Series::mayStart(MonoTime now, const SeriesSample& sample) {
  if (now < from_) return false;
  if (sample.suspectUse >= leastUse()) {
    from_ = now;
    started_ = true;
    return true;
  }
  if (now - from_ > rules_.longestWait) {
    ended_ = true;
    endedWhy_ = "the suspect stopped working";
  }
  return false;
}

bool Series::throttles(Duration into) const {
  const Duration one = rules_.settle + rules_.half;
  if (into >= 2 * one) return false;
  return (into < one) == throttledFirst_;
}

Discard Series::reasonAgainst(const Half& normal, const Half& throttled) const {
  if (foreign_) return Discard::kForeign;
  if (normal.samples == 0 || throttled.samples == 0) return Discard::kNotMeasured;
  const double least = leastUse();
  if (normal.perTick(normal.use) < least ||
      throttled.perTick(throttled.use) < least * rules_.throttleTo)
    return Discard::kIdleSuspect;
  const double a = normal.perTick(normal.load), b = throttled.perTick(throttled.load);
  if (std::abs(a - b) > rules_.loadChange * std::max(a, b)) return Discard::kLoadChanged;
  return Discard::kNone;
}

void Series::finish() {
  const Half& throttled = halves_[throttledFirst_ ? 0 : 1];
  const Half& normal = halves_[throttledFirst_ ? 1 : 0];
  ++tried_;
  running_ = false;
  lastDiscard_ = reasonAgainst(normal, throttled);
  if (lastDiscard_ != Discard::kNone) return;
  kept_.push_back({normal.mean(), throttled.mean()});
}

// A pair ends when what the service showed in it is known.
Series::Step Series::step(MonoTime now, const SeriesSample& sample) {
  if (isDone()) return {.done = true};
  if (sample.suffers) {
    ended_ = true;
    endedWhy_ = "the service suffered for another reason";
    return {.done = true};
  }
  if (!running_) begin(now);
  if (!started_ && !mayStart(now, sample)) return {.done = ended_};
  const Duration into = now - from_, all = 2 * (rules_.settle + rules_.half);
  if (into > Duration::zero() && into <= all) foreign_ = foreign_ || sample.foreign;
  add(into, sample);
  if (into < all) return {.throttle = throttles(into)};
  const bool late = sample.victim && into - sample.age < all && sample.age <= kLatest;
  if (late && into < all + kLatest) return {};
  finish();
  if (!isDone()) begin(now);
  return {.done = isDone()};
}

Verdict Series::verdict() const {
  if (!ended_) return judge(kept_, rules_, excess_);
  Verdict out;
  out.pairs = kept_.size();
  out.why = "ended: " + endedWhy_;
  return out;
}

json::Value Series::state() const {
  json::Array pairs;
  for (const Pair& pair : kept_) pairs.push_back(json::Array{pair.normal, pair.throttled});
  return json::Object{{"pairs", std::move(pairs)}, {"tried", tried_}, {"ended", ended_}};
}

void Series::restore(const json::Value& state) {
  const json::Object* top = state.if_object();
  const json::Value* pairs = top ? top->if_contains("pairs") : nullptr;
  const json::Value* tried = top ? top->if_contains("tried") : nullptr;
  const json::Value* ended = top ? top->if_contains("ended") : nullptr;
  if (!pairs || !pairs->is_array() || !tried || !tried->is_number()) return;
  std::vector<Pair> kept;
  for (const json::Value& one : pairs->get_array()) {
    const json::Array* pair = one.if_array();
    if (!pair || pair->size() != 2 || !(*pair)[0].is_number() || !(*pair)[1].is_number()) return;
    kept.push_back({(*pair)[0].to_number<double>(), (*pair)[1].to_number<double>()});
  }
  kept_ = std::move(kept);
  // The pair that was under way when the agent died is lost.
  tried_ = std::max(kept_.size(), static_cast<size_t>(tried->to_number<uint32_t>())) + 1;
  ended_ = ended && ended->is_bool() && ended->get_bool();
  endedWhy_ = "before the agent began";
  running_ = false;
}

}  // namespace mangrove::agent::interference
