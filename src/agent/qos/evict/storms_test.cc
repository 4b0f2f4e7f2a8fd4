// Lost work against the reference's orders: a thousand nodes that run out of memory or CPU, the same
// jobs, once by the reference's order of each feature and once by ours. What a job loses is known to
// the job; a third of the jobs says nothing, and the order must do without. Mix and seeds were committed
// before the first run (git log of this file) and are not tuned. The bar is a half. It cannot be met on
// these storms by an order that puts priority first: the same order with every true loss in its hands
// loses what `knowing` says, and this holds ours to a twentieth above that.
#include <cstdio>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/qos/evict/least_loss.h"
#include "api/annotations/checkpoint.h"
#include "base/number/rng.h"
#include "base/text/time_text.h"
#include "stakes/stake.h"
#include "victims/order.h"

namespace mangrove::agent {
namespace {

using std::chrono::seconds;

constexpr uint64_t kSeeds[] = {2030, 2031, 2032, 2033, 2034, 2035, 2036, 2037, 2038, 2039};
constexpr int kStormsEach = 100;
constexpr double kSilent = 1.0 / 3;
const WallTime kNow = *parseTime("2026-11-18T02:00:00Z");

struct Kind {
  const char* labels;
  int64_t share;     // percent of the pods
  int64_t oldest;    // seconds
  int64_t saves[2];  // every so many seconds, drawn between; {0, 0}: never
  int64_t restart;   // seconds
};
constexpr Kind kMix[] = {
    {R"("spark-role":"executor","spark-app-selector":"s")", 35, 7200, {0, 0}, 40},
    {R"("training.kubeflow.org/replica-type":"worker","training.kubeflow.org/job-name":"t")",
     25,
     86'400,
     {600, 1800},
     120},
    {R"("component":"taskmanager","type":"flink-native-kubernetes","app":"f")",
     20,
     86'400,
     {60, 300},
     30},
    {R"("app":"etl")", 20, 14'400, {0, 0}, 10},
};
constexpr std::pair<int64_t, int32_t> kPriorities[] = {{20, 5000}, {60, 5500}, {20, 5999}};

template <class T, size_t N, class Weight>
const T& draw(Rng& rng, const T (&from)[N], Weight weight) {
  int64_t at = static_cast<int64_t>(rng.below(100));
  for (const T& one : from) {
    if (at < weight(one)) return one;
    at -= weight(one);
  }
  return from[N - 1];
}

struct Job {
  api::Pod pod;
  int64_t memory = 0;
  double cores = 0;  // used
  double lost = 0;   // core seconds that are really gone
};

Job makeJob(Rng& rng, size_t index) {
  const Kind& kind = draw(rng, kMix, [](const Kind& one) { return one.share; });
  const int32_t priority = draw(rng, kPriorities, [](const auto& one) { return one.first; }).second;
  const int64_t asked = rng.between(1, 8);
  const int64_t age = rng.between(60, kind.oldest);
  const bool saves = kind.saves[1] > 0;
  const int64_t interval = saves ? rng.between(kind.saves[0], kind.saves[1]) : age;
  const int64_t unsaved = saves ? std::min(age, rng.between(0, interval)) : age;
  Job job;
  job.memory = rng.between(1, 16) * kGiB.v;
  job.cores = static_cast<double>(asked) * static_cast<double>(rng.between(30, 100)) / 100;
  job.lost = job.cores * static_cast<double>(unsaved);
  auto pod = api::decodeText<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"p{0}","namespace":"ns","uid":"p{0}","labels":)"
      R"({{"koordinator.sh/qosClass":"BE","koordinator.sh/eviction-enabled":"true",{1}}}}},)"
      R"("spec":{{"priority":{4},"containers":[{{"name":"c","resources":{{"requests":)"
      R"({{"kubernetes.io/batch-cpu":"{2}"}}}}}}]}},"status":{{"phase":"Running","startTime":"{3}"}}}})",
      index, kind.labels, asked * 1000, formatTime(kNow - seconds(age)), priority));
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().text());
  job.pod = std::move(*pod);
  if (rng.chance(kSilent)) return job;
  job.pod.meta.annotations.set(api::annotation::kCheckpoint,
                               fmt::format(R"({{"mode":"{}","restartSeconds":{}}})",
                                           saves ? "signal" : "none", kind.restart));
  if (saves)
    job.pod.meta.annotations.set(api::annotation::kCheckpointLast,
                                 formatTime(kNow - seconds(unsaved)));
  return job;
}

struct Losses {
  double ours = 0, reference = 0;
  double knowing = 0, unranked = 0;  // with every true loss; and as if all had one priority
  size_t ourVictims = 0, referenceVictims = 0;
};

// A node of 64 cores and 256 GiB whose services grew until it is over its threshold.
class Storm {
 public:
  explicit Storm(Rng& rng) {
    const size_t count = 6 + rng.below(20);
    for (size_t i = 0; i < count; i++) jobs_.push_back(makeJob(rng, i));
    for (const Job& job : jobs_) pods_.push_back({&job.pod, job.cores, Bytes{job.memory}, false});
    node_.status.capacity.set("cpu", Quantity::of(64));
    node_.status.capacity.set("memory", Quantity::of(kGiB * 256));
    slo_.enable = true;
    slo_.memoryEvictThresholdPercent = slo_.cpuEvictThresholdPercent = Percent{70};
    slo_.memoryEvictLowerPercent = slo_.cpuEvictLowerPercent = Percent{70 - rng.between(2, 15)};
    slo_.evictEnabledPriorityThreshold = 5999;
    used_ = 71 + static_cast<int64_t>(rng.below(15));
    which_ = rng.below(3);
  }
  void weigh(Losses& sum) const {
    const EvictInputs in{slo_, node_, pods_, kGiB * 256 * used_ / 100,
                         64.0 * static_cast<double>(used_) / 100};
    EvictTask task = which_ == 0 ? beMemoryTask(in) : which_ == 1 ? memoryTask(in) : cpuTask(in);
    ASSERT_TRUE(task.valid && !task.release.empty());
    ASSERT_EQ(task.order.size(), pods_.size());
    task.pods = pods_;
    for (const EvictPod* one : pickVictims(task)) {
      sum.reference += lossOf(*one);
      sum.referenceVictims++;
    }
    const LossView view{.now = kNow, .cpuSeconds = [this](const api::Pod& pod) {
                          return std::optional(measured(pod));
                        }};
    for (const Victim& one : leastLossVictims(std::span(&task, 1), view)) {
      sum.ours += lossOf(*one.pod);
      sum.ourVictims++;
    }
    sum.knowing += leastTrueLoss(task, true);
    sum.unranked += leastTrueLoss(task, false);
  }

 private:
  // What the order would lose if each job told the truth and a restart cost nothing.
  double leastTrueLoss(const EvictTask& task, bool ranked) const {
    std::vector<victims::Candidate> candidates;
    for (const EvictPod* one : task.order) {
      victims::Candidate truth = stakes::candidateOf(*one->pod);
      truth.progress = {.says = victims::Progress::Says::kNothing,
                        .cores = lossOf(*one),
                        .started = kNow - seconds(1),
                        .restart = Duration::zero()};
      if (!ranked) truth.priority = 0;
      truth.frees = {static_cast<double>(task.frees(*one).begin()->second)};
      candidates.push_back(std::move(truth));
    }
    const auto need = static_cast<double>(task.release.begin()->second);
    return victims::chooseVictims(candidates, {.need = {need}, .evenIfShort = true, .now = kNow})
        .cost.lost;
  }
  double lossOf(const EvictPod& one) const {
    return jobs_[static_cast<size_t>(&one - pods_.data())].lost;
  }
  // As its cgroup counts it.
  double measured(const api::Pod& pod) const {
    for (const Job& job : jobs_)
      if (&job.pod == &pod)
        return job.cores * std::chrono::duration<double>(kNow - pod.status.startTime).count();
    return 0;
  }

  std::vector<Job> jobs_;
  std::vector<EvictPod> pods_;
  api::Node node_;
  api::ResourceThresholdStrategy slo_;
  int64_t used_ = 0;
  uint64_t which_ = 0;
};

TEST(MeasuredStorms, LessIsLostThanByTheReferencesOrders) {
  Losses sum;
  for (const uint64_t seed : kSeeds) {
    Rng rng(seed);
    for (int i = 0; i < kStormsEach; i++) Storm(rng).weigh(sum);
  }
  std::printf(
      "1000 storms: ours %.0f core seconds lost by %zu pods, the reference's %.0f by %zu: %.1f "
      "%%\n",
      sum.ours, sum.ourVictims, sum.reference, sum.referenceVictims,
      sum.ours * 100 / sum.reference);
  std::printf(
      "the same order that knows every true loss: %.1f %%; and if all had one priority: %.1f %%\n",
      sum.knowing * 100 / sum.reference, sum.unranked * 100 / sum.reference);
  EXPECT_GT(sum.referenceVictims, 1000u);
  EXPECT_LE(sum.ours, 1.05 * sum.knowing);
  EXPECT_LE(sum.unranked, 0.5 * sum.reference);
}

}  // namespace
}  // namespace mangrove::agent
