#pragma once
// Answers the names that pods ask for: those of Services by itself, all others by asking the
// machine's own resolvers. UDP and TCP on the bridge's address; one machine's worth of askers.
//
//   auto server = NameServer::open(loop, "10.88.0.1", 53, book, serversIn(resolverText));
//   (*server)->close();
//
// Any thread. A question that nobody answered within five seconds is forgotten; the asker asks again.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/core/names.h"
#include "runtime/node/network/fd_loop.h"

namespace mangrove::runtime {

class NameServer {
 public:
  virtual ~NameServer() = default;
  // `book` outlives it. `others`: whom to ask for what is not ours, in this order; none: refused.
  static Result<std::shared_ptr<NameServer>> open(FdLoop& loop, const std::string& ip,
                                                  uint16_t port, const NameBook& book,
                                                  std::vector<std::string> others,
                                                  uint16_t othersPort = 53);
  virtual uint16_t port() const = 0;
  virtual void close() = 0;
};

}  // namespace mangrove::runtime
