#pragma once
// What stands behind a RuntimeLink: one pod's sandbox and containers in a container runtime. Owner
// thread; answers that are under way hold it and find it closed.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cri/exit_watch.h"
#include "runtime/cri/runtime_link.h"

namespace mangrove::runtime::cri {

class RuntimePod : public std::enable_shared_from_this<RuntimePod> {
 public:
  RuntimePod(const RuntimeParts& parts, RuntimePlace place, SandboxConfig config,
             PodLink::Handler handler)
      : parts_(parts),
        place_(std::move(place)),
        config_(std::move(config)),
        handler_(std::move(handler)) {}

  void run(const std::string& handlerName);
  void adopt();
  Result<> start(const std::string& name, const BuiltContainer& built);
  void signal(const std::string& name, int number, Duration grace);
  Result<> exec(const ExecWish& wish, const std::vector<int>& fds);
  bool carry(const std::string& name, const frame::SessionOptions& options,
             std::unique_ptr<frame::Session>& session);
  void trimLogs();
  void quit(Fn gone);
  // Nothing is told any more.
  void close() { open_ = false; }

 private:
  struct Run {
    std::string id;
    std::string dead;  // the run before, until this one has begun
    int attempt = 0;
    int64_t pid = 0;
    bool running = false;
    std::optional<Duration> stop;  // asked for, with this grace
    std::unique_ptr<ExitWatch> watch;
    Timer again;
  };

  Texts labels() const { return {{kPodUid, place_.uid}, {kRunner, place_.runner}}; }
  const Run* running(const std::string& name) const;
  void tell(json::Object body);
  void lost(const Error& error);

  void made(Result<std::string> id);
  void askSandbox();
  void watchSandbox(int64_t pid);
  void askContainers(const Sandbox& sandbox, std::vector<ContainerStatus> list);
  json::Object found(const ContainerStatus& status);

  void created(const std::string& name, Result<std::string> id);
  void begun(const std::string& name, const std::string& id, Result<> ok);
  void stop(Run& run);
  void watch(const std::string& name, int64_t pid);
  void lookAgain(const std::string& name, Duration delay);
  void look(const std::string& name, const std::string& id);
  void ended(const std::string& name, const ContainerStatus* status);
  void executed(const std::string& id, const std::vector<UniqueFd>& fds,
                const Result<ExecResult>& result);

  const RuntimeParts parts_;
  const RuntimePlace place_;
  const SandboxConfig config_;
  const PodLink::Handler handler_;
  bool open_ = true;
  bool making_ = false;  // a sandbox is on its way
  Fn quitting_;          // … and must go again
  std::string sandbox_;
  int64_t sandboxPid_ = 0;
  std::unique_ptr<ExitWatch> sandboxWatch_;
  std::map<std::string, Run> runs_;
  Timer retry_;
};

}  // namespace mangrove::runtime::cri
