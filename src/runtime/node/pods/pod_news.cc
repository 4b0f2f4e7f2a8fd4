// What a shim tells, and what is learnt from a shim of an earlier runner.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>

#include "base/os/files.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "runtime/core/cri_log.h"
#include "runtime/core/restart.h"
#include "runtime/node/pods/pod_worker.h"
#include "runtime/node/pods/slow.h"

namespace mangrove::runtime {

namespace {

const Logger log("runtime");

std::string_view word(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}
int64_t number(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value && value->is_int64() ? value->get_int64() : 0;
}
bool flag(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value && value->is_bool() && value->get_bool();
}
WallTime timeOf(const json::Object& object, std::string_view key) {
  auto time = parseTime(word(object, key));
  return time ? *time : kZeroTime;
}

ExitRecord exitOf(const json::Object& state) {
  ExitRecord run;
  run.exitCode = static_cast<int>(number(state, "exitCode"));
  run.signal = static_cast<int>(number(state, "signal"));
  run.startedAt = timeOf(state, "startedAt");
  run.finishedAt = timeOf(state, "finishedAt");
  const std::string_view trouble = word(state, "trouble");
  run.message = trouble.empty() ? word(state, "message") : trouble;
  run.reason = !trouble.empty()     ? "StartError"
               : flag(state, "oom") ? "OOMKilled"
               : run.exitCode == 0  ? "Completed"
                                    : "Error";
  return run;
}

// The last part of a file that may be large.
std::string endOf(const std::string& path) {
  constexpr std::streamoff kPart = 64 * 1024;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
  std::string out(static_cast<size_t>(std::min(size, kPart)), '\0');
  file.seekg(-static_cast<std::streamoff>(out.size()), std::ios::end);
  file.read(out.data(), static_cast<std::streamsize>(out.size()));
  return out;
}

std::string lastLine(std::string_view text) {
  text = trim(text);
  const size_t end = text.rfind('\n');
  return std::string(end == std::string_view::npos ? text : text.substr(end + 1));
}

ExitRecord exitOf(const api::ContainerState& state) {
  ExitRecord run;
  run.exitCode = state.exitCode;
  run.signal = state.signal;
  run.startedAt = state.startedAt;
  run.finishedAt = state.finishedAt;
  run.reason = std::string(state.reason.view());
  run.message = std::string(state.message.view());
  return run;
}

}  // namespace

void PodWorker::onMessage(Result<Message> message) {
  if (!message) return onShimLost(message.error());
  const std::string_view event = message->word("event");
  if (event == "state") return onState(*message);
  if (event == "started") return onStarted(*message);
  if (event == "exited" || event == "failed") return onExited(*message);
  if (event == "refused") return onRefused(*message);
  if (event == "absent") {  // no sandbox of an earlier runner
    busy_ = false;
    link_.reset();
    readLeftStates();
    return sync();
  }
  if (event == "network") {
    if (message->word("trouble").empty()) return sandboxReady();
    parts_.events.warning(ref(), "NoPodNetwork", message->word("trouble"));
    return sandboxReady();
  }
  if (event != "execExited") return;
  auto node = execs_.extract(std::string(message->word("exec")));
  if (!node) return;
  ExecEnd end;
  end.trouble = message->word("trouble");
  if (end.trouble.empty()) end.exitCode = static_cast<int>(message->number("exitCode"));
  node.mapped()(std::move(end));
}

void PodWorker::onState(const Message& message) {
  shimPid_ = message.number("pid");
  if (!message.word("trouble").empty())
    return dropSandbox(Error(Code::kInvalid, std::string(message.word("trouble"))));
  if (!message.word("missing").empty())
    parts_.events.warning(ref(), "IsolationMissing",
                          fmt::format("the pod could not be given these namespaces of its own: {}",
                                      message.word("missing")));
  const json::Value* all = message.body.if_contains("containers");
  if (all && all->is_array())
    for (const auto& one : all->get_array())
      if (one.is_object()) recover(one.get_object());
  if (networkAsked_) return setUpNetwork();
  if (inRuntime_ && !message.word("ip").empty()) record_.ip = message.word("ip");
  // A network that is not ours tells the address only now; its containers are built after this.
  if (inRuntime_ && !parts_.runtime->ownNetwork)
    preparing_.post(
        [&prep = parts_.prep, pod = pod_, ip = record_.ip] { (void)prep.makeSandbox(*pod, ip); });
  if (record_.ip.empty() && !pod_->pod.spec->hostNetwork)
    record_.ip = std::string(pod_->pod.status.podIp.view());
  sandboxReady();
}

// A container found in a shim that was here before us.
void PodWorker::recover(const json::Object& state) {
  const std::string name(word(state, "container"));
  const ContainerSpec* spec = specOf(name);
  if (!spec) return;
  ContainerRecord& r = recordOf(name);
  r.id = idText(word(state, "id"));
  r.imageId = word(state, "imageId");
  r.attempt = static_cast<int>(number(state, "attempt"));
  r.crashes = r.attempt;
  const auto* known = pod_->pod.status.find(spec->spec->name);
  // What it was given is what we said of it; without that, what it asks for.
  const bool told = known && known->granted->hasResources;
  r.grant = told ? Grant{known->granted->requests, known->granted->limits} : grantOf(*spec->spec);
  if (known && known->lastState->kind == api::ContainerState::Kind::kTerminated)
    r.before = exitOf(*known->lastState);
  if (!flag(state, "running")) {
    r.last = exitOf(state);
    r.last->id = r.id;
    return;
  }
  r.last = std::exchange(r.before, std::nullopt);
  r.running = true;
  parts_.running.add(RunningRuns::key(pod_->uid(), name, r.attempt));
  r.startedAt = timeOf(state, "startedAt");
  const Standing standing =
      standingOf(spec->run->startup.has_value(), spec->run->readiness.has_value(),
                 known ? Standing{known->started, known->ready} : Standing());
  r.started = standing.started;
  r.ready = standing.ready;
  if (r.started) record_.hasInited = record_.hasInited || spec->role == ContainerRole::kMain;
  prober_.begin(name);
}

// No shim is there any more: what it wrote down is all we know of its containers.
void PodWorker::readLeftStates() {
  const std::string dir = parts_.node.podDir(pod_->uid());
  std::error_code error;
  for (const auto& spec : specs_) {
    auto text = readFile(dir + "/state/" + std::string(spec.name()) + ".json");
    auto state = text ? json::parse(*text) : pass(text.error());
    if (state && state->is_object()) recover(state->get_object());
    const auto* known = pod_->pod.status.find(spec.spec->name);
    if (!known || known->containerId.view().empty()) continue;
    ContainerRecord& r = recordOf(std::string(spec.name()));
    if (r.id == known->containerId.view()) continue;
    // It ran when the runner was last here, and nobody saw its end.
    r.id = std::string(known->containerId.view());
    r.attempt = known->restartCount;
    r.crashes = r.attempt;
    ExitRecord lost = exitOf(known->state);
    lost.finishedAt = parts_.clock.wall();
    lost.id = r.id;
    if (known->state.kind != api::ContainerState::Kind::kTerminated) {
      r.crashes = 0;  // nothing says that it failed by itself
      lost.exitCode = 137;
      lost.reason = "ContainerStatusUnknown";
      lost.message = "The container could not be located when the pod was terminated";
    }
    r.last = std::move(lost);
  }
  parts_.cgroups.kill(cgroupPath());
}

void PodWorker::recordExit(ContainerRecord& r, const json::Object& state) {
  r.before = std::exchange(r.last, exitOf(state));
  if (!word(state, "id").empty()) r.id = idText(word(state, "id"));
  r.last->id = r.id;
  if (r.last->finishedAt == kZeroTime) r.last->finishedAt = parts_.clock.wall();
  r.crashes = crashesAfter(r.crashes, *r.last);
  parts_.running.remove(RunningRuns::key(pod_->uid(), r.name, r.attempt));
  r.running = r.starting = r.stopping = r.ready = r.started = false;
}

// A container that failed without a message of its own tells the end of its log, when it asks for
// that.
void PodWorker::addLogTail(const std::string& name, ExitRecord& run) const {
  constexpr size_t kLines = 80, kBytes = 2048;  // as much as a kubelet takes
  const ContainerSpec* spec = specOf(name);
  const bool asked = spec && spec->run->terminationMessagePolicy == "FallbackToLogsOnError";
  if (!asked || run.exitCode == 0 || !run.message.empty()) return;
  const ContainerRecord* r = record_.find(name);
  const std::string path = fmt::format(
      "{}/{}/{}.log", parts_.node.logDir(pod_->ns(), pod_->name(), pod_->uid()), name, r->attempt);
  run.message = logTail(endOf(path), kLines, kBytes);
}

void PodWorker::onExited(const Message& message) {
  const std::string name(message.word("container"));
  ContainerRecord& r = recordOf(name);
  const std::string id(message.word("id"));
  if (!r.running && !r.starting) return;
  killTimers_.erase(name);
  prober_.stop(name);
  recordExit(r, message.body);
  if (message.word("event") == "failed") {
    r.last->exitCode = 128;
    r.last->reason = "StartError";
  }
  addLogTail(name, *r.last);
  if (r.last->reason == "StartError")
    parts_.events.warning(ref(), "Failed", "Error: " + r.last->message);
  log.debug("pod {}/{}: container {} ended with {}", pod_->ns(), pod_->name(), name,
            r.last->exitCode);
  preparing_.post([&prep = parts_.prep, pod = pod_, id] { prep.removeRun(*pod, id); });
  sync();
}

void PodWorker::onShimLost(const Error& error) {
  shim_ = nullptr;
  link_.reset();
  busy_ = false;
  if (takenDown_ || finished_) return;
  if (!record_.sandbox) {
    // It never got anywhere: what it said last is why.
    const std::string said = inRuntime_ ? "" : endOf(parts_.node.podDir(pod_->uid()) + "/shim.log");
    return sandboxFailed("FailedCreatePodSandBox",
                         said.empty() ? error : Error(Code::kUnavailable, lastLine(said)));
  }
  const std::string what = inRuntime_ ? "sandbox" : "shim";
  log.warn("pod {}/{}: its {} has gone: {}", pod_->ns(), pod_->name(), what, error.text());
  if (inRuntime_)
    parts_.events.normal(ref(), "SandboxChanged",
                         "Pod sandbox changed, it will be killed and re-created.");
  for (auto& r : record_.containers) {
    if (!r.running && !r.starting) continue;
    json::Object state{{"exitCode", 137},
                       {"signal", 9},
                       {"message", "the pod's " + what + " has ended"},
                       {"startedAt", formatMicroTime(r.startedAt)}};
    recordExit(r, state);
    r.last->id = r.id;
  }
  for (auto& [id, done] : execs_) done({std::nullopt, "the pod's " + what + " has ended"});
  execs_.clear();
  record_.sandbox = false;
  sync();
}

// ---- exec and attach -------------------------------------------------------------------------

std::string PodWorker::exec(const std::string& container, const std::vector<std::string>& argv,
                            bool tty, std::vector<UniqueFd> fds, UniqueFn<void(ExecEnd)> done,
                            Duration limit) {
  const std::string id =
      fmt::format("e{}-{}", parts_.clock.mono().time_since_epoch().count(), nextExec_++);
  std::vector<int> raw;
  for (const auto& fd : fds) raw.push_back(fd.get());
  Result<> sent = fail(Code::kGone, "the container is not running");
  if (link_) sent = link_->exec({id, container, argv, tty, limit}, raw);
  if (sent) {
    execs_[id] = std::move(done);
  } else {
    done({std::nullopt, sent.error().text()});
  }
  return id;
}

void PodWorker::killExec(const std::string& id) {
  if (link_) link_->killExec(id);
}

Result<> PodWorker::attach(const std::string& container, UniqueFd socket) {
  if (!link_) return fail(Code::kGone, "the container is not running");
  return link_->attach(container, socket.get());
}

void PodWorker::resize(const std::string& container, uint16_t columns, uint16_t rows) {
  if (link_) link_->resize(container, columns, rows);
}

}  // namespace mangrove::runtime
