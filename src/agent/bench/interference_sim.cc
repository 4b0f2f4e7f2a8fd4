#include "agent/bench/interference_sim.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "agent/interference/cpi2.h"
#include "agent/interference/episodes.h"
#include "base/number/rng.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

using namespace interference;
using std::chrono::seconds;

constexpr double kFence = 1.9;
constexpr int kDay = 86'400;

double normal(Rng& rng) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += rng.unit();
  return sum - 6;
}

enum class Character { kGuilty, kShadow, kFollower, kNeighbour };

// A service whose signal wanders (its own load, an hour's drift), stutters now and then, and rises
// with what the antagonists beside it use.
class World {
 public:
  World(uint64_t seed, Character character) : rng_(seed), character_(character) {
    effect_ = 0.10 + 0.40 * rng_.unit();  // what full use adds: guilty from +10 % on
    noise_ = 0.02 + 0.05 * rng_.unit();
    other_ =
        character == Character::kGuilty ? rng_.unit() * 0.5 : 1;  // somebody else hurts as well
  }

  // A second passes.
  void tick(bool held) {
    ++second_;
    wander_ = 0.7 * wander_ + noise_ * normal(rng_);
    load_ = 2 + 0.5 * std::sin(2 * std::numbers::pi * second_ / 900) + 0.05 * normal(rng_);
    if (rng_.chance(1.0 / 30)) busy_ = !busy_;
    const double antagonist = busy_ ? 1 : 0.15;
    use_ = std::clamp(useOf(antagonist), 0.0, 1.0) * (held ? 0.5 : 1);
    const double hurt = character_ == Character::kGuilty ? use_ + other_ * 0.3 : antagonist;
    const double spike = rng_.chance(0.01) ? 0.5 : 0;
    signal_ = 1.8 * (1 + 0.05 * (load_ - 2) + effect_ * hurt + wander_ + spike);
  }

  double signal() const { return signal_; }
  double use() const { return 4 * use_; }
  double load() const { return load_; }
  double effect() const { return effect_; }

 private:
  double useOf(double antagonist) {
    switch (character_) {
      case Character::kGuilty:
      case Character::kShadow:
        return antagonist + 0.05 * normal(rng_);
      case Character::kFollower:
        return 0.2 + 0.5 * (load_ - 1.4) + 0.05 * normal(rng_);
      case Character::kNeighbour:
        return 0.6 + 0.2 * normal(rng_);
    }
    return 0;
  }

  Rng rng_;
  Character character_;
  double effect_ = 0, noise_ = 0, other_ = 0;
  double wander_ = 0, load_ = 2, use_ = 0, signal_ = 1.8;
  bool busy_ = true;
  int second_ = 0;
};

double correlationIn(World& world) {
  std::vector<double> signal, use;
  for (int i = 0; i < 600; ++i) {
    world.tick(false);
    if (i % 10 != 0) continue;
    signal.push_back(world.signal());
    use.push_back(world.use());
  }
  while (world.signal() < kFence || world.use() < 1) world.tick(false);  // that is when one asks
  return correlation(kFence, signal, use);
}

Verdict experimentOn(World& world, uint64_t seed) {
  Series series({}, seed, 1.8 * world.effect() * 0.5, world.use());
  bool held = false;
  MonoTime now{};
  for (int tick = 0; tick < 2000 && !series.isDone(); ++tick, now += seconds(1)) {
    world.tick(held);
    held =
        series
            .step(now,
                  {.victim = world.signal(), .victimLoad = world.load(), .suspectUse = world.use()})
            .throttle;
  }
  return series.verdict();
}

void count(bool guilty, bool accused, Accuracy& out) {
  (guilty ? out.guilty : out.innocent)++;
  if (accused) (guilty ? out.rightly : out.wrongly)++;
}

// One node: its service waits for CPUs at its own hours, whatever the pods beside it do.
class QuietNode {
 public:
  explicit QuietNode(uint64_t seed) : rng_(seed), episodes_(seed) {
    switches_.pressure = switches_.causal = true;
    for (double& cores : use_) cores = 4 * rng_.unit();
  }

  void tick(int second, QuietDays& out) {
    Scene scene;
    scene.at = MonoTime{} + seconds(second);
    scene.wall = WallTime{seconds(1'800'000'000 + second)};
    for (size_t i = 0; i < std::size(use_); ++i) {
      if (rng_.chance(1.0 / 600)) use_[i] = 4 * rng_.unit();
      const std::string uid = fmt::format("batch-{}", i);
      const double most = held_ == uid ? heldTo_ : 100;
      scene.neighbours.push_back({.uid = uid,
                                  .name = "batch/" + uid,
                                  .rank = 2,
                                  .running = seconds(second),
                                  .cores = std::min(use_[i], most)});
    }
    scene.services.push_back(service(second));
    follow(episodes_.step(scene, switches_), out);
  }

 private:
  // About every hour it is slow for a quarter of one.
  Service service(int second) {
    if (rng_.chance(slow_ ? 1.0 / 900 : 1.0 / 3600)) slow_ = !slow_;
    wander_ = 0.8 * wander_ + 2 * normal(rng_);
    const double stall = std::max(0.0, (slow_ ? 28 : 4) + wander_ + (rng_.chance(0.01) ? 20 : 0));
    average_ += (stall - average_) / 10;
    Service out{.uid = "web", .ns = "shop", .name = "web", .application = "shop/web", .cores = 2};
    out.instant.cpu = stall;
    if (second % 10 == 0) out.stalls = Stalls{.cpu = average_};
    return out;
  }

  void follow(const Orders& orders, QuietDays& out) {
    held_.clear();
    for (const Orders::Cap& cap : orders.caps) held_ = cap.uid, heldTo_ = cap.cores;
    for (const api::InterferenceReport& report : episodes_.takeReports("n1")) {
      if (report.status.outcome.empty()) continue;
      ++out.episodes;
      for (const api::InterferenceSuspect& one : report.status.suspects) {
        out.experiments += !one.verified.empty();
        out.accusations += one.verified == "guilty";
      }
    }
  }

  Rng rng_;
  Episodes episodes_;
  Switches switches_;
  double use_[5] = {};
  std::string held_;
  double heldTo_ = 0;
  bool slow_ = false;
  double wander_ = 0, average_ = 4;
};

}  // namespace

SimulatedCases simulateCases(int64_t cases, uint64_t seed) {
  SimulatedCases out;
  out.cases = cases;
  constexpr Character kDecoys[] = {Character::kShadow, Character::kFollower, Character::kShadow,
                                   Character::kNeighbour};
  for (int64_t i = 0; i < cases; ++i) {
    const bool guilty = i % 2 == 0;
    const auto lot = static_cast<uint64_t>(i);
    World world(seed * 1000 + lot, guilty ? Character::kGuilty : kDecoys[i / 2 % 4]);
    const double seen = correlationIn(world);
    for (size_t k = 0; k < kCorrelations.size(); ++k)
      count(guilty, seen >= kCorrelations[k], out.correlation[k]);
    count(guilty, experimentOn(world, lot).kind == Verdict::Kind::kGuilty, out.proof);
  }
  return out;
}

QuietDays simulateQuietDays(int64_t days, uint64_t seed) {
  QuietDays out;
  out.days = days;
  QuietNode node(seed);
  for (int64_t second = 1; second <= days * kDay; ++second)
    node.tick(static_cast<int>(second), out);
  return out;
}

std::string toTable(const SimulatedCases& cases) {
  std::string out = fmt::format("\n{} cases on simulated signals\n", cases.cases);
  out += lineOf("experiment", cases.proof);
  for (size_t k = 0; k < kCorrelations.size(); ++k)
    out += lineOf(fmt::format("correlation from {:.2f}", kCorrelations[k]), cases.correlation[k]);
  return out;
}

std::string toTable(const QuietDays& days) {
  return fmt::format(
      "{} simulated days on which nobody hurts anybody: {} episodes, {} experiments, {} false "
      "accusations, {:.2f} a day\n",
      days.days, days.episodes, days.experiments, days.accusations, days.perDay());
}

std::string toJson(const InterferenceBench& bench, const SimulatedCases& cases,
                   const QuietDays& days) {
  json::Value out = json::parse(toJson(bench)).value();
  json::Object& top = out.get_object();
  top["simulated"] = json::Object{{"cases", cases.cases},
                                  {"precision", cases.proof.precision()},
                                  {"recall", cases.proof.recall()}};
  top["quietDays"] = json::Object{{"days", days.days},
                                  {"episodes", days.episodes},
                                  {"experiments", days.experiments},
                                  {"accusations", days.accusations}};
  return json::write(out);
}

}  // namespace mangrove::agent
