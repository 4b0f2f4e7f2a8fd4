// Logs, commands and ports of running containers.
#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <sys/socket.h>

#include "base/text/strings.h"
#include "runtime/core/pod_status.h"
#include "runtime/node/runner.h"
#include "runtime/node/sessions/log_reader.h"
#include "runtime/node/sessions/sessions.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

// Numbers of the runs that have a log, ascending.
std::vector<int> runsWithLog(const std::string& dir) {
  std::vector<int> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    if (entry.path().extension() != ".log") continue;
    if (auto run = parseInt<int>(entry.path().stem().string())) runs.push_back(*run);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

std::string waitingFor(const PodWorker* worker, const std::string& container) {
  if (!worker) return "ContainerCreating";
  const ContainerRecord* r = worker->record().find(container);
  return r && !r->blockedReason.empty() ? r->blockedReason : "ContainerCreating";
}

}  // namespace

std::shared_ptr<PodWorker> Runner::find(const frame::ContainerTarget& target) const {
  auto found = workers_.find(target.uid);
  return found == workers_.end() ? nullptr : found->second;
}

Result<std::shared_ptr<PodWorker>> Runner::runningContainer(
    const frame::ContainerTarget& target) const {
  auto worker = find(target);
  const ContainerRecord* r = worker ? worker->record().find(target.container) : nullptr;
  if (!r || !r->running)
    return fail(Code::kNotFound, "container not found (\"{}\"): it is not running",
                target.container);
  return worker;
}

Result<std::unique_ptr<frame::LogSource>> Runner::openLogOf(const frame::ContainerTarget& target,
                                                            const frame::LogOptions& options) {
  const std::string dir = node_.logDir(target.ns, target.pod, target.uid) + "/" + target.container;
  std::vector<int> runs = runsWithLog(dir);
  auto worker = find(target);
  const ContainerRecord* r = worker ? worker->record().find(target.container) : nullptr;
  // A run that waits for its back-off has no log yet: the last one is shown.
  if (options.previous) {
    const bool current = r && (r->running || r->starting);
    if (current && !runs.empty() && runs.back() == r->attempt) runs.pop_back();
    if (!current && runs.size() == 1 && r && r->attempt == 0) runs.clear();
    if (!current && runs.size() > 1) runs.pop_back();
    if (runs.empty())
      return invalid("previous terminated container \"{}\" in pod \"{}\" not found",
                     target.container, target.pod);
  }
  if (runs.empty())
    return invalid("container \"{}\" in pod \"{}\" is waiting to start: {}", target.container,
                   target.pod, waitingFor(worker.get(), target.container));
  const std::string run = RunningRuns::key(target.uid, target.container, runs.back());
  return openLog(fmt::format("{}/{}.log", dir, runs.back()), options, clock_, home_.mailbox(),
                 [this, life = life_.token(), run] { return !life.gone() && running_.has(run); });
}

void Runner::log(frame::ContainerTarget target, frame::LogOptions options,
                 UniqueFn<void(Result<std::unique_ptr<frame::LogSource>>)> ready) {
  owner_.post([this, life = life_.token(), target = std::move(target), options = std::move(options),
               ready = std::move(ready)]() mutable {
    if (life.gone()) return ready(fail(Code::kUnavailable, "the node runner has stopped"));
    ready(openLogOf(target, options));
  });
}

void Runner::exec(frame::ContainerTarget target, frame::SessionOptions options,
                  UniqueFn<void(Result<frame::SessionStart>)> ready) {
  owner_.post([this, life = life_.token(), target = std::move(target), options = std::move(options),
               ready = std::move(ready)]() mutable {
    if (life.gone()) return ready(fail(Code::kUnavailable, "the node runner has stopped"));
    auto worker = runningContainer(target);
    if (!worker) return ready(pass(worker.error()));
    ready(frame::SessionStart([this, life, weak = std::weak_ptr(*worker), target,
                               options](std::unique_ptr<frame::Session> session) mutable {
      owner_.post([this, life, weak, target, options, session = std::move(session)]() mutable {
        auto pod = weak.lock();
        if (!life.gone() && pod && pod->carry(target.container, options, session)) return;
        auto pipes = makeExecPipes(options.tty, options.in);
        if (life.gone() || !pod || !pipes)
          return session->finish({std::nullopt, "the container is not running"});
        std::vector<UniqueFd> theirs = std::move(pipes->theirs);
        pipes->theirs.clear();
        auto pump = ExecSession::start(loop_, clock_, std::move(session), std::move(*pipes));
        pod->exec(target.container, options.command, options.tty, std::move(theirs),
                  [pump](PodWorker::ExecEnd end) {
                    pump->exited({end.exitCode, end.trouble});
                  });
      });
    }));
  });
}

void Runner::attach(frame::ContainerTarget target, frame::SessionOptions options,
                    UniqueFn<void(Result<frame::SessionStart>)> ready) {
  owner_.post([this, life = life_.token(), target = std::move(target), options = std::move(options),
               ready = std::move(ready)]() mutable {
    if (life.gone()) return ready(fail(Code::kUnavailable, "the node runner has stopped"));
    auto worker = runningContainer(target);
    if (!worker) return ready(pass(worker.error()));
    options.command.clear();
    ready(frame::SessionStart([this, life, weak = std::weak_ptr(*worker), target,
                               options](std::unique_ptr<frame::Session> session) mutable {
      owner_.post([this, life, weak, target, options, session = std::move(session)]() mutable {
        auto pod = weak.lock();
        if (!life.gone() && pod && pod->carry(target.container, options, session)) return;
        int ends[2];
        if (life.gone() || !pod || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
          return session->finish({std::nullopt, "the container is not running"});
        UniqueFd ours(ends[0]);
        if (auto ok = pod->attach(target.container, UniqueFd(ends[1])); !ok)
          return session->finish({std::nullopt, ok.error().text()});
        startAttach(loop_, std::move(session), std::move(ours),
                    [this, weak, target](uint16_t columns, uint16_t rows) {
                      owner_.post([weak, target, columns, rows] {
                        if (auto still = weak.lock())
                          still->resize(target.container, columns, rows);
                      });
                    });
      });
    }));
  });
}

void Runner::forward(frame::ContainerTarget target,
                     UniqueFn<void(Result<frame::PortConnect>)> ready) {
  owner_.post(
      [this, life = life_.token(), target = std::move(target), ready = std::move(ready)]() mutable {
        auto worker = life.gone() ? nullptr : find(target);
        if (!worker || phaseOf(worker->pod(), worker->record()) != api::PodPhase::kRunning)
          return ready(invalid("unable to forward port because pod {} is not running", target.pod));
        const bool own = !worker->pod().pod.spec->hostNetwork && network_.available();
        ready(frame::PortConnect([&loop = loop_, pid = own ? worker->shimPid() : 0](
                                     uint16_t port, std::unique_ptr<net::ByteStream> client,
                                     UniqueFn<void(std::string)> ended) {
          startForward(loop, pid, port, std::move(client), std::move(ended));
        }));
      });
}

}  // namespace mangrove::runtime
