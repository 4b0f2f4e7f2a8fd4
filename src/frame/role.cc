#include "frame/role.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

#include <fmt/core.h>
#include <unistd.h>

#include "base/os/log.h"
#include "frame/record/recorder.h"
#include "frame/role_flags.h"
#include "frame/signals.h"
#include "frame/verbosity.h"
#include "frame/version.h"
#include "net/loopback.h"

namespace mangrove::frame {

namespace {

const Logger log("frame");

constexpr int kWrongUsage = 2;

std::string processIdentity(Clock& clock) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("{}_{}_{:x}", host.data(), ::getpid(),
                     clock.wall().time_since_epoch().count());
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

  Result<> prepare(const std::vector<std::string>& args) {
    if (auto done = gates_.set(common_.gates); !done) return done.error().in("--feature-gates");
    if (auto done = record(args); !done) return done.error().in("--record");
    return serveOps();
  }

  Result<> serveOps() {
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
    RoleContext context{
        recorder_ ? recorder_->turns().clock() : realClock(),
        owner_,
        io_,
        metrics_,
        health_,
        gates_,
        ops_.get(),
        [this](int code) { owner_.post([this, code] { stop(code, "its own request"); }); }};
    context.identity = identity_;
    context.recorder = recorder_.get();
    context.turns = recorder_ ? &recorder_->turns() : nullptr;
    log.info("{}, role {}", versionLine(), info_.name);
    Result<> started;
    duringTurn(&record::Recorder::start, [&] { started = role_.start(context); });
    if (!started) {
      log.error("cannot start {}: {}", info_.name, started.error().text());
      return 1;
    }
    started_ = true;
    owner_.run();
    if (recorder_) recorder_->flush();
    return exitCode_;
  }

 private:
  Result<> record(const std::vector<std::string>& args) {
    if (common_.record.path.empty()) return {};
    record::Session session = record::sessionOf(info_.name, args);
    session.identity = identity_;
    auto made = record::Recorder::make(common_.record, std::move(session), owner_, realClock());
    if (!made) return pass(made.error());
    recorder_ = std::move(*made);
    log.info("recording to {}", common_.record.path);
    return {};
  }

  void stop(int code, std::string_view why) {
    if (std::exchange(stopping_, true)) return;
    log.info("stopping {} after {}", info_.name, why);
    exitCode_ = code;
    deadline_ = realClock().after(info_.stopGrace, [this] { owner_.post([this] { giveUp(); }); });
    duringTurn(&record::Recorder::stop,
               [this] { role_.stop([this] { owner_.post([this] { owner_.stop(); }); }); });
  }

  // What a recorded role is told to do is part of the recording.
  void duringTurn(void (record::Recorder::*which)(Fn), Fn fn) {
    if (recorder_)
      (*recorder_.*which)(std::move(fn));
    else
      fn();
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
  std::string identity_ = processIdentity(realClock());
  std::unique_ptr<record::Recorder> recorder_;
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

std::string identityOf(const RoleContext& context) {
  return context.identity.empty() ? processIdentity(context.clock) : context.identity;
}

Clock& RoleContext::asideClock() const {
  return recorder ? realClock() : clock;
}

client::ApiClient* RoleContext::aside(client::ApiClient* client) const {
  return recorder ? recorder->raw() : client;
}

void setVerbosity(int64_t v) {
  LogConfig config = startedWith();
  config.level = levelOfVerbosity(static_cast<int>(std::clamp<int64_t>(v, 0, 10)));
  configureLog(config);
}

int runRole(Role& role, const std::vector<std::string>& args) {
  const RoleInfo info = role.info();
  CommonFlags common;
  Flags flags(fmt::format("mangrove {}", info.name), std::string(info.about));
  declareCommon(flags, common, info);
  role.flags(flags);
  auto go = flags.parse(args);
  if (!go) return complain(info, go.error(), kWrongUsage);
  if (!*go) return 0;
  if (auto done = configureLogging(common); !done) return complain(info, done.error(), kWrongUsage);
  Run run(role, info, std::move(common));
  if (auto done = run.prepare(args); !done) {
    return complain(info, done.error(), done.error().code() == Code::kInvalid ? kWrongUsage : 1);
  }
  return run.runUntilStopped();
}

}  // namespace mangrove::frame
