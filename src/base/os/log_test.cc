#include "base/os/log.h"

#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mangrove {
namespace {

TEST(LogTest, ComponentsFollowTheirLevel) {
  LogCapture capture(
      {LogLevel::kInfo, {{"test-net", LogLevel::kWarn}, {"test-agent", LogLevel::kTrace}}, false});
  const Logger agent("test-agent");
  const Logger net("test-net");
  const Logger other("test-other");
  agent.trace("look {}", 1);
  net.info("dropped");
  net.warn("slow {}", "peer");
  other.debug("dropped");
  other.error("broken");
  const auto lines = capture.lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].component, "test-agent");
  EXPECT_EQ(lines[0].message, "look 1");
  EXPECT_EQ(lines[1].level, LogLevel::kWarn);
  EXPECT_EQ(lines[1].message, "slow peer");
  EXPECT_EQ(lines[2].message, "broken");
  EXPECT_TRUE(capture.contains("slow"));
  EXPECT_FALSE(capture.contains("dropped"));
}

struct Formatted {
  int* times;
};

}  // namespace
}  // namespace mangrove

template <>
struct fmt::formatter<mangrove::Formatted> : fmt::formatter<int> {
  auto format(const mangrove::Formatted& value, fmt::format_context& context) const {
    return fmt::formatter<int>::format(++*value.times, context);
  }
};

namespace mangrove {
namespace {

TEST(LogTest, DisabledLinesFormatNothing) {
  LogCapture capture({LogLevel::kInfo, {}, false});
  const Logger log("test-cheap");
  int times = 0;
  log.debug("{}", Formatted{&times});
  EXPECT_EQ(times, 0);
  EXPECT_FALSE(log.on(LogLevel::kDebug));
  log.info("{}", Formatted{&times});
  EXPECT_EQ(times, 1);
}

TEST(LogTest, LoggersFollowLaterChanges) {
  const Logger log("test-later");
  EXPECT_FALSE(log.on(LogLevel::kTrace));
  {
    LogCapture capture;
    EXPECT_TRUE(log.on(LogLevel::kTrace));
    configureLog({LogLevel::kOff, {}, false});
    log.error("nobody sees this");
    EXPECT_TRUE(capture.lines().empty());
  }
  EXPECT_TRUE(log.on(LogLevel::kInfo));
}

TEST(LogTest, WritesTextAndJsonToStderr) {
  testing::internal::CaptureStderr();
  const Logger log("test-out");
  log.info("plain {}", 1);
  configureLog({LogLevel::kInfo, {}, true});
  log.warn("quote \" and\nline");
  configureLog({});
  const std::string out = testing::internal::GetCapturedStderr();
  EXPECT_NE(out.find("Z info  test-out: plain 1\n"), std::string::npos) << out;
  EXPECT_NE(out.find(R"("level":"warn","component":"test-out","msg":"quote \" and\u000aline"})"),
            std::string::npos)
      << out;
  EXPECT_NE(out.find(R"({"ts":"2)"), std::string::npos) << out;
}

TEST(LogTest, KubernetesVerbosity) {
  for (int v : {-1, 0, 1}) EXPECT_EQ(levelOfVerbosity(v), LogLevel::kInfo);
  for (int v : {2, 3}) EXPECT_EQ(levelOfVerbosity(v), LogLevel::kDebug);
  for (int v : {4, 10}) EXPECT_EQ(levelOfVerbosity(v), LogLevel::kTrace);
}

TEST(LogTest, LevelsFromText) {
  const auto config = parseLogLevels("warn, agent=debug,net = Warning");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->level, LogLevel::kWarn);
  ASSERT_EQ(config->components.size(), 2u);
  EXPECT_EQ(config->components[1], std::pair(std::string("net"), LogLevel::kWarn));
  EXPECT_EQ(parseLogLevels("agent=debgu").error().text(),
            "log levels 'agent=debgu': unknown log level 'debgu', did you mean 'debug'?: want one "
            "of trace, debug, "
            "info, warn, error, off");
  EXPECT_FALSE(parseLogLevels("=debug"));
}

TEST(LogTest, ManyThreadsLogAndReconfigure) {
  LogCapture capture;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      const Logger log("test-thread-" + std::to_string(t));
      for (int i = 0; i < 100; ++i) log.info("{}", i);
    });
  }
  for (int i = 0; i < 50; ++i) configureLog({LogLevel::kTrace, {}, i % 2 == 0});
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(capture.lines().size(), 400u);
}

}  // namespace
}  // namespace mangrove
