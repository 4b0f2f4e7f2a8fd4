// The containers of a pod in a container runtime: how they begin, run and end.
#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "base/os/log.h"
#include "runtime/cri/remote_session.h"
#include "runtime/cri/runtime_pod.h"
#include "runtime/node/pods/pod_prep.h"
#include "runtime/shim/log_file.h"

namespace mangrove::runtime::cri {

namespace {

const Logger logger("runtime");
constexpr Duration kAskAgain = std::chrono::milliseconds(50);  // an end that is being booked
constexpr Duration kLook = std::chrono::seconds(1);            // when no process is told
constexpr Duration kHookLimit = std::chrono::minutes(10);

}  // namespace

Result<> RuntimePod::start(const std::string& name, const BuiltContainer& built) {
  if (sandbox_.empty() || !built.config) return fail(Code::kGone, "the pod has no sandbox");
  Run& run = runs_[name];
  if (!run.id.empty()) run.dead = run.id;
  run.id.clear();
  run.watch.reset();
  run.attempt = static_cast<int>(built.config->attempt);
  run.running = false;
  run.stop.reset();
  parts_.runtime.createContainer(sandbox_, *built.config, config_,
                                 [self = shared_from_this(), name](Result<std::string> id) {
                                   self->created(name, std::move(id));
                                 });
  return {};
}

void RuntimePod::created(const std::string& name, Result<std::string> id) {
  if (!open_) return;
  if (!id)
    return tell({{"event", "refused"},
                 {"container", name},
                 {"reason", "CreateContainerError"},
                 {"trouble", id.error().text()}});
  runs_[name].id = *id;
  auto begin = [self = shared_from_this(), name, id = *id] {
    if (!self->open_) return;
    self->parts_.runtime.startContainer(
        id, [self, name, id](Result<> ok) { self->begun(name, id, std::move(ok)); });
  };
  if (!place_.beforeStart) return begin();
  place_.beforeStart(*id, name, std::move(begin));
}

void RuntimePod::begun(const std::string& name, const std::string& id, Result<> ok) {
  Run& run = runs_[name];
  if (!open_ || run.id != id) return;
  if (!ok) {
    tell({{"event", "failed"},
          {"container", name},
          {"id", id},
          {"exitCode", 128},
          {"trouble", ok.error().text()}});
    return;
  }
  run.running = true;
  if (!run.dead.empty())
    parts_.runtime.removeContainer(std::exchange(run.dead, {}), [](const Result<>&) {});
  parts_.runtime.containerStatus(
      id, [self = shared_from_this(), name, id](Result<ContainerStatus> status) {
        if (!self->open_ || self->runs_[name].id != id) return;
        self->watch(name, status ? pidIn(status->info) : 0);
      });
  const bool stopNow = run.stop.has_value();
  if (stopNow) stop(run);
  tell({{"event", "started"}, {"container", name}, {"id", id}});
}

void RuntimePod::signal(const std::string& name, int number, Duration grace) {
  Run& run = runs_[name];
  if (number != SIGTERM && number != SIGKILL) {
    if (run.running && run.pid > 0) ::kill(static_cast<pid_t>(run.pid), number);
    return;
  }
  run.stop = number == SIGKILL ? Duration::zero() : grace;
  if (run.running) stop(run);
}

void RuntimePod::stop(Run& run) {
  parts_.runtime.stopContainer(run.id, *run.stop, [id = run.id](Result<> done) {
    if (!done && done.error().code() != Code::kNotFound)
      logger.warn("ending container {}: {}", id, done.error().text());
  });
}

void RuntimePod::watch(const std::string& name, int64_t pid) {
  Run& run = runs_[name];
  run.pid = pid;
  if (pid <= 0) return lookAgain(name, kLook);
  run.watch = std::make_unique<ExitWatch>(
      parts_.loop, pid, [weak = weak_from_this(), &owner = parts_.owner, name, id = run.id] {
        owner.post([weak, name, id] {
          if (auto self = weak.lock()) self->look(name, id);
        });
      });
}

void RuntimePod::lookAgain(const std::string& name, Duration delay) {
  Run& run = runs_[name];
  run.again = parts_.clock.after(
      delay, [weak = weak_from_this(), &owner = parts_.owner, name, id = run.id] {
        owner.post([weak, name, id] {
          if (auto self = weak.lock()) self->look(name, id);
        });
      });
}

// Its process has ended, or nobody tells us when it does.
void RuntimePod::look(const std::string& name, const std::string& id) {
  if (!open_ || runs_[name].id != id || !runs_[name].running) return;
  parts_.runtime.containerStatus(
      id, [self = shared_from_this(), name, id](Result<ContainerStatus> status) {
        Run& run = self->runs_[name];
        if (!self->open_ || run.id != id || !run.running) return;
        const bool gone = !status && status.error().code() == Code::kNotFound;
        if (!status && !gone) return self->lookAgain(name, kLook);
        if (status && status->state == ContainerState::kRunning)
          return self->lookAgain(name, run.pid > 0 ? kAskAgain : kLook);
        self->ended(name, gone ? nullptr : &*status);
      });
}

void RuntimePod::ended(const std::string& name, const ContainerStatus* status) {
  Run& run = runs_[name];
  run.running = false;
  run.watch.reset();
  json::Object body =
      status ? stateOf(*status, messageIn(messagePath(place_.podDir, name, run.attempt)))
             : json::Object{{"container", name},
                            {"id", run.id},
                            {"exitCode", 137},
                            {"message", "the container runtime knows nothing of it any more"}};
  body["event"] = "exited";
  tell(std::move(body));
}

Result<> RuntimePod::exec(const ExecWish& wish, const std::vector<int>& fds) {
  const Run* run = running(wish.container);
  if (!run) return fail(Code::kGone, "the container is not running");
  auto out = std::make_shared<std::vector<UniqueFd>>();
  for (int fd : fds) out->emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  const Duration limit = wish.limit > Duration::zero() ? wish.limit : kHookLimit;
  parts_.runtime.execSync({.container = run->id, .command = wish.argv}, limit,
                          [self = shared_from_this(), id = wish.id,
                           out](Result<ExecResult> result) { self->executed(id, *out, result); });
  return {};
}

void RuntimePod::executed(const std::string& id, const std::vector<UniqueFd>& fds,
                          const Result<ExecResult>& result) {
  if (!result)
    return tell({{"event", "execExited"}, {"exec", id}, {"trouble", result.error().text()}});
  const std::string* texts[] = {&result->out, &result->err};
  for (size_t i = 0; i < 2 && i + 1 < fds.size(); ++i)
    (void)!::write(fds[i + 1].get(), texts[i]->data(), texts[i]->size());
  tell({{"event", "execExited"}, {"exec", id}, {"exitCode", int64_t{result->exitCode}}});
}

bool RuntimePod::carry(const std::string& name, const frame::SessionOptions& options,
                       std::unique_ptr<frame::Session>& session) {
  const Run* run = running(name);
  if (!run) return false;
  ExecOrder order{run->id, options.command, options.tty, options.in, options.out, options.err};
  auto shared = std::make_shared<std::unique_ptr<frame::Session>>(std::move(session));
  auto begin = [self = shared_from_this(), order, shared](Result<std::string> url) {
    if (!url) return (*shared)->finish({std::nullopt, url.error().text()});
    startRemote(self->parts_.loop, self->parts_.io, *url, order, std::move(*shared));
  };
  if (options.command.empty())
    parts_.runtime.attach(order, std::move(begin));
  else
    parts_.runtime.exec(order, std::move(begin));
  return true;
}

void RuntimePod::trimLogs() {
  for (const auto& [name, run] : runs_) {
    if (!run.running) continue;
    const std::string path = fmt::format("{}/{}/{}.log", place_.logDir, name, run.attempt);
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error || size < static_cast<uintmax_t>(kLogMaxBytes)) continue;
    if (!turnOver(path, kLogMaxFiles, parts_.clock.wall())) continue;
    parts_.runtime.reopenLog(run.id, [path](Result<> done) {
      if (!done) logger.warn("log {}: {}", path, done.error().text());
    });
  }
}

}  // namespace mangrove::runtime::cri
