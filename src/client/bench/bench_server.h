#pragma once
// The child process that `bench client` reads from: pages of generated pods, then a stream of watch
// events as fast as they are taken. Forks; call it before threads exist.

#include <cstdint>
#include <memory>
#include <string>

#include <sys/types.h>

#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::client {

class BenchServer {
 public:
  static Result<std::unique_ptr<BenchServer>> start(int64_t pods, int64_t events);
  ~BenchServer();  // ends the child
  const std::string& url() const { return url_; }

 private:
  BenchServer(pid_t child, UniqueFd lifeline, std::string url);
  pid_t child_;
  UniqueFd lifeline_;  // the child ends when this closes
  std::string url_;
};

}  // namespace mangrove::client
