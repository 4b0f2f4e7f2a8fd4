#pragma once
// Eviction over the tick: builds the tasks whose features are on, in their fixed order, takes
// victims until each is satisfied, and then cools down. What a task is: task.h.

#include <map>
#include <set>
#include <string>

#include "agent/qos/evict/task.h"
#include "agent/qos/strategy.h"

namespace mangrove::agent {

// Who was sent away lately, shared by all evictors of an agent.
class EvictedLately {
 public:
  static constexpr Duration kRemember = std::chrono::minutes(2);
  void add(std::string uid, MonoTime at) { at_[std::move(uid)] = at; }
  bool has(std::string_view uid) const { return at_.find(uid) != at_.end(); }
  void forget(MonoTime now);

 private:
  std::map<std::string, MonoTime, std::less<>> at_;
};

struct EvictorOptions {
  Duration coolDown{};
  bool coolAtStart = false;
  Duration interval = std::chrono::seconds(1);  // between two samples
};

// What both evictors share.
class Evictor : public Strategy {
 public:
  Evictor(std::shared_ptr<EvictedLately> lately, EvictorOptions options)
      : options_(options), lately_(std::move(lately)) {}
  Wishes decide(const Situation& now) final;

 protected:
  virtual bool isOn(const FeatureGates& gates) const = 0;
  virtual std::vector<EvictTask> tasks(const Situation& now, const EvictInputs& in) const = 0;
  EvictorOptions options_;

 private:
  std::vector<EvictPod> candidates(const Situation& now) const;
  void run(const std::vector<EvictTask>& tasks, const Situation& now, Wishes& out);

  std::shared_ptr<EvictedLately> lately_;
  MonoTime coolUntil_ = MonoTime::min();
};

class MemoryEvictor final : public Evictor {
 public:
  explicit MemoryEvictor(std::shared_ptr<EvictedLately> lately,
                         EvictorOptions options = {std::chrono::seconds(4), false});
  StrategyInfo info() const override { return {.name = "memory-evict"}; }

 private:
  bool isOn(const FeatureGates& gates) const override;
  std::vector<EvictTask> tasks(const Situation& now, const EvictInputs& in) const override;
};

class CpuEvictor final : public Evictor {
 public:
  explicit CpuEvictor(std::shared_ptr<EvictedLately> lately,
                      EvictorOptions options = {std::chrono::seconds(20), true});
  StrategyInfo info() const override { return {.name = "cpu-evict"}; }

 private:
  bool isOn(const FeatureGates& gates) const override;
  std::vector<EvictTask> tasks(const Situation& now, const EvictInputs& in) const override;
};

}  // namespace mangrove::agent
