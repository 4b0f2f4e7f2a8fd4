#include "runtime/cri/runtime_link.h"

#include <fmt/core.h>

#include "base/os/files.h"
#include "base/os/log.h"
#include "base/text/time_text.h"
#include "runtime/cri/runtime_pod.h"

namespace mangrove::runtime::cri {

namespace {

const Logger logger("runtime");
constexpr size_t kLongestMessage = 4096;  // as a kubelet reads

std::string timeText(int64_t ns) {
  if (ns <= 0) return "";
  return formatMicroTime(
      WallTime(std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(ns))));
}

}  // namespace

std::string messageIn(const std::string& path) {
  auto text = readFile(path);
  return text ? text->substr(0, kLongestMessage) : "";
}

std::string messagePath(const std::string& podDir, std::string_view container, int attempt) {
  return fmt::format("{}/run/{}-{}/message", podDir, container, attempt);
}

json::Object stateOf(const ContainerStatus& status, const std::string& message) {
  json::Object out{
      {"container", status.name},           {"id", status.id},
      {"attempt", int64_t{status.attempt}}, {"running", status.state == ContainerState::kRunning},
      {"imageId", status.imageRef},         {"startedAt", timeText(status.startedAt)}};
  if (status.state == ContainerState::kRunning) return out;
  out["exitCode"] = int64_t{status.exitCode};
  out["finishedAt"] = timeText(status.finishedAt);
  out["oom"] = status.reason == "OOMKilled";
  out["message"] = message;
  // It never ran: the runtime says why.
  if (status.startedAt <= 0 && !status.message.empty()) out["trouble"] = status.message;
  return out;
}

RuntimeLink::RuntimeLink(std::shared_ptr<RuntimePod> pod) : pod_(std::move(pod)) {}
RuntimeLink::~RuntimeLink() {
  pod_->close();
}

std::unique_ptr<RuntimeLink> RuntimeLink::run(const RuntimeParts& parts, RuntimePlace place,
                                              SandboxConfig config, std::string handlerName,
                                              Handler handler) {
  auto pod =
      std::make_shared<RuntimePod>(parts, std::move(place), std::move(config), std::move(handler));
  pod->run(handlerName);
  return std::unique_ptr<RuntimeLink>(new RuntimeLink(std::move(pod)));
}

std::unique_ptr<RuntimeLink> RuntimeLink::adopt(const RuntimeParts& parts, RuntimePlace place,
                                                SandboxConfig config, Handler handler) {
  auto pod =
      std::make_shared<RuntimePod>(parts, std::move(place), std::move(config), std::move(handler));
  pod->adopt();
  return std::unique_ptr<RuntimeLink>(new RuntimeLink(std::move(pod)));
}

Result<> RuntimeLink::start(const std::string& container, const BuiltContainer& built) {
  return pod_->start(container, built);
}
void RuntimeLink::signal(const std::string& container, int number, Duration grace) {
  pod_->signal(container, number, grace);
}
Result<> RuntimeLink::exec(const ExecWish& wish, const std::vector<int>& fds) {
  return pod_->exec(wish, fds);
}
Result<> RuntimeLink::attach(const std::string& container, int) {
  return fail(Code::kGone, "container {} is not running", container);
}
bool RuntimeLink::carry(const std::string& container, const frame::SessionOptions& options,
                        std::unique_ptr<frame::Session>& session) {
  return pod_->carry(container, options, session);
}
void RuntimeLink::trimLogs() {
  pod_->trimLogs();
}

void RuntimeLink::quit(Fn gone) {
  pod_->quit(std::move(gone));
}

// One after the other; what cannot be removed now is a stray that the next start finds.
void removeSandboxes(Runtime& runtime, const Texts& labels, Fn gone) {
  runtime.sandboxes(
      labels, [&runtime, gone = std::move(gone)](Result<std::vector<Sandbox>> found) mutable {
        if (!found) {
          logger.warn("sandboxes: {}", found.error().text());
          return gone();
        }
        if (found->empty()) return gone();
        auto left = std::make_shared<size_t>(found->size());
        auto over = std::make_shared<Fn>(std::move(gone));
        for (const auto& one : *found)
          runtime.stopSandbox(one.id, [&runtime, id = one.id, left, over](const Result<>&) {
            runtime.removeSandbox(id, [id, left, over](Result<> removed) {
              if (!removed && removed.error().code() != Code::kNotFound)
                logger.warn("removing sandbox {}: {}", id, removed.error().text());
              if (--*left == 0) (*over)();
            });
          });
      });
}

}  // namespace mangrove::runtime::cri
