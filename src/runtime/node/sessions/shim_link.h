#pragma once
// The runner's end of a shim: starts one or finds one that runs already, sends it orders, brings
// its news to the owner thread.
//
//   auto link = ShimLink::spawn(loop, owner, {.dir = dir, …}, [this](Result<Message> m) { … });
//   (*link)->start("main", built);
//
// send() from any thread. The handler runs on the owner thread, never after destruction; a failure
// is the last thing it hears: the shim is gone. Destroying the link leaves the shim alone.

#include <memory>
#include <string>
#include <vector>

#include "api/pod/pod_run.h"
#include "base/fn.h"
#include "base/mailbox.h"
#include "base/result.h"
#include "runtime/node/network/fd_loop.h"
#include "runtime/node/sessions/pod_link.h"
#include "runtime/shim/message.h"

namespace mangrove::runtime {

struct ShimStart {
  std::string dir;      // of the pod; DIR/shim.sock is made
  std::string program;  // our own binary
  std::string hostname;
  bool ownNetwork = false;
  bool ownIpc = false;
  bool ownUser = false;
  int64_t firstUser = 0;
  std::vector<api::Sysctl> sysctls;
};

class ShimLink final : public PodLink {
 public:
  static Result<std::unique_ptr<ShimLink>> spawn(FdLoop& loop, Mailbox& owner,
                                                 const ShimStart& start, Handler handler);
  // kNotFound or kIo when nobody listens there.
  static Result<std::unique_ptr<ShimLink>> adopt(FdLoop& loop, Mailbox& owner,
                                                 const std::string& dir, Handler handler);
  ~ShimLink() override;

  Result<> start(const std::string& container, const BuiltContainer& built) override;
  void signal(const std::string& container, int number, Duration grace) override;
  Result<> exec(const ExecWish& wish, const std::vector<int>& fds) override;
  void killExec(const std::string& id) override;
  Result<> attach(const std::string& container, int socket) override;
  void resize(const std::string& container, uint16_t columns, uint16_t rows) override;
  bool carry(const std::string&, const frame::SessionOptions&,
             std::unique_ptr<frame::Session>&) override {
    return false;
  }
  void quit(Fn gone) override;

  Result<> send(const json::Object& body, const std::vector<int>& fds = {});

 private:
  struct Shared;
  ShimLink(FdLoop& loop, Mailbox& owner, UniqueFd socket, Handler handler);
  FdLoop& loop_;
  Mailbox& owner_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace mangrove::runtime
