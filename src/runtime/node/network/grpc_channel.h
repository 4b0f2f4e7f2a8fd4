#pragma once
// Unary gRPC calls, many at a time, over one connection that is made when it is needed and made
// again when it breaks. Nobody blocks.
//
//   auto channel = GrpcChannel::make(loop, clock, "localhost", [] { return connectUnix(path); });
//   channel->call("/runtime.v1.RuntimeService/Version", bytes, 5s, [](Result<GrpcReply> r) { … });
//
// call() and close() on any thread; `done` runs once on the loop's thread, and not at all after
// close(). Once it was used the channel lives until close().

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/fn.h"
#include "base/os/fd.h"
#include "net/http/grpc_wire.h"
#include "runtime/node/network/fd_loop.h"

namespace mangrove::runtime {

class GrpcChannel : public std::enable_shared_from_this<GrpcChannel> {
 public:
  // A socket that does not block, connected or about to be.
  using Connect = std::function<Result<UniqueFd>()>;
  using Done = UniqueFn<void(Result<net::GrpcReply>)>;

  static std::shared_ptr<GrpcChannel> make(FdLoop& loop, Clock& clock, std::string authority,
                                           Connect connect);
  void call(std::string method, std::string message, Duration timeout, Done done);
  void close();

 private:
  struct Call {
    std::string method;
    Done done;
    Timer limit;
  };
  GrpcChannel(FdLoop& loop, Clock& clock, std::string authority, Connect connect)
      : loop_(loop),
        clock_(clock),
        authority_(std::move(authority)),
        connect_(std::move(connect)) {}

  void begin(const std::string& method, std::string message, Duration timeout, Done done);
  Result<> open();
  void ready();
  bool receive();
  void send();
  void settle();
  void expire(uint64_t connection, int32_t id);
  void lost(const Error& error);

  FdLoop& loop_;
  Clock& clock_;
  const std::string authority_;
  const Connect connect_;
  UniqueFd socket_;
  uint64_t connection_ = 0;  // counts them: numbers of calls begin anew with each
  std::unique_ptr<net::GrpcWire> wire_;
  std::string out_;
  std::map<int32_t, Call> calls_;
};

}  // namespace mangrove::runtime
