#pragma once
// What a machine's runner of pods offers to an API server beside it: logs, commands and ports of
// running containers. The server speaks HTTP, WebSocket and SPDY; the runner sees plain streams.
// Neither knows the other: `up` puts them together.
//
//   runner.exec({"default", "web", uid, "main"}, {.command = {"sh"}, .tty = true},
//               [](Result<SessionStart> ready) { if (ready) (*ready)(std::move(session)); });
//
// Every function may be called from any thread; what it is given may be called on any thread and
// must not block. A Result that fails is what the client is told before anything was switched:
// kNotFound, kInvalid (400) and the rest as an API server words them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fn.h"
#include "base/number/units.h"
#include "base/result.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::frame {

struct ContainerTarget {
  std::string ns, pod, uid;
  std::string container;  // always set, except for forward()
};

struct LogOptions {
  bool follow = false;
  bool previous = false;  // of the run before the present one
  bool timestamps = false;
  std::optional<int64_t> tailLines;
  std::optional<WallTime> since;
  std::optional<Bytes> limit;
  std::string stream = "All";  // or "Stdout", "Stderr"
};

// Text that comes piece by piece; destroying it stops.
class LogSource {
 public:
  virtual ~LogSource() = default;
  // One read at a time; an empty string is the end.
  virtual void read(UniqueFn<void(Result<std::string>)> done) = 0;
};

struct SessionOptions {
  std::vector<std::string> command;  // of exec
  bool in = false, out = true, err = true;
  bool tty = false;
};

struct SessionInput {
  enum class Kind { kData, kEndOfInput, kResize, kGone } kind = Kind::kGone;
  std::string data;
  uint16_t columns = 0, rows = 0;
};

// How a command ended: its exit code, or why there is none.
struct SessionEnd {
  std::optional<int> exitCode;
  std::string sentence;
};

// The client's end of a command. Any thread.
class Session {
 public:
  virtual ~Session() = default;  // closes without a verdict unless finish() came before
  // One at a time. After kGone nothing comes any more.
  virtual void read(UniqueFn<void(SessionInput)> done) = 0;
  enum class Channel { kOut, kErr };
  // False when the client is gone.
  virtual bool write(Channel channel, std::string_view data) = 0;
  // Bytes that have not left yet; a producer waits above a bound of its own until onDrained.
  virtual Bytes queued() const = 0;
  virtual void onDrained(Fn fn) = 0;
  virtual void finish(const SessionEnd& end) = 0;
};

using SessionStart = UniqueFn<void(std::unique_ptr<Session>)>;
// One connection to a port of the pod: takes the client's stream, or says why there is none.
using PortConnect = std::function<void(uint16_t port, std::unique_ptr<net::ByteStream> client,
                                       UniqueFn<void(std::string)> ended)>;

class NodeRunner {
 public:
  virtual ~NodeRunner() = default;
  virtual void log(ContainerTarget target, LogOptions options,
                   UniqueFn<void(Result<std::unique_ptr<LogSource>>)> ready) = 0;
  virtual void exec(ContainerTarget target, SessionOptions options,
                    UniqueFn<void(Result<SessionStart>)> ready) = 0;
  virtual void attach(ContainerTarget target, SessionOptions options,
                      UniqueFn<void(Result<SessionStart>)> ready) = 0;
  // `ended` is called once when the connection is over: "" or why it broke.
  virtual void forward(ContainerTarget target, UniqueFn<void(Result<PortConnect>)> ready) = 0;
};

}  // namespace mangrove::frame
