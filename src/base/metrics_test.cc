#include "base/metrics.h"

#include <limits>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

TEST(MetricsTest, ExposesFamiliesSortedByName) {
  Registry registry;
  auto& writes = registry.counters("writes_total", "Control-file writes.", {"file", "result"});
  Counter ok = writes.with({"cpu.max", "ok"});
  ok.inc();
  ok.inc(2.5);
  ok.inc(-7);
  writes.with({"cpu.max", "failed"});
  registry.gauge("pods", "Pods on this node.").set(-3);
  EXPECT_EQ(registry.exposition(),
            "# HELP pods Pods on this node.\n"
            "# TYPE pods gauge\n"
            "pods -3\n"
            "# HELP writes_total Control-file writes.\n"
            "# TYPE writes_total counter\n"
            "writes_total{file=\"cpu.max\",result=\"failed\"} 0\n"
            "writes_total{file=\"cpu.max\",result=\"ok\"} 3.5\n");
}

TEST(MetricsTest, HistogramBucketsAreCumulativeAndIncludeTheirBound) {
  Registry registry;
  auto& times = registry.histograms("seconds", "Time.", {"verb"}, {0.1, 1});
  Histogram get = times.with({"GET"});
  for (double value : {0.05, 0.1, 0.5, 7.0}) get.observe(value);
  EXPECT_EQ(registry.exposition(),
            "# HELP seconds Time.\n"
            "# TYPE seconds histogram\n"
            "seconds_bucket{verb=\"GET\",le=\"0.1\"} 2\n"
            "seconds_bucket{verb=\"GET\",le=\"1\"} 3\n"
            "seconds_bucket{verb=\"GET\",le=\"+Inf\"} 4\n"
            "seconds_sum{verb=\"GET\"} 7.65\n"
            "seconds_count{verb=\"GET\"} 4\n");
  EXPECT_EQ(get.count(), 4u);
}

TEST(MetricsTest, EscapesHelpAndLabelValues) {
  Registry registry;
  registry.gauges("g", "a\\b\nc \"d\"", {"l"}).with({"x\\y\n\"z\""}).set(1);
  EXPECT_EQ(registry.exposition(),
            "# HELP g a\\\\b\\nc \"d\"\n# TYPE g gauge\ng{l=\"x\\\\y\\n\\\"z\\\"\"} 1\n");
}

TEST(MetricsTest, NumbersThatAreNotFinite) {
  Registry registry;
  Gauge gauge = registry.gauge("g", "");
  const auto line = [&] { return registry.exposition().substr(registry.exposition().rfind("g ")); };
  gauge.set(std::numeric_limits<double>::infinity());
  EXPECT_EQ(line(), "g +Inf\n");
  gauge.set(-std::numeric_limits<double>::infinity());
  EXPECT_EQ(line(), "g -Inf\n");
  gauge.set(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(line(), "g NaN\n");
}

TEST(MetricsTest, RemovedChildrenVanishAndTheirHandlesStaySafe) {
  Registry registry;
  auto& usage = registry.gauges("usage", "", {"pod", "container"});
  Gauge kept = usage.with({"a", "c"});
  kept.set(1);
  usage.with({"b", "c1"}).set(2);
  usage.with({"b", "c2"}).set(3);
  EXPECT_EQ(usage.removeIf([](const LabelValues& values) { return values[0] == "b"; }), 2u);
  EXPECT_TRUE(usage.remove({"a", "c"}));
  EXPECT_FALSE(usage.remove({"a", "c"}));
  EXPECT_EQ(usage.size(), 0u);
  kept.add(5);
  EXPECT_EQ(kept.value(), 6);
  EXPECT_EQ(registry.exposition(), "# HELP usage \n# TYPE usage gauge\n");
  EXPECT_EQ(usage.with({"a", "c"}).value(), 0);
}

TEST(MetricsTest, SameFamilyAndChildWhenAskedAgain) {
  Registry registry;
  registry.counters("c", "first", {"l"}).with({"x"}).inc();
  registry.counters("c", "second", {"l"}).with({"x"}).inc();
  EXPECT_EQ(registry.counters("c", "", {"l"}).with({"x"}).value(), 2);
  Counter nobody;
  nobody.inc();
  Histogram{}.observe(1);
  Gauge{}.set(1);
}

TEST(MetricsTest, RefreshersRunBeforeExposition) {
  Registry registry;
  Gauge depth = registry.gauge("depth", "");
  registry.beforeExposition([&] { depth.add(1); });
  registry.exposition();
  EXPECT_NE(registry.exposition().find("depth 2\n"), std::string::npos);
}

TEST(MetricsDeathTest, MisuseIsAProgrammersError) {
  Registry registry;
  registry.counters("c", "", {"l"});
  EXPECT_DEATH(registry.gauges("c", "", {"l"}), "another type");
  EXPECT_DEATH(registry.counters("c", "", {"other"}), "other labels");
  EXPECT_DEATH(registry.counters("c", "", {"l"}).with({}), "c has 1 labels");
  EXPECT_DEATH(registry.counter("1c", ""), "metric name");
  EXPECT_DEATH(registry.counters("d", "", {"a-b"}), "label 'a-b'");
  EXPECT_DEATH(registry.histograms("h", "", {}, {2, 1}), "do not ascend");
  EXPECT_DEATH(registry.histograms("h", "", {"le"}), "label 'le'");
}

TEST(MetricsTest, ManyThreadsCount) {
  Registry registry;
  auto& family = registry.counters("n", "", {"l"});
  Histogram times = registry.histogram("t", "");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      Counter counter = family.with({"x"});
      for (int i = 0; i < 1000; ++i) {
        counter.inc();
        times.observe(0.001);
        if (i % 100 == 0) registry.exposition();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(family.with({"x"}).value(), 4000);
  EXPECT_EQ(times.count(), 4000u);
}

}  // namespace
}  // namespace mangrove
