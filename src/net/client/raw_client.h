#pragma once
// A plain connection without HTTP, to a unix socket or a port: for protocols of their own.
//
//   RawClient client(loop, *Url::parse("unix:///run/nri/nri.sock"),
//                    [](Result<std::unique_ptr<ByteStream>> stream) { … });
//
// `done` runs once, on an I/O thread. Destroying the client gives the attempt up; `done` does not
// run after that. The stream lives on its own.

#include <memory>

#include "base/fn.h"
#include "net/http/url.h"
#include "net/loop.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::net {

class RawClient {
 public:
  using Done = UniqueFn<void(Result<std::unique_ptr<ByteStream>>)>;
  RawClient(Loop& loop, const Url& url, Done done);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace mangrove::net
