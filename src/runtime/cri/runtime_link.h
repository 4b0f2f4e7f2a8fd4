#pragma once
// A pod in a container runtime: its sandbox and containers, spoken to as if they were a shim's
// (node/sessions/pod_link.h). Ends of processes are seen through their descriptors, so nothing is
// asked again and again.
//
//   auto link = RuntimeLink::run(parts, place, config, handler, "", handler);
//   auto link = RuntimeLink::adopt(parts, place, handler);      // of an earlier runner
//
// Owner thread. Containers that have ended stay until the next run of the same name has begun or
// the pod ends, so that a runner after us still learns how they ended.

#include <memory>
#include <string>

#include "net/loop.h"
#include "runtime/cri/runtime.h"
#include "runtime/node/sessions/pod_link.h"

namespace mangrove::runtime::cri {

// Labels by which everybody knows pods in a runtime, and ours: who runs them.
inline constexpr const char* kPodName = "io.kubernetes.pod.name";
inline constexpr const char* kPodNamespace = "io.kubernetes.pod.namespace";
inline constexpr const char* kPodUid = "io.kubernetes.pod.uid";
inline constexpr const char* kContainerName = "io.kubernetes.container.name";
inline constexpr const char* kRunner = "mangrove.io/runner";

// What all links share.
struct RuntimeParts {
  Runtime& runtime;
  Mailbox& owner;
  Clock& clock;
  FdLoop& loop;
  net::Loop& io;
};

struct RuntimePlace {
  std::string uid;
  std::string runner;  // value of our label
  std::string podDir;  // messages of containers are in run/NAME-ATTEMPT/message
  std::string logDir;
  // Between the making of a container and its start; `then` on the owner thread. Null: nothing.
  std::function<void(std::string id, std::string name, Fn then)> beforeStart;
};

// Where a container leaves its termination message on this machine.
std::string messagePath(const std::string& podDir, std::string_view container, int attempt);
// As much of it as anybody is told; "" when there is none.
std::string messageIn(const std::string& path);

class RuntimePod;

class RuntimeLink final : public PodLink {
 public:
  // Makes the sandbox; what is left of earlier ones goes first.
  static std::unique_ptr<RuntimeLink> run(const RuntimeParts& parts, RuntimePlace place,
                                          SandboxConfig config, std::string handlerName,
                                          Handler handler);
  // Answers `state`, or `absent` when no sandbox of it works.
  static std::unique_ptr<RuntimeLink> adopt(const RuntimeParts& parts, RuntimePlace place,
                                            SandboxConfig config, Handler handler);
  ~RuntimeLink() override;

  Result<> start(const std::string& container, const BuiltContainer& built) override;
  void signal(const std::string& container, int number, Duration grace) override;
  Result<> exec(const ExecWish& wish, const std::vector<int>& fds) override;
  void killExec(const std::string&) override {}  // the runtime ends it with its limit
  Result<> attach(const std::string& container, int socket) override;
  void resize(const std::string&, uint16_t, uint16_t) override {}
  bool carry(const std::string& container, const frame::SessionOptions& options,
             std::unique_ptr<frame::Session>& session) override;
  void trimLogs() override;
  void quit(Fn gone) override;

 private:
  explicit RuntimeLink(std::shared_ptr<RuntimePod> pod);
  std::shared_ptr<RuntimePod> pod_;
};

// Takes down every sandbox of the pod; `gone` on the owner thread, also when it did not work.
void removeSandboxes(Runtime& runtime, const Texts& labels, Fn gone);

// A container's state as a shim would tell it. Pure.
json::Object stateOf(const ContainerStatus& status, const std::string& message);

}  // namespace mangrove::runtime::cri
