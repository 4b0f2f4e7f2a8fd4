#include "frame/role.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

#include <fmt/core.h>

#include "base/os/log.h"
#include "frame/signals.h"
#include "frame/verbosity.h"
#include "frame/version.h"
#include "net/loopback.h"

namespace mangrove::frame {

namespace {

const Logger log("frame");

constexpr int kWrongUsage = 2;

// klog's options that manifests written for the reference pass; our log always goes to stderr.
constexpr std::array<std::string_view, 11> kKlogFlags = {
    "logtostderr", "alsologtostderr",   "stderrthreshold", "log_dir",
    "log_file",    "log_file_max_size", "skip_headers",    "skip_log_headers",
    "one_output",  "log_backtrace_at",  "add_dir_header"};

struct CommonFlags {
  std::string ops;
  int64_t verbosity = 0;
  std::string levels;
  std::string format = "text";
  std::string gates;
};

void declare(Flags& flags, CommonFlags& common, const RoleInfo& info) {
  common.ops = info.opsDefault;
  flags.add(info.opsFlag, common.ops,
            "where /healthz, /readyz and /metrics are served; 0 for nowhere");
  flags.add("v", common.verbosity, "log verbosity: 0 info, 2 debug, 4 trace");
  flags.add("vmodule", common.levels,
            "log levels of single components, e.g. client=debug,net=warn");
  flags.add("logging-format", common.format, "text or json");
  flags.add("feature-gates", common.gates, "switches of unsettled parts: A=true,B=false");
  flags.ignore(kKlogFlags);
  if (!info.ownConfigFlag) flags.withConfigFile();
}

// What the flags asked for; written once, before there are threads.
LogConfig& startedWith() {
  static LogConfig config;
  return config;
}

Result<> configureLogging(const CommonFlags& common) {
  if (common.format != "text" && common.format != "json") {
    return invalid("--logging-format '{}': want text or json", common.format);
  }
  LogConfig base{.level = levelOfVerbosity(static_cast<int>(common.verbosity)),
                 .components = {},
                 .json = common.format == "json"};
  auto config =
      common.levels.empty() ? Result<LogConfig>(base) : parseLogLevels(common.levels, base);
  if (!config) return config.error().in("--vmodule");
  configureLog(*config);
  startedWith() = *config;
  return {};
}

// Everything that lives while a role runs. One per process run, used on the owner thread.
class Run {
 public:
  Run(Role& role, RoleInfo info, CommonFlags common)
      : role_(role), info_(info), common_(std::move(common)), gates_(info.gates) {}

  Result<> prepare() {
    if (auto done = gates_.set(common_.gates); !done) return done.error().in("--feature-gates");
    auto address = parseListenAddress(common_.ops);
    if (!address) return address.error().in("--{}", info_.opsFlag);
    if (info_.opsOnLoopback && common_.ops.starts_with(':')) address->host = "127.0.0.1";
    if (info_.opsOnLoopback && !address->disabled && !net::isLoopback(address->host))
      return invalid("--{} {}: {} shows itself on loopback only; want :PORT or 127.0.0.1:PORT",
                     info_.opsFlag, common_.ops, info_.name);
    if (address->disabled) return {};
    // The server answers before the role has had a chance to register probes of its own.
    health_.ready("started", [this]() -> Result<> {
      if (started_) return {};
      return fail(Code::kUnavailable, "{} has not started yet", info_.name);
    });
    auto ops = OpsServer::start(io_, *address, health_, metrics_);
    if (!ops) return pass(ops.error());
    ops_ = std::move(*ops);
    return {};
  }

  int runUntilStopped() {
    RoleContext context{realClock(),
                        owner_,
                        io_,
                        metrics_,
                        health_,
                        gates_,
                        ops_.get(),
                        [this](int code) { owner_.post([this, code] { stop(code, "its own request"); }); }};
    log.info("{}, role {}", versionLine(), info_.name);
    if (auto started = role_.start(context); !started) {
      log.error("cannot start {}: {}", info_.name, started.error().text());
      return 1;
    }
    started_ = true;
    owner_.run();
    return exitCode_;
  }

 private:
  void stop(int code, std::string_view why) {
    if (std::exchange(stopping_, true)) return;
    log.info("stopping {} after {}", info_.name, why);
    exitCode_ = code;
    deadline_ = realClock().after(info_.stopGrace, [this] { owner_.post([this] { giveUp(); }); });
    role_.stop([this] { owner_.post([this] { owner_.stop(); }); });
  }

  void giveUp() {
    log.error("{} did not stop within {} s", info_.name,
              std::chrono::duration_cast<std::chrono::seconds>(info_.stopGrace).count());
    exitCode_ = 1;
    owner_.stop();
  }

  Role& role_;
  RoleInfo info_;
  CommonFlags common_;
  Mailbox owner_;
  // Before anything that starts a thread: threads inherit the blocked signals.
  Signals signals_{[this](int number) {
    owner_.post([this, number] { stop(0, fmt::format("signal {}", number)); });
  }};
  net::Loop io_;
  Registry metrics_;
  Health health_;
  FeatureGates gates_;
  std::unique_ptr<OpsServer> ops_;
  Timer deadline_;
  bool stopping_ = false;
  std::atomic<bool> started_ = false;  // asked by the threads of the ops server
  int exitCode_ = 0;
};

int complain(const RoleInfo& info, const Error& error, int code) {
  fmt::print(stderr, "mangrove {}: {}\n", info.name, error.text());
  return code;
}

}  // namespace

void setVerbosity(int64_t v) {
  LogConfig config = startedWith();
  config.level = levelOfVerbosity(static_cast<int>(std::clamp<int64_t>(v, 0, 10)));
  configureLog(config);
}

int runRole(Role& role, const std::vector<std::string>& args) {
  const RoleInfo info = role.info();
  CommonFlags common;
  Flags flags(fmt::format("mangrove {}", info.name), std::string(info.about));
  declare(flags, common, info);
  role.flags(flags);
  auto go = flags.parse(args);
  if (!go) return complain(info, go.error(), kWrongUsage);
  if (!*go) return 0;
  if (auto done = configureLogging(common); !done) return complain(info, done.error(), kWrongUsage);
  Run run(role, info, std::move(common));
  if (auto done = run.prepare(); !done) {
    return complain(info, done.error(), done.error().code() == Code::kInvalid ? kWrongUsage : 1);
  }
  return run.runUntilStopped();
}

}  // namespace mangrove::frame
