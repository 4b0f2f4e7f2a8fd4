#pragma once
// From an address to a connected socket: looks the name up, tries its addresses in order. Internal
// to net/, I/O thread only. Destroying the attempt gives up; `done` then does not run.

#include <memory>

#include "base/fn.h"
#include "base/os/fd.h"
#include "base/result.h"
#include "net/http/url.h"
#include "net/io_thread.h"

namespace mangrove::net {

class Connector {
 public:
  using Done = UniqueFn<void(Result<UniqueFd>)>;
  Connector(IoThread& io, const Url& url, Done done);
  ~Connector();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace mangrove::net
