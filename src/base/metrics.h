#pragma once
// Counters, gauges and histograms in Prometheus' text format.
//
//   Registry registry;
//   auto& writes = registry.counters("mangrove_agent_writes_total", "Control-file writes.",
//                                    {"file", "result"});
//   Counter ok = writes.with({"cpu.max", "ok"});     // keep it: the label lookup happens once
//   ok.inc();
//   server.onGet("/metrics", [&] { return registry.exposition(); });
//
// Handles (Counter, Gauge, Histogram) are cheap to copy, may be used from any thread without a
// lock, and stay valid after their child was removed (they then count for nobody) and after the
// registry is gone. Families are owned by the registry and live as long as it does; asking for one
// twice gives the same one.
//
// Why not prometheus-cpp underneath: its families hand out references that dangle when a child is
// removed (pods come and go every minute here), collecting copies every label of every child, and
// it exists only as a shared library. What we need of it is smaller than the wrapper would be.

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove {

namespace metrics_detail {
struct Cell;
struct Buckets;
}  // namespace metrics_detail

class Counter {
 public:
  Counter() = default;      // counts for nobody
  void inc(double by = 1);  // by < 0 is ignored: counters only grow
  double value() const;

 private:
  friend class CounterFamily;
  explicit Counter(std::shared_ptr<metrics_detail::Cell> cell) : cell_(std::move(cell)) {}
  std::shared_ptr<metrics_detail::Cell> cell_;
};

class Gauge {
 public:
  Gauge() = default;
  void set(double value);
  void add(double by);
  double value() const;

 private:
  friend class GaugeFamily;
  explicit Gauge(std::shared_ptr<metrics_detail::Cell> cell) : cell_(std::move(cell)) {}
  std::shared_ptr<metrics_detail::Cell> cell_;
};

class Histogram {
 public:
  Histogram() = default;
  void observe(double value);
  uint64_t count() const;
  double sum() const;

 private:
  friend class HistogramFamily;
  explicit Histogram(std::shared_ptr<metrics_detail::Buckets> buckets)
      : buckets_(std::move(buckets)) {}
  std::shared_ptr<metrics_detail::Buckets> buckets_;
};

using LabelValues = std::vector<std::string>;

// What the three kinds of family share: name, help, label names, and children by label values.
class Family {
 public:
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  const std::string& name() const { return name_; }
  // Forgets one child; true when there was one. removeIf forgets all whose values fit.
  virtual bool remove(const LabelValues& values) = 0;
  virtual size_t removeIf(const std::function<bool(const LabelValues&)>& fits) = 0;
  virtual size_t size() const = 0;

 protected:
  friend class Registry;
  Family(std::string name, std::string help, std::vector<std::string> labels);
  virtual const char* type() const = 0;
  virtual void appendChildren(std::string& out) const = 0;
  void checkArity(const LabelValues& values) const;

  std::string name_;
  std::string help_;
  std::vector<std::string> labels_;
  mutable std::mutex mutex_;
};

template <class Child>
class FamilyOf : public Family {
 public:
  bool remove(const LabelValues& values) override;
  size_t removeIf(const std::function<bool(const LabelValues&)>& fits) override;
  size_t size() const override;

 protected:
  using Family::Family;
  template <class Make>
  std::shared_ptr<Child> child(const LabelValues& values, Make make);

  std::map<LabelValues, std::shared_ptr<Child>> children_;
};

class CounterFamily final : public FamilyOf<metrics_detail::Cell> {
 public:
  Counter with(const LabelValues& values);

 private:
  friend class Registry;
  using FamilyOf::FamilyOf;
  const char* type() const override { return "counter"; }
  void appendChildren(std::string& out) const override;
};

class GaugeFamily final : public FamilyOf<metrics_detail::Cell> {
 public:
  Gauge with(const LabelValues& values);

 private:
  friend class Registry;
  using FamilyOf::FamilyOf;
  const char* type() const override { return "gauge"; }
  void appendChildren(std::string& out) const override;
};

class HistogramFamily final : public FamilyOf<metrics_detail::Buckets> {
 public:
  Histogram with(const LabelValues& values);

 private:
  friend class Registry;
  HistogramFamily(std::string name, std::string help, std::vector<std::string> labels,
                  std::vector<double> bounds);
  const char* type() const override { return "histogram"; }
  void appendChildren(std::string& out) const override;
  std::vector<double> bounds_;
};

// Upper bounds for latencies in seconds: 0.5 ms to 10 s.
const std::vector<double>& latencyBounds();

class Registry {
 public:
  // The name must be a legal metric name and not be in use for another type or other labels
  // (CHECK).
  CounterFamily& counters(std::string name, std::string help, std::vector<std::string> labels = {});
  GaugeFamily& gauges(std::string name, std::string help, std::vector<std::string> labels = {});
  HistogramFamily& histograms(std::string name, std::string help,
                              std::vector<std::string> labels = {},
                              std::vector<double> bounds = latencyBounds());
  // Families without labels, straight to the handle.
  Counter counter(std::string name, std::string help) {
    return counters(std::move(name), std::move(help)).with({});
  }
  Gauge gauge(std::string name, std::string help) {
    return gauges(std::move(name), std::move(help)).with({});
  }
  Histogram histogram(std::string name, std::string help,
                      std::vector<double> bounds = latencyBounds()) {
    return histograms(std::move(name), std::move(help), {}, std::move(bounds)).with({});
  }

  // Runs before each exposition, to refresh gauges that are cheaper to read than to keep. Called
  // without a lock held.
  void beforeExposition(std::function<void()> refresh);
  // Text format 0.0.4, families sorted by name.
  std::string exposition() const;
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  template <class F, class... Args>
  F& familyOf(std::string name, std::string help, std::vector<std::string> labels, Args&&... args);

  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Family>> families_;
  std::vector<std::function<void()>> refreshers_;
};

}  // namespace mangrove
