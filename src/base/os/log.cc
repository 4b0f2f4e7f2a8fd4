#include "base/os/log.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/check.h"
#include "base/text/nearest.h"
#include "base/text/strings.h"

namespace mangrove {
namespace {

constexpr std::array<std::string_view, 6> kLevelNames = {"trace", "debug", "info",
                                                         "warn",  "error", "off"};
constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %v";
constexpr const char* kJsonPattern = R"({"ts":"%Y-%m-%dT%H:%M:%S.%fZ",%v})";

struct Component {
  std::string name;
  std::atomic<int> threshold;
};

// Everything the log knows; one for the process, never destroyed, so that static objects may log
// while it ends.
class Hub {
 public:
  Hub() : out_("mangrove", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    out_.set_level(spdlog::level::trace);
    out_.flush_on(spdlog::level::trace);
    apply();
  }

  const Component& component(std::string_view name) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<Component>& slot = components_[std::string(name)];
    if (!slot) {
      slot = std::make_unique<Component>();
      slot->name = name;
      slot->threshold = static_cast<int>(levelOf(slot->name));
    }
    return *slot;
  }

  LogConfig configure(const LogConfig& config) {
    std::lock_guard lock(mutex_);
    LogConfig before = std::exchange(config_, config);
    apply();
    return before;
  }

  void write(LogLevel level, const std::string& component, std::string message) {
    std::unique_lock lock(mutex_);
    if (captured_) {
      captured_->push_back({level, component, std::move(message)});
      return;
    }
    const bool json = config_.json;
    lock.unlock();
    out_.log(spdlog::level::info, "{}",
             json ? jsonLine(level, component, message) : textLine(level, component, message));
  }

  void startCapture() {
    std::lock_guard lock(mutex_);
    CHECK(!captured_, "two LogCaptures at a time");
    captured_.emplace();
  }
  void stopCapture() {
    std::lock_guard lock(mutex_);
    captured_.reset();
  }
  std::vector<LogCapture::Line> captured() {
    std::lock_guard lock(mutex_);
    return captured_.value_or(std::vector<LogCapture::Line>{});
  }

 private:
  LogLevel levelOf(const std::string& name) const {
    LogLevel level = config_.level;
    for (const auto& [component, own] : config_.components) {
      if (component == name) level = own;
    }
    return level;
  }

  void apply() {
    for (auto& [name, component] : components_) {
      component->threshold = static_cast<int>(levelOf(name));
    }
    out_.set_pattern(config_.json ? kJsonPattern : kTextPattern, spdlog::pattern_time_type::utc);
  }

  static std::string textLine(LogLevel level, const std::string& component,
                              const std::string& message) {
    return fmt::format("{:<5} {}: {}", logLevelName(level), component, message);
  }

  static std::string jsonLine(LogLevel level, const std::string& component,
                              const std::string& message) {
    return fmt::format(R"("level":"{}","component":"{}","msg":"{}")", logLevelName(level),
                       escaped(component), escaped(message));
  }

  static std::string escaped(std::string_view text) {
    std::string out;
    for (char c : text) {
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
      } else {
        out += c;
      }
    }
    return out;
  }

  std::mutex mutex_;
  LogConfig config_;
  std::map<std::string, std::unique_ptr<Component>> components_;
  std::optional<std::vector<LogCapture::Line>> captured_;
  spdlog::logger out_;
};

Hub& hub() {
  static Hub* instance = new Hub;
  return *instance;
}

}  // namespace

const char* logLevelName(LogLevel level) {
  return kLevelNames[static_cast<size_t>(level)].data();
}

Result<LogLevel> parseLogLevel(std::string_view text) {
  const std::string name = lower(trim(text));
  if (name == "warning") return LogLevel::kWarn;
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    if (kLevelNames[i] == name) return static_cast<LogLevel>(i);
  }
  return invalid("unknown log level '{}'{}: want one of {}", text, didYouMean(name, kLevelNames),
                 join(kLevelNames, ", "));
}

LogLevel levelOfVerbosity(int v) {
  if (v >= 4) return LogLevel::kTrace;
  return v >= 2 ? LogLevel::kDebug : LogLevel::kInfo;
}

Logger::Logger(std::string_view component) {
  const Component& slot = hub().component(component);
  threshold_ = &slot.threshold;
  component_ = &slot.name;
}

void Logger::emit(LogLevel level, fmt::string_view format, fmt::format_args args) const {
  hub().write(level, *component_, fmt::vformat(format, args));
}

Result<LogConfig> parseLogLevels(std::string_view text, LogConfig base) {
  for (std::string_view part : splitTrimmed(text, ',')) {
    const Halves halves = cut(part, '=');
    const Result<LogLevel> level = parseLogLevel(halves.found ? halves.after : halves.before);
    if (!level) return level.error().in("log levels '{}'", text);
    if (!halves.found) {
      base.level = *level;
      continue;
    }
    if (trim(halves.before).empty())
      return invalid("log levels '{}': '{}' names no component", text, part);
    base.components.emplace_back(trim(halves.before), *level);
  }
  return base;
}

void configureLog(const LogConfig& config) {
  hub().configure(config);
}

LogCapture::LogCapture(LogConfig config) {
  hub().startCapture();
  before_ = hub().configure(config);
}

LogCapture::~LogCapture() {
  hub().configure(before_);
  hub().stopCapture();
}

std::vector<LogCapture::Line> LogCapture::lines() const {
  return hub().captured();
}

bool LogCapture::contains(std::string_view part) const {
  for (const Line& line : lines()) {
    if (line.message.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace mangrove
