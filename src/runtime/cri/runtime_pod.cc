#include "runtime/cri/runtime_pod.h"

#include "base/os/files.h"

namespace mangrove::runtime::cri {

namespace {

constexpr Duration kLook = std::chrono::seconds(1);

}  // namespace

void RuntimePod::run(const std::string& handlerName) {
  making_ = true;
  removeSandboxes(parts_.runtime, labels(), [self = shared_from_this(), handlerName] {
    self->parts_.runtime.runSandbox(self->config_, handlerName,
                                    [self](Result<std::string> id) { self->made(std::move(id)); });
  });
}

void RuntimePod::made(Result<std::string> id) {
  making_ = false;
  if (quitting_)
    return removeSandboxes(parts_.runtime, labels(), std::exchange(quitting_, nullptr));
  if (!id) return lost(id.error());
  sandbox_ = *id;
  if (open_) askSandbox();
}

void RuntimePod::quit(Fn gone) {
  open_ = false;
  if (making_)
    quitting_ = std::move(gone);
  else
    removeSandboxes(parts_.runtime, labels(), std::move(gone));
}

void RuntimePod::adopt() {
  parts_.runtime.sandboxes(
      labels(), [self = shared_from_this()](Result<std::vector<Sandbox>> found) {
        if (!self->open_) return;
        if (!found) {  // the runtime restarts
          self->retry_ = self->parts_.clock.after(
              kLook, [weak = std::weak_ptr(self), &owner = self->parts_.owner] {
                owner.post([weak] {
                  if (auto still = weak.lock()) still->adopt();
                });
              });
          return;
        }
        const Sandbox* newest = nullptr;
        for (const auto& one : *found)
          if (one.ready && (!newest || one.attempt > newest->attempt)) newest = &one;
        if (!newest) return self->tell({{"event", "absent"}});
        self->sandbox_ = newest->id;
        self->askSandbox();
      });
}

const RuntimePod::Run* RuntimePod::running(const std::string& name) const {
  const auto found = runs_.find(name);
  return found == runs_.end() || !found->second.running ? nullptr : &found->second;
}

void RuntimePod::tell(json::Object body) {
  if (!open_) return;
  Message message;
  message.body = std::move(body);
  handler_(std::move(message));
}

void RuntimePod::lost(const Error& error) {
  if (!open_) return;
  open_ = false;
  handler_(pass(error));
}

void RuntimePod::askSandbox() {
  parts_.runtime.sandboxStatus(sandbox_, [self = shared_from_this()](Result<Sandbox> sandbox) {
    if (!self->open_) return;
    if (!sandbox) return self->lost(sandbox.error());
    self->watchSandbox(pidIn(sandbox->info));
    self->parts_.runtime.containers(
        self->sandbox_, [self, sandbox = *sandbox](Result<std::vector<ContainerStatus>> list) {
          if (!list) return self->lost(list.error());
          self->askContainers(sandbox, std::move(*list));
        });
  });
}

void RuntimePod::watchSandbox(int64_t pid) {
  if (pid <= 0) return;
  sandboxWatch_ = std::make_unique<ExitWatch>(
      parts_.loop, pid, [weak = weak_from_this(), &owner = parts_.owner] {
        owner.post([weak] {
          if (auto self = weak.lock()) self->lost(Error(Code::kGone, "the sandbox has ended"));
        });
      });
  sandboxPid_ = pid;
}

void RuntimePod::askContainers(const Sandbox& sandbox, std::vector<ContainerStatus> list) {
  std::map<std::string, ContainerStatus> newest;
  for (auto& one : list) {
    auto& place = newest[one.name];
    if (place.id.empty() || one.attempt >= place.attempt) place = std::move(one);
  }
  auto states = std::make_shared<json::Array>();
  auto left = std::make_shared<size_t>(newest.size());
  auto done = [self = shared_from_this(), sandbox, states] {
    self->tell({{"event", "state"},
                {"pid", self->sandboxPid_},
                {"ip", sandbox.ip},
                {"containers", std::move(*states)}});
  };
  if (newest.empty()) return done();
  for (const auto& [name, one] : newest)
    parts_.runtime.containerStatus(
        one.id, [self = shared_from_this(), states, left, done](Result<ContainerStatus> status) {
          if (status) states->push_back(self->found(*status));
          if (--*left == 0) done();
        });
}

json::Object RuntimePod::found(const ContainerStatus& status) {
  Run& run = runs_[status.name];
  run.id = status.id;
  run.attempt = static_cast<int>(status.attempt);
  run.running = status.state == ContainerState::kRunning;
  if (run.running) watch(status.name, pidIn(status.info));
  return stateOf(status, messageIn(messagePath(place_.podDir, status.name, run.attempt)));
}

}  // namespace mangrove::runtime::cri
