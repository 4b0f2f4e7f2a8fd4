#pragma once
// `mangrove apiserver` as a child process on a free port, with its data in a directory of its own
// that goes when this goes. Blocks; one thread.

#include <memory>
#include <string>

#include <sys/types.h>

#include "base/number/units.h"
#include "base/os/fd.h"
#include "base/result.h"
#include "client/http/kubeconfig.h"

namespace mangrove::client {

class OwnServer {
 public:
  // Returns when it has printed its address.
  static Result<std::unique_ptr<OwnServer>> start(const std::string& program,
                                                  const std::string& dataDir);
  ~OwnServer();  // SIGTERM, and waits
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;

  pid_t pid() const { return pid_; }
  MonoTime execAt() const { return execAt_; }
  Result<ClientConfig> config() const;

 private:
  OwnServer(pid_t pid, MonoTime execAt, std::string dataDir, UniqueFd out)
      : pid_(pid), execAt_(execAt), dataDir_(std::move(dataDir)), out_(std::move(out)) {}
  pid_t pid_;
  MonoTime execAt_;
  std::string dataDir_;
  UniqueFd out_;  // kept open: the server may print more
};

}  // namespace mangrove::client
