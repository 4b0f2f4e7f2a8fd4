#pragma once
// What was learnt: one model (a CPU and a memory histogram, old samples fading) per pod and per
// group of pods. A model is trusted only when it has learnt for the whole cold start and has half of
// its lessons, by its own book and not by the age of what it describes: after a reboot without
// checkpoints nothing is guessed, and a busy morning is not a day.
//
//   Models models({.cpuHalfLife = 12h});
//   models.learn("uid", {1.2, 300e6}, clock.wall());
//   if (auto peak = models.trustedPeak("uid", now)) …
//
// One owner, no locks.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/predict/reclaim.h"
#include "base/number/units.h"
#include "stats/decaying_histogram.h"

namespace mangrove::agent {

// The reference's names of what is not a pod.
namespace model_key {
inline constexpr std::string_view kNode = "__node__";
inline constexpr std::string_view kSystem = "__node-sys__";
std::string ofBand(std::string_view band);  // "__node-koord-prod__"; "" gives "__node-__"
std::string ofQos(std::string_view qos);    // "__qos-LS__": ours
bool isGroup(std::string_view key);         // not a pod
}  // namespace model_key

struct ModelOptions {
  Duration cpuHalfLife = std::chrono::hours(12);
  Duration memoryHalfLife = std::chrono::hours(24);
  Duration coldStart = std::chrono::hours(24);
  Duration trainingInterval = std::chrono::minutes(1);
  Duration expiry = std::chrono::minutes(30);
};

struct Lesson {
  double cores = 0;
  double bytes = 0;
};

// p60, p90, p95, p98 and the largest.
struct Quantiles {
  double p60 = 0, p90 = 0, p95 = 0, p98 = 0, max = 0;
};

struct Model {
  stats::DecayingHistogram cpu;
  stats::DecayingHistogram memory;
  WallTime updated = kZeroTime;
  WallTime since = kZeroTime;  // the beginning of what the first lesson was about
};

class Models {
 public:
  explicit Models(ModelOptions options) : options_(options) {}

  void learn(std::string_view key, const Lesson& lesson, WallTime at);
  // What it predicts, however little it knows; nullopt: nothing learnt.
  std::optional<Peak> peak(std::string_view key) const;
  // The same, nullopt while it has not learnt for a cold start's worth of lessons.
  std::optional<Peak> trustedPeak(std::string_view key, WallTime now) const;
  std::optional<Quantiles> cpuQuantiles(std::string_view key) const;
  std::optional<Quantiles> memoryQuantiles(std::string_view key) const;

  // Forgets what got no lesson for the expiry; returns their names.
  std::vector<std::string> expire(WallTime now);
  void put(std::string key, Model model) {
    models_.insert_or_assign(std::move(key), std::move(model));
  }
  void remove(std::string_view key);
  const Model* find(std::string_view key) const;
  const std::map<std::string, Model, std::less<>>& all() const { return models_; }
  const ModelOptions& options() const { return options_; }
  Model blank() const;

 private:
  ModelOptions options_;
  std::map<std::string, Model, std::less<>> models_;
};

// How many lessons of today's weight a histogram holds: each lesson counts 1, halved every
// half-life.
double effectiveLessons(const stats::DecayingHistogram& histogram, WallTime now);
// The shortest time in which a histogram can have come to its weight, by one lesson an interval: of
// models that do not say since when they learn.
Duration leastSpan(const stats::DecayingHistogram& histogram, Duration interval, WallTime now);
// What a model has after half of the lessons of a whole cold start (a day with gaps), e.g. 24 h of
// minutes at a half-life of 12 h: 1440 lessons weigh 779 at the end, half of that are 390.
double lessonsNeeded(Duration coldStart, Duration interval, Duration halfLife);

}  // namespace mangrove::agent
