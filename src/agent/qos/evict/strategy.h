#pragma once
// Eviction over the tick: builds the tasks whose features are on, in their fixed order, takes
// victims until each is satisfied, and then cools down. What a task is: task.h.

#include <map>
#include <set>
#include <string>

#include "agent/qos/evict/lately.h"
#include "agent/qos/evict/least_loss.h"
#include "agent/qos/evict/task.h"
#include "agent/qos/evict/watermarks.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

// What is known of losses at this tick; refers to it.
LossView lossView(const Situation& now, const EvictedLately& lately);

// What both evictors share.
class Evictor : public Strategy {
 public:
  Evictor(std::shared_ptr<EvictedLately> lately, EvictorOptions options)
      : options_(options), lately_(std::move(lately)) {}
  Wishes decide(const Situation& now) final;
  void sent(const Ousting& one, MonoTime at) final;

 protected:
  virtual bool isOn(const FeatureGates& gates) const = 0;
  virtual std::vector<EvictTask> tasks(const Situation& now, const EvictInputs& in) const = 0;
  EvictorOptions options_;

 private:
  std::vector<EvictPod> candidates(const Situation& now) const;
  void run(const std::vector<EvictTask>& tasks, const Situation& now, Wishes& out);

  std::shared_ptr<EvictedLately> lately_;
  MonoTime coolUntil_ = MonoTime::min();
  WallTime wall_{};  // of the last look
};

class MemoryEvictor final : public Evictor {
 public:
  explicit MemoryEvictor(std::shared_ptr<EvictedLately> lately,
                         EvictorOptions options = {std::chrono::seconds(4), false});
  StrategyInfo info() const override {
    return {.name = "memory-evict", .gate = {}, .period = options_.interval};
  }

 private:
  bool isOn(const FeatureGates& gates) const override;
  std::vector<EvictTask> tasks(const Situation& now, const EvictInputs& in) const override;
};

class CpuEvictor final : public Evictor {
 public:
  explicit CpuEvictor(std::shared_ptr<EvictedLately> lately,
                      EvictorOptions options = {std::chrono::seconds(20), true});
  StrategyInfo info() const override {
    return {.name = "cpu-evict", .gate = {}, .period = options_.interval};
  }

 private:
  bool isOn(const FeatureGates& gates) const override;
  std::vector<EvictTask> tasks(const Situation& now, const EvictInputs& in) const override;
};

// Marks on memory, disks, inodes, load, CPU and pressure: watermarks.h.
class WatermarkEvictor final : public Strategy {
 public:
  static constexpr Duration kCoolDown = std::chrono::seconds(30);  // between two rounds

  explicit WatermarkEvictor(std::shared_ptr<EvictedLately> lately) : lately_(std::move(lately)) {}
  StrategyInfo info() const override {
    return {.name = "watermark-evict", .gate = "WatermarkEvict", .period = std::chrono::seconds(1)};
  }
  Wishes decide(const Situation& now) override;
  void sent(const Ousting& one, MonoTime at) override;

 private:
  std::optional<double> valueOf(const Situation& now, std::string_view metric);
  std::optional<double> diskBusy(const Situation& now);
  std::vector<WatermarkPod> candidates(const Situation& now, std::string_view metric) const;
  std::vector<MarkVictim> victimsOf(const Situation& now, const Watermark& mark, double value,
                                    std::span<const WatermarkPod> pods) const;

  std::shared_ptr<EvictedLately> lately_;
  WatermarkTimer timer_;
  std::map<std::string, int64_t> busy_;
  MonoTime busyAt_ = MonoTime::min(), coolUntil_ = MonoTime::min();
  WallTime wall_{};  // of the last look
};

}  // namespace mangrove::agent
