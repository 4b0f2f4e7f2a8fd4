#include "sim/trace.h"

#include <gtest/gtest.h>

#include "sim/shapes.h"

namespace mangrove::sim {
namespace {

constexpr std::string_view kSmall = R"(mangrove-trace 1
# two machines and an office
length 1d
step 30s
nodes n count=2 cpu=32 memory=128Gi systemCpu=250m systemMemory=1Gi
curve office every=1h 0.2 0.5
curve office every=1h 0.9
service web replicas=3 cpu=4 memory=8Gi curve=office noise=0.1 deploys=2h,5h
job etl at=90s tasks=20 cpu=500m memory=4Gi work=30m checkpoint=5m
outage n-1 at=3h for=20m
)";

TEST(Trace, IsReadAndWrittenTheSame) {
  const auto trace = readTrace(kSmall, "small.trace");
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->length, 86400);
  EXPECT_EQ(trace->step, 30);
  EXPECT_EQ(trace->curves[0].points.size(), 3u);
  EXPECT_FLOAT_EQ(static_cast<float>(trace->curves[0].at(3 * 3600 + 5)), 0.2f) << "it repeats";
  EXPECT_EQ(trace->services[0].deploys, (std::vector<Seconds>{7200, 18000}));
  EXPECT_EQ(trace->jobs[0].cpu, MilliCpu{500});
  EXPECT_EQ(trace->outages[0].lasts, 1200);
  EXPECT_EQ(trace->nodeCount(), 2);
  EXPECT_EQ(trace->podCount(), 23);
  const auto again = readTrace(writeTrace(*trace), "again");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, *trace);
}

struct Mistake {
  std::string_view text, says;
};
class TraceMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(TraceMistakes, NameFileLineValueAndWhatIsRight) {
  const auto trace = readTrace(GetParam().text, "x.trace");
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().text(), GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(
    Table, TraceMistakes,
    ::testing::Values(
        Mistake{"", "x.trace: empty; want 'mangrove-trace 1' in the first line"},
        Mistake{"length 1d", "x.trace:1: 'length 1d': want 'mangrove-trace 1' in the first line"},
        Mistake{"mangrove-trace 1\nlength 1w",
                "x.trace:2: length: '1w' is no time: want a whole number and s, m, h or d, such as "
                "90s"},
        Mistake{"mangrove-trace 1\nstep 0s", "x.trace:2: step 0s: want at least 1s"},
        Mistake{"mangrove-trace 1\nservices web",
                "x.trace:2: 'services' is no keyword, did you mean 'service'?; they are length, "
                "step, nodes, curve, service, job, outage"},
        Mistake{"mangrove-trace 1\nnodes",
                "x.trace:2: 'nodes' needs a name, such as 'nodes web …'"},
        Mistake{"mangrove-trace 1\nnodes n memory=1Gi", "x.trace:2: 'nodes' needs cpu="},
        Mistake{"mangrove-trace 1\nnodes n cpu=0 memory=1Gi",
                "x.trace:2: cpu=0: want cores above 0, such as 4 or 500m"},
        Mistake{"mangrove-trace 1\nnodes n cpu=4 memory=lots",
                "x.trace:2: memory=lots: want bytes above 0, such as 8Gi"},
        Mistake{"mangrove-trace 1\nnodes n cpu=4 memory=1Gi",
                "x.trace:2: systemMemory of 'n' is not below its memory"},
        Mistake{"mangrove-trace 1\nnodes n cpu=4 memory=8Gi count=none",
                "x.trace:2: count=none: want a whole number from 1 to 10000000"},
        Mistake{"mangrove-trace 1\nnodes n cpu=4 memory=8Gi cpus=4",
                "x.trace:2: 'nodes' has no cpus=, did you mean 'cpu'?; it has count=, cpu=, "
                "memory=, systemCpu=, systemMemory=, allocatableCpu=, allocatableMemory=, "
                "systemCurve="},
        Mistake{"mangrove-trace 1\nnodes n cpu=4 cpu=8 memory=8Gi",
                "x.trace:2: cpu= is given twice"},
        Mistake{"mangrove-trace 1\nnodes n cpu=4 memory=8Gi\nnodes n cpu=4 memory=8Gi",
                "x.trace:3: there is a nodes 'n' already"},
        Mistake{"mangrove-trace 1\ncurve c 0.5 much",
                "x.trace:2: curve 'c': 'much' is no share of a request: want 0 to 100"},
        Mistake{"mangrove-trace 1\ncurve c", "x.trace:2: curve 'c' has no points"},
        Mistake{"mangrove-trace 1\ncurve c 1\ncurve c every=5m 1",
                "x.trace:3: curve 'c' had every=1m before"},
        Mistake{"mangrove-trace 1\nservice s cpu=1 memory=1Gi curve=c",
                "x.trace:2: curve=c: no line above describes that curve"},
        Mistake{"mangrove-trace 1\ncurve c 1\nservice s cpu=1 memory=1Gi curve=c noise=2",
                "x.trace:3: noise=2: want a number from 0 to 1"},
        Mistake{"mangrove-trace 1\njob j cpu=1 memory=1Gi", "x.trace:2: 'job' needs work="},
        Mistake{"mangrove-trace 1\noutage n-7 at=1h",
                "x.trace:2: no line above describes a node "
                "'n-7'"},
        Mistake{"mangrove-trace 1\nnodes n cpu=4 memory=8Gi",
                "x.trace: no 'length', such as 'length 2d'"},
        Mistake{"mangrove-trace 1\nlength 10s\nnodes n cpu=4 memory=8Gi",
                "x.trace: length 10s is below a step of 1m"}));

TEST(Generator, FollowsFromTheSeedAlone) {
  for (const Shape& shape : shapes()) {
    const GenerateOptions size{.nodes = 5, .days = 1, .seed = 7};
    const Trace trace = generate(shape, size);
    EXPECT_EQ(trace, generate(shape, size)) << shape.name;
    EXPECT_NE(trace, generate(shape, {.nodes = 5, .days = 1, .seed = 8})) << shape.name;
    const auto again = readTrace(writeTrace(trace), "again");
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, trace) << shape.name;
  }
}

TEST(Generator, AsksForWhatTheShapeSays) {
  for (const Shape& shape : shapes()) {
    const Trace trace = generate(shape, {.nodes = 20, .days = 7, .seed = 3});
    double asked = 0, used = 0, work = 0;
    for (const Service& service : trace.services) {
      const double cores = static_cast<double>(service.cpu.v * service.replicas) / 1000;
      double mean = 0;
      for (float point : trace.curves[service.curve].points) mean += point;
      asked += cores;
      used += cores * mean / static_cast<double>(trace.curves[service.curve].points.size());
    }
    for (const Job& job : trace.jobs)
      work += static_cast<double>(job.work * job.tasks * job.cpu.v) / 1000;
    const double cores = 20.0 * static_cast<double>(shape.nodeCores);
    EXPECT_NEAR(asked / cores, shape.requested, 0.02) << shape.name;
    EXPECT_NEAR(used / asked, shape.used, 0.35 * shape.used) << shape.name;
    const double left = cores * (1 - shape.requested * shape.used) * 7 * 86400;
    EXPECT_NEAR(work / left, shape.batchLoad, 0.35 * shape.batchLoad) << shape.name;
  }
}

TEST(Generator, KeepsTheWorkWhenPodsAreCounted) {
  const Shape& shape = *findShape("commerce");
  const Trace trace = generate(shape, {.nodes = 20, .days = 7, .pods = 600, .seed = 3});
  EXPECT_NEAR(static_cast<double>(trace.podCount()), 600, 60);
}

}  // namespace
}  // namespace mangrove::sim
