#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "base/number/rng.h"
#include "sim/shapes.h"

namespace mangrove::sim {
namespace {

constexpr Seconds kDay = 86400;
constexpr Seconds kEvery = 60;     // of curves
constexpr float kMostCurve = 1.5;  // a service may want more than it asked for
constexpr double kPeakHour = 15;   // of those that peak together

double exponential(Rng& rng, double mean) {
  return -mean * std::log(1 - rng.unit());
}

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1 - rng.unit()));
  return radius * std::cos(2 * std::numbers::pi * rng.unit());
}

// When something happens that happens so often a day.
std::vector<Seconds> momentsOf(Rng& rng, double aDay, Seconds length) {
  std::vector<Seconds> out;
  if (aDay <= 0) return out;
  for (double at = exponential(rng, kDay / aDay); at < static_cast<double>(length);
       at += exponential(rng, kDay / aDay))
    out.push_back(static_cast<Seconds>(at));
  return out;
}

struct Burst {
  Seconds at, lasts;
  double factor;
};

class Generator {
 public:
  Generator(const Shape& shape, const GenerateOptions& options)
      : shape_(shape), options_(options), rng_(options.seed * 1000003 + shape.name.size()) {}

  Trace run() {
    trace_.length = options_.days * kDay;
    trace_.nodes.push_back({"n", options_.nodes, MilliCpu{shape_.nodeCores * 1000},
                            kGiB * shape_.nodeGi, MilliCpu{500}, kGiB * 2});
    for (Seconds at : momentsOf(rng_, shape_.commonBursts, trace_.length))
      common_.push_back(burst(at));
    addServices();
    addJobs();
    addOutages();
    return std::move(trace_);
  }

 private:
  double cores() const { return static_cast<double>(options_.nodes * shape_.nodeCores); }

  // Five minutes to an hour, more often short.
  Burst burst(Seconds at) {
    const auto lasts = static_cast<Seconds>(300 * std::pow(12, rng_.unit()));
    return {at, lasts, 1 + exponential(rng_, shape_.burstHeight)};
  }

  void addServices() {
    const double wanted = shape_.requested * cores();
    double asked = 0;
    for (int i = 0; asked < wanted; i++) {
      Service service;
      service.name = fmt::format("s{}", i);
      const int64_t size = int64_t{1} << rng_.below(4);  // 1, 2, 4 or 8 cores
      const double room = (wanted - asked) / static_cast<double>(size);
      const double replicas = 2 + exponential(rng_, 1 + cores() / 200);
      service.replicas = static_cast<int64_t>(std::max(std::min(replicas, std::ceil(room)), 1.0));
      service.cpu = MilliCpu{size * 1000};
      service.memory =
          Bytes{static_cast<int64_t>(static_cast<double>(kGiB.v) * static_cast<double>(size) *
                                     shape_.giPerCore * (0.75 + 0.5 * rng_.unit()))};
      service.noise = shape_.noise;
      service.memoryUse = 0.5 + 0.4 * rng_.unit();
      service.curve = trace_.curves.size();
      service.deploys = momentsOf(rng_, shape_.deploys / 7, trace_.length);
      trace_.curves.push_back(curve(service.name));
      asked += static_cast<double>(size * service.replicas);
      trace_.services.push_back(std::move(service));
    }
  }

  Curve curve(const std::string& name) {
    const double mean = shape_.used * std::exp(0.3 * normal(rng_) - 0.045);
    const bool together = rng_.chance(shape_.together);
    const double peak = together ? kPeakHour + normal(rng_) : 24 * rng_.unit();
    Curve out{name, kEvery, std::vector<float>(static_cast<size_t>(trace_.length / kEvery))};
    for (size_t i = 0; i < out.points.size(); i++)
      out.points[i] = static_cast<float>(mean * wave(static_cast<Seconds>(i) * kEvery, peak));
    for (Seconds at : momentsOf(rng_, shape_.ownBursts, trace_.length)) raise(out, burst(at));
    for (const Burst& one : common_)
      if (rng_.chance(0.7)) raise(out, one);
    return out;
  }

  // A trace begins on a Monday at midnight.
  double wave(Seconds at, double peakHour) const {
    const double hour = static_cast<double>(at % kDay) / 3600;
    const double angle = 2 * std::numbers::pi * (hour - peakHour) / 24;
    const double day = 1 + shape_.daily * (0.8 * std::cos(angle) + 0.2 * std::cos(2 * angle));
    const bool weekend = at / kDay % 7 >= 5;
    return day * (weekend ? shape_.weekend : 1);
  }

  static void raise(Curve& curve, const Burst& burst) {
    const auto size = static_cast<Seconds>(curve.points.size());
    for (Seconds i = burst.at / kEvery; i < std::min(size, (burst.at + burst.lasts) / kEvery);
         i++) {
      float& point = curve.points[static_cast<size_t>(i)];
      point = std::min(static_cast<float>(point * burst.factor), kMostCurve);
    }
  }

  // Core-seconds that batch work brings in all.
  double batchWork() const {
    const double left = cores() * (1 - shape_.requested * shape_.used);
    return shape_.batchLoad * left * static_cast<double>(trace_.length);
  }
  double meanWork() const {  // of a task
    const double seconds =
        60 * shape_.taskMinutes * std::exp(shape_.taskSpread * shape_.taskSpread / 2);
    return seconds * shape_.taskCores;
  }

  void addJobs() {
    constexpr double kTasks = 8;  // of a job, in the mean
    const auto usual = static_cast<int64_t>(batchWork() / meanWork());
    const int64_t tasks =
        std::max<int64_t>(options_.pods > 0 ? options_.pods - trace_.podCount() : usual, 1);
    const double longer = static_cast<double>(usual) / static_cast<double>(tasks);
    const double aDay = static_cast<double>(tasks) / kTasks / static_cast<double>(options_.days);
    int64_t left = tasks;
    for (Seconds at : momentsOf(rng_, aDay, trace_.length)) {
      Job job = oneJob(at, longer);
      job.tasks = std::min(left, 1 + static_cast<int64_t>(exponential(rng_, kTasks - 0.5)));
      left -= job.tasks;
      trace_.jobs.push_back(std::move(job));
      if (left == 0) break;
    }
  }

  Job oneJob(Seconds at, double longer) {
    Job job;
    job.name = fmt::format("j{}", trace_.jobs.size());
    job.at = at;
    const double size = 0.5 + rng_.unit();
    job.cpu = MilliCpu{std::max<int64_t>(std::llround(1000 * shape_.taskCores * size), 100)};
    job.memory = Bytes{std::llround(static_cast<double>(kGiB.v) * shape_.taskGi * size)};
    const double work =
        60 * shape_.taskMinutes * std::exp(shape_.taskSpread * normal(rng_)) * longer;
    job.work = static_cast<Seconds>(std::clamp(work, 10.0, 5.0 * kDay));
    job.checkpoint = rng_.chance(0.3) ? 600 : 0;
    return job;
  }

  void addOutages() {
    for (int64_t i = 0; i < options_.nodes; i++)
      for (Seconds at : momentsOf(rng_, shape_.outages / 30, trace_.length))
        trace_.outages.push_back(
            {fmt::format("n-{}", i), at, 600 + static_cast<Seconds>(exponential(rng_, 3600))});
  }

  const Shape& shape_;
  const GenerateOptions& options_;
  Rng rng_;
  Trace trace_;
  std::vector<Burst> common_;
};

}  // namespace

Trace generate(const Shape& shape, const GenerateOptions& options) {
  return Generator(shape, options).run();
}

}  // namespace mangrove::sim
