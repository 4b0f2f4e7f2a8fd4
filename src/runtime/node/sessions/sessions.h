#pragma once
// The streams of exec, attach and port-forward between a client's session and this machine's pipes,
// terminals and sockets. Each keeps itself alive until it is over. Everything moves at the pace of
// the slower side.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/os/fd.h"
#include "base/result.h"
#include "frame/node_runner.h"
#include "runtime/node/network/fd_loop.h"

namespace mangrove::runtime {

// The process's ends and ours of an exec's streams. With a terminal `ours[0]` is the master and the
// only one.
struct ExecPipes {
  std::vector<UniqueFd> theirs;
  UniqueFd in, out, err;
  bool tty = false;
};
Result<ExecPipes> makeExecPipes(bool tty, bool wantsInput);

// Carries the streams; `exited` (any thread) says how the process ended.
class ExecSession {
 public:
  virtual ~ExecSession() = default;
  virtual void exited(frame::SessionEnd end) = 0;
  static std::shared_ptr<ExecSession> start(FdLoop& loop, Clock& clock,
                                            std::unique_ptr<frame::Session> session,
                                            ExecPipes pipes);
};

// Carries an attach socket's frames. `resize` is called for the terminal's size.
void startAttach(FdLoop& loop, std::unique_ptr<frame::Session> session, UniqueFd socket,
                 std::function<void(uint16_t columns, uint16_t rows)> resize);

// Connects to `port` of 127.0.0.1 in the network namespace of process `pid` (0: ours) and carries
// bytes both ways.
void startForward(FdLoop& loop, int64_t pid, uint16_t port, std::unique_ptr<net::ByteStream> client,
                  UniqueFn<void(std::string)> ended);

}  // namespace mangrove::runtime
