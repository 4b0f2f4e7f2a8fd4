#pragma once
// One address and port of this machine that stands for pods: each connection, or each sender of
// datagrams, is carried to one of the backends, in turn. Services and host ports are made of these.
//
//   auto listener = PortListener::open(loop, "UDP", "10.96.0.10", 53);
//   (*listener)->setBackends({{"10.88.0.3", 5353}});
//   (*listener)->close();                        // connections that are under way go on
//
// Any thread. Who answers datagrams is remembered per sender until a minute has passed in silence.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/core/services.h"
#include "runtime/node/network/fd_loop.h"

namespace mangrove::runtime {

class PortListener {
 public:
  virtual ~PortListener() = default;
  // `protocol` is TCP or UDP; kUnsupported for another one.
  static Result<std::shared_ptr<PortListener>> open(FdLoop& loop, const std::string& protocol,
                                                    const std::string& ip, uint16_t port);
  // `affinity`: for how long after a visit a client is brought to the same pod; zero: not at all.
  virtual void setBackends(std::vector<Backend> backends, Duration affinity = {}) = 0;
  virtual void close() = 0;
};

}  // namespace mangrove::runtime
