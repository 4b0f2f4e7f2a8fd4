#pragma once
// A container runtime on this machine (containerd, CRI-O) through its CRI: one function per call,
// whose answer comes as a message to the owner.
//
//   Runtime runtime(loop, clock, owner, "/run/containerd/containerd.sock");
//   runtime.pullImage("nginx:1.25", {}, [](Result<std::string> ref) { … });
//
// Owner thread. Nothing is heard after the end of the Runtime.

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "runtime/cri/messages.h"
#include "runtime/node/network/grpc_channel.h"

namespace mangrove::runtime::cri {

class Runtime {
 public:
  template <class T>
  using Done = UniqueFn<void(Result<T>)>;
  using Over = UniqueFn<void(Result<>)>;

  Runtime(FdLoop& loop, Clock& clock, Mailbox& owner, std::string socket);
  ~Runtime();

  void runSandbox(const SandboxConfig& config, const std::string& handler, Done<std::string> done);
  void stopSandbox(const std::string& id, Over done);
  void removeSandbox(const std::string& id, Over done);
  void sandboxes(const Texts& labels, Done<std::vector<Sandbox>> done);
  void sandboxStatus(const std::string& id, Done<Sandbox> done);

  void createContainer(const std::string& sandbox, const ContainerConfig& config,
                       const SandboxConfig& pod, Done<std::string> done);
  void startContainer(const std::string& id, Over done);
  // Its stop signal, and after `grace` the end.
  void stopContainer(const std::string& id, Duration grace, Over done);
  void removeContainer(const std::string& id, Over done);
  // Of one sandbox; "": of all.
  void containers(const std::string& sandbox, Done<std::vector<ContainerStatus>> done);
  void containerStatus(const std::string& id, Done<ContainerStatus> done);
  void reopenLog(const std::string& id, Over done);
  // The exit code may be anything; an error means that it did not run or not end in time.
  void execSync(const ExecOrder& order, Duration limit, Done<ExecResult> done);
  // Where its streams are to be fetched.
  void exec(const ExecOrder& order, Done<std::string> done);
  void attach(const ExecOrder& order, Done<std::string> done);

  void imageStatus(const std::string& image, Done<std::optional<Image>> done);
  void images(Done<std::vector<Image>> done);
  void pullImage(const std::string& image, const std::optional<Credentials>& credentials,
                 Done<std::string> done);
  void removeImage(const std::string& id, Over done);
  void imageDisk(Done<std::vector<ImageDisk>> done);

 private:
  template <class T, class Read>
  void call(const char* method, std::string message, Duration timeout, Read read, Done<T> done);
  void order(const char* method, std::string message, Duration timeout, Over done);

  Mailbox& owner_;
  std::shared_ptr<GrpcChannel> channel_;
  Lifetime life_;
};

// What is asked before there is an owner to answer to; blocking.
struct Greeting {
  Version version;
  RuntimeStatus status;
};
Result<Greeting> greet(const std::string& socket, Duration timeout);

}  // namespace mangrove::runtime::cri
