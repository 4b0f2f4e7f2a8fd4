#pragma once
// The runner's end of whoever holds a pod's containers: a shim of ours (shim_link.h) or a container
// runtime (cri/runtime_link.h). Takes orders and brings news to the owner thread as messages:
//
//   state      pid, ip?, missing?, containers [{container, id, attempt, running, exitCode, …}]
//   absent     nothing of the pod is there (a runtime that was asked for an earlier runner's pod)
//   started    container, id?             exited, failed   container, id, exitCode, trouble …
//   refused    container, reason, trouble: it was not made, trying again may help
//   execExited exec, exitCode or trouble
//
// The handler never runs after destruction; a failure is the last thing it hears: what the
// containers share is gone. Destroying the link leaves the pod alone.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/fn.h"
#include "base/number/units.h"
#include "base/os/fd.h"
#include "base/result.h"
#include "frame/node_runner.h"
#include "runtime/shim/message.h"

namespace mangrove::runtime {

struct BuiltContainer;

struct ExecWish {
  std::string id;  // by which it can be killed, and of its news
  std::string container;
  std::vector<std::string> argv;
  bool tty = false;
  Duration limit = Duration::zero();  // zero: none
};

class PodLink {
 public:
  using Handler = std::function<void(Result<Message>)>;
  virtual ~PodLink() = default;

  virtual Result<> start(const std::string& container, const BuiltContainer& built) = 0;
  // SIGTERM is what the container wants to be ended by; `grace` is how long it will have.
  virtual void signal(const std::string& container, int number, Duration grace) = 0;
  // The descriptors are the process's input, output and errors, or its terminal.
  virtual Result<> exec(const ExecWish& wish, const std::vector<int>& fds) = 0;
  virtual void killExec(const std::string& id) = 0;
  // Gives the container's streams to `socket` (frames of shim_container.h).
  virtual Result<> attach(const std::string& container, int socket) = 0;
  virtual void resize(const std::string& container, uint16_t columns, uint16_t rows) = 0;
  // A client's session that needs no pipes of ours: true when it was taken.
  virtual bool carry(const std::string& container, const frame::SessionOptions& options,
                     std::unique_ptr<frame::Session>& session) = 0;
  // Turns over logs that have grown too long, where nobody else does.
  virtual void trimLogs() {}
  // Nothing of the pod stays; `gone` runs on the owner thread.
  virtual void quit(Fn gone) = 0;
};

}  // namespace mangrove::runtime
