// A cluster at 95 % offered load, pods coming and going: with keepShapes more whole boxes are had
// than by the reference's score. Shares and single cards are as common as in the published mix of a
// public trace of a GPU cluster; jobs of 2, 4 and 8 cards are made several times as common, so that
// a run has enough of them to count.
#include <array>
#include <cmath>
#include <map>
#include <queue>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "base/testing/size.h"
#include "placement/testing/device_box.h"

namespace mangrove::placement {
namespace {

constexpr double kMeanLife = 100, kMeanCards = 1.057, kLoad = 0.95;

struct Job {
  int percent = 100;  // of all its cards together
  double life = 0;
  bool isBox() const { return percent == 800; }
};

double exponential(Rng& rng) {
  return -std::log(static_cast<double>(rng.below(1'000'000) + 1) / 1'000'001);
}

Job jobOf(Rng& rng) {
  constexpr std::array kShares = {20, 25, 40, 50, 60, 80};
  const uint64_t kind = rng.below(100);
  int percent = 100;
  if (kind < 43) percent = kShares[rng.below(kShares.size())];
  if (kind >= 93) percent = kind < 95 ? 200 : kind < 97 ? 400 : 800;
  return {percent, kMeanLife * exponential(rng)};
}

class Course {
 public:
  Course(uint64_t seed, bool keeps, int nodes) : rng_(seed), nodes_(nodes), lab_(configOf(keeps)) {
    for (int i = 0; i < nodes; i++) putBox(lab_, fmt::format("n{}", i), {.nics = 0});
  }
  // How many jobs of eight cards got their box.
  int run(int arrivals) {
    const double rate = kLoad * nodes_ * 8 / kMeanCards / kMeanLife;
    for (int i = 0; i < arrivals; i++) {
      now_ += exponential(rng_) / rate;
      for (; !ends_.empty() && ends_.top().first <= now_; ends_.pop())
        lab_.removePod(ends_.top().second);
      lab_.clock().advance(std::chrono::seconds(11));  // longer than any back-off
      lab_.engine().tick();
      const std::string name = fmt::format("p{}", i);
      const Job& job = waiting_[name] = jobOf(rng_);
      lab_.pod(devicePod(name, percent(job.percent)));
      lab_.run();
      collect();
    }
    return boxes_;
  }

 private:
  static SchedulerConfig configOf(bool keeps) {
    auto config = defaultConfig({"default-scheduler"});
    config.profiles[0].args["DeviceShare"] = json::Object{{"keepShapes", keeps}};
    for (auto& enabled : config.profiles[0].points["score"])
      if (enabled.name == "DeviceShare") enabled.weight = keeps ? 10 : 1;
    return config;
  }
  void collect() {
    std::erase_if(waiting_, [&](const auto& entry) {
      if (lab_.nodeOf(entry.first).empty()) return false;
      ends_.push({now_ + entry.second.life, entry.first});
      boxes_ += entry.second.isBox();
      return true;
    });
    lab_.takeLog();
  }

  using End = std::pair<double, std::string>;
  Rng rng_;
  int nodes_;
  Lab lab_;
  double now_ = 0;
  int boxes_ = 0;
  std::map<std::string, Job> waiting_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

TEST(KeptShapes, leave_more_whole_boxes) {
  const int seeds = sized(2, 20), nodes = sized(24, 40), arrivals = sized(900, 3000);
  int spread = 0, kept = 0;
  for (int seed = 1; seed <= seeds; seed++) {
    const int before = Course(static_cast<uint64_t>(seed), false, nodes).run(arrivals);
    const int after = Course(static_cast<uint64_t>(seed), true, nodes).run(arrivals);
    if (isLongRun()) fmt::print("seed {}: {} boxes, {} with keepShapes\n", seed, before, after);
    spread += before;
    kept += after;
  }
  EXPECT_GT(kept, 0);
  EXPECT_GE(kept * 100, spread * 110);
}

}  // namespace
}  // namespace mangrove::placement
