#pragma once
// The server without a socket: every request's whole path — authorisation, decoding, defaulting,
// admission, validation, storage, answer. http_front.h brings requests from the network,
// in_process_client.h those of roles in the same process.
//
// Owner thread: handle() and everything below run on the thread that drains `owner`. Answers to
// writes follow the disk.

#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/core/call.h"
#include "apiserver/core/resources.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "base/number/rng.h"
#include "store/store.h"

namespace mangrove::apiserver {

// Told of every change once it is durable and visible: garbage collection, namespaces, custom
// resources, RBAC's cache. Owner thread; may start writes, which happen later.
class Observer {
 public:
  virtual ~Observer() = default;
  // `now` null: removed, `before` is its last state. `before` null: new.
  virtual void changed(const Resource& resource, const store::ObjectPtr& now,
                       const store::ObjectPtr& before) = 0;
};

// What all parts of the request path share. Owned by whoever composes the server; outlives it.
struct Context {
  Clock& clock;
  Mailbox& owner;
  store::Store& store;
  Resources& resources;
  AdmissionChain& admission;
  Authorizer& authorizer;
  Registry& metrics;
  Rng& rng;  // uids, generated names
  std::vector<Observer*> observers = {};
};

// A path that is not an object: /version, /openapi/v3, /healthz. Registered by whoever knows it.
using PathHandler = UniqueFn<void(const Call& call, ResponderPtr to)>;
// A subresource with a life of its own (binding, eviction, scale, log, token …); gets authorised
// calls.
using SubresourceHandler = UniqueFn<void(const Call& call, ResourcePtr resource, ResponderPtr to)>;

class Server {
 public:
  explicit Server(Context& context);
  ~Server();

  // Authorises, then answers through `to`, now or later.
  void handle(Call call, ResponderPtr to);
  // Answers a request that came no further than the door (401), so that it is counted like others.
  void refuse(const RequestInfo& info, Answer answer, ResponderPtr to);
  // Counts those that nobody had time to look at (429); may be used from any thread.
  Counter turnedAway() const;

  // `prefix` "/openapi/" takes everything below it; "/version" that path alone.
  void onPath(std::string prefix, PathHandler handler);
  // resource "pods", subresource "binding"; group "" is core. "*" as resource: of every kind that
  // has it. Subresource "": a kind that is answered instead of stored. The last one stays.
  void onSubresource(std::string group, std::string resource, std::string subresource,
                     SubresourceHandler handler);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mangrove::apiserver
