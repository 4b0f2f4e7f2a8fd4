#pragma once
// The whole server in one object, without a socket: store, resources, admission, RBAC, lifecycle
// and the request path, put together in the right order. The role puts it on the network; `up`, the
// simulator and tests use it in process.
//
//   auto embedded = EmbeddedServer::open(clock, owner, metrics, {.dataDir = dir, .caPem = ca});
//   InProcessClient client(owner, (*embedded)->server(), Identity::system());
//
// Owner thread, from open to destruction.

#include <memory>
#include <string>

#include "apiserver/auth/authenticator.h"
#include "apiserver/core/server.h"
#include "apiserver/pod_security/policy.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "base/result.h"
#include "frame/node_runner.h"
#include "net/loop.h"
#include "net/own_address.h"

namespace mangrove::apiserver {

struct EmbeddedOptions {
  std::string dataDir = {};                      // "": everything in memory
  std::string caPem = {};                        // what pods check the server by
  uint64_t seed = 0;                             // of names and uids; 0: from the clock
  net::Loop* io = nullptr;                       // for admission webhooks; null: there are none
  pod_security::Configuration podSecurity = {};  // for namespaces that say nothing
  Bytes storeSize = {};                          // most bytes of objects; zero: no limit
  std::shared_ptr<const store::Sealer> sealing = {};  // of Secrets on the disk; null: plain
  net::IsOwnAddress isOwnAddress =
      {};                     // whose ports are guarded from services; empty: nobody forwards
  bool tokenVolumes = false;  // every pod gets its account's token, unless it says otherwise
  // How far back watches can go (store::Options); 0: as far as the store keeps by itself.
  size_t windowEvents = 0;
  Bytes windowBytes = {};
};

class EmbeddedServer {
 public:
  static Result<std::unique_ptr<EmbeddedServer>> open(Clock& clock, Mailbox& owner,
                                                      Registry& metrics, EmbeddedOptions options);
  ~EmbeddedServer();
  EmbeddedServer(const EmbeddedServer&) = delete;
  EmbeddedServer& operator=(const EmbeddedServer&) = delete;

  Server& server();
  Context& context();
  Authenticator& authenticator();
  // Who runs pods on this machine, or null for nobody: answers log, exec, attach and portforward.
  // Must outlive the requests, or be set to null before it goes.
  void setRunner(frame::NodeRunner* runner);
  // Rotation: what replaces what the directory held at the start.
  void setAuthority(std::string caPem);
  void setSigningKey(SigningKey key);
  // Waits until everything accepted is on disk, then gives the directory back.
  void close();

 private:
  struct Parts;
  explicit EmbeddedServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace mangrove::apiserver
