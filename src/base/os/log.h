#pragma once
// The logging front. A Logger per component; levels per component; text or JSON lines on stderr.
//
//   static const Logger log("agent");
//   log.info("node {} has {} pods", node, pods.size());
//   if (log.on(LogLevel::kTrace)) log.trace("{}", expensive());
//
// Any thread may log. A disabled line costs one relaxed load and formats nothing. Arguments are
// evaluated before the call, so wrap costly ones in on(). Kubernetes verbosity maps as -v 0..1
// info, 2..3 debug, 4 and more trace.

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove {

enum class LogLevel : int { kTrace, kDebug, kInfo, kWarn, kError, kOff };
const char* logLevelName(LogLevel level);               // "info", …
Result<LogLevel> parseLogLevel(std::string_view text);  // the names above, "warning" too
LogLevel levelOfVerbosity(int v);                       // -v

class Logger {
 public:
  explicit Logger(std::string_view component);

  bool on(LogLevel level) const {
    return static_cast<int>(level) >= threshold_->load(std::memory_order_relaxed);
  }
  template <class... Args>
  void trace(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kTrace, format, args...);
  }
  template <class... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kDebug, format, args...);
  }
  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kInfo, format, args...);
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kWarn, format, args...);
  }
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kError, format, args...);
  }

 private:
  template <class... Args>
  void write(LogLevel level, fmt::string_view format, Args&... args) const {
    if (on(level)) emit(level, format, fmt::make_format_args(args...));
  }
  void emit(LogLevel level, fmt::string_view format, fmt::format_args args) const;

  const std::atomic<int>* threshold_;  // lives as long as the process
  const std::string* component_;
};

struct LogConfig {
  LogLevel level = LogLevel::kInfo;                          // of components without their own
  std::vector<std::pair<std::string, LogLevel>> components;  // the last of one name counts
  bool json = false;  // one JSON object a line: ts, level, component, msg
};
// "agent=debug,net=warn"; a part without "=" sets the default level.
Result<LogConfig> parseLogLevels(std::string_view text, LogConfig base = {});
// At start, and again whenever the wanted levels change. Loggers made earlier or later both follow.
void configureLog(const LogConfig& config);

// Tests: while it lives, lines go here instead of stderr. One at a time.
class LogCapture {
 public:
  struct Line {
    LogLevel level;
    std::string component;
    std::string message;
  };
  explicit LogCapture(LogConfig config = {LogLevel::kTrace, {}, false});
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  std::vector<Line> lines() const;
  bool contains(std::string_view part) const;  // in any message

 private:
  LogConfig before_;
};

}  // namespace mangrove
