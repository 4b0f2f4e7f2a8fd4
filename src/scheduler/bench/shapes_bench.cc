#include "scheduler/bench/shapes_bench.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <queue>

#include <fmt/core.h>

#include "api/wire/decode.h"
#include "base/number/rng.h"
#include "json/value.h"
#include "placement/engine/engine.h"
#include "scheduler/bench/cases.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {
namespace {

constexpr double kMeanLife = 1000;  // seconds
constexpr int kBox = 800;

// Tasks of the trace that have a GPU, by what they ask of cards in percent, with the CPUs that most
// of their kind ask for.
struct Shape {
  int percent;
  int milliCpu;
  int tasks;
};
constexpr std::array kTrace = {
    Shape{100, 11400, 3911}, Shape{81, 3152, 1078}, Shape{47, 11908, 750}, Shape{32, 4000, 328},
    Shape{65, 11908, 253},   Shape{23, 4000, 140},  Shape{46, 6000, 128},  Shape{59, 3152, 75},
    Shape{16, 4000, 74},     Shape{55, 4152, 72},   Shape{22, 4000, 62},   Shape{37, 4000, 47},
    Shape{kBox, 88000, 44},  Shape{11, 4000, 24},   Shape{48, 4000, 19},   Shape{200, 16200, 16},
    Shape{400, 32200, 15},   Shape{5, 4000, 7},     Shape{33, 4000, 7},    Shape{35, 4000, 6},
    Shape{27, 4000, 4},      Shape{44, 4000, 2},    Shape{14, 4000, 1},    Shape{29, 4000, 1},
};
constexpr int kTasks = 7064;

struct Job {
  Shape shape;
  double comes = 0, life = 0;
};

double exponential(Rng& rng) {
  return -std::log(static_cast<double>(rng.below(1'000'000) + 1) / 1'000'001);
}

const Shape& shapeOf(Rng& rng) {
  auto number = static_cast<int>(rng.below(kTasks));
  for (const Shape& shape : kTrace)
    if ((number -= shape.tasks) < 0) return shape;
  return kTrace.front();
}

double meanCards() {
  double cards = 0;
  for (const Shape& shape : kTrace) cards += shape.percent / 100.0 * shape.tasks;
  return cards / kTasks;
}

std::vector<Job> jobsOf(uint64_t seed, const ShapesOptions& options) {
  Rng rng(seed);
  const double cards = 8.0 * static_cast<double>(options.nodes);
  const double rate =
      static_cast<double>(options.loadPercent) / 100 * cards / meanCards() / kMeanLife;
  std::vector<Job> out;
  double now = 0;
  for (int64_t i = 0; i < options.arrivals; i++) {
    now += exponential(rng) / rate;
    const Shape& shape = shapeOf(rng);
    out.push_back({shape, now, kMeanLife * exponential(rng)});
  }
  return out;
}

std::string jobText(size_t number, const Shape& shape) {
  return fmt::format(
      R"({{"metadata":{{"name":"job-{0}","namespace":"default","uid":"00000000-0000-4000-8000-{0:012x}"}},"spec":{{"schedulerName":"koord-scheduler","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{1}m","memory":"1Gi","koordinator.sh/gpu-core":"{2}","koordinator.sh/gpu-memory-ratio":"{2}"}}}}}}]}}}})",
      number, shape.milliCpu, shape.percent);
}

// A server that shows every binding at once after it was sent.
class ShownBindings final : public Effects {
 public:
  void bind(const PodInfo& pod, std::string_view node, const BindNotes& notes, Done done) override {
    auto bound = std::make_shared<api::Pod>(*pod.pod);
    bound->nodeName = Interned(node);
    for (const auto& [key, value] : notes.annotations) bound->meta.annotations.set(key, value);
    pending_.push_back({pod.pod, std::move(bound), std::move(done)});
  }
  void scheduled(const api::Pod&, std::string_view, std::string_view) override {}
  void failed(const api::Pod&, const PodFailure&, std::string_view) override {}
  void preempt(const api::Pod&, const api::Pod&, std::string_view, std::string_view,
               Done) override {}
  void clearNomination(const api::Pod&) override {}

  struct Bound {
    std::shared_ptr<const api::Pod> before, after;
    Done done;
  };
  std::vector<Bound> take() { return std::exchange(pending_, {}); }

 private:
  std::vector<Bound> pending_;
};

class Course {
 public:
  Course(const std::vector<Job>& jobs, const ShapesOptions& options, bool keeps)
      : jobs_(jobs), options_(options), engine_(clock_, effects_, registry_), keeps_(keeps) {}

  Result<ShapesSide> run() {
    if (auto ok = engine_.configure(config()); !ok) return pass(ok.error());
    addBoxes();
    for (size_t i = 0; i < jobs_.size(); i++) {
      endUntil(jobs_[i].comes);
      moveTo(jobs_[i].comes);
      auto pod = api::decodeText<api::Pod>(jobText(i, jobs_[i].shape));
      if (!pod) return pass(pod.error());
      numbers_[pod->meta.uid] = i;
      engine_.podChanged(nullptr, std::make_shared<api::Pod>(std::move(*pod)));
      schedule();
    }
    return summary();
  }

 private:
  SchedulerConfig config() const {
    auto config = placement::defaultConfig({"koord-scheduler"});
    config.profiles[0].args["DeviceShare"] = json::Object{{"keepShapes", keeps_}};
    for (auto& enabled : config.profiles[0].points["score"])
      if (enabled.name == "DeviceShare") enabled.weight = keeps_ ? 10 : 1;
    return config;
  }
  void addBoxes() {
    const BenchCase& bench = *findCase("Devices");
    for (size_t i = 0; i < static_cast<size_t>(options_.nodes); i++) {
      auto node = api::decodeText<api::Node>(nodeJson(bench, i));
      auto device = api::decodeText<api::Device>(deviceJson(i));
      engine_.nodeChanged(nullptr, std::make_shared<api::Node>(std::move(*node)));
      engine_.cluster().putDevice(fmt::format("node-{}", i),
                                  std::make_shared<api::Device>(std::move(*device)));
    }
  }

  void moveTo(double when) {
    if (when <= now_) return;
    if (counts(now_)) usedTime_ += usedCards_ * (when - now_), time_ += when - now_;
    clock_.advance(
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(when - now_)));
    now_ = when;
  }
  bool counts(double when) const { return when >= jobs_[jobs_.size() / 5].comes; }

  // Jobs that end until then leave, and those who waited for them come in.
  void endUntil(double when) {
    while (!ends_.empty() && ends_.top().first <= when) {
      const auto [at, number] = ends_.top();
      ends_.pop();
      moveTo(at);
      const auto pod = running_.extract(number).mapped();
      usedCards_ -= jobs_[number].shape.percent / 100.0;
      engine_.podChanged(pod, nullptr);
      schedule();
    }
  }

  void schedule() {
    engine_.tick();
    while (engine_.scheduleOne())
      for (auto& bound : effects_.take()) {
        bound.done({});
        engine_.podChanged(bound.before, bound.after);
        began(numbers_.at(bound.after->meta.uid), bound.after);
      }
  }
  void began(size_t number, std::shared_ptr<const api::Pod> pod) {
    const Job& job = jobs_[number];
    running_[number] = std::move(pod);
    ends_.push({now_ + job.life, number});
    usedCards_ += job.shape.percent / 100.0;
    started_[number] = now_;
    if (counts(now_)) (job.shape.percent == kBox ? side_.boxes : side_.others)++;
  }

  ShapesSide summary() {
    std::vector<double> waits;
    for (size_t i = jobs_.size() / 5; i < jobs_.size(); i++) {
      if (jobs_[i].shape.percent == kBox) continue;
      const auto at = started_.find(i);
      waits.push_back((at == started_.end() ? now_ : at->second) - jobs_[i].comes);
    }
    std::sort(waits.begin(), waits.end());
    side_.othersP95Wait = stats::quantile(waits, 0.95);
    side_.used = usedTime_ / std::max(time_, 1e-9) / (8.0 * static_cast<double>(options_.nodes));
    return side_;
  }

  const std::vector<Job>& jobs_;
  const ShapesOptions& options_;
  VirtualClock clock_{WallTime{std::chrono::seconds(1'772'366'400)}};
  Registry registry_;
  ShownBindings effects_;
  Engine engine_;
  const bool keeps_;
  double now_ = 0, usedCards_ = 0, usedTime_ = 0, time_ = 0;
  std::unordered_map<api::Uid, size_t> numbers_;
  std::map<size_t, std::shared_ptr<const api::Pod>> running_;
  std::map<size_t, double> started_;
  using End = std::pair<double, size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  ShapesSide side_;
};

json::Object sideJson(const ShapesSide& side) {
  return {{"boxes", side.boxes},
          {"others", side.others},
          {"othersP95WaitSeconds", side.othersP95Wait},
          {"usedShare", side.used}};
}

}  // namespace

Result<ShapesResult> runShapesBench(const ShapesOptions& options) {
  if (options.nodes < 1 || options.arrivals < 100 || options.seeds < 1)
    return invalid("want at least 1 box, 100 arrivals and 1 seed");
  ShapesResult out;
  std::vector<double> gains, before, after;
  for (int64_t seed = 1; seed <= options.seeds; seed++) {
    const auto jobs = jobsOf(static_cast<uint64_t>(seed), options);
    auto reference = Course(jobs, options, false).run();
    if (!reference) return pass(reference.error());
    auto keeping = Course(jobs, options, true).run();
    if (!keeping) return pass(keeping.error());
    ShapesPair pair{static_cast<uint64_t>(seed), 0, *reference, *keeping};
    for (size_t i = jobs.size() / 5; i < jobs.size(); i++)
      pair.boxesCame += jobs[i].shape.percent == kBox;
    // One more on both sides: a run in which neither placed any says nothing either way.
    gains.push_back(static_cast<double>(keeping->boxes + 1) /
                    static_cast<double>(reference->boxes + 1));
    before.push_back(reference->othersP95Wait);
    after.push_back(keeping->othersP95Wait);
    out.pairs.push_back(pair);
  }
  out.gain = stats::medianInterval(gains, 0.95, 1);
  out.p95Reference = stats::medianOf(before);
  out.p95Keeping = stats::medianOf(after);
  return out;
}

std::string shapesTable(const ShapesResult& result) {
  std::string out =
      fmt::format("{:>4} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "seed", "8 came",
                  "reference", "keepShapes", "p95 s", "p95 s", "used %", "used %");
  int64_t came = 0, reference = 0, keeping = 0;
  for (const ShapesPair& one : result.pairs) {
    came += one.boxesCame, reference += one.reference.boxes, keeping += one.keeping.boxes;
    out += fmt::format("{:>4} {:>8} {:>10} {:>10} {:>10.1f} {:>10.1f} {:>10.1f} {:>10.1f}\n",
                       one.seed, one.boxesCame, one.reference.boxes, one.keeping.boxes,
                       one.reference.othersP95Wait, one.keeping.othersP95Wait,
                       100 * one.reference.used, 100 * one.keeping.used);
  }
  return out + fmt::format(
                   "{} jobs of eight cards came; {} placed by the reference's score, {} with "
                   "keepShapes: {:.2f} times as many, 95 % of medians within {:.2f} to {:.2f}; the "
                   "others' p95 wait {:.1f} s and {:.1f} s\n",
                   came, reference, keeping, result.gain.estimate, result.gain.low,
                   result.gain.high, result.p95Reference, result.p95Keeping);
}

std::string shapesJson(const ShapesResult& result) {
  json::Array pairs;
  for (const ShapesPair& one : result.pairs)
    pairs.push_back(json::Object{{"seed", one.seed},
                                 {"boxesCame", one.boxesCame},
                                 {"reference", sideJson(one.reference)},
                                 {"keepShapes", sideJson(one.keeping)}});
  return json::writePretty(json::Object{{"gain", result.gain.estimate},
                                        {"gainLow", result.gain.low},
                                        {"gainHigh", result.gain.high},
                                        {"othersP95WaitReference", result.p95Reference},
                                        {"othersP95WaitKeepShapes", result.p95Keeping},
                                        {"pairs", std::move(pairs)}}) +
         "\n";
}

}  // namespace mangrove::scheduler
