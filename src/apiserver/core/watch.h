#pragma once
// Watches: a position in the store's history for each watcher, pumped to its stream as fast as that
// is read. A slow watcher costs one position and at most one chunk of queued bytes; one that falls
// out of the store's window gets 410. Owner thread.

#include <memory>
#include <unordered_set>

#include "apiserver/core/call.h"
#include "apiserver/core/server.h"

namespace mangrove::apiserver {

class WatchSession;

// All running watches of a server.
class Watches {
 public:
  explicit Watches(Context& context) : context_(context) {}
  ~Watches();

  void start(Call call, ResourcePtr resource, ResponderPtr to);
  size_t size() const { return sessions_.size(); }

 private:
  friend class WatchSession;
  void forget(WatchSession* session);

  Context& context_;
  std::unordered_set<std::shared_ptr<WatchSession>> sessions_;
};

}  // namespace mangrove::apiserver
