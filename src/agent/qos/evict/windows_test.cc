#include "agent/qos/evict/windows.h"

#include <gtest/gtest.h>

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;
using namespace node_column;

struct Past {
  void pass(int seconds, double cores) {
    for (int i = 0; i < seconds; ++i) {
      at += 1s;
      history.begin(at);
      for (const auto& [column, value] : {std::pair{kCpu, cores},
                                          {kBeUsage, cores * 500},
                                          {kBeRequest, 8000.0},
                                          {kBeLimit, 4000.0}})
        history.node().put(history.nodeTrack(), column, value);
    }
  }
  MonoTime at{1h};
  History history = History::open({}, at);
};

TEST(EvictWindows, WithinWhatIsKeptBySeconds) {
  Past past;
  EXPECT_EQ(cpuAverage(past.history, past.at, 1min), 0) << "nothing was measured";
  EXPECT_FALSE(beAverage(past.history, past.at, 1min));
  past.pass(60, 2);
  past.pass(60, 4);
  EXPECT_NEAR(cpuAverage(past.history, past.at, 59s), 4, 1e-9);
  EXPECT_NEAR(cpuAverage(past.history, past.at, 5min), 3, 1e-9);
  EXPECT_EQ(beAverage(past.history, past.at, 59s)->count, 60);
}

TEST(EvictWindows, BeyondItByTheCoarseSeries) {
  Past past;
  past.pass(1200, 1);
  past.history.remember(2h, 5min);
  EXPECT_NEAR(cpuAverage(past.history, past.at, 2h), 1, 1e-9) << "the seconds know more";
  EXPECT_EQ(beAverage(past.history, past.at, 2h)->count, 1200);
  past.pass(3600, 1);
  past.pass(3600, 3);
  EXPECT_NEAR(cpuAverage(past.history, past.at, 2h), 2, 0.02) << "not the last half hour";
  const auto mean = beAverage(past.history, past.at, 2h);
  ASSERT_TRUE(mean);
  EXPECT_NEAR(static_cast<double>(mean->count), 7200, 30) << "a slot of ten seconds counts ten";
  EXPECT_NEAR(static_cast<double>(mean->mean.usage.v), 1000, 10);
  EXPECT_EQ(mean->mean.request.v, 8000);
  EXPECT_EQ(mean->mean.limit.v, 4000);
}

}  // namespace
}  // namespace mangrove::agent
